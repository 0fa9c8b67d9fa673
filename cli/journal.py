"""`kaijin journal`: read a table's journal, the hand in play kept secret, and its hands and matches as records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from controller.journal import StoredEvent
    from controller.mending import ShownTime


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
    from controller.mending import NOTED, read_zeros
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
    zeros = read_zeros(meta.get(NOTED, ""))
    for line in _lines(events, hand, as_json, zeros, lambda event: redacted(event, finished)):
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


@journal.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--config", type=click.Path(path_type=Path), help="Take the journal of these settings (table.toml).")
@click.option("--waiting", is_flag=True, help="Only rows that the hub has not acknowledged.")
@click.option("--json", "form", flag_value="json", help="One JSON object a line, with the row as it was said.")
@click.option("--csv", "form", flag_value="csv", help="A sheet.")
def ledger(path: Path | None, config: Path | None, waiting: bool, form: str | None) -> None:
    """Show the ledger in the journal at PATH: sessions, matches, booked hands; the daemon may be running.

    A `*` marks what the parlor's hub has not acknowledged, a `?` a time stamped before the clock was set.
    """
    from cli import journal_ledger as ledgers

    rows = ledgers.read(_which(path, config), waiting)
    if form == "csv":
        click.echo(ledgers.as_csv(rows), nl=False)
        return
    for line in ledgers.as_json(rows) if form == "json" else ledgers.as_text(rows):
        click.echo(line)


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


def _lines(
    events: list[StoredEvent], hand: int | None, as_json: bool, zeros: Mapping[int, int], shown: Any
) -> Iterator[str]:
    from controller.mending import shown as shown_time

    for event in events:
        if hand is not None and event.hand != hand:
            continue
        body = shown(event)
        if as_json:
            stamp = event.stamp
            time = shown_time(stamp, event.epoch, zeros)
            yield json.dumps(
                {
                    "n": event.n, "hand": event.hand, "epoch": event.epoch, "ts": time.ts, "clock": time.clock,
                    "mono_ms": stamp.mono_ms, "type": event.type, "body": body,
                },
                ensure_ascii=False,
            )  # fmt: skip
        else:
            at = _at(shown_time(event.stamp, event.epoch, zeros))
            yield f"{event.n:6} {at} hand {event.hand:<4} {event.type:<16} {_words(body)}".rstrip()


def _at(time: ShownTime) -> str:
    """UTC; `?` behind a time that is not known, `~` behind one that was put right afterwards."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromtimestamp(time.ts / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{time.ts} ms?"  # A spoilt stamp is shown as it stands.
    mark = {"synced": "", "mended": "~"}.get(time.clock, "?")
    return f"{moment:%Y-%m-%d %H:%M:%S}.{time.ts % 1000:03}Z{mark}"


def _words(body: dict[str, Any]) -> str:
    return " ".join(f"{key}={_word(value)}" for key, value in body.items())


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value or "-"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
