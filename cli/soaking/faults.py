"""What the soak lets go wrong: each kind by name, what it is, and how it is done. Chance comes in from outside."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cli.soaking.stage import Stage

Do = Callable[["Stage", random.Random], Awaitable[str]]

OPERATIONS: Final = ("dice_roll", "sort", "centre_raise", "centre_lower", "walls_raise")
ACTS: Final = ("take", "push_in", "lay_flowers", "flip")
FAILING: Final = ("sort", "centre_raise", "centre_lower", "walls_raise", "dice_roll")
MOVEMENTS: Final = ("centre_up", "centre_down", "walls_up", "walls_down", "sort", "dice")
SENSORS: Final = ("centre_up", "centre_down", "walls_up", "walls_down")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault. `group` is another name that asks for it; `full`: only where the table reads its tiles;
    `presents`: only where it pushes the groups to the seats.
    """

    name: str
    group: str
    says: str
    do: Do
    full: bool = False
    presents: bool = False


class UnknownFault(ValueError):
    """A word of `--faults` that names nothing; the message says what there is."""


def chosen(words: str, sensing: str, aid: str = "guide", disk: bool = False) -> tuple[Kind, ...]:
    """The kinds of `all`, `none` or of a list of names and groups; UnknownFault names the first wrong word.

    Without a small `disk` of its own `all` leaves out what needs one.
    """
    if words in ("none", ""):
        return ()
    possible = tuple(
        kind for kind in KINDS if (sensing == "full" or not kind.full) and (aid == "present" or not kind.presents)
    )
    asked = [word.strip() for word in words.split(",")]
    groups = sorted({kind.group for kind in KINDS})
    if "all" in asked:
        asked += [group for group in groups if disk or group != "disk"]
    for word in asked:
        if word not in ("all", *groups) and all(word != kind.name for kind in KINDS):
            raise UnknownFault(
                f"there is no fault {word!r}; expected all, none, a group ({', '.join(groups)}) "
                f"or some of {', '.join(kind.name for kind in KINDS)}"
            )
    return tuple(kind for kind in possible if {kind.name, kind.group} & set(asked))


# --- processes --------------------------------------------------------------------------------------------------------


async def _daemon_kill(stage: Stage, chance: random.Random) -> str:
    moment = await stage.some_moment(chance)
    await stage.parts.kill("daemon")
    await asyncio.sleep(chance.choice((0.0, 0.0, 0.5)))
    await stage.start_daemon()
    return moment


async def _daemon_again(stage: Stage, chance: random.Random) -> str:
    """Killed anew before it has done much, a few times in a row."""
    moment = await stage.some_moment(chance)
    for _ in range(3):
        await stage.parts.kill("daemon")
        await stage.start_daemon()
        await asyncio.sleep(chance.uniform(0.3, 1.5))
    return f"three times, {moment}"


async def _daemon_stop(stage: Stage, chance: random.Random) -> str:
    moment = await stage.some_moment(chance)
    began = asyncio.get_running_loop().time()
    code = await stage.parts.kill("daemon", signal.SIGTERM)
    stage.must(code == 0, f"the daemon ended with code {code} at SIGTERM")
    stage.must(asyncio.get_running_loop().time() - began < 6, "the daemon needed more than 5 s to end at SIGTERM")
    await stage.start_daemon()
    return moment


async def _daemon_freeze(stage: Stage, chance: random.Random) -> str:
    moment, seconds = await stage.some_moment(chance), chance.uniform(1.5, 4.0)
    stage.signal("daemon", signal.SIGSTOP)
    await asyncio.sleep(seconds)
    stage.signal("daemon", signal.SIGCONT)
    return f"{seconds:.1f} s, {moment}"


async def _broker_kill(stage: Stage, chance: random.Random) -> str:
    moment = await stage.some_moment(chance)
    stage.broker.kill()
    await asyncio.sleep(chance.choice((0.0, 1.0, 3.0)))
    stage.broker.start()
    return moment


async def _broker_empty(stage: Stage, chance: random.Random) -> str:
    moment = await stage.some_moment(chance)
    stage.broker.restart(empty=True)
    return moment


async def _broker_freeze(stage: Stage, chance: random.Random) -> str:
    moment, seconds = await stage.some_moment(chance), chance.uniform(1.0, 6.0)
    stage.signal_broker(signal.SIGSTOP)
    await asyncio.sleep(seconds)
    stage.signal_broker(signal.SIGCONT)
    return f"{seconds:.1f} s, {moment}"


