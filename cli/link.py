"""`kaijin link`: speak to a table's hardware over its serial line."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from controller.probe import Probed


@click.group()
def link() -> None:
    """Speak to a table's hardware over its serial line."""


@link.command()
@click.argument("port")
@click.option("--baud", default=115200, show_default=True, type=click.IntRange(1200, 4_000_000))
@click.option(
    "--timeout", default=3.0, show_default=True, type=click.FloatRange(0.2, 60), help="Seconds for each answer."
)
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def probe(port: str, baud: int, timeout: float, as_json: bool) -> None:
    """Shake hands with the board at PORT and tell what it is. Moves nothing.

    PORT is a device such as /dev/kaijin-table, or socket://host:port for a simulator. The daemon must not hold it.
    """
    from controller.lines import host_name
    from controller.probe import ProbeError
    from controller.probe import probe as look
    from controller.serial_port import SerialPortError
    from controller.startup import kaijin_version

    try:
        probed = asyncio.run(look(port, baud, host_name(kaijin_version()), timeout))
    except (ProbeError, SerialPortError) as error:
        raise click.ClickException(str(error)) from None
    except TimeoutError:
        raise click.ClickException(f"{port}: the board answers too slowly") from None
    told = _told(probed)
    click.echo(json.dumps(told, ensure_ascii=False) if as_json else _as_text(port, told))
    if probed.refusal:
        raise click.ClickException(probed.refusal)


def _told(probed: Probed) -> dict[str, Any]:
    from protocol.serial.vocabulary import LEARNED, MOTORS, SIDES

    board = probed.identity
    told: dict[str, Any] = {
        "board": {
            "model": board.model,
            "firmware": board.firmware,
            "serial_number": board.serial_number,
            "protocol": board.protocol,
            "boot_id": f"{board.boot_id:08x}",
            "last_operation": None if board.last_op is None else str(board.last_op),
        },
        "capabilities": asdict(board.capabilities),
        "gear": {"tiles": board.gear_tiles, "stacks": dict(zip(SIDES, board.stacks, strict=True))},
        "stop": board.stop_reason or None,
    }
    if probed.status is not None:
        told["status"] = {
            key: value
            for key, value in asdict(probed.status).items()
            if key not in ("req", "running_op", "stop_reason")
        }
    counters = probed.counters
    if counters is not None:
        told["counters"] = {
            "cycles": counters.cycles,
            "motor_seconds": dict(zip(MOTORS, counters.motor_seconds, strict=True)),
            "learned_ms": dict(zip(LEARNED, counters.learned_ms, strict=True)),
            "frames_in": counters.frames_in,
            "frames_out": counters.frames_out,
            "retransmits": counters.retransmits,
            "bad_frames": counters.bad_frames,
        }
    stats = probed.stats
    told["line"] = {
        "frames_in": stats.frames_in,
        "frames_out": stats.frames_out,
        "retransmits": stats.retransmits,
        "bad_frames": sum(stats.errors.values()),
        "round_trip_ms": None if stats.round_trip is None else round(stats.round_trip * 1000, 2),
    }
    return told


def _as_text(port: str, told: dict[str, Any]) -> str:
    lines = [f"board at {port}"]
    for part, values in told.items():
        if isinstance(values, dict):
            lines.append(f"{part}:")
            lines += [f"  {key:<15} {_word(value)}" for key, value in values.items()]
        else:
            lines.append(f"{part}: {_word(values)}")
    return "\n".join(lines)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_word(item)}" for key, item in value.items())
    return "none" if value is None else str(value)
