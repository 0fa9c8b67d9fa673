"""What the host sends: requests, operations, shows and stops."""

from dataclasses import dataclass
from typing import Annotated

from protocol.serial.declaration import TO_MCU, AtSide, Op, Req, message
from protocol.serial.parts import SET, SIDE, STACKS, TEXT, U8, words
from protocol.serial.vocabulary import MOTORS, SIDES, LampColour, Side
from protocol.serial.wire import Number

# --- host → MCU: requests ---------------------------------------------------------------------------------------------


@message(0x01, TO_MCU)
@dataclass(frozen=True, slots=True)
class Identify:
    """First request of a session: the host's protocol range. Answer: Identity."""

    req: Req
    protocol_min: Annotated[int, U8, "oldest protocol major the host speaks"]
    protocol_max: Annotated[int, U8, "newest"]
    host: Annotated[str, TEXT, "name and version of the host's software"]


@message(0x02, TO_MCU)
@dataclass(frozen=True, slots=True)
class Ping:
    """Is the firmware (not only its link) alive? Answer: Pong."""

    req: Req


@message(0x03, TO_MCU)
@dataclass(frozen=True, slots=True)
class StatusQuery:
    """Where are the mechanisms? Answer: Status."""

    req: Req


@message(0x04, TO_MCU)
@dataclass(frozen=True, slots=True)
class SetGear:
    """How many tiles are played and how many stacks each side gets. Answer: GearSet."""

    req: Req
    tiles: Annotated[int, U8, "tiles of one set, for example 144"]
    stacks: Annotated[tuple[int, int, int, int], STACKS, "stacks of E, S, W, N; two tiles a stack"]


@message(0x05, TO_MCU)
@dataclass(frozen=True, slots=True)
class CountersQuery:
    """Answer: Counters."""

    req: Req


@message(0x06, TO_MCU)
@dataclass(frozen=True, slots=True)
class SensorsQuery:
    """Live sensors for the repairer. Answer: Sensors."""

    req: Req


@message(0x07, TO_MCU)
@dataclass(frozen=True, slots=True)
class DiceQuery:
    """Dice read: which faces lie there. Moves nothing, ever. Answer: DiceFaces."""

    req: Req


@message(0x08, TO_MCU)
@dataclass(frozen=True, slots=True)
class VouchCentre:
    """Two people have said that the centre is down although no switch says so: taken for WallsRaise and PresentGroup,
    never for SortStart, until the centre moves or its switch answers. Moves nothing. Answer: CentreVouched.
    """

    req: Req


# --- host → MCU: operations -------------------------------------------------------------------------------------------


@message(0x20, TO_MCU)
@dataclass(frozen=True, slots=True)
class CentreRaise:
    """Raise the centre so that tiles can be pushed in. Needs: walls down."""

    op: Op


@message(0x21, TO_MCU)
@dataclass(frozen=True, slots=True)
class CentreLower:
    """Close the centre. Needs: walls down."""

    op: Op


@message(0x22, TO_MCU)
@dataclass(frozen=True, slots=True)
class WallsRaise:
    """Raise the four walls of one sorted set. Needs: centre down, that set sorted."""

    op: Op
    set_no: Annotated[int, SET, "tile set whose walls rise"]


@message(0x23, TO_MCU)
@dataclass(frozen=True, slots=True)
class WallsLower:
    """Take the lifts of the walls back down. Needs: centre down."""

    op: Op


@message(0x24, TO_MCU)
@dataclass(frozen=True, slots=True)
class SortStart:
    """Sort and stack one set; OpProgress on the way, SortOutcome in the result. Needs: centre down."""

    op: Op
    set_no: Annotated[int, SET, "tile set to sort"]


@message(0x25, TO_MCU)
@dataclass(frozen=True, slots=True)
class SortStop:
    """Stop a sort; the sort's own result is `interrupted`."""

    op: Op


@message(0x26, TO_MCU)
@dataclass(frozen=True, slots=True)
class DiceRoll:
    """Throw the dice once; DiceOutcome in the result. Finished and read by the MCU alone, host or not."""

    op: Op


@message(0x27, TO_MCU)
@dataclass(frozen=True, slots=True)
class PresentGroup:
    """Push a group of stacks towards a seat, where the table deals."""

    op: Op
    side: AtSide
    first: Annotated[int, U8, "first stack of the group, 0-based from the side's right-hand end"]
    count: Annotated[int, Number("B", 1, 40), "stacks in the group"]
    to_seat: Annotated[Side, SIDE, "seat that receives the group"]


@message(0x28, TO_MCU)
@dataclass(frozen=True, slots=True)
class ReadWall:
    """Read the faces of one side's wall where tiles are read; WallOutcome in the result. Moves nothing."""

    op: Op
    side: AtSide


@message(0x29, TO_MCU)
@dataclass(frozen=True, slots=True)
class Jog:
    """Run one motor for a moment. Service mode only, with the service key held at the table."""

    op: Op
    motor: Annotated[int, Number("B", 0, len(MOTORS) - 1), "motor number"]
    milliseconds: Annotated[int, Number("h", -32768, 32767), "how long; negative is backwards"]


@message(0x2A, TO_MCU)
@dataclass(frozen=True, slots=True)
class SelfTest:
    """Run one self-test; SelfTestOutcome in the result. Service mode only; one that moves: service key held."""

    op: Op
    number: Annotated[int, U8, "test number (see Self-tests); 0 is all"]


Operation = (
    CentreRaise
    | CentreLower
    | WallsRaise
    | WallsLower
    | SortStart
    | SortStop
    | DiceRoll
    | PresentGroup
    | ReadWall
    | Jog
    | SelfTest
)


# --- host → MCU: shows and stops --------------------------------------------------------------------------------------


@message(0x40, TO_MCU)
@dataclass(frozen=True, slots=True)
class Lamp:
    """Light a range of stacks of one side; the same range again replaces its colour."""

    side: AtSide
    first: Annotated[int, U8, "first stack, 0-based from the side's right-hand end"]
    last: Annotated[int, U8, "last stack, inclusive"]
    colour: Annotated[LampColour, words("off", *SIDES, "gold", "white"), "a seat's colour, gold, white or off"]


@message(0x41, TO_MCU)
@dataclass(frozen=True, slots=True)
class LampsOff:
    """All lamps off."""


@message(0x42, TO_MCU)
@dataclass(frozen=True, slots=True)
class Buzzer:
    """Sound a pattern once."""

    pattern: Annotated[int, U8, "0 short, 1 double, 2 long, 3 alarm; others as the board likes"]


@message(0x43, TO_MCU)
@dataclass(frozen=True, slots=True)
class EmergencyStop:
    """Stop every motor now and latch; answered by StopLatched with the first reason."""

    reason: Annotated[str, TEXT, "why, kept if it is the first"]


@message(0x44, TO_MCU)
@dataclass(frozen=True, slots=True)
class ClearStop:
    """A person clears the stop. Answer: StopCleared, or StopLatched while its cause is still there."""

    req: Req


@message(0x45, TO_MCU)
@dataclass(frozen=True, slots=True)
class ServiceEnd:
    """Service mode is over: no jog, no self-test until the service key was held anew. Moves nothing, always taken."""