async def _broker_kick(stage: Stage, chance: random.Random) -> str:
    """The table's user is no user any more, and is one again at once: the broker throws its connection off."""
    moment = await stage.some_moment(chance)
    for _ in range(chance.randint(1, 3)):
        stage.broker_files(chance, "login")
        await asyncio.sleep(0.2)
        stage.broker_files(chance, "")
        await asyncio.sleep(0.2)
    return moment


async def _broker_denies(stage: Stage, chance: random.Random) -> str:
    """The table may not log in, or may log in and say nothing, for seconds."""
    moment, seconds = await stage.some_moment(chance), chance.uniform(0.5, 4.0)
    what = chance.choice(("login", "writing"))
    stage.broker_files(chance, what)
    await asyncio.sleep(seconds)
    stage.broker_files(chance, "")
    return f"{what} {seconds:.1f} s, {moment}"


async def _broker_mute(stage: Stage, chance: random.Random) -> str:
    """In the broker's place somebody takes every connection and says nothing: no CONNACK."""
    moment, seconds = await stage.some_moment(chance), chance.uniform(1.0, 6.0)
    stage.broker.kill()
    async with stage.nobody_answers():
        await asyncio.sleep(seconds)
    stage.broker.start()
    return f"{seconds:.1f} s, {moment}"


async def _mains(stage: Stage, chance: random.Random) -> str:
    """Everything on the mains goes at once and comes back: daemon, broker, board and adapter."""
    moment = await stage.some_moment(chance)
    cut = asyncio.create_task(stage.order("power_cut", seconds=1.0))
    await stage.parts.kill("daemon")
    stage.broker.kill()
    await cut
    stage.broker.start()
    await stage.start_daemon()
    return moment


async def _mains_in_throw(stage: Stage, chance: random.Random) -> str:
    """The same, between the moment in which the dice lie and the answer of their board."""
    when = {"operation": "dice_roll", "point": chance.choice(("begun", "ended"))}
    if not await stage.armed("power_cut", when, seconds=1.0):
        return "no throw came"
    await stage.parts.kill("daemon")
    stage.broker.kill()
    await asyncio.sleep(1.2)
    stage.broker.start()
    await stage.start_daemon()
    return f"dice_roll {when['point']}"


async def _parked(stage: Stage, chance: random.Random) -> str:
    """Somebody parks the table with the service key, the mains go while it is parked, and somebody lets it go on."""
    moment = await stage.some_moment(chance)
    await stage.order("press", key="service", held_ms=6000)
    await stage.until(lambda: stage.displays.availability == "parked", "the table does not park")
    await stage.parts.kill("daemon")
    await stage.order("power_cut", seconds=0.3)
    await stage.start_daemon()
    epochs = len(stage.displays.epochs)
    await stage.until(lambda: len(stage.displays.epochs) > epochs, "the daemon does not come back")
    await stage.until(
        lambda: stage.displays.availability == "parked" and stage.link_is_up, "the table does not come back parked"
    )
    await stage.order("press", key="service", held_ms=6000)
    return moment


async def _displays_off(stage: Stage, chance: random.Random) -> str:
    moment = await stage.some_moment(chance)
    await stage.parts.kill("players")
    await asyncio.sleep(chance.uniform(0.0, 1.0))
    await stage.parts.start_part("players")
    return moment


async def _disk_full(stage: Stage, chance: random.Random) -> str:
    """No byte is left where the journal lies, for seconds."""
    moment, seconds = await stage.some_moment(chance), chance.uniform(0.5, 4.0)
    with stage.full_disk():
        await asyncio.sleep(seconds)
    return f"{seconds:.1f} s, {moment}"


# --- orders to the simulated hardware ---------------------------------------------------------------------------------


def _order(verb: str, words: Callable[[random.Random], Mapping[str, Any]], when: str = "any") -> Do:
    """An order at some moment: `any`, `now`, or an operation's name with `begun` or `ended`."""

    async def do(stage: Stage, chance: random.Random) -> str:
        told = dict(words(chance))
        moment = _moment(chance, when)
        text = " ".join(f"{name}={value}" for name, value in told.items())
        if moment is None:
            await stage.order(verb, **told)
        elif not await stage.armed(verb, moment, **told):
            return f"{text}: its moment did not come"
        await asyncio.sleep(float(told.get("seconds", 0.0)))
        at = "now" if moment is None else " ".join(map(str, moment.values()))
        return f"{text} at {at}".strip()

    return do


