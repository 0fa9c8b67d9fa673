"""What happens by itself until a seat is to act: windows that are answered, draws, flowers, the wall's end, wins."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.claims import GOLDS_OF_SANJINDAO
from engine.play import events as e
from engine.play.actions import Action
from engine.play.folding import apply
from engine.play.limits import ready_after, unseen
from engine.play.melding import check_claim, laid
from engine.play.state import OPEN, PlayState, drew_flower, place_of_next
from engine.play.wins import (
    golds_after,
    holds_window,
    judge,
    ranked_openings,
    ways,
    winning_tile,
    wins_by_flowers,
)
from engine.ruleset_model import TOUR
from engine.tiles import SEATS, play_order

LIABLE_WAYS: tuple[str, ...] = ("zimo", "qianggang", "youjin", "shuangyou", "sanyou", "sanhuayou", "sanjindao_late")
"""R27: wins after an unseen discard that its discarder pays for all, beside those on that tile itself."""


class PlayChain:
    """Events decided so far and the state after them."""

    __slots__ = ("events", "state")

    def __init__(self, state: PlayState) -> None:
        self.state = state
        self.events: list[e.PlayEvent] = []

    def add(self, event: e.PlayEvent) -> None:
        """One more event; the state follows at once."""
        self.events.append(event)
        self.state = apply(self.state, event)


def start(chain: PlayChain) -> None:
    """What a deal brings before anybody acts: 跟庄 without flowers (R40), all eight (R26), an opening won (R25)."""
    deal = chain.state.deal
    if deal.rules.dealer_followed and deal.rules.has_flowers and not _flowers_dealt(chain.state):
        chain.add(e.NoFlowers(1))
    for seat in play_order(deal.dealer):
        if wins_by_flowers(chain.state, seat):
            return win(chain, [(seat, Action("hu", way="shuanghuagang"))])
    if deal.opening is not None and deal.opening[0]:
        seat, way = deal.opening
        return win(chain, [(seat, _opening_hu(chain.state, seat, way))])
    if deal.opening is not None or not holds_window(chain.state):
        chain.add(e.OpeningPassed())
    go_on(chain)
    return None


def go_on(chain: PlayChain) -> None:
    """Everything that nobody needs to be asked about."""
    while chain.state.phase != "over":
        before = len(chain.events)
        _BY_ITSELF[chain.state.phase](chain)
        if len(chain.events) == before:
            return


def close(chain: PlayChain) -> None:
    """The window is over: who has not answered has passed."""
    _CLOSES[chain.state.phase](chain)


def discard(chain: PlayChain, seat: str, tile: str, how: str) -> None:
    """R13, R22, R27: a tile is discarded."""
    state = chain.state
    ready = ready_after(state, seat, tile) or how != OPEN
    chain.add(e.TileDiscarded(seat, tile, how, ready, how == OPEN and unseen(state, tile)))
    points = _dealer_followed(chain.state)
    if points:
        chain.add(e.DealerFollowed(points))


def win(chain: PlayChain, winners: list[tuple[str, Action]]) -> None:
    """One or several seats win, and the hand is over (R13, R27)."""
    state = chain.state
    for seat, hu in winners:
        tile = winning_tile(state, seat, hu.way)
        source = state.source if state.phase in ("window", "rob") and tile == state.tile else ""
        if hu.way in ("qiangjin", "qiangshuangyou") and state.deal.rules.qiangjin != "in_play":
            source = ""
        drawn = state.turn == seat and state.phase in ("turn", "lap", "flower")
        after_kong = drawn and state.entry == "kong" and tile == state.drawn
        chain.add(e.HandWon(seat, hu.way, tile, source, after_kong, hu.tile))
    won = tuple(seat for seat, _ in winners)
    chain.add(e.PlayEnded("win", pays_all(state, won, winners[0][1].way)))


def pays_all(state: PlayState, winners: tuple[str, ...], way: str) -> str:
    """R27 包赔: the last to have discarded an unseen face, if it is won on or a later self-draw or 游金 wins."""
    if not state.liable or state.liable in winners:
        return ""
    on_it = way in ("pinghu", "dihu") and state.discards[-1].unseen
    return state.liable if on_it or way in LIABLE_WAYS else ""


def _flowers_dealt(state: PlayState) -> int:
    """Flowers that came with the deal, without those flipped in 开金 that the dealer got (R8)."""
    deal = state.deal
    flipped = deal.flips if deal.rules.flower_gold == "dealer_then_next" else 0
    return sum(len(deal.flowers[seat]) for seat in SEATS) - flipped


def _opening_hu(state: PlayState, seat: str, way: str) -> Action:
    """An opening that was won at the table: the tile dropped is the first that may be."""
    said = (action for action in ways(state, seat) if action.way == way)
    return next(said, Action("hu", way=way))


def _dealer_followed(state: PlayState) -> int:
    """R40: 1, 2, 4, … points when all three have followed the dealer's discard, as they did every one before."""
    lap, rest = divmod(len(state.discards), len(SEATS))
    if not state.deal.rules.dealer_followed or rest or lap != state.followed + 1:
        return 0
    lasts = state.discards[-len(SEATS) :]
    alike = len({discard.tile for discard in lasts}) == 1 and all(one.how == OPEN and not one.taken for one in lasts)
    in_turn = tuple(one.seat for one in lasts) == play_order(state.deal.dealer)
    return 2 ** (lap - 1) if alike and in_turn else 0


