"""A dice unit that is a board of its own: a line, a session and an operation memory apart from the table's board."""

from __future__ import annotations

from dataclasses import replace

from protocol.serial.messages import (
    Capabilities,
    DiceRoll,
    Identity,
    Jog,
    Key,
    Message,
    Operation,
    RefusalReason,
    SelfTest,
    Status,
)
from simulators.felt import Happening
from simulators.mcu import Mcu
from simulators.mechanisms import Mechanisms

MODEL = "Kaijin simulated dice unit"


class DiceMechanisms(Mechanisms):
    """The dice of a table and nothing else of it."""

    def refusal(self, operation: Operation) -> RefusalReason | None:
        """As the table's; what is not the dice' is not there."""
        if not isinstance(operation, DiceRoll | SelfTest | Jog):
            return "unsupported"
        return super().refusal(operation)


class DiceUnit(Mcu):
    """The board of the dice: it knows its dice key and nothing of walls, centre, lamps and readers."""

    def noticed(self, happening: Happening) -> None:
        """Of what happens at the table it sees its own key."""
        if happening.kind in ("key", "key_down") and happening.word in ("dice", "service"):
            super().noticed(happening)

    def _send(self, message: Message) -> None:
        match message:
            case Identity():
                build = self.mechanisms.build
                memory = message.capabilities.memory
                message = replace(
                    message,
                    model=MODEL,
                    capabilities=Capabilities(
                        dice=build.dice, memory=memory, lamps=False, service=self.mechanisms.service
                    ),
                )
            case Key(key="service"):
                return  # one key on the wires of both boards: the table's own tells of it
            case Status():
                running = self._memory.running
                message = Status(
                    message.req, "down", "down", 0, 0, 0, 0, self.stop_reason, running[0] if running else None
                )
        super()._send(message)
