"""What a record wants to be so, looked at where it stands: the state, what a seat may do, the settlement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.chain import Refused
from engine.hands import waits
from engine.outcome import Outcome
from engine.play import PlayState, decide, faults, held, options
from engine.record_lines import Want, by_seat, some_tiles
from engine.record_replay import Replay
from engine.settlement import Settlement
from engine.tiles import format_tiles


@dataclass(frozen=True, slots=True)
class Unmet:
    """A want that does not hold, and what is so instead."""

    want: Want
    found: str


def unmet(replayed: Replay) -> tuple[Unmet, ...]:
    """The wants of a record that do not hold, in their order; those behind an illegal line but `illegal` do not."""
    return tuple(_unmet(replayed))


def wants_illegal(lines: Iterable[object]) -> bool:
    """Whether a record's lines say themselves that the last of them is not allowed."""
    return any(isinstance(line, Want) and line.kind == "illegal" for line in lines)


def _unmet(replayed: Replay) -> Iterator[Unmet]:
    states = iter(replayed.steps)
    state: PlayState | None = replayed.first
    for line in replayed.record.lines:
        if not isinstance(line, Want):
            step = next(states, None)
            state = None if step is None else step.state
            continue
        found = _found(replayed, line, state)
        if found is not None:
            yield Unmet(line, found)


def _found(replayed: Replay, want: Want, state: PlayState | None) -> str | None:
    """None when the want holds, else what is so."""
    if want.kind == "illegal":
        illegal = replayed.illegal
        if illegal is None:
            return "every line is allowed"
        return None if [illegal.rule] == [*want.words] else f"refused by {illegal.rule}, {illegal.code}"
    if state is None:
        return "the record stops before"
    if want.kind in _STATE:
        return _STATE[want.kind](state, want)
    if state.outcome is None:
        return f"the hand is not over: {state.phase}"
    assert replayed.settlement is not None
    return of_the_end(want, state.outcome, replayed.settlement)


def of_the_end(want: Want, outcome: Outcome, settlement: Settlement) -> str | None:
    """A want about the end of a hand or its points: None when it holds, else what is so."""
    if want.kind in _OUTCOME:
        return _OUTCOME[want.kind](outcome, want)
    return _SETTLEMENT[want.kind](settlement, want)


def _same(want: Want, *found: object) -> str | None:
    words = tuple(str(one) for one in found)
    return None if words == want.words else " ".join(words)


def _tiles(want: Want, found: tuple[str, ...]) -> str | None:
    same = Counter(some_tiles(want.words[1])) == Counter(found)
    return None if same else f"{want.words[0]} {format_tiles(found) or '-'}"


def _melds(state: PlayState, want: Want) -> str | None:
    found = [(meld.kind, format_tiles(meld.tiles)) for meld in state.seats[want.words[0]].melds]
    wanted = [(kind, format_tiles(some_tiles(tiles))) for kind, tiles in zip(*[iter(want.words[1:])] * 2, strict=True)]
    return None if found == wanted else " ".join((want.words[0], *(word for meld in found for word in meld))) or "none"


def _waits(state: PlayState, want: Want) -> str | None:
    hand = state.seats[want.words[0]].hand
    if len(hand) % 3 != 1:
        return f"{want.words[0]} is to discard"
    return _tiles(want, waits(state.deal.rules, state.deal.gold, hand))


def _may(state: PlayState, want: Want) -> str | None:
    assert want.move is not None
    return None if want.move.action in options(state, want.move.seat) else _refusal(state, want)


def _fault(state: PlayState, want: Want) -> str | None:
    assert want.move is not None
    return None if want.move.action in faults(state, want.move.seat) else _refusal(state, want)


def _refused(state: PlayState, want: Want) -> str | None:
    found = _refusal(state, want)
    return None if found.startswith(f"refused by {want.words[0]},") else found


