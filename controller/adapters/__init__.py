"""Boards that speak a simpler dialect, driven as if they kept the serial contract, with what they can do.

`AdaptedBoard` (pure) stands in for the firmware that such a board lacks: ids, results, interlocks, the latched stop.
`AdaptedPort` puts it behind a link of its own, so that a `Line` sees a port with a board of the contract behind it:

    Line(name, baud, host, recordings, opener=Adapter(dialect("example")).open)

What it cannot do, and what people are asked in its place: docs/dialects.md.
"""

from controller.adapters.board import AdaptedBoard
from controller.adapters.port import AdaptedPort, Adapter, opener_for, opener_of

__all__ = ["AdaptedBoard", "AdaptedPort", "Adapter", "opener_for", "opener_of"]
