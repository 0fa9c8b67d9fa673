"""`kaijin rules play`: a hand as a text record, replayed and refereed (docs/records.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from engine.play import PlayEvent, PlayState
    from engine.reasons import Reason, Transfer
    from engine.record_replay import Illegal, Replay, Step
    from engine.record_wants import Unmet
    from engine.settlement import Settlement

_MELDS = {
    "chi": "chi 吃",
    "pong": "pong 碰",
    "kong_open": "open kong 明杠",
    "kong_added": "added kong 补杠",
    "kong_concealed": "concealed kong 暗杠",
}
_ENDS = {"win": "won", "draw": "drawn 流局: nobody has won", "foul": "void 诈胡"}
_CHINESE, _ENGLISH = 0, 2


@click.command("play")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--at", type=click.IntRange(min=0), help="Print the state after this event; 0 is the deal.")
@click.option("--verbose", "-v", is_flag=True, help="Every event, with what it caused.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def play(file: str, at: int | None, verbose: bool, as_json: bool) -> None:
    """Replay a record of a hand and referee it: the settlement and its reasons, or the first illegal step and its rule.

    FILE is a record as docs/records.md describes it; - reads standard input. What the record wants is looked at too.
    The exit code is 1 where a step is illegal or something wanted is not so.
    """
    from engine.record import RecordError, parse_record
    from engine.record_replay import replay
    from engine.record_wants import unmet, wants_illegal

    folder = () if file == "-" else (Path(file).parent,)
    try:
        replayed = replay(parse_record(_text(file), folder))
    except RecordError as error:
        raise click.ClickException(f"{file}: {error}") from None
    missed = unmet(replayed)
    if at is not None and at > len(replayed.steps) and replayed.illegal is None:
        raise click.ClickException(f"{file}: there are {len(replayed.steps)} events; --at {at} is behind them")
    if as_json:
        click.echo(json.dumps(_plain(replayed, missed, at, verbose), ensure_ascii=False, indent=2))
    else:
        for line in _report(replayed, missed, at, verbose):
            click.echo(line)
    if missed or (replayed.illegal is not None and not wants_illegal(replayed)):
        sys.exit(1)


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode()
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file}: expected a text in UTF-8: {error.reason} at byte {error.start}") from None


def _report(replayed: Replay, missed: tuple[Unmet, ...], at: int | None, verbose: bool) -> Iterator[str]:
    words = _Words()
    if verbose:
        yield from _told_steps(replayed)
    if at is not None and at <= len(replayed.steps):
        state = replayed.steps[at - 1].state if at else replayed.first
        yield f"after event {at}" + (f": {_line(replayed.steps[at - 1])}" if at else ", the deal")
        yield from _told_state(state)
    if replayed.illegal is not None:
        yield _told_illegal(replayed.illegal, words)
    elif at is None:
        yield from _told_end(replayed, words)
    for one in missed:
        yield f"line {one.want.line}: wanted {one.want.kind} {' '.join(one.want.words)}; found {one.found}"


def _told_end(replayed: Replay, words: _Words) -> Iterator[str]:
    state = replayed.last
    if state.outcome is None or replayed.settlement is None:
        yield f"{len(replayed.steps)} events; the hand goes on"
        yield from _told_state(state)
        return
    outcome = state.outcome
    yield f"{len(replayed.steps)} events; the hand is {_ENDS[outcome.kind]}"
    for win in outcome.winners:
        tile = f" with {win.tile}" if win.tile else ""
        source = f" of {win.source}" if win.source else ""
        kong = ", after a kong" if win.after_kong else ""
        yield f"{win.seat} wins: {words.way(win.way)}{tile}{source}{kong}"
    if outcome.foul is not None:
        yield f"{outcome.foul.seat} laid open a false win, {outcome.foul.kind}"
    yield from _told_state(state)
    yield from _told_settlement(replayed.settlement, words)


def _told_settlement(settlement: Settlement, words: _Words) -> Iterator[str]:
    for line in settlement.transfers:
        yield _told_transfer(line)
        for reason in line.why:
            yield f"    {_sign(reason):>6}  {words.why(reason)}"
    for name, told in (("points", settlement.net), ("bonus 课外", settlement.bonus)):
        if name == "points" or any(told.values()):
            yield f"{name}: " + "  ".join(f"{seat} {number:+d}" for seat, number in told.items())
    dealer, steps = settlement.next
    yield f"next dealer {dealer}" + (f", whose base has grown {steps} times" if steps else "")


def _told_transfer(line: Transfer) -> str:
    return f"{line.payer} pays {line.receiver} {line.amount}" + (" bonus 课外" if line.account == "bonus" else "")


def _sign(reason: Reason) -> str:
    signs = {"add": f"{reason.number:+d}", "times": f"× {reason.number}", "limit": f"≤ {reason.number}"}
    return signs.get(reason.act, "")


def _told_illegal(illegal: Illegal, words: _Words) -> str:
    from engine.record_lines import write_line

    params = ", ".join(f"{name} {_value(value)}" for name, value in illegal.params.items())
    why = words.refused(illegal) + (f" ({params})" if params else "")
    return f"line {illegal.line.line}: {write_line(illegal.line)}: refused by {illegal.rule}: {why}"


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _told_steps(replayed: Replay) -> Iterator[str]:
    for event in replayed.events:
        yield f"       {_told_event(event)}"
    for number, step in enumerate(replayed.steps, 1):
        yield f"{number:>5}  {_line(step)}" + ("   (the window closes first)" if step.closed else "")
        for event in step.events:
            yield f"         {_told_event(event)}"


def _told_event(event: PlayEvent) -> str:
    from engine.play import encode_play_event

    body = encode_play_event(event)
    kind = body.pop("type")
    fields = (f"{name}={_value(value)}" for name, value in body.items() if value not in ("", [], False))
    return " ".join((f"→ {kind}", *fields))


def _line(step: Step) -> str:
    from engine.record_lines import write_line

    return write_line(step.line)


def _told_state(state: PlayState) -> Iterator[str]:
    from engine.play import held
    from engine.tiles import SEATS, format_tiles, join_tiles

    gold = state.deal.gold or "none"
    about = {"window": f", {state.tile} of {state.source} may be claimed", "rob": f", {state.tile} of {state.source}"}
    turn = f", turn {state.turn}" if state.turn and state.phase in ("turn", "lap", "flower") else ""
    tour = f", tour of {state.tour.owner} at level {state.tour.level}" if state.tour is not None else ""
    yield f"phase {state.phase}{turn}{about.get(state.phase, '')}{tour}; gold {gold}; {len(state.left)} tiles left"
    shown = held(state)
    for name in SEATS:
        seat = state.seats[name]
        parts = [f"{name}{'*' if name == state.deal.dealer else ' '} {format_tiles(shown[name].concealed)}"]
        parts += [f"{_MELDS[meld.kind]} {format_tiles(meld.tiles)}" for meld in seat.melds]
        parts += [f"flowers 花 {format_tiles(seat.flowers)}"] if seat.flowers else []
        parts += [f"put away {join_tiles(seat.aside)}"] if seat.aside else []
        parts += ["youjin-ready 游金"] if seat.ready else []
        parts += ["locked 打金"] if seat.locked else []
        parts += [f"out of the hand 盖牌: {seat.covered}"] if seat.covered else []
        yield "  ".join(parts)
        own = [discard for discard in state.discards if discard.seat == name]
        thrown = [one.tile + ("" if one.how == "open" else f"({one.how})") for one in own]
        if thrown:
            yield f"     discards {' '.join(thrown)}"


def _plain(replayed: Replay, missed: tuple[Unmet, ...], at: int | None, verbose: bool) -> dict[str, Any]:
    from engine.play import encode_play_event
    from engine.record_lines import write_line

    state = replayed.last
    if at is not None and at <= len(replayed.steps):
        state = replayed.steps[at - 1].state if at else replayed.first
    told: dict[str, Any] = {"rules": replayed.record.rules, "events": len(replayed.steps), "state": _plain_state(state)}
    if verbose:
        told["steps"] = [
            {
                "number": number,
                "line": step.line.line,
                "text": _line(step),
                "events": [encode_play_event(event) for event in step.events],
            }
            for number, step in enumerate(replayed.steps, 1)
        ]
    illegal = replayed.illegal
    told["illegal"] = illegal and {
        "line": illegal.line.line,
        "text": write_line(illegal.line),
        "code": illegal.code,
        "rule": illegal.rule,
        "params": dict(illegal.params),
    }
    told["settlement"] = replayed.settlement and replayed.settlement.plain()
    told["unmet"] = [
        {"line": one.want.line, "wanted": " ".join((one.want.kind, *one.want.words)), "found": one.found}
        for one in missed
    ]
    return told


def _plain_state(state: PlayState) -> dict[str, Any]:
    from engine.play import asked, held
    from engine.tiles import format_tiles

    shown = held(state)
    return {
        "phase": state.phase,
        "turn": state.turn or None,
        "asked": list(asked(state)),
        "gold": state.deal.gold,
        "left": len(state.left),
        "seats": {
            name: {
                "hand": format_tiles(shown[name].concealed),
                "melds": [{"kind": meld.kind, "tiles": format_tiles(meld.tiles)} for meld in seat.melds],
                "flowers": format_tiles(seat.flowers),
                "discards": [discard.tile for discard in state.discards if discard.seat == name],
                "ready": seat.ready,
                "locked": seat.locked,
                "covered": seat.covered or None,
            }
            for name, seat in state.seats.items()
        },
        "outcome": state.outcome and {
            "kind": state.outcome.kind,
            "winners": [
                {"seat": win.seat, "way": win.way, "tile": win.tile, "from": win.source, "after_kong": win.after_kong}
                for win in state.outcome.winners
            ],
            "covered": list(state.outcome.covered),
            "pays_all": state.outcome.pays_all,
            "foul": state.outcome.foul and {"seat": state.outcome.foul.seat, "kind": state.outcome.foul.kind},
        },
    }


class _Words:
    """The words of ways, reasons and refusals, English with the Chinese term, from the displays' catalogue."""

    def __init__(self) -> None:
        text = files("displays").joinpath("catalogue.json").read_text(encoding="utf-8")
        self._lines: Mapping[str, list[str]] = json.loads(text)

    def way(self, way: str) -> str:
        """`Youjin 游金`."""
        english, chinese = self._both(f"way.{way}", way, {})
        return english if english == chinese else f"{english} {chinese}"

    def why(self, reason: Reason) -> str:
        """A reason in words, its seat and way in theirs."""
        parts: dict[str, object] = {"number": reason.number, **reason.params}
        told = []
        for language in (_ENGLISH, _CHINESE):
            filled = dict(parts)
            if "way" in parts:
                filled["way"] = self._lines.get(f"way.{parts['way']}", [str(parts["way"])] * 3)[language]
            told.append(self._say(f"why.{reason.code}", reason.code, filled, language))
        return f"{told[0]} [{told[1]}]"

    def refused(self, illegal: Illegal) -> str:
        """Why a line is refused, and its code."""
        own = _OWN_REFUSALS.get(illegal.code)
        english, _ = (own, "") if own else self._both(f"refused.{illegal.code}", illegal.code, illegal.params)
        return english if english == illegal.code else f"{english} [{illegal.code}]"

    def _both(self, key: str, other: str, parts: Mapping[str, object]) -> tuple[str, str]:
        return self._say(key, other, parts, _ENGLISH), self._say(key, other, parts, _CHINESE)

    def _say(self, key: str, other: str, parts: Mapping[str, object], language: int) -> str:
        line = self._lines.get(key)
        if line is None:
            return other
        text = line[language]
        for name, value in parts.items():
            text = text.replace("{" + name + "}", _value(value))
        return text


_OWN_REFUSALS = {
    "no_window": "no window is open that could close",
    "no_draw": "nobody draws here",
    "draw_differs": "the wall gives another tile, or to another seat",
    "other_tile": "another tile lies there to be claimed",
}
"""What a record can be wrong in beside the rules."""
