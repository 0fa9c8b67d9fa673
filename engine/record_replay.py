"""A record replayed and refereed: the state after every line, the first illegal step, the settlement; and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from engine.chain import Refused
from engine.play import Action, PlayEvent, PlayState, apply, begin_events, decide, decide_clock, fold, hand_end, options
from engine.play import events as e
from engine.play.actions import UNDRAWN
from engine.record import Record
from engine.record_lines import CLOSE, OPEN, Clock, Drawn, Line, Move, NotAllowed, Want, write_line
from engine.settlement import Settlement, settle_outcome

WINDOWS: tuple[str, ...] = ("opening", "window", "rob")
_ANSWERS: tuple[str, ...] = ("pass", "chi", "pong", "kong_open", "hu", "cover", "expose_false")

Entry: TypeAlias = tuple[str, Action] | None
"""What somebody did in play: a seat and its action, or None for a window whose time is over."""


@dataclass(frozen=True, slots=True)
class Step:
    """One line carried out: the events it caused and the state after them; `closed` when it closed a window first."""

    line: Line
    events: tuple[PlayEvent, ...]
    state: PlayState
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Illegal:
    """The first line that the rules or the wall do not allow: a code that displays word, the rule, parameters."""

    line: Line
    code: str
    rule: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Replay:
    """A record carried out: the state it begins with, a step for each line that does something, and what came of it.

    `last` is the state at the end; `ended_by_closing`: the end of the record closed a window for it. `settlement` is
    None unless the hand is over.
    """

    record: Record
    first: PlayState
    events: tuple[PlayEvent, ...]
    steps: tuple[Step, ...]
    last: PlayState
    ended_by_closing: bool
    illegal: Illegal | None
    settlement: Settlement | None


class _Stop(Exception):
    """A line that cannot be carried out."""

    def __init__(self, code: str, rule: str, **params: Any) -> None:
        super().__init__(code)
        self.code, self.rule, self.params = code, rule, params


class _Player:
    """The hand as far as it is replayed; `due` are draws that have happened and no line has told yet."""

    def __init__(self, record: Record) -> None:
        self.begun = begin_events(record.deal)
        self.state = fold(record.deal, self.begun)
        self.due = _draws(self.begun)
        self.gate: PlayState | None = None
        """The state before the first draw of the last happening, where somebody was to draw; None else."""

    def carry_out(self, line: Line) -> Step:
        """One line that does something."""
        if isinstance(line, Drawn):
            return self._drawn(line)
        if isinstance(line, Clock):
            if line.name == OPEN:
                return self._still_open(line)
            if self.state.phase not in WINDOWS:
                raise _Stop("no_window", "R13", phase=self.state.phase)
            return Step(line, self.close(), self.state)
        assert isinstance(line, Move)
        return self._move(line)

    def close(self) -> tuple[PlayEvent, ...]:
        """The open window's time is over."""
        return self._happen(decide_clock(self.state))

    def _drawn(self, line: Drawn) -> Step:
        closed = not self.due and self.state.phase in WINDOWS
        events = self.close() if closed else ()
        if not self.due:
            raise _Stop("no_draw", "R13", seat=line.seat, tile=line.tile)
        drawn = self.due.pop(0)
        if (drawn.seat, drawn.tile, drawn.end) != (line.seat, line.tile, line.end):
            raise _Stop("draw_differs", "R13", seat=drawn.seat, tile=drawn.tile, end=drawn.end)
        return Step(line, events, self.state, closed)

    def _still_open(self, line: Clock) -> Step:
        if self.state.phase not in WINDOWS:
            raise _Stop("no_window", "R13", phase=self.state.phase)
        return Step(line, (), self.state)

    def _move(self, line: Move) -> Step:
        if line.action.kind == UNDRAWN:
            if self.gate is None:
                raise _Stop("drawn_already", "R39")
            self.state = self.gate
        closed = self._closes_first(line)
        events = self.close() if closed else ()
        if line.takes and line.takes != self.state.tile:
            raise _Stop("other_tile", "R13", tile=line.takes, lies=self.state.tile)
        try:
            events += self._happen(decide(self.state, line.seat, line.action))
        except Refused as refused:
            raise _Stop(refused.code, refused.rule, **refused.params) from refused
        return Step(line, events, self.state, closed)

    def _closes_first(self, line: Move) -> bool:
        """Whether a window is open and the move is no answer in it: a move of the turn behind it."""
        if self.state.phase not in WINDOWS or line.action in options(self.state, line.seat):
            return False
        if line.action.name not in _ANSWERS:
            return True
        if line.action.name != "hu":
            return False
        after = self.state
        for event in decide_clock(after):
            after = apply(after, event)
        return line.action in options(after, line.seat)

    def _happen(self, events: tuple[PlayEvent, ...]) -> tuple[PlayEvent, ...]:
        """Events happen; draws that no line told before are told by nobody any more."""
        self.gate = None
        for event in events:
            if isinstance(event, e.TileDrawn) and self.gate is None:
                self.gate = self.state
            self.state = apply(self.state, event)
        self.due = _draws(events)
        return events


