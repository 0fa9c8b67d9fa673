"""`kaijin journal`: read a table's journal, the hand in play kept secret, and its hands and matches as records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from controller.journal import StoredEvent


@click.group()
def journal() -> None:
    """Show the journal of a table, or export what was played."""


@journal.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--config", type=click.Path(path_type=Path), help="Take the journal of these settings (table.toml).")
@click.option("--hand", type=click.IntRange(min=0), help="Only the events of this hand.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def show(path: Path | None, config: Path | None, hand: int | None, as_json: bool) -> None:
    """Show the events of the journal at PATH, oldest first; the daemon may be running.

    Hands, walls, draws and claims of a hand that is not over are withheld.
    """
    from controller.journal import JournalError, read_events, read_meta
    from controller.redaction import finished_hands, redacted

    file = _which(path, config)
    try:
        meta = read_meta(file)
        events = list(read_events(file))
    except JournalError as error:
        raise click.ClickException(str(error)) from None
    finished = finished_hands(events)
    if not as_json:
        click.echo(f"journal {meta.get('journal_id', '?')}, epoch {meta.get('epoch', '0')}, {len(events)} events")
    for line in _lines(events, hand, as_json, lambda event: redacted(event, finished)):
        click.echo(line)


@journal.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--config", type=click.Path(path_type=Path), help="Take the journal of these settings (table.toml).")
@click.option("--match", type=click.IntRange(min=1), help="Of this match of the evening.")
@click.option("--hand", type=click.IntRange(min=1), help="Only this hand of the match.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write files into this folder.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def export(
    path: Path | None, config: Path | None, match: int | None, hand: int | None, out: Path | None, as_json: bool
) -> None:
    """Write the matches and hands of the journal at PATH as records for `kaijin rules play`; the daemon may be running.

    One match, or one hand with --hand, goes to standard output; with --out every match and every hand becomes a file.
    """
    from cli import journal_export as exports
    from engine.record_match import write_match

    evening = exports.read_evening(_which(path, config))
    if out is not None:
        written = exports.write_files(evening, out, match, hand)
        for file in written:
            click.echo(json.dumps({"file": str(file)}, ensure_ascii=False) if as_json else str(file))
        if not written:
            raise click.ClickException("no match has begun")
    elif as_json:
        for line in exports.plain(evening, match, hand):
            click.echo(line)
    elif hand is not None:
        click.echo(exports.standing_hand(exports.chosen_hands(evening, match, hand)).text, nl=False)
    else:
        click.echo(write_match(exports.only_match(evening, match)), nl=False)


def _which(path: Path | None, config: Path | None) -> Path:
    if (path is None) == (config is None):
        raise click.UsageError("give either the PATH of a journal or --config")
    if path is not None:
        return path
    from controller.settings import SettingsError, load_settings

    assert config is not None
    try:
        return load_settings(config).journal.path
    except SettingsError as error:
        raise click.ClickException(str(error)) from None


def _lines(events: list[StoredEvent], hand: int | None, as_json: bool, shown: Any) -> Iterator[str]:
    for event in events:
        if hand is not None and event.hand != hand:
            continue
        body = shown(event)
        if as_json:
            stamp = event.stamp
            yield json.dumps(
                {
                    "n": event.n, "hand": event.hand, "epoch": event.epoch, "ts": stamp.ts, "clock": stamp.clock,
                    "mono_ms": stamp.mono_ms, "type": event.type, "body": body,
                },
                ensure_ascii=False,
            )  # fmt: skip
        else:
            yield f"{event.n:6} {_at(event)} hand {event.hand:<4} {event.type:<16} {_words(body)}".rstrip()


def _at(event: StoredEvent) -> str:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(event.stamp.ts / 1000, UTC)
    mark = "" if event.stamp.clock == "synced" else "?"
    return f"{moment:%Y-%m-%d %H:%M:%S}.{event.stamp.ts % 1000:03}Z{mark}"


def _words(body: dict[str, Any]) -> str:
    return " ".join(f"{key}={_word(value)}" for key, value in body.items())


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value or "-"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
