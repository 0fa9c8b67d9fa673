"""What the table says over MQTT: envelopes, views of each audience, public facts, in the order that play needs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic_core import to_json

from controller import views
from controller.clock import Stamp, SystemClock
from controller.journal import NewPublished
from controller.live import Live
from engine.events import Event
from engine.state import State
from engine.tiles import SEATS
from protocol.mqtt.envelope import MAX_BYTES, Envelope, Kind, encode, encode_parts
from protocol.mqtt.topics import Topics


class Outlet(Protocol):
    """The part of the broker session that the publisher speaks to."""

    def set_retained(self, topic: str, payload: bytes | None) -> None: ...

    def publish(self, topic: str, payload: bytes, qos: int = 1) -> None: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One event with the states around it."""

    event: Event
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class EncodedViews:
    """The views of one moment, encoded: the public part once, and what each seat alone receives.

    `lasting` is the public part (under an empty name) and each seat's without the time that countdowns have left: a
    view is said anew only where that has changed, so that nobody's message tells that somebody else was answered.
    `over`: the evening is over and nobody is asked anything, so that the seats' topics hold nothing.
    """

    public: bytes
    mine: Mapping[str, bytes]
    lasting: Mapping[str, Mapping[str, Any]]
    over: bool = False


class Publisher:
    """Speaks for one table in one epoch."""

    def __init__(self, table: str, epoch: int, clock: SystemClock, outlet: Outlet) -> None:
        self.topics = Topics(table)
        self.epoch = epoch
        self.seq = 0
        """Number of the last public fact that the views have folded in."""
        self._table = table
        self._clock = clock
        self._outlet = outlet
        self._said: EncodedViews | None = None
        self._empty = False
        self._snapshot: Mapping[str, Any] | None = None
        self._availability: tuple[str, str] = ("starting", "")
        self.published_views = 0

    @property
    def availability_state(self) -> str:
        """What was last said of the table's availability."""
        return self._availability[0]

    def envelope(
        self, kind: Kind, data: Mapping[str, Any], seq: int | None = None, cause: str | None = None,
        stamp: Stamp | None = None,
    ) -> Envelope:  # fmt: skip
        """A new envelope of this table."""
        at = stamp or self._clock.stamp()
        return Envelope.model_construct(
            v=1, type=kind, table=self._table, epoch=self.epoch, seq=self.seq if seq is None else seq,
            id=secrets.token_hex(8), ts=at.ts, clock=at.clock, mono_ms=at.mono_ms, cause=cause, data=dict(data),
        )  # fmt: skip

    def facts(self, steps: Sequence[Step], first_seq: int, stamp: Stamp, cause: str | None) -> list[NewPublished]:
        """The public facts of events, numbered from `first_seq`, as they will travel."""
        facts: list[NewPublished] = []
        for step in steps:
            for stream, name, data in views.public_events(step.event, step.before, step.after):
                seq = first_seq + len(facts)
                params = {key: value for key, value in data.items() if key not in ("hand", "seat")}
                seat = data.get("seat") or None
                body = {"stream": stream, "name": name, "hand": data.get("hand"), "seat": seat, "params": params}
                envelope = encode(self.envelope("event", body, seq=seq, cause=cause, stamp=stamp))
                facts.append(NewPublished(seq, stream, envelope.decode()))
        return facts

    def encode_views(self, state: State, live: Live) -> EncodedViews:
        """The views of a moment; pure, so that it can run beside the journal's commit."""
        public = views.public_view(state, live)
        encoded = to_json(public)
        room = MAX_BYTES - views.HEAD_ROOM - len(encoded)
        mine = {seat: views.own(state, seat, live) for seat in SEATS}
        return EncodedViews(
            encoded,
            {seat: views.fitted(me, room) for seat, me in mine.items()},
            {"": views.lasting(public), **{seat: views.lasting(me) for seat, me in mine.items()}},
            live.table.over and views.rests(state, live),
        )

    def say_seats(
        self,
        encoded: EncodedViews,
        cause: str | None = None,
        only_changed: bool = True,
        first: str = "",
        others: str | None = None,
    ) -> None:
        """Say the seats' views, those that have changed or all: `first` that seat's, then those asked anew.

        `cause` is told to the first seat, `others` to the others. Once the evening is over the seats' topics are
        emptied in place of that.
        """
        if encoded.over:
            self._empty_seats(only_changed)
            return
        self._empty = False
        said = self._said
        same = {seat: said is not None and said.lasting[seat] == encoded.lasting[seat] for seat in SEATS}
        same_public = said is not None and said.lasting[""] == encoded.lasting[""]
        for seat in sorted(SEATS, key=lambda seat: (seat != first, same[seat])):
            if only_changed and same_public and same[seat]:
                continue
            head = self.envelope("seat", {}, cause=cause if seat == first else others)
            self._outlet.set_retained(self.topics.seat(seat), encode_parts(head, encoded.public, encoded.mine[seat]))
            self.published_views += 1
        self._said = encoded

    def state_is_said(self, encoded: EncodedViews) -> bool:
        """Whether the public snapshot that was said last still holds."""
        return self._snapshot == encoded.lasting[""]

    def say_state(self, encoded: EncodedViews) -> None:
        """Say the public snapshot."""
        self._snapshot = encoded.lasting[""]
        self._outlet.set_retained(self.topics.state, encode_parts(self.envelope("state", {}), encoded.public))

    def say_facts(self, facts: Sequence[NewPublished]) -> None:
        """Say public facts that are stored."""
        for fact in facts:
            self._outlet.publish(self.topics.event(fact.stream), fact.envelope.encode())

    def _empty_seats(self, only_changed: bool) -> None:
        """Take everything out of all seats' views, again where it may be that a display has not heard of it."""
        if self._empty and only_changed:
            return
        self._empty = True
        for seat in SEATS:
            self.empty_seat(seat)

    def empty_seat(self, seat: str) -> None:
        """Take everything out of a seat's retained view; the next view is said anew."""
        self._outlet.set_retained(self.topics.seat(seat), None)
        self._said = None

    def say_availability(self, state: str, reason: str = "") -> None:
        """Say how far the table can be counted on, when that has changed."""
        if self._availability == (state, reason):
            return
        self._availability = (state, reason)
        self._outlet.set_retained(self.topics.availability, self.availability_payload(state, reason))

    def say_availability_again(self) -> None:
        """Say the same once more."""
        self._outlet.set_retained(self.topics.availability, self.availability_payload(*self._availability))

    def availability_payload(self, state: str, reason: str = "") -> bytes:
        """The payload of an availability, also for the will."""
        return encode(self.envelope("availability", {"state": state, "reason": reason}))

    def say_birth(self, data: Mapping[str, Any]) -> None:
        """Say who this table is."""
        self._outlet.set_retained(self.topics.birth, encode(self.envelope("birth", data)))

    def say_heartbeat(self, data: Mapping[str, Any]) -> None:
        """Say how the table itself is."""
        self._outlet.publish(self.topics.heartbeat, encode(self.envelope("heartbeat", data)), 0)

    def say_response(self, client: str, data: Mapping[str, Any], cause: str) -> None:
        """Answer a command."""
        self._outlet.publish(self.topics.response(client), encode(self.envelope("response", data, cause=cause)))

    def say_service(self, data: Mapping[str, Any]) -> None:
        """Say how service mode is now; to the repairer alone, and never kept."""
        self._outlet.publish(self.topics.service, encode(self.envelope("service", data)), 0)

    def say_pairing(self, step: str, data: Mapping[str, Any]) -> None:
        """`grant` or `release`, to the page server."""
        kind: Kind = "pairing/grant" if step == "grant" else "pairing/release"
        self._outlet.publish(self.topics.pairing(step), encode(self.envelope(kind, data)))

    def say_again(self, stored: Sequence[tuple[str, str]]) -> None:
        """Say stored facts `(stream, envelope)` once more, in the envelopes they were born with."""
        for stream, envelope in stored:
            self._outlet.publish(self.topics.event(stream), envelope.encode())
