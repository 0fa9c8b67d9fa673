"""What every test shares: hypothesis without deadlines, for machines whose speed is nobody's promise."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("kaijin", deadline=None)
settings.load_profile("kaijin")