def _moment(chance: random.Random, when: str) -> dict[str, Any] | None:
    if when == "now":
        return None
    if when != "any":
        operation, _, point = when.partition(" ")
        return {"operation": operation, "point": point or chance.choice(("begun", "ended"))}
    way = chance.random()
    if way < 0.25:
        return None
    if way < 0.75:
        return {"operation": chance.choice(OPERATIONS), "point": chance.choice(("begun", "ended"))}
    return {"act": chance.choice(ACTS)}


def _nothing(chance: random.Random) -> dict[str, Any]:
    return {}


def _frames(chance: random.Random) -> dict[str, Any]:
    return {"direction": chance.choice(("out", "in")), "frames": chance.randint(1, 6)}


def _for_seconds(low: float, high: float, **more: Any) -> Callable[[random.Random], dict[str, Any]]:
    return lambda chance: {**more, "seconds": round(chance.uniform(low, high), 2)}


def _some_failure(chance: random.Random) -> dict[str, Any]:
    return {"operation": chance.choice(FAILING), "times": chance.choice((1, 1, 2))}


def _some_misreading(chance: random.Random) -> dict[str, Any]:
    zone = chance.choice(("hand", "hand", "hand", "discards", "melds"))
    return {"seat": _side(chance), "zone": zone, "kind": chance.choice(("missing", "doubled", "wrong"))}


def _some_slowness(chance: random.Random) -> dict[str, Any]:
    factor, times = chance.choice((1.5, 3.0, 8.0)), chance.randint(1, 4)
    return {"movement": chance.choice(MOVEMENTS), "factor": factor, "times": times}


def _some_sensor(chance: random.Random) -> dict[str, Any]:
    return {
        "sensor": chance.choice(SENSORS), "on": chance.random() < 0.5, "seconds": round(chance.uniform(0.3, 3.0), 2),
    }  # fmt: skip


def _side(chance: random.Random) -> str:
    return chance.choice("ESWN")


