"""The daemon of one table: journal, hardware driver, broker session, views for each audience, supervision."""

import sys
from typing import Any, cast


def _import_structlog_without_rich() -> None:
    """structlog loads `rich` wherever it is installed, for colours that a daemon never shows: 13 MB and 0.2 s."""
    modules = cast(dict[str, Any], sys.modules)
    if "structlog" in modules or "rich" in modules:
        return
    modules["rich"] = None
    try:
        import structlog  # noqa: F401 - imported here once so that everybody finds it loaded
    finally:
        del modules["rich"]


_import_structlog_without_rich()
