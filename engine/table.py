"""The table as a pure state machine: `decide(state, input) -> events`, `apply(state, event) -> state`, `wants(state)`.

What an input means stands here; what follows from it by itself is the procedure (`engine.procedure`). Play itself, the
book of a hand and the evening's matches are machines of their own (`engine.play`, `engine.book`, `engine.match`) whose
events travel within the table's. Legal answers are a table (`engine.answers`), not a nest of ifs.
No input raises anything but `Refused`; an input that means nothing in this state changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import events as e
from engine import inputs as i
from engine.answers import ACTIONS, KEYS
from engine.closing import FROM_AFAR, park, park_as_it_stands, unpark
from engine.deciding import Chain, Refused
from engine.folding import apply
from engine.golds import face_known, face_stands
from engine.match import inputs as m
from engine.match_wants import to_decide, waits_for_hands_off
from engine.meanwhile import is_so_already
from engine.procedure import go_on
from engine.refereeing import decided_by_floor as ruled_by_floor
from engine.refereeing import doubt_stays, laid_stays, tell_all, window_over
from engine.results import DONE
from engine.ruleset import RulesetError, load_ruleset
from engine.sessions import end_evening, end_match, say, start_session
from engine.settling import agreed_by_silence, decided_by_floor
from engine.state import SURE_FROM, State, current_take, new_state
from engine.steps import dice_stand, sort_again, want_roll
from engine.tiles import SEATS
from engine.wants import Want, wants

__all__ = ["Refused", "Want", "apply", "decide", "fold", "new_state", "wants"]


def decide(state: State, happened: i.Input) -> tuple[e.Event, ...]:
    """The events that an input causes in a state, in order; empty when it changes nothing.

    Raises Refused with a code (`late`, `not_asked`, `unknown_action`, `bad_value`, …) for an answer that is not legal.
    """
    chain = Chain(state)
    _INPUTS[type(happened)](chain, happened)
    if chain.events:
        go_on(chain)
    return tuple(chain.events)


def fold(events: tuple[e.Event, ...] | list[e.Event], state: State | None = None) -> State:
    """The state after a run of events, from an empty table unless given."""
    current = new_state() if state is None else state
    for event in events:
        current = apply(current, event)
    return current


def _start_match(chain: Chain, asked: i.StartMatch) -> None:
    if chain.state.phase not in ("idle", "ended"):
        raise Refused("match_running", "P6")
    if chain.state.parking:
        raise Refused("parked", "P6")
    if chain.state.service:
        raise Refused("service", "P6")
    try:
        rules = load_ruleset(asked.rules, asked.options)
    except RulesetError as error:
        raise Refused("bad_rules", "R42", {"field": error.field, "why": str(error)}) from error
    layout = asked.layout or rules.layouts[0]
    if layout not in rules.layouts:
        raise Refused("bad_layout", "R4", {"layout": layout, "allowed": list(rules.layouts)})
    if asked.fresh:
        end_evening(chain)
    chain.add(
        e.MatchStarted(
            rules=asked.rules,
            options=asked.options,
            layout=layout,
            sensing=asked.sensing,
            dice=asked.dice,
            aid=asked.aid,
            sets=asked.sets,
            hands=asked.hands,
            object_ms=asked.object_ms,
            take_pace_ms=asked.take_pace_ms,
            agree_ms=asked.agree_ms,
        )
    )
    start_session(chain, asked)


def _end_match(chain: Chain, _: i.EndMatch) -> None:
    if chain.state.phase in ("idle", "ended"):
        raise Refused("no_match", "P6")
    end_match(chain, m.EndMatch())


def _end_evening(chain: Chain, _: i.EndEvening) -> None:
    if chain.state.phase not in ("idle", "ended"):
        raise Refused("match_running", "P6")
    end_evening(chain)


def _extend(chain: Chain, asked: i.Extend) -> None:
    say(chain, m.Extend(asked.hands, asked.minutes))


def _pause(chain: Chain, asked: i.Pause) -> None:
    if chain.state.phase in ("idle", "ended"):
        raise Refused("no_match", "P6")
    if chain.state.pausing != asked.on:
        chain.add(e.PauseWanted(asked.on))


def _decide_objection(chain: Chain, asked: i.Decide) -> None:
    in_book = chain.state.book is not None and chain.state.phase == "settle"
    if not in_book and not to_decide(chain.state):
        raise Refused("no_objection", "P4")
    if asked.want != to_decide(chain.state):
        raise Refused("late", "P1")
    if asked.choice not in (1, 2):
        raise Refused("bad_value", "P4", {"field": "choice", "expected": "1 or 2"})
    (decided_by_floor if in_book else ruled_by_floor)(chain, asked.choice)


def _park(chain: Chain, asked: i.Park) -> None:
    park(chain, asked.reason)


def _unpark(chain: Chain, asked: i.Unpark) -> None:
    """A parked table goes on by a person who sees it; from afar only an order given from afar is taken back."""
    state = chain.state
    if asked.from_afar and (state.parked or state.parking not in ("", *FROM_AFAR)):
        raise Refused("parked", "P6", {"reason": state.parking})
    unpark(chain, asked.by)


def _service(chain: Chain, asked: i.Service) -> None:
    """A table that a repairer has stays as it is until he gives it back; the hand is kept."""
    if asked.on and not chain.state.service:
        chain.add(e.ServiceBegun(asked.by or "?"))
    elif not asked.on and chain.state.service:
        chain.add(e.ServiceEnded(asked.by))
        if not asked.at_table:
            park_as_it_stands(chain)
        elif waits_for_hands_off(chain.state):
            unpark(chain, asked.by)


def _serviced(chain: Chain, done: i.Serviced) -> None:
    if not chain.state.service:
        raise Refused("not_in_service", "P6")
    chain.add(e.ServiceDone(done.by, done.act, dict(done.params)))


def _audit(chain: Chain, done: i.Audit) -> None:
    chain.add(e.Audited(done.by, done.act, dict(done.params)))


def _seat_action(chain: Chain, asked: i.SeatAction) -> None:
    if asked.seat not in SEATS:
        raise Refused("not_asked", "P1", {"seat": str(asked.seat)})
    wanted = _outstanding(chain.state, "prompt", asked.want, asked.seat)
    if wanted is None and chain.state.service:
        raise Refused("service", "P6")
    if (wanted is None or asked.action not in wanted.actions) and is_so_already(
        chain.state, asked.seat, asked.want, asked.action
    ):
        return
    if wanted is None:
        raise Refused("late", "P1")
    if asked.action not in wanted.actions:
        raise Refused("unknown_action", "P1", {"action": str(asked.action), "allowed": list(wanted.actions)})
    ACTIONS[(wanted.verb, asked.action)](chain, asked, wanted)


def _key_pressed(chain: Chain, pressed: i.KeyPressed) -> None:
    """A table key stands for the one action it can mean now; it means nothing when nothing of the kind is asked."""
    for verb, action in KEYS.get(pressed.key, ()):
        found = [
            want
            for want in wants(chain.state)
            if want.kind == "prompt" and want.verb == verb and (not pressed.seat or want.seat == pressed.seat)
        ]
        if verb == "roll" and not pressed.seat and len(found) > 1:
            continue  # anybody may throw, and the count starts at the thrower (R1): a shared key does not say who
        if found:
            asked = i.SeatAction(pressed.seat or _only_seat(found), str(found[0].id), action)
            ACTIONS[(verb, action)](chain, asked, found[0])
            return


def _only_seat(found: list[Want]) -> str:
    return found[0].seat if len(found) == 1 else ""


def _operation_done(chain: Chain, done: i.OperationDone) -> None:
    wanted = _outstanding(chain.state, "operation", done.want)
    if wanted is not None:
        DONE[wanted.verb](chain, wanted, done.result)


def _operation_failed(chain: Chain, failed: i.OperationFailed) -> None:
    wanted = _outstanding(chain.state, "operation", failed.want)
    if wanted is None or wanted.verb == "clear_stop":
        return
    if wanted.verb == "dice_roll":
        # Nobody but people knows how far it came: a new throw needs all four (or a witness).
        chain.add(e.ThrowBroken(failed.fault, failed.side))
        chain.add(e.DiceLost())
    else:
        chain.add(e.OperationBroken(wanted.id.key, wanted.verb, failed.fault, failed.side))


def _operation_unknown(chain: Chain, unknown: i.OperationUnknown) -> None:
    wanted = _outstanding(chain.state, "operation", unknown.want)
    if wanted is None:
        return
    if wanted.verb == "dice_roll":
        chain.add(e.DiceLost())
    else:
        chain.add(e.OperationBroken(wanted.id.key, wanted.verb, "unknown", ""))


def _timer_elapsed(chain: Chain, elapsed: i.TimerElapsed) -> None:
    wanted = _outstanding(chain.state, "timer", elapsed.want)
    if wanted is not None:
        _TIMERS[wanted.verb](chain, wanted)


def _zone_seen(chain: Chain, seen: i.ZoneSeen) -> None:
    state = chain.state
    if state.setup is None or not state.reads_tiles or state.phase not in _READ_PHASES:
        return
    zones = _PLAY_ZONES if state.play.game is not None else _DEAL_ZONES
    at = (seen.seat, seen.zone)
    surer = seen.confidence >= SURE_FROM and at in state.play.unsure
    if seen.zone in zones and (state.play.seen.get(at) != seen.tiles or surer):
        chain.add(e.HandSeen(seen.seat, seen.zone, seen.tiles, seen.confidence))


def _tile_flipped(chain: Chain, flipped: i.TileFlipped) -> None:
    gold = chain.state.play.gold
    if chain.state.phase != "gold" or gold is None or not chain.state.reads_tiles:
        return
    # A flipped tile that shows another face than the wall's readers said is for people to say.
    if flipped.position == gold.position and flipped.tile == chain.state.play.wall.get(gold.position):
        face_known(chain, flipped.tile)


def _row_laid(chain: Chain, _: i.RowLaid) -> None:
    """A single row says nothing yet: people say when all four are laid."""


def _dice_unasked(chain: Chain, thrown: i.DiceUnasked) -> None:
    chain.add(e.UnaskedThrow(thrown.dice))


def _fault_raised(chain: Chain, fault: i.FaultRaised) -> None:
    """A critical fault parks the table, once: raised again in a new session it does not overrule who let it go on."""
    raised = (fault.code, fault.side, fault.severity)
    known = any((one.code, one.side, one.severity) == raised for one in chain.state.faults)
    if fault.usual_ms:
        chain.add(e.MechanismSlow(fault.mechanism, fault.now_ms, fault.usual_ms))
    chain.add(e.FaultNoted(fault.code, fault.severity, fault.mechanism, fault.side))
    if fault.severity == "critical" and not known:
        park(chain, "fault")


def _fault_cleared(chain: Chain, fault: i.FaultCleared) -> None:
    if any((known.code, known.side) == (fault.code, fault.side) for known in chain.state.faults):
        chain.add(e.FaultGone(fault.code, fault.side))
        _sort_goes_on(chain, fault.code)


def _sort_goes_on(chain: Chain, code: str) -> None:
    """A sort that a fault ended begins again by itself once that is over: its motors run below the closed centre.

    Every other movement waits for a person who looks: hands may be where it goes.
    """
    state = chain.state
    stuck = any(one.verb == "sort" and one.kind == "failed" and one.fault == code for one in state.problems)
    if stuck and code in GOES_ON and state.sort is not None and not state.parking:
        sort_again(chain, state.sort.set)


def _stop_latched(chain: Chain, stop: i.StopLatched) -> None:
    # Latched again while it is cleared: its cause is still there, so people are asked anew.
    if not chain.state.stop or chain.state.clearing:
        chain.add(e.Stopped(stop.reason or "unknown"))


def _stop_cleared(chain: Chain, _: i.StopCleared) -> None:
    if chain.state.stop:
        chain.add(e.Released())


GOES_ON: frozenset[str] = frozenset({"motor_overheat", "eye_dirty", "centre_limit_missing"})
"""Faults after which a sort goes on by itself: nothing of it has to be put right at the table."""

_READ_PHASES = ("taking", "door_roll", "door", "flowers", "gold_roll", "gold", "opening", "play")
_DEAL_ZONES = ("hand", "flowers")
_PLAY_ZONES = ("hand", "flowers", "discards", "melds")

_INPUTS: Mapping[type[Any], Callable[[Chain, Any], None]] = {
    i.StartMatch: _start_match,
    i.EndMatch: _end_match,
    i.EndEvening: _end_evening,
    i.SeatAction: _seat_action,
    i.KeyPressed: _key_pressed,
    i.OperationDone: _operation_done,
    i.OperationFailed: _operation_failed,
    i.OperationUnknown: _operation_unknown,
    i.TimerElapsed: _timer_elapsed,
    i.ZoneSeen: _zone_seen,
    i.TileFlipped: _tile_flipped,
    i.RowLaid: _row_laid,
    i.DiceUnasked: _dice_unasked,
    i.FaultRaised: _fault_raised,
    i.FaultCleared: _fault_cleared,
    i.StopLatched: _stop_latched,
    i.StopCleared: _stop_cleared,
    i.Decide: _decide_objection,
    i.Extend: _extend,
    i.Pause: _pause,
    i.Park: _park,
    i.Unpark: _unpark,
    i.Service: _service,
    i.Serviced: _serviced,
    i.Audit: _audit,
}


def _outstanding(state: State, kind: str, wanted: str, seat: str = "") -> Want | None:
    for want in wants(state):
        if want.kind == kind and str(want.id) == wanted and (not seat or want.seat == seat):
            return want
    return None


def _pace(chain: Chain, _: Want) -> None:
    take = current_take(chain.state)
    assert take is not None
    if chain.state.phase == "door":
        chain.add(e.TakingDone(""))
    else:
        chain.add(e.TakeShown(take[0] + 1))


def _bids_over(chain: Chain, _: Want) -> None:
    """P7: who has said nothing has bid nothing."""
    want_roll(chain, "deal", 1, chain.state.dealer)


def _dice_undisputed(chain: Chain, _: Want) -> None:
    dice_stand(chain, "entered")


def _face_undisputed(chain: Chain, _: Want) -> None:
    face_stands(chain)


def _window_over(chain: Chain, _: Want) -> None:
    window_over(chain)


def _laid(chain: Chain, _: Want) -> None:
    laid_stays(chain)


def _agreed(chain: Chain, _: Want) -> None:
    agreed_by_silence(chain)


def _minute(chain: Chain, _: Want) -> None:
    """The match's own clock; its last minute ends it as `engine.match` says."""
    chain.add(e.MinutePassed(chain.state.minutes + 1))
    agreement = chain.state.session.agreement
    if agreement is not None and agreement.minutes and chain.state.minutes >= agreement.minutes:
        end_match(chain, m.TimeUp())


def _parked_waiting(chain: Chain, _: Want) -> None:
    """Nobody pushes the tiles in: the centre closes none the less, and what lies about is asked for later."""
    chain.add(e.TilesPushed(""))


_TIMERS: Mapping[str, Callable[[Chain, Want], None]] = {
    "pace": _pace,
    "bid_clock": _bids_over,
    "dice_stands": _dice_undisputed,
    "gold_stands": _face_undisputed,
    "window": _window_over,
    "claim_window": _window_over,
    "laid": _laid,
    "count_seen": doubt_stays,
    "count_open": tell_all,
    "agree_clock": _agreed,
    "entry_clock": _agreed,
    "minute": _minute,
    "park_wait": _parked_waiting,
}
