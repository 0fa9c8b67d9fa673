"""`kaijin link`: speak to a table's hardware over its serial line."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict
from pathlib import Path
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
@click.option("--record", type=click.Path(path_type=Path, file_okay=False), help="Record the line in this folder.")
@click.option("--dialect", type=click.Choice(["example"]), help="The board speaks this dialect (docs/dialects.md).")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def probe(port: str, baud: int, timeout: float, record: Path | None, dialect: str | None, as_json: bool) -> None:
    """Shake hands with the board at PORT and tell what it is. Moves nothing.

    PORT is a device such as /dev/kaijin-table, or socket://host:port for a simulator. The daemon must not hold it.
    """
    from controller.adapters import opener_for
    from controller.lines import host_name
    from controller.probe import ProbeError
    from controller.probe import probe as look
    from controller.recording.start import recorder_for_probe
    from controller.serial_port import SerialPortError
    from controller.startup import kaijin_version

    try:
        if record is None:
            probed = asyncio.run(look(port, baud, host_name(kaijin_version()), timeout, opener_for(dialect or "")))
        else:
            recorder, opener = recorder_for_probe(record, port, time.monotonic, opener_for(dialect or ""))
            try:
                probed = asyncio.run(look(port, baud, host_name(kaijin_version()), timeout, opener))
            finally:
                recorder.close()
    except (ProbeError, SerialPortError) as error:
        raise click.ClickException(str(error)) from None
    except TimeoutError:
        raise click.ClickException(f"{port}: the board answers too slowly") from None
    told = _told(probed)
    click.echo(json.dumps(told, ensure_ascii=False) if as_json else _as_text(port, told))
    if probed.refusal:
        raise click.ClickException(probed.refusal)


@link.command()
@click.option("--config", type=click.Path(path_type=Path), required=True, help="The running table's settings.")
@click.option("--seconds", default=10, show_default=True, type=click.IntRange(0, 600), help="So many one by one.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def stats(config: Path, seconds: int, as_json: bool) -> None:
    """Show how the lines of a running table are and have been, second by second. Asks the daemon; moves nothing."""
    from controller.settings import SettingsError, load_settings

    try:
        listen = load_settings(config).health.listen
    except SettingsError as error:
        raise click.ClickException(str(error)) from None
    if not listen:
        raise click.ClickException("[health] listen is empty in these settings: the daemon tells nobody how it is")
    told = _ask_daemon(listen)
    for line in told["links"]:
        line["each_second"] = line["each_second"][-seconds:] if seconds else []
    click.echo(json.dumps(told, ensure_ascii=False) if as_json else "\n".join(map(_line_as_text, told["links"])))


def _ask_daemon(listen: str) -> dict[str, Any]:
    import urllib.request

    try:
        with urllib.request.urlopen(f"http://{listen}/links", timeout=5) as answer:
            told: dict[str, Any] = json.load(answer)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{listen}: the daemon does not answer ({error}); is it running?") from None
    return told


def _line_as_text(line: dict[str, Any]) -> str:
    lately, trip = line["lately"], line["lately"]["round_trip_ms"]
    lines = [f"{line['port']}: {line['state']}{', ' + line['trouble'] if line['trouble'] else ''}"]
    lines.append(
        f"  last {lately['seconds']} s: up for {lately['seconds_up']}, {lately['retransmits']} sent again, "
        f"{lately['bad_frames']} bad frames, {lately['losses']} sessions lost"
    )
    if trip["median"] is not None:
        lines.append(f"  round trip: median {trip['median']} ms, p99 {trip['p99']} ms, worst {trip['worst']} ms")
    since = line["since_start"]
    counts = {name: value for name, value in since.items() if isinstance(value, int) and value}
    lines.append("  since the start: " + ", ".join(f"{name} {value}" for name, value in counts.items()))
    bad = {kind: count for kind, count in since["errors"].items() if count}
    if bad:
        lines.append("  bad frames: " + ", ".join(f"{kind} {count}" for kind, count in bad.items()))
    for second in line["each_second"]:
        lines.append(
            f"  {second['at']:12.1f} {'up  ' if second['up'] else 'down'} in {second.get('frames_in', 0):4}"
            f" out {second.get('frames_out', 0):4} again {second.get('retransmits', 0):3}"
            f" bad {sum(second.get('bad', {}).values()):3} rtt {second['round_trip_ms'] or '-'} ms"
        )
    return "\n".join(lines)


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
        "errors": {kind: count for kind, count in stats.errors.items() if count} or None,
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