def replay(record: Record) -> Replay:
    """The record carried out to its end or to the first line that is not allowed.

    A window that is open when a line comes that is no answer in it closes first, and so does one that is open behind
    the last line unless that is `open`.
    """
    player = _Player(record)
    first, illegal = player.state, None
    steps: list[Step] = []
    lines = [line for line in record.lines if not isinstance(line, Want)]
    for line in lines:
        try:
            if steps and isinstance(line, Move) and line.action.kind == UNDRAWN and player.gate is not None:
                steps[-1] = replace(steps[-1], events=_before_draw(steps[-1].events), state=player.gate)
            steps.append(player.carry_out(line))
        except _Stop as stop:
            illegal = Illegal(line, stop.code, stop.rule, stop.params)
            break
    closes = illegal is None and player.state.phase in WINDOWS and lines[-1:] not in ([], [Clock(OPEN)])
    if closes:
        events = player.close()
        steps[-1] = replace(steps[-1], events=(*steps[-1].events, *events), state=player.state)
    return Replay(
        record=record,
        first=first,
        events=player.begun,
        steps=tuple(steps),
        last=player.state,
        ended_by_closing=closes,
        illegal=illegal,
        settlement=settlement_of(record, player.state),
    )


def why_not(replayed: Replay) -> NotAllowed | None:
    """The first line that is not allowed, as any record tells it; None where all are."""
    illegal = replayed.illegal
    if illegal is None:
        return None
    return NotAllowed(illegal.line.line, write_line(illegal.line), illegal.code, illegal.rule, illegal.params)


def settlement_of(record: Record, state: PlayState) -> Settlement | None:
    """The points of a hand that is over; None while it goes on."""
    if state.outcome is None:
        return None
    end = hand_end(state, record.steps, record.buy, {**dict.fromkeys("ESWN", 0), **dict(record.top)})
    return settle_outcome(state.deal.rules, end, dict(record.chips) or None)


def entries(replayed: Replay) -> Iterator[Entry]:
    """What was done in a replayed record, windows whose time was over among it."""
    for step in replayed.steps:
        if step.closed or step.line == Clock(CLOSE):
            yield None
        if isinstance(step.line, Move):
            yield step.line.seat, step.line.action
    if replayed.ended_by_closing:
        yield None


def record_of(record: Record, entries: Iterable[Entry]) -> Record:
    """The record with the lines of a hand as it was played from its deal: every entry, every draw, and whether a window
    is open still. Replayed it comes to the same events and the same state.
    """
    state = fold(record.deal, begun := begin_events(record.deal))
    lines: list[Line] = [*_told(begun)]
    gate: PlayState | None = None
    told = 0
    for entry in entries:
        if entry is None:
            events = decide_clock(state)
            lines.append(Clock(CLOSE))
        else:
            seat, action = entry
            if action.kind == UNDRAWN and gate is not None:
                # The draw that came by itself has not been made: the seat is out before it.
                state = gate
                del lines[len(lines) - told :]
            claims = action.name in ("chi", "pong", "kong_open")
            lines.append(Move(seat, action, state.tile if claims else ""))
            events = decide(state, seat, action)
        gate = None
        for event in events:
            if isinstance(event, e.TileDrawn) and gate is None:
                gate = state
            state = apply(state, event)
        told = len(_draws(events))
        lines += _told(events)
    if state.phase in WINDOWS:
        lines.append(Clock(OPEN))
    return replace(record, lines=tuple(lines))


def _before_draw(events: tuple[PlayEvent, ...]) -> tuple[PlayEvent, ...]:
    """The events before the first draw among them."""
    first = next((at for at, event in enumerate(events) if isinstance(event, e.TileDrawn)), len(events))
    return events[:first]


def _draws(events: Iterable[PlayEvent]) -> list[e.TileDrawn]:
    return [event for event in events if isinstance(event, e.TileDrawn)]


def _told(events: Iterable[PlayEvent]) -> Iterator[Drawn]:
    for drawn in _draws(events):
        yield Drawn(drawn.seat, drawn.tile, drawn.end)
