"""One soak: real processes on a real line and a real broker, people who play, faults one after the other, checks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cli.demo_parts import DemoFailed, DemoOptions, Parts
from cli.soaking.book import Book, Wrong
from cli.soaking.disk import DiskError, SmallDisk
from cli.soaking.displays import Displays, resident
from cli.soaking.faults import Kind
from controller.credentials import Credentials, password_file, write_broker_files
from controller.private_broker import PrivateBroker
from simulators.channel import ActRefused, ChannelError, order
from simulators.tasks import cancel_all, without_client_noise
from simulators.witness import Witness

STANDSTILL_S: Final = 60.0
"""Seconds without an event after which the table stands still."""
RECOVERY_S: Final = 90.0
"""Seconds within which play goes on after a fault."""
HAND_S: Final = 240.0
"""Seconds without the end of a hand after which play leads nowhere, however much happens."""
ARMED_S: Final = 12.0
"""Seconds that a fault waits for its moment."""
READY_S: Final = 30.0
LOOK_S: Final = 0.15
EVENTS_AFTER: Final = 4
"""Events after a fault that show that play goes on."""
RECKONED: Final = 0.9
"""The share of the hands, but for a few, that must have been reckoned a second time."""
FEW: Final = 2
PEOPLE: Final = "all=0.01,away=0.003"
"""How often the people err beside the faults."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is soaked: so many hands, under these kinds of faults."""

    rules: str
    sensing: str
    hands: int
    seed: int
    kinds: tuple[Kind, ...]
    people_err: bool
    dice: str = "read"
    pause: float = 1.5
    """Seconds between two faults, on average."""
    aid: str = "guide"


@dataclass
class Tally:
    """What has happened so far."""

    faults: Counter[str] = field(default_factory=Counter)
    reckoned: int = 0
    displays_checked: int = 0
    memory: list[tuple[int, int]] = field(default_factory=list)
    longest_recovery: float = 0.0
    fault: str = ""
    """The fault that is going on, or was last."""