def _refusal(state: PlayState, want: Want) -> str:
    assert want.move is not None
    try:
        decide(state, want.move.seat, want.move.action)
    except Refused as refused:
        return f"refused by {refused.rule}, {refused.code}"
    return "carried out as a fault" if want.move.action in faults(state, want.move.seat) else "allowed"


def _tour(state: PlayState, want: Want) -> str | None:
    return "no tour" if state.tour is None else _same(want, state.tour.owner, state.tour.level)


def _covered(state: PlayState, want: Want) -> str | None:
    seat = want.words[0]
    return _same(want, seat, state.seats[seat].covered or "in the hand")


def _ready(state: PlayState, want: Want) -> str | None:
    return _same(want, want.words[0], "yes" if state.seats[want.words[0]].ready else "no")


def _win(outcome: Outcome, want: Want) -> str | None:
    told = []
    for win in outcome.winners:
        words = [win.seat, win.way, *([win.tile] if win.tile else []), *(["from", win.source] if win.source else [])]
        told.append((*words, *(["after_kong"] if win.after_kong else [])))
    return None if want.words in told else "; ".join(" ".join(words) for words in told) or outcome.kind


def _foul(outcome: Outcome, want: Want) -> str | None:
    foul = outcome.foul
    return outcome.kind if foul is None else _same(want, foul.seat, foul.kind, *foul.ready)


def _numbers(found: Mapping[str, int], want: Want) -> str | None:
    wanted = by_seat(want.words) or {}
    same = all(found[seat] == wanted.get(seat, 0) for seat in found)
    return None if same else " ".join(f"{seat} {number}" for seat, number in found.items())


def _pays(settlement: Settlement, want: Want) -> str | None:
    payer, receiver, amount, *account = want.words
    named = "bonus" if account else "net"
    found = sum(
        line.amount
        for line in settlement.transfers
        if (line.payer, line.receiver, line.account) == (payer, receiver, named)
    )
    return None if found == int(amount) else f"{payer} {receiver} {found}"


def _why(settlement: Settlement, want: Want) -> str | None:
    payer, receiver, code, number = want.words
    why = [
        (reason.code, reason.number)
        for line in settlement.transfers
        if (line.payer, line.receiver) == (payer, receiver)
        for reason in line.why
    ]
    return None if (code, int(number)) in why else ", ".join(f"{name} {value}" for name, value in why) or "no payment"


_STATE: Mapping[str, Callable[[PlayState, Want], str | None]] = {
    "phase": lambda state, want: _same(want, state.phase),
    "turn": lambda state, want: _same(want, state.turn),
    "tour": _tour,
    "left": lambda state, want: _same(want, len(state.left)),
    "hand": lambda state, want: _tiles(want, _concealed(state, want.words[0])),
    "melds": _melds,
    "flowers": lambda state, want: _tiles(want, state.seats[want.words[0]].flowers),
    "waits": _waits,
    "ready": _ready,
    "may": _may,
    "fault": _fault,
    "refused": _refused,
    "covered": _covered,
    "followed": lambda state, want: _same(want, state.followed),
}

_OUTCOME: Mapping[str, Callable[[Outcome, Want], str | None]] = {
    "end": lambda outcome, want: _same(want, outcome.kind),
    "win": _win,
    "foul": _foul,
    "pays_all": lambda outcome, want: _same(want, outcome.pays_all or "nobody"),
}

_SETTLEMENT: Mapping[str, Callable[[Settlement, Want], str | None]] = {
    "net": lambda settlement, want: _numbers(settlement.net, want),
    "bonus": lambda settlement, want: _numbers(settlement.bonus, want),
    "next": lambda settlement, want: _same(want, *settlement.next),
    "pays": _pays,
    "why": _why,
}


def _concealed(state: PlayState, seat: str) -> tuple[str, ...]:
    """A winner's tiles with the winning one when the hand is over."""
    return held(state)[seat].concealed if state.outcome is not None else state.seats[seat].hand
