"""The tests themselves, a module for each group; to import this is to know them all."""

from hil.conform.suite import (
    deal,
    delivery,
    dice,
    framing,
    interlocks,
    lamps,
    liveness,
    operations,
    readers,
    service,
    session,
    stop,
    timing,
)

__all__ = [
    "deal",
    "delivery",
    "dice",
    "framing",
    "interlocks",
    "lamps",
    "liveness",
    "operations",
    "readers",
    "service",
    "session",
    "stop",
    "timing",
]
