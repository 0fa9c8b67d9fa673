"""Waiting before the next attempt: longer each time, never the same for two, short again after a stable while."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(slots=True)
class Backoff:
    """Delays in seconds from `first`, doubled up to `cap`, each between half and the whole of its step."""

    first: float
    cap: float
    stable: float = 10.0
    """An attempt that held for so long begins the row anew."""
    _step: float = 0.0

    def next(self) -> float:
        """How long to wait now."""
        self._step = min(self.cap, self._step * 2 or self.first)
        return self._step * random.uniform(0.5, 1.0)

    def held(self, seconds: float) -> None:
        """Tell how long the last attempt held."""
        if seconds >= self.stable:
            self._step = 0.0
