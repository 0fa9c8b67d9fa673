"""What a seat may discard (R16, R17, R22, R23, R27)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.play.actions import Action, Fault, No
from engine.play.state import PlayState, to_draw, visible, without
from engine.play.wins import judge, ways
from engine.ruleset_model import TOUR
from engine.tiles import HONOURS, WHITE


def in_own_turn(state: PlayState, seat: str) -> No | None:
    """R13: only the seat whose turn it is discards."""
    return None if state.phase == "turn" and state.turn == seat else No("not_your_turn", "R13")


def discardable(state: PlayState, seat: str) -> tuple[str, ...]:
    """The faces in a hand, in tile order."""
    return state.seats[seat].faces


def check_discard(state: PlayState, seat: str, action: Action) -> No | Fault | None:
    """R13, R16, R17: whether a tile may be discarded open; a fault where the house lets it happen and punishes it."""
    if no := in_own_turn(state, seat) or must_complete(state, seat) or _holds(state, seat, action.tile):
        return no
    rules, gold, hand = state.deal.rules, state.deal.gold, state.seats[seat].hand
    fault = None
    if action.tile == gold:
        if check_tour(state, seat, Action("tour_discard", gold)) is None:
            return No("gold_is_tour", "R23")
        if any(tile != gold for tile in hand):
            if rules.gold_discard == "illegal":
                return No("gold_discard", "R17")
            fault = Fault("gold_discard") if rules.gold_discard == "fault" else None
    return _follows(state, seat, action.tile) or fault


def check_down(state: PlayState, seat: str, action: Action) -> No | Fault | None:
    """R23 明游: the discard that makes the hand youjin-ready lies face down."""
    if no := in_own_turn(state, seat) or must_complete(state, seat) or _holds(state, seat, action.tile):
        return no
    if state.deal.rules.tour_discard != "ming" or action.tile == state.deal.gold:
        return No("no_ming", "R23")
    if no := too_late(state) or _ready_without(state, seat, action.tile):
        return no
    return _follows(state, seat, action.tile)


def check_tour(state: PlayState, seat: str, action: Action) -> No | None:
    """R23: a gold discarded on a 游金 draw, the rest youjin-ready again: 双游, then 三游.

    Besides, where the rules know it: straight from a hand that was not ready, and in another's 明游 lap by 暗游.
    """
    rules, gold, held, tour = state.deal.rules, state.deal.gold, state.seats[seat], state.tour
    if state.turn != seat or state.phase not in ("turn", "lap"):
        return No("not_your_turn", "R13")
    if gold is None or action.tile != gold or gold not in held.hand or len(held.hand) % 3 != 2:
        return No("not_in_hand", "R23", {"tile": action.tile})
    if state.phase == "lap":
        if not (rules.tour_guard and tour is not None and tour.level == 1 and held.ready):
            return No("no_tour", "R23")
    elif tour is not None and tour.owner == seat:
        if tour.level == len(TOUR):
            return No("tour_done", "R23")
    elif not held.ready:
        if not rules.direct_shuangyou:
            return No("no_tour", "R23")
        if no := too_late(state):
            return no
    return _ready_without(state, seat, gold)


def must_complete(state: PlayState, seat: str) -> No | None:
    """R23: the draw that completes a level wins, or leads on by a gold; only where R21 forbids both it goes on.

    A 游金 draw with so many golds that R21 wants 双游 must go there: the gold is discarded (R22, 004).
    """
    if state.tour is None or state.tour.owner != seat:
        return _gold_must_go(state, seat)
    if any(True for _ in _completions(state, seat)):
        return No("tour_forced", "R23", {"level": TOUR[state.tour.level - 1]})
    return None


def _gold_must_go(state: PlayState, seat: str) -> No | None:
    held, rules = state.seats[seat], state.deal.rules
    golds = held.hand.count(state.deal.gold or "")
    if not held.ready or golds == 0 or rules.min_way_by_gold[min(golds, 3) - 1] != "shuangyou":
        return None
    if any(True for _ in ways(state, seat)) or check_tour(state, seat, Action("tour_discard", state.deal.gold or "")):
        return None
    return No("tour_forced", "R23", {"level": TOUR[1]})


def must_follow(state: PlayState, seat: str) -> tuple[str, ...]:
    """R16 跟打: honours discarded before of which the seat holds exactly one, in tile order."""
    found = state.bound.get(seat)
    if found is None:
        found = state.bound[seat] = _must_follow(state, seat)
    return found


def followed_with(state: PlayState, seat: str) -> tuple[str, ...]:
    """`must_follow` where the rules hold a seat to it; empty where any tile may be discarded."""
    return () if state.deal.rules.follow in ("off", "remind") else must_follow(state, seat)


def _must_follow(state: PlayState, seat: str) -> tuple[str, ...]:
    rules, gold, hand = state.deal.rules, state.deal.gold, state.seats[seat].hand
    if rules.follow == "off":
        return ()
    thrown = state.thrown
    if thrown.isdisjoint(hand):
        return ()
    exempt = {gold}
    if gold is not None and gold[1] != "z" and state.deal.natural(WHITE) != WHITE:
        exempt.add(WHITE)
    return tuple(face for face in HONOURS if face in thrown and face not in exempt and hand.count(face) == 1)


def ready_after(state: PlayState, seat: str, tile: str) -> bool:
    """R22, R27: whether the seat is in 游金 once it has discarded a tile."""
    held = state.seats[seat]
    if not held.ready and too_late(state) is not None:
        return False
    return state.deal.gold in held.hand and state.deal.youjin_ready(without(held.hand, tile))


def too_late(state: PlayState) -> No | None:
    """R27: nobody enters 游金 any more."""
    last = state.deal.rules.last_tiles_no_youjin
    return No("last_tiles", "R27", {"tiles": last}) if last and to_draw(state) <= last else None


def unseen(state: PlayState, tile: str) -> bool:
    """R27: at the wall's end, whether a face is one that nobody has seen on the table."""
    last = state.deal.rules.last_tiles_seen_only
    return last > 0 and to_draw(state) <= last and tile not in visible(state)


def _completions(state: PlayState, seat: str) -> Iterator[Action]:
    assert state.tour is not None
    win = Action("hu", way=TOUR[state.tour.level - 1])
    if judge(state, seat, win) is None:
        yield win
    gold = Action("tour_discard", tile=state.deal.gold or "")
    if check_tour(state, seat, gold) is None:
        yield gold


def _holds(state: PlayState, seat: str, tile: str) -> No | None:
    return None if tile in state.seats[seat].hand else No("not_in_hand", "R13", {"tile": tile})


def _follows(state: PlayState, seat: str, tile: str) -> No | Fault | None:
    wanted = followed_with(state, seat)
    if not wanted or tile in wanted:
        return None
    return Fault("follow") if state.deal.rules.follow == "fault" else No("follow", "R16", {"tiles": wanted})


def _ready_without(state: PlayState, seat: str, tile: str) -> No | None:
    rest = without(state.seats[seat].hand, tile)
    return None if state.deal.youjin_ready(rest) else No("not_ready", "R22")