class Stage:
    """Everything that one soak runs and looks at."""

    def __init__(self, plan: Plan, folder: Path, say: Callable[[str], None]) -> None:
        self.plan = plan
        self.folder = folder
        self.tally = Tally()
        self.broker = PrivateBroker(folder / "broker", "demo", unix=len(os.fsencode(folder)) < 70)
        self._say = say
        self._began = time.monotonic()
        self._moved_at = time.monotonic()
        self._hand_at = (0, time.monotonic())
        self._witness = Witness()
        self._physical: dict[str, Any] = {}
        self._samples_at = 0.0

    async def play(self, stopped: asyncio.Event) -> dict[str, Any]:
        """Play until the hands are played, or somebody stops it; what happened. Wrong when something must not be."""
        self.broker.start()
        self.parts = Parts(self.folder, self._options(), self.broker)
        self._disk = SmallDisk(self.parts.journal.parent)
        self.book = Book(self.parts.journal)
        self.displays = Displays(self.broker, self._witness, self.parts.world, self.plan.rules)
        looking = asyncio.create_task(self.displays.run(self.plan.sensing == "none"))
        try:
            if any(kind.group == "disk" for kind in self.plan.kinds):
                self._disk.mount()
            await self.parts.start()
            await self._until(lambda: self.book.n > 0, READY_S, "the table has not begun to play")
            await self._soak(stopped, looking)
            await self._last_checks()
            return self.summary()
        except (DemoFailed, DiskError) as error:
            raise Wrong(str(error)) from error
        except ExceptionGroup as group:
            raise group.exceptions[0] from group
        finally:
            asyncio.get_running_loop().set_exception_handler(without_client_noise)
            with contextlib.suppress(ProcessLookupError, AttributeError):
                self.signal("players", signal.SIGCONT)
                self.signal("daemon", signal.SIGCONT)
            await cancel_all([looking])
            await self.parts.stop()
            self._disk.close()

    def summary(self) -> dict[str, Any]:
        """What has happened, in numbers."""
        people = [body["counts"] for body in (*self.parts.ended, *self.parts.said("players")) if "counts" in body]
        counts = sum((Counter(one) for one in people), Counter[str]())
        first, last = quarters(self.tally.memory)
        return {
            "hands": self.book.hands,
            "seconds": round(time.monotonic() - self._began, 1),
            "seed": self.plan.seed,
            "sensing": self.plan.sensing,
            "rules": self.plan.rules,
            "faults": dict(sorted(self.tally.faults.items())),
            "events": self.book.n,
            "epochs": len(self.displays.epochs),
            "booked": self.book.counts["booked"],
            "voided": self.book.counts["voided"],
            "reckoned": self.tally.reckoned,
            "rolls": self.book.counts["RollBegun"],
            "displays_checked": self.tally.displays_checked,
            "messages": self.displays.received,
            "longest_recovery": round(self.tally.longest_recovery, 1),
            "memory": {"first_quarter": first, "last_quarter": last},
            "mistakes": {name: count for name, count in sorted(counts.items()) if name.startswith("mistake_")},
            "table": self._physical,
        }

    # --- what faults use ----------------------------------------------------------------------------------------------

    def must(self, right: bool, otherwise: str) -> None:
        """Wrong with these words unless it is so."""
        if not right:
            raise Wrong(otherwise)

    async def order(self, verb: str, **words: Any) -> Mapping[str, Any]:
        """Something is done to the simulated hardware; {} where it cannot be done now."""
        try:
            return await order(self.parts.world, verb, words)
        except ActRefused:
            return {}
        except ChannelError as error:
            raise Wrong(f"the simulated table does not answer: {error}") from None

    async def armed(self, verb: str, when: Mapping[str, Any], **words: Any) -> bool:
        """The hardware is to do something at a moment; True once that has come, False when it does not come."""
        before = len(self._orders())
        await self.order(verb, when=dict(when), **words)
        until = time.monotonic() + ARMED_S
        while len(self._orders()) == before:
            if time.monotonic() > until:
                await self.order("heal")
                return False
            await self._look()
        return True

    async def some_moment(self, chance: random.Random) -> str:
        """Wait for a moment of play that chance names; its name."""
        events = chance.randint(0, 40 if self.plan.sensing == "none" else 150)
        from_n, until = self.book.n, time.monotonic() + 10
        while self.book.n < from_n + events and time.monotonic() < until:
            await self._look(0.02)
        return f"event {self.book.n}, {self.book.state.phase}"

    async def until(self, condition: Callable[[], bool], otherwise: str) -> None:
        """Wait until something is so; Wrong with these words when it takes too long."""
        await self._until(condition, RECOVERY_S, otherwise)

    @property
    def link_is_up(self) -> bool:
        """Whether the table says that it hears its board."""
        return (self.displays.state.get("machine") or {}).get("link") == "up"

    async def start_daemon(self) -> None:
        """The daemon again."""
        await self.parts.start_part("daemon")

    def signal(self, name: str, number: int) -> None:
        """Signal a part's processes."""
        part = self.parts.part(name)
        if part is not None:
            os.killpg(part.process.pid, number)

    def full_disk(self) -> contextlib.AbstractContextManager[None]:
        """While the block runs no byte is left where the journal lies."""
        return self._disk.full()

    def signal_broker(self, number: int) -> None:
        """Signal the broker."""
        if self.broker.pid is not None:
            os.kill(self.broker.pid, number)

    def broker_files(self, chance: random.Random, denied: str) -> None:
        """The broker reads its lists anew; `denied` the table: its `login`, its `writing`, or nothing (empty)."""
        folder, table = self.broker.folder, self.broker.table
        credentials = self.broker.credentials
        write_broker_files(folder, credentials)
        if denied == "login":
            strange = Credentials(table, {**credentials, table: f"{chance.getrandbits(64):x}"})
            (folder / "passwd").write_text(password_file(strange), encoding="utf-8")
        elif denied == "writing":
            told = (folder / "acl").read_text(encoding="utf-8")
            before, user, after = told.partition(f"user {table}\n")
            own, user_after, rest = after.partition("\nuser ")
            silenced = own.replace("topic readwrite", "topic read").replace("topic write", "topic deny")
            (folder / "acl").write_text(before + user + silenced + user_after + rest, encoding="utf-8")
        self.signal_broker(signal.SIGHUP)

    @contextlib.asynccontextmanager
    async def nobody_answers(self) -> AsyncIterator[None]:
        """While the block runs, and the broker does not, connections to its address are taken and never answered."""
        where, writers = self.broker.endpoint, set[asyncio.StreamWriter]()

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.add(writer)
            with contextlib.suppress(OSError):
                await reader.read()

        if where.socket is not None:
            where.socket.unlink(missing_ok=True)
            server = await asyncio.start_unix_server(take, where.socket)
        else:
            server = await asyncio.start_server(take, where.host, where.port)
        try:
            yield
        finally:
            server.close()
            for writer in writers:
                writer.close()

    # --- the soak -----------------------------------------------------------------------------------------------------

    async def _soak(self, stopped: asyncio.Event, looking: asyncio.Task[None]) -> None:
        chance = random.Random(f"soak/{self.plan.seed}")
        bag: list[Kind] = []
        while self.book.hands < self.plan.hands and not stopped.is_set():
            if looking.done():
                looking.result()
            pause = chance.uniform(0, 2 * self.plan.pause)
            until = time.monotonic() + pause
            while time.monotonic() < until and self.book.hands < self.plan.hands and not stopped.is_set():
                await self._look()
            if self.plan.kinds and self.book.hands < self.plan.hands and not stopped.is_set():
                if not bag:
                    bag = chance.sample(self.plan.kinds, len(self.plan.kinds))
                number = self.tally.faults.total() + 1
                await self._one_fault(bag.pop(), random.Random(f"soak/{self.plan.seed}/{number}"), number)

    async def _one_fault(self, kind: Kind, chance: random.Random, number: int) -> None:
        tally = self.tally
        tally.fault = f"fault {number}, {kind.name}"
        tally.faults[kind.name] += 1
        hand, phase = self.book.hands + 1, self.book.state.phase
        details = await kind.do(self, chance)
        tally.fault += f" ({details})"
        began = time.monotonic()
        await self._recovers()
        seconds = time.monotonic() - began
        tally.longest_recovery = max(tally.longest_recovery, seconds)
        await self._check()
        self._say(
            f"{time.monotonic() - self._began:7.1f} s  hand {hand:<4} {phase:<10} {kind.name}: {details}; "
            f"on again after {seconds:.1f} s"
        )

    async def _recovers(self) -> None:
        """Play goes on: the line is up, nothing is stopped, and events come."""
        from_n = self.book.n

        def goes_on() -> bool:
            machine = self.displays.state.get("machine") or {}
            up = machine.get("link") == "up" and machine.get("stop") is None
            return up and self.book.n >= from_n + EVENTS_AFTER

        await self._until(goes_on, RECOVERY_S, "play does not go on")

    async def _check(self) -> None:
        self.book.read()
        self.book.quick_check()
        self.tally.reckoned += self.book.check(self._witness)
        self.displays.check_secrets(self.book, self.plan.sensing)
        await self._check_dice()
        self.signal("players", signal.SIGSTOP)
        try:
            await self.displays.check(self.book)
        finally:
            self.signal("players", signal.SIGCONT)
        self.tally.displays_checked += 1

    async def _check_dice(self) -> None:
        physical = self._physical = {
            name: value for name, value in (await self.order("summary")).items() if name not in ("ok", "id")
        }
        self.book.read()
        rolls = self.book.counts["RollBegun"]
        if physical["thrown_again"]:
            raise Wrong(f"{physical['thrown_again']} throws were thrown twice for one operation")
        if physical["throws"] - physical["unasked"] > rolls:
            raise Wrong(
                f"the dice were thrown {physical['throws']} times, {physical['unasked']} of them unasked; "
                f"{rolls} throws were wanted"
            )

    async def _last_checks(self) -> None:
        self.tally.fault = self.tally.fault and f"after {self.tally.fault}"
        await self._check()
        code = await self.parts.kill("daemon", signal.SIGTERM)
        self.must(code == 0, f"the daemon ended with code {code} at SIGTERM")
        self.book.read()
        self.tally.reckoned += self.book.check(self._witness)
        self._check_reckoned()
        await self.book.check_whole(self.folder / "copy")
        self._check_records()
        self._check_log()

    def _check_reckoned(self) -> None:
        """Some hands nobody can reckon again (a book of the people's own); were they many, nothing was shown."""
        if self.tally.reckoned + FEW < RECKONED * self.book.hands:
            raise Wrong(
                f"of {self.book.hands} hands {self.tally.reckoned} were reckoned a second time: too few to say that "
                "the points are right"
            )

    def _check_records(self) -> None:
        from cli import journal_ledger
        from cli.demo_records import disagreement
        from cli.demo_story import Booked

        heard = [
            Booked(
                one.match, one.hand, one.kind,
                {seat: one.points[player] for seat, player in one.seats.items()},
                {seat: one.bonus[player] for seat, player in one.seats.items()},
                one.voided,
            )
            for one in self.book.state.session.book
        ]  # fmt: skip
        wrong = disagreement(self.parts.journal, heard)
        if wrong:
            raise Wrong(f"the replay of the exported records does not agree: {wrong}")
        wrong = journal_ledger.disagreement(self.parts.journal, self.book.state.session.book)
        if wrong:
            raise Wrong(f"the ledger does not agree with the book: {wrong}")

    def _check_log(self) -> None:
        log = (self.folder / "daemon.log").read_text(encoding="utf-8", errors="replace").splitlines()
        # A disk that was full must be told in the strongest words there are.
        right = '"reason": "disk_full"' if self.tally.faults["disk_full"] else "\0"
        bad = [line for line in log if "Traceback" in line or ('"level": "critical"' in line and right not in line)]
        if bad:
            raise Wrong(f"the daemon's log has {len(bad)} lines that should never be written: {bad[0][:400]}")

    async def _until(self, condition: Callable[[], bool], seconds: float, otherwise: str) -> None:
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise Wrong(f"{otherwise} within {seconds:.0f} s: {self._where()}")
            await self._look()

    async def _look(self, pause: float = LOOK_S) -> None:
        """Let time pass; read what was stored. Wrong when a part has died, or nothing happens any more."""
        await asyncio.sleep(pause)
        for name in ("table", "daemon", "players"):
            part = self.parts.part(name)
            if part is not None and part.process.returncode is not None:
                raise Wrong(f"the {name} ended by itself with code {part.process.returncode}:\n{part.last_words()}")
        now = time.monotonic()
        if self.book.read():
            self._moved_at = now
        elif now - self._moved_at > STANDSTILL_S:
            raise Wrong(f"nothing has happened for {STANDSTILL_S:.0f} s: {self._where()}")
        if self.book.hands != self._hand_at[0]:
            self._hand_at = (self.book.hands, now)
        elif now - self._hand_at[1] > HAND_S:
            raise Wrong(f"no hand has ended for {HAND_S:.0f} s: {self._where()}")
        daemon = self.parts.part("daemon")
        if now - self._samples_at >= 1.0 and daemon is not None:
            self._samples_at = now
            self.tally.memory.append((self.book.n, resident(daemon.process.pid)))

    def _orders(self) -> list[Mapping[str, Any]]:
        said = (body.get("happened") for body in self.parts.said("table"))
        return [one for one in said if isinstance(one, dict) and one["fault"] == 0 and one["moment"] != "order"]

    def _where(self) -> str:
        told = self.displays.state
        machine = told.get("machine") or {}
        shown = {name: machine.get(name) for name in ("link", "stop", "problem", "faults") if machine.get(name)}
        asked = {
            seat: [want["verb"] for want in view.data["me"]["wants"]]
            for seat, view in self.displays.last.items() if seat
        }  # fmt: skip
        return f"event {self.book.n}, phase {self.book.state.phase}, machine {shown}, asked {asked}"

    def _options(self) -> DemoOptions:
        plan = self.plan
        return DemoOptions(
            rules=plan.rules,
            layout="",
            sensing=plan.sensing,
            dice=plan.dice,
            hands=0,
            speed="max",
            seed=plan.seed,
            http_port=None,
            mistakes=PEOPLE if plan.people_err else "",
            settings={"match": {"rules": plan.rules, "hands": 8}, "timing": {"agree_ms": 4000}},
            arguments={"table": ["--aid", plan.aid]},
        )


def quarters(samples: list[tuple[int, int]]) -> tuple[int, int]:
    """The most memory in the first and in the last quarter of the samples, KiB."""
    sizes = [size // 1024 for _, size in samples if size]
    if not sizes:
        return 0, 0
    part = max(1, len(sizes) // 4)
    return max(sizes[:part]), max(sizes[-part:])
