"""Fixtures for tests with a whole daemon."""

from __future__ import annotations

from tests.controller.daemons import board, broker, ear, running, settings

__all__ = ["board", "broker", "ear", "running", "settings"]