def _opening(chain: PlayChain) -> None:
    if not chain.state.asked:
        _close_opening(chain)


def _close_opening(chain: PlayChain) -> None:
    """R25: the strongest of those who claimed, of equal ones the nearest to the dealer."""
    answers = chain.state.answers
    for seat, way in ranked_openings(chain.state):
        if seat in answers and answers[seat].way == way:
            return win(chain, [(seat, answers[seat])])
    chain.add(e.OpeningPassed())
    return None


def _window(chain: PlayChain) -> None:
    if not chain.state.asked:
        close(chain)


def _close_window(chain: PlayChain) -> None:
    """R13: 胡 before 杠 and 碰 before 吃; else the next seat draws."""
    state = chain.state
    if all(answer.name == "pass" for answer in state.answers.values()):
        chain.add(e.WindowClosed(_missed(state)))
        return None
    if winners := _winners(state):
        return win(chain, winners)
    chosen = next((found for names in (("kong_open", "pong"), ("chi",)) if (found := _answer(state, names))), None)
    meld = None if chosen is None else laid(state, chosen[0], chosen[1], state.source)
    chain.add(e.WindowClosed(_missed(state)))
    if meld is not None:
        chain.add(meld)
    return None


def _close_rob(chain: PlayChain) -> None:
    """R15: the 补杠 stands unless it is robbed."""
    state = chain.state
    if winners := _winners(state):
        return win(chain, winners)
    meld = laid(state, state.source, Action("kong_added", tile=state.tile), "")
    chain.add(e.WindowClosed(()))
    chain.add(meld)
    return None


def _winners(state: PlayState) -> list[tuple[str, Action]]:
    """R13: who wins of those who said 胡: all, or the nearest after the discarder, a special hand first."""
    order = play_order(state.source)[1:]
    said = [(seat, state.answers[seat]) for seat in order if seat in state.answers and state.answers[seat].name == "hu"]
    if state.deal.rules.several_winners:
        return said
    if state.deal.rules.special_first:
        said.sort(key=lambda one: golds_after(state, one[0]) < GOLDS_OF_SANJINDAO)
    return said[:1]


def _answer(state: PlayState, names: tuple[str, ...]) -> tuple[str, Action] | None:
    return next(((seat, answer) for seat, answer in state.answers.items() if answer.name in names), None)


def _missed(state: PlayState) -> tuple[str, ...]:
    """R14: seats that could have claimed the face for 碰 or 胡 and have let it pass."""
    if not state.deal.rules.missed_tiles:
        return ()
    passed = [
        seat
        for seat in play_order(state.source)[1:]
        if not state.seats[seat].covered and (seat not in state.answers or state.answers[seat].name in ("pass", "chi"))
    ]
    return tuple([seat for seat in passed if _could_claim(state, seat)])


def _could_claim(state: PlayState, seat: str) -> bool:
    offers = state.offers.get(seat)
    if offers is not None:
        return any(one.name == "pong" or one in _BY_DISCARD for one in offers)
    if seat in state.answers:
        state = state.but(answers={})
    if check_claim(state, seat, _PONG) is None:
        return True
    return any(judge(state, seat, hu) is None for hu in _BY_DISCARD)


def _draw(chain: PlayChain) -> None:
    """R18: a tile is drawn unless no more than the reserve is left; in a tour the level already reached is paid."""
    state = chain.state
    tour = state.tour
    if state.turn and len(state.left) > state.deal.rules.reserve:
        place = place_of_next(state, state.end)
        chain.add(e.TileDrawn(state.turn, state.deal.wall[place], state.end))
        return
    if state.turn and tour is not None and tour.reached:
        way = TOUR[tour.reached - 1]
        chain.add(e.HandWon(tour.owner, way, "", "", False, ""))
        chain.add(e.PlayEnded("win", pays_all(state, (tour.owner,), way)))
        return
    chain.add(e.PlayEnded("draw", ""))


def _flower(chain: PlayChain) -> None:
    """R7, R22, R26: a flower wins, may win, or is replaced at once."""
    state = chain.state
    if wins_by_flowers(state, state.turn):
        win(chain, [(state.turn, Action("hu", way="shuanghuagang"))])
    elif not any(True for _ in ways(state, state.turn)):
        chain.add(e.FlowerReplaced(state.turn))


def _lap(chain: PlayChain) -> None:
    state = chain.state
    if drew_flower(state) and wins_by_flowers(state, state.turn):
        win(chain, [(state.turn, Action("hu", way="shuanghuagang"))])


def _turn(chain: PlayChain) -> None:
    """A seat is to act: nothing happens by itself."""


_PONG = Action("pong")
_BY_DISCARD = (Action("hu", way="pinghu"), Action("hu", way="dihu"))

_BY_ITSELF: Mapping[str, Callable[[PlayChain], None]] = {
    "opening": _opening,
    "window": _window,
    "rob": _window,
    "draw": _draw,
    "flower": _flower,
    "lap": _lap,
    "turn": _turn,
}

_CLOSES: Mapping[str, Callable[[PlayChain], None]] = {
    "opening": _close_opening,
    "window": _close_window,
    "rob": _close_rob,
}
