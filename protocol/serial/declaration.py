"""How a message is declared: type id, direction, and annotated fields; a declaration enters the catalogue."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar

from protocol.serial.parts import OP_ID, SIDE, U16, OpId
from protocol.serial.vocabulary import Side
from protocol.serial.wire import FieldSpec, fields_of

Direction = Literal["host → MCU", "MCU → host"]
TO_MCU: Final[Direction] = "host → MCU"
TO_HOST: Final[Direction] = "MCU → host"


@dataclass(frozen=True, slots=True)
class MessageSpec:
    """One message of the catalogue."""

    type_id: int
    direction: Direction
    cls: type[Any]
    fields: tuple[FieldSpec, ...]

    @property
    def name(self) -> str:
        return self.cls.__name__

    @property
    def says(self) -> str:
        """The first paragraph of the class's docstring, on one line."""
        return " ".join((self.cls.__doc__ or "").split("\n\n")[0].split())


_Class = TypeVar("_Class", bound=type[Any])
DECLARED: list[MessageSpec] = []


def message(type_id: int, direction: Direction) -> Callable[[_Class], _Class]:
    """Declare a dataclass as a message of the catalogue."""

    def declare(cls: _Class) -> _Class:
        DECLARED.append(MessageSpec(type_id, direction, cls, fields_of(cls)))
        return cls

    return declare


Req = Annotated[int, U16, "number of the request; its answer carries the same"]
Op = Annotated[OpId, OP_ID, "operation id"]
AtSide = Annotated[Side, SIDE, "side of the table"]
