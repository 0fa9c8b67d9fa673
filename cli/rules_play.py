"""`kaijin rules play`: a hand or a whole match as a text record, replayed and refereed (docs/records.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from engine.record import Record
    from engine.record_declared import DeclaredRecord
    from engine.record_match import MatchRecord


@click.command("play")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--at", type=click.IntRange(min=0), help="Print the state after this event; 0 is the deal.")
@click.option("--verbose", "-v", is_flag=True, help="Every event with what it caused; of a match every payment.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def play(file: str, at: int | None, verbose: bool, as_json: bool) -> None:
    """Replay the record of a hand or a match and referee it: the settlement and its reasons, or the first line that
    the rules do not allow.

    FILE is a record as docs/records.md describes it; - reads standard input. What the record wants is looked at too.
    The exit code is 1 where a line is not allowed or something wanted is not so.
    """
    from engine.record_declared import DeclaredRecord
    from engine.record_file import parse_any
    from engine.record_header import RecordError
    from engine.record_match import MatchRecord

    folder = () if file == "-" else (Path(file).parent,)
    try:
        record = parse_any(_text(file), folder)
    except RecordError as error:
        raise click.ClickException(f"{file}: {error}") from None
    if at is not None and isinstance(record, DeclaredRecord | MatchRecord):
        raise click.UsageError("--at is for the record of a hand that was played tile by tile")
    if isinstance(record, MatchRecord):
        good = _match(record, verbose, as_json)
    elif isinstance(record, DeclaredRecord):
        good = _declared(record, verbose, as_json)
    else:
        good = _played(record, file, at, verbose, as_json)
    if not good:
        sys.exit(1)


def _played(record: Record, file: str, at: int | None, verbose: bool, as_json: bool) -> bool:
    """Tell a hand; whether it is as it should be."""
    from cli.rules_report import plain, report
    from engine.record_replay import replay
    from engine.record_wants import unmet, wants_illegal

    replayed = replay(record)
    missed = unmet(replayed)
    if at is not None and at > len(replayed.steps) and replayed.illegal is None:
        raise click.ClickException(f"{file}: there are {len(replayed.steps)} events; --at {at} is behind them")
    _say(plain(replayed, missed, at, verbose) if as_json else report(replayed, missed, at, verbose))
    return not missed and (replayed.illegal is None or wants_illegal(replayed.record.lines))


def _declared(record: DeclaredRecord, verbose: bool, as_json: bool) -> bool:
    from cli.rules_match import declared_plain, declared_report
    from engine.record_declared import replay_declared, unmet_declared
    from engine.record_wants import wants_illegal

    replayed = replay_declared(record)
    missed = unmet_declared(replayed)
    _say(declared_plain(replayed, missed) if as_json else declared_report(replayed, missed, verbose))
    return not missed and (replayed.illegal is None or wants_illegal(record.lines))


def _match(record: MatchRecord, verbose: bool, as_json: bool) -> bool:
    from cli.rules_match import match_plain, match_report
    from engine.record_match_replay import replay_match

    replayed = replay_match(record)
    _say(match_plain(replayed, verbose) if as_json else match_report(replayed, verbose))
    return not replayed.unmet and replayed.illegal is None


def _say(told: dict[str, Any] | Iterable[str]) -> None:
    if isinstance(told, dict):
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        for line in told:
            click.echo(line)


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode()
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file}: expected a text in UTF-8: {error.reason} at byte {error.start}") from None
