"""A replayed hand for people and as JSON: how it ended, every payment with its reasons, or where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cli.rules_words import Words, value

if TYPE_CHECKING:
    from engine.outcome import Outcome
    from engine.play import PlayEvent, PlayState
    from engine.reasons import Reason, Transfer
    from engine.record_lines import NotAllowed
    from engine.record_replay import Replay, Step
    from engine.record_wants import Unmet
    from engine.settlement import Settlement

MELDS = {
    "chi": "chi 吃",
    "pong": "pong 碰",
    "kong_open": "open kong 明杠",
    "kong_added": "added kong 补杠",
    "kong_concealed": "concealed kong 暗杠",
}
ENDS = {"win": "won", "draw": "drawn 流局: nobody has won", "foul": "void 诈胡"}


def report(replayed: Replay, missed: tuple[Unmet, ...], at: int | None, verbose: bool) -> Iterator[str]:
    """The lines that tell a played hand, or its state after an event."""
    from engine.record_replay import why_not

    words = Words()
    if verbose:
        yield from _told_steps(replayed)
    if at is not None and at <= len(replayed.steps):
        state = replayed.steps[at - 1].state if at else replayed.first
        yield f"after event {at}" + (f": {_line(replayed.steps[at - 1])}" if at else ", the deal")
        yield from _told_state(state)
    stopped = why_not(replayed)
    if stopped is not None:
        yield told_not_allowed(stopped, words)
    elif at is None:
        yield from _told_end(replayed, words)
    yield from told_unmet(missed)


def told_unmet(missed: tuple[Unmet, ...]) -> Iterator[str]:
    """What is wanted and not so."""
    for one in missed:
        yield f"line {one.want.line}: wanted {one.want.kind} {' '.join(one.want.words)}; found {one.found}"


def _told_end(replayed: Replay, words: Words) -> Iterator[str]:
    state = replayed.last
    if state.outcome is None or replayed.settlement is None:
        yield f"{len(replayed.steps)} events; the hand goes on"
        yield from _told_state(state)
        return
    yield f"{len(replayed.steps)} events; the hand is {ENDS[state.outcome.kind]}"
    yield from told_outcome(state.outcome, words)
    yield from _told_state(state)
    yield from told_settlement(replayed.settlement, words)


def told_outcome(outcome: Outcome, words: Words) -> Iterator[str]:
    """Who won, or laid open a false win."""
    for win in outcome.winners:
        tile = f" with {win.tile}" if win.tile else ""
        source = f" of {win.source}" if win.source else ""
        kong = ", after a kong" if win.after_kong else ""
        yield f"{win.seat} wins: {words.way(win.way)}{tile}{source}{kong}"
    if outcome.foul is not None:
        yield f"{outcome.foul.seat} laid open a false win, {outcome.foul.kind}"


def told_settlement(settlement: Settlement, words: Words) -> Iterator[str]:
    """Every payment with its reasons, the sums, and who deals next."""
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


def told_not_allowed(stopped: NotAllowed, words: Words) -> str:
    """The first line that cannot be, and why."""
    params = ", ".join(f"{name} {value(told)}" for name, told in stopped.params.items())
    why = words.refused(stopped.code, stopped.params) + (f" ({params})" if params else "")
    return f"line {stopped.line}: {stopped.text}: refused by {stopped.rule}: {why}"


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
    fields = (f"{name}={value(told)}" for name, told in body.items() if told not in ("", [], False))
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
        parts += [f"{MELDS[meld.kind]} {format_tiles(meld.tiles)}" for meld in seat.melds]
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


def plain(replayed: Replay, missed: tuple[Unmet, ...], at: int | None, verbose: bool) -> dict[str, Any]:
    """A played hand as JSON data, its state after an event where that is asked for."""
    from engine.play import encode_play_event
    from engine.record_replay import why_not

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
    told["illegal"] = plain_not_allowed(why_not(replayed))
    told["settlement"] = replayed.settlement and replayed.settlement.plain()
    told["unmet"] = plain_unmet(missed)
    return told


def plain_not_allowed(stopped: NotAllowed | None) -> dict[str, Any] | None:
    """The first line that cannot be, as JSON data."""
    if stopped is None:
        return None
    return {
        "line": stopped.line,
        "text": stopped.text,
        "code": stopped.code,
        "rule": stopped.rule,
        "params": dict(stopped.params),
    }


def plain_unmet(missed: tuple[Unmet, ...]) -> list[dict[str, Any]]:
    """What is wanted and not so, as JSON data."""
    return [
        {"line": one.want.line, "wanted": " ".join((one.want.kind, *one.want.words)), "found": one.found}
        for one in missed
    ]


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
        "outcome": state.outcome and plain_outcome(state.outcome),
    }


def plain_outcome(outcome: Outcome) -> dict[str, Any]:
    """How a hand ended, as JSON data."""
    return {
        "kind": outcome.kind,
        "winners": [
            {"seat": win.seat, "way": win.way, "tile": win.tile, "from": win.source, "after_kong": win.after_kong}
            for win in outcome.winners
        ],
        "covered": list(outcome.covered),
        "pays_all": outcome.pays_all,
        "foul": outcome.foul and {"seat": outcome.foul.seat, "kind": outcome.foul.kind},
    }
