"""What a simulated board tells of itself in numbers."""

from __future__ import annotations

from collections.abc import Mapping

from engine.tiles import SEATS
from protocol.serial.events import LinkStats
from protocol.serial.messages import LEARNED, SENSOR_BITS, Counters, DiceFaces, Sensors
from simulators.mechanisms import Mechanisms


def counters(req: int, mechanisms: Mechanisms, stats: LinkStats) -> Counters:
    """What the board has done in its life, and its link since the start."""
    one, two, three, four, five, six = (round(seconds) for seconds in mechanisms.motor_seconds)
    a, b, c, d, e, f = (mechanisms.usual_ms(movement) for movement in LEARNED)
    return Counters(
        req=req,
        cycles=mechanisms.cycles,
        motor_seconds=(one, two, three, four, five, six),
        learned_ms=(a, b, c, d, e, f),
        frames_in=stats.frames_in,
        frames_out=stats.frames_out,
        retransmits=stats.retransmits,
        bad_frames=sum(stats.errors.values()),
    )


def sensors(req: int, shown: Mapping[str, bool], running: Mapping[str, int]) -> Sensors:
    """Sensors that show this, while so many of each operation run."""
    bits = sum(1 << bit for bit, name in enumerate(SENSOR_BITS) if shown.get(name, False))
    current = 120 + 480 * sum(running.values())
    east, south, west, north = (930 if shown[f"eye_{side}"] else 140 for side in SEATS)
    return Sensors(req, bits, (24_000, current, 3081, 3131, east, south, west, north))


def dice_faces(req: int, mechanisms: Mechanisms) -> DiceFaces:
    """The faces that lie there, where this board reads them and they lie flat."""
    lying = mechanisms.world.lying
    if mechanisms.world.spinning:
        return DiceFaces(req, known=False, moving=True)
    if mechanisms.build.dice not in ("read", "software") or lying is None or lying.cocked:
        return DiceFaces(req, known=False)
    return DiceFaces(req, known=True, dice=lying.dice)
