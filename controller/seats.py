"""What comes from the seats and their displays: answers to prompts, the start of a match, pairing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypeVar

import structlog
from pydantic import BaseModel

from controller.core import Core
from controller.doors import LOCKED
from controller.hardware import Hardware
from controller.live import TableFacts
from controller.metrics import Metrics
from controller.pairing import Grant, Pairing
from controller.publisher import Publisher
from controller.settings import Settings
from controller.sheets import Sheets
from engine import inputs as i
from engine.wants import wants
from protocol.mqtt.inbound import InputError, parse_input
from protocol.mqtt.models import PairingRefused, PairingRequest, PairingState, SeatInput

BOARD_ABSENT: Final = "board_absent"
"""Refusal of a match while the hardware does not answer."""

PARK_PRESS_MS: Final = 5_000
"""The service key held so long parks the table, and lets a parked one go on."""

_Payload = TypeVar("_Payload", bound=BaseModel)


class SeatDesk:
    """Checks what seats say before the core hears it; answers what never concerns the engine itself."""

    def __init__(
        self,
        settings: Settings,
        core: Core,
        hardware: Hardware,
        publisher: Publisher,
        pairing: Pairing,
        metrics: Metrics,
        sheets: Sheets,
        facts: Callable[[], TableFacts],
        spawn: Callable[[Coroutine[Any, Any, Any]], None],
    ) -> None:
        self._settings = settings
        self._core = core
        self._hardware = hardware
        self._publisher = publisher
        self._pairing = pairing
        self._metrics = metrics
        self._sheets = sheets
        self._facts = facts
        self._spawn = spawn
        self._log = structlog.get_logger("seats")

    def take(self, seat: str, payload: bytes) -> None:
        """One message from `seat/{s}/input`."""
        said = self._understood(seat, payload)
        if said is None or self._core.repeated(seat, said.id):
            return
        match said.action:
            case "start":
                self._start(seat, said)
            case "look":
                self._spawn(self._look(seat, said))
            case "unpair":
                self._unpair(seat, said)
            case "confirm_device":
                self._confirm(seat, said)
            case _:
                self._core.seat_says(seat, said.id, i.SeatAction(seat, said.want, said.action, said.params))

    def refuse_retained(self, seat: str, payload: bytes) -> None:
        """A retained input was not meant for now, whatever it says."""
        said = self._understood(seat, payload)
        if said is not None:
            self._core.refuse(seat, said.id, "retained")

    async def start_match(self, params: Mapping[str, Any], seat: str = "", id: str = "") -> str:
        """Begin a match on what the board can do and where its sets lie; the code of what hinders it, or nothing."""
        facts = self._facts()
        hindered = LOCKED if facts.shut else "bad_value" if params.get("fresh") and facts.opened else ""
        sets = await self._hardware.where_sets_are() if not hindered else None
        if sets is None:
            hindered = hindered or BOARD_ABSENT
            if seat:
                self._core.refuse(seat, id, hindered)
            return hindered
        timing, facts = self._settings.timing, self._facts()
        rules = params.get("rules") or facts.rules
        begin = i.StartMatch(
            rules=rules,
            options=facts.options if rules == facts.rules else {},
            layout=params.get("layout") or (facts.layout if rules == facts.rules else ""),
            sensing=facts.sensing,
            dice=facts.dice,
            aid=facts.aid,
            sets=sets,
            hands=params.get("hands", facts.hands),
            minutes=params.get("minutes", facts.minutes),
            by_dice=params.get("seats", facts.seats) == "dice",
            fresh=params.get("fresh", False),
            names=facts.names,
            object_ms=timing.object_ms,
            take_pace_ms=timing.take_pace_ms,
            agree_ms=timing.agree_ms,
        )
        if seat:
            self._core.seat_says(seat, id, begin)
        else:
            self._core.feed(begin)
        return ""

    def pairing_says(self, step: str, payload: bytes) -> None:
        """One message of the page server, from `pairing/{step}`."""
        try:
            match step:
                case "request":
                    self._pairing.asked(_model(PairingRequest, payload))
                case "refused":
                    self._pairing.refused(_model(PairingRefused, payload))
                case "state":
                    for seat in self._pairing.held(_model(PairingState, payload)):
                        self._sheets.close(seat)
                        self._publisher.empty_seat(seat)
        except ValueError:
            self._metrics.inputs.labels("bad_pairing").inc()
            self._log.warning("a pairing message that keeps no contract", step=step)
            return
        self._core.touch(at_once=True)

    def key_held(self, key: str, seat: str, pressed_ms: int) -> bool:
        """A key of the table was let go: held long, it confirms the display that asks, or parks, and nothing else."""
        if self.confirms(key, seat, pressed_ms):
            return True
        if key == "service" and pressed_ms >= PARK_PRESS_MS:
            self._core.feed(i.Unpark(seat) if self._core.state.parking else i.Park("key"))
            return True
        return False

    def confirms(self, key: str, seat: str, pressed_ms: int) -> bool:
        """Whether the key that was let go has let the display in that asks."""
        grant = self._pairing.key_held(key, seat, pressed_ms)
        if grant is not None:
            self._grant(grant)
        return grant is not None

    def _understood(self, seat: str, payload: bytes) -> SeatInput | None:
        """The input, or None after refusing it."""
        try:
            return parse_input(payload, self._publisher.epoch)
        except InputError as error:
            about = {"code": error.code, "field": error.field, "expected": error.expected}
            self._log.info("an input that keeps no contract", seat=seat, **about)
            if error.id:
                self._core.refuse(seat, error.id, error.code, "", {"field": error.field, **error.limits})
            else:
                self._metrics.inputs.labels(error.code).inc()
            return None

    def _start(self, seat: str, said: SeatInput) -> None:
        asked = any(
            want.seat == seat and str(want.id) == said.want and "start" in want.actions
            for want in wants(self._core.state)
        )
        if asked:
            self._spawn(self.start_match(said.params, seat, said.id))
        else:
            self._core.refuse(seat, said.id, "late")

    async def _look(self, seat: str, said: SeatInput) -> None:
        """What a seat looks at concerns nobody else and is not journaled."""
        await self._sheets.look(seat, said.params, self._core.state.session)
        self._core.accept(seat, said.id)

    def _unpair(self, seat: str, said: SeatInput) -> None:
        self._publisher.say_pairing("release", {"seat": seat})
        self._publisher.empty_seat(seat)
        self._core.accept(seat, said.id)

    def _confirm(self, seat: str, said: SeatInput) -> None:
        grant = self._pairing.answer(said.params["code"], said.params["ok"])
        if grant is None:
            self._core.refuse(seat, said.id, "late")
            return
        self._core.accept(seat, said.id)
        self._grant(grant)

    def _grant(self, grant: Grant) -> None:
        data = {"code": grant.code, "seat": grant.seat, "device": grant.device, "ok": grant.ok}
        self._publisher.say_pairing("grant", data)
        self._core.touch(at_once=True)


def _model(kind: type[_Payload], payload: bytes) -> _Payload:
    return kind.model_validate_json(payload)