KINDS: Final[tuple[Kind, ...]] = (
    Kind("daemon_kill", "daemon", "kill -9 of the daemon", _daemon_kill),
    Kind("daemon_again", "daemon", "kill -9 of the daemon three times in a row", _daemon_again),
    Kind("daemon_stop", "daemon", "SIGTERM, and started again", _daemon_stop),
    Kind("daemon_freeze", "daemon", "the daemon's process stopped for seconds", _daemon_freeze),
    Kind("broker_kill", "broker", "kill -9 of the broker", _broker_kill),
    Kind("broker_empty", "broker", "the broker restarts and has lost what it retained", _broker_empty),
    Kind("broker_freeze", "broker", "the broker's process stopped for seconds", _broker_freeze),
    Kind("broker_kick", "broker", "the broker throws the table off, a few times", _broker_kick),
    Kind("broker_denies", "broker", "the table may not log in, or may write nothing", _broker_denies),
    Kind("broker_mute", "broker", "connections are taken, and no CONNACK comes", _broker_mute),
    Kind("mains", "power", "the mains go: board, daemon, broker", _mains),
    Kind("mains_in_throw", "power", "the mains go between a throw and its answer", _mains_in_throw),
    Kind("parked", "power", "parked, the mains go, and it goes on", _parked),
    Kind("power_cut", "power", "the board's power goes, and its memory",
         _order("power_cut", _for_seconds(0.3, 1.5))),
    Kind("power_cut_in_throw", "power", "the board's power goes between a throw and its answer",
         _order("power_cut", _for_seconds(0.3, 1.0), "dice_roll ended")),
    Kind("reboot", "power", "the board resets", _order("reboot", _nothing)),
    Kind("reboot_in_throw", "power", "the board resets while the dice turn", _order("reboot", _nothing, "dice_roll")),
    Kind("brown_out", "power", "the board resets over and over",
         _order("brown_out", lambda chance: {"times": chance.randint(2, 4), "gap": 0.3})),
    Kind("board_freeze", "line", "the board stands still",
         _order("freeze", _for_seconds(0.5, 4.0))),
    Kind("unplug", "line", "the adapter drops and returns under another name",
         _order("unplug", _for_seconds(0.1, 2.0))),
    Kind("flip", "line", "bits of frames are turned over",
         _order("flip", lambda chance: {**_frames(chance), "bits": chance.randint(1, 4)})),
    Kind("drop", "line", "frames are lost", _order("drop", _frames)),
    Kind("insert", "line", "random bytes within frames", _order("insert", _frames)),
    Kind("duplicate", "line", "frames arrive twice", _order("duplicate", _frames)),
    Kind("half", "line", "frames break off", _order("half", _frames)),
    Kind("garbage", "line", "text on the line",
         _order("garbage", lambda chance: {"direction": chance.choice(("out", "in")), "times": chance.randint(1, 50)})),
    Kind("noise", "line", "bytes are spoilt by chance for a while",
         _order("noise", lambda chance: {"direction": chance.choice(("out", "in")), "rate": 0.005, "seconds": 2.0})),
    Kind("echo", "line", "the host hears itself", _order("echo", _for_seconds(0.5, 2.0))),
    Kind("drip", "line", "bytes one at a time", _order("drip", _for_seconds(0.5, 2.0))),
    Kind("delay", "line", "the line stands still, then brings all", _order("delay", _for_seconds(0.2, 3.0))),
    Kind("silence", "line", "nothing gets through", _order("silence", _for_seconds(0.2, 4.0))),
    Kind("swallow", "protocol", "an answer is never given",
         _order("swallow", lambda chance: {"message": chance.choice(("OpResult", "OpAccepted", "Pong"))})),
    Kind("twice", "protocol", "an answer is given twice", _order("twice", _nothing)),
    Kind("late", "protocol", "an answer comes seconds too late", _order("late", _for_seconds(0.5, 4.0))),
    Kind("wrong_op", "protocol", "an answer to what nobody asked", _order("wrong_op", _nothing)),
    Kind("nak_storm", "protocol", "a storm of NAKs", _order("nak_storm", lambda chance: {"naks": 60})),
    Kind("no_ack", "protocol", "the board acknowledges nothing", _order("no_ack", _for_seconds(0.5, 6.0))),
    Kind("stop_reading", "protocol", "the board reads nothing", _order("stop_reading", _for_seconds(0.5, 5.0))),
    Kind("fail", "machine", "a movement fails", _order("fail", _some_failure, "now")),
    Kind("fail_present", "machine", "a group is not pushed to its seat",
         _order("fail", lambda chance: {"operation": "present_group", "times": chance.choice((1, 1, 2))}, "now"),
         presents=True),
    Kind("power_cut_in_push", "power", "the board's power goes while a group is pushed",
         _order("power_cut", _for_seconds(0.3, 1.0), "present_group"), presents=True),
    Kind("overheat", "machine", "a motor runs hot and stops",
         _order("fail", lambda chance: {"operation": "sort", "fault": "motor_overheat"}, "now")),
    Kind("slow", "machine", "movements take much longer than they have learned", _order("slow", _some_slowness, "now")),
    Kind("stuck_sensor", "machine", "a position sensor shows the same for a while",
         _order("stuck_sensor", _some_sensor)),
    Kind("forgotten_tile", "machine", "tiles are forgotten",
         _order("forgotten_tile", lambda chance: {"side": _side(chance), "tiles": chance.randint(1, 3)}, "now")),
    Kind("eye_dirty", "machine", "a light barrier is nearly blind",
         _order("eye_dirty", lambda chance: {"side": _side(chance), "seconds": 2.0})),
    Kind("wrong_gear", "machine", "somebody turns the gear", _order("wrong_gear", _nothing, "now")),
    Kind("mixed_sets", "machine", "tiles of both backs in one set", _order("mixed_sets", _nothing, "now")),
    Kind("cocked_dice", "machine", "dice lean",
         _order("cocked_dice", lambda chance: {"throws": chance.randint(1, 2)}, "now")),
    Kind("throw_unasked", "people", "somebody throws unasked",
         _order("throw_unasked", lambda chance: {"seat": _side(chance)})),
    Kind("stop_button", "machine", "the red button, turned out again", _order("stop_button", _for_seconds(0.3, 2.0))),
    Kind("lid", "machine", "the lid is opened and closed", _order("lid", _for_seconds(0.3, 2.0))),
    Kind("misread", "readers", "a reader errs", _order("misread", _some_misreading), full=True),
    Kind("disk_full", "disk", "no byte is left where the journal lies (as root alone)", _disk_full),
    Kind("displays_off", "people", "the people's displays go off and come back", _displays_off),
)  # fmt: skip
"""Every kind."""
