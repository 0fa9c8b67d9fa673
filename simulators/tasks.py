"""Ending tasks for good, and quietly."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import aiomqtt

AGAIN_S = 0.1


async def cancel_all(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended, whatever they raise.

    Once is not enough: `asyncio.wait_for`, which the MQTT client uses, loses a cancellation that comes in the same
    moment as its result (CPython before 3.12).
    """
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)


def without_client_noise(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A loop's exception handler for the end: an MQTT client stopped in mid-sentence complains, which is no news."""
    if not isinstance(context.get("exception"), OSError | asyncio.CancelledError | aiomqtt.MqttError):
        loop.default_exception_handler(context)
