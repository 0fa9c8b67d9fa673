"""Logging: structlog without rich, JSON in service, readable in a terminal.

Never tiles of hands or walls, never credentials.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from controller.log_bounds import LogBounds

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}

_SECRET_KEYS = frozenset({"password", "credentials", "secret", "token", "tiles", "hands", "wall", "walls"})
_LEVEL_MARKS = {"debug": "debug", "info": "info ", "warning": "WARN ", "error": "ERROR", "critical": "CRIT "}


def configure_logging(level: str, form: Literal["auto", "json", "text"], stream: TextIO | None = None) -> None:
    """Send every log line, those of libraries too, to `stream` (standard error): one line each, and never a flood."""
    out: TextIO = sys.stderr if stream is None else stream
    as_text = form == "text" or (form == "auto" and out.isatty())
    bounds = LogBounds()
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        withhold_secrets,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    render: Processor = _render_text if as_text else structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[bounds.processor, *shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render]
        )
    )
    handler.addFilter(bounds.record)
    logging.basicConfig(handlers=[handler], level=max(LEVELS[level], logging.WARNING), force=True)


def withhold_secrets(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Replace what must never be written, should a call ever carry it."""
    for key in _SECRET_KEYS & event.keys():
        event[key] = "withheld"
    return event


def _render_text(logger: WrappedLogger, method: str, event: EventDict) -> str:
    at = str(event.pop("timestamp", ""))[11:23]
    mark = _LEVEL_MARKS.get(str(event.pop("level", "info")), "info ")
    text = event.pop("event", "")
    trace = event.pop("exception", None)
    words = " ".join(f"{key}={_word(value)}" for key, value in event.items())
    return f"{at} {mark} {text}" + (f"  {words}" if words else "") + (f"\n{trace}" if trace else "")


def _word(value: object) -> str:
    text = str(value)
    return repr(text) if " " in text or not text else text
