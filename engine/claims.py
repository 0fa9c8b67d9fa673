"""Who may win before the first discard (R25), and the flowers that win at once (R26)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.hands import complete, golds_held, youjin_ready
from engine.ruleset import Ruleset
from engine.tiles import play_order

GOLDS_OF_SANJINDAO = 3


@dataclass(frozen=True, slots=True)
class _Seat:
    """One seat's tiles as the opening window finds them; `place` counts from the dealer in play order."""

    name: str
    place: int
    tiles: Sequence[str]

    @property
    def dealer(self) -> bool:
        return self.place == 0


def opening_claims(rules: Ruleset, dealer: str, gold: str, hands: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """R25: every valid claim as `(seat, way)`, the strongest first; a seat with several is there several times.

    `hands` are the tiles of the four seats after 补花, the dealer's one more than the others'; the flipped gold itself
    is in none of them. 地胡 needs a discard and is never among them.
    """
    seats = [_Seat(name, place, hands[name]) for place, name in enumerate(play_order(dealer))]
    ranked = [
        (rank, seat.place, seat.name, way)
        for rank, claim in enumerate(rules.opening_priority)
        for seat, way in _claims(rules, gold, claim, seats)
    ]
    ranked.sort(key=(lambda one: (one[1], one[0])) if rules.opening_order == "seat" else (lambda one: one[:2]))
    return [(name, way) for _, _, name, way in ranked]


def may_claim(rules: Ruleset, dealer: str, gold: str, seat: str, way: str, tiles: Sequence[str]) -> bool:
    """R25: whether one seat's tiles make a claim, however strong the others' are."""
    one = _Seat(seat, play_order(dealer).index(seat), tiles)
    return any(
        True
        for claim in rules.opening_priority
        if claim.partition("@")[0] == way
        for _ in _claims(rules, gold, claim, (one,))
    )


def eight_flowers_win(rules: Ruleset) -> bool:
    """R26: whether all eight flowers win at once as 双花杠, even before 开金."""
    return rules.knows("shuanghuagang")


def _claims(rules: Ruleset, gold: str, claim: str, seats: Sequence[_Seat]) -> Iterator[tuple[_Seat, str]]:
    """The seats that can make one claim of the priority list, in play order from the dealer."""
    way, _, who = claim.partition("@")
    valid = _VALID.get(way)
    for seat in seats:
        allowed = who in ("", "dealer" if seat.dealer else "others")
        if valid is not None and allowed and valid(rules, gold, seat):
            yield seat, way


def _tianhu(rules: Ruleset, gold: str, seat: _Seat) -> bool:
    """The dealer's tiles are complete as they are; the golds among them know no limit."""
    return seat.dealer and complete(rules, gold, seat.tiles)


def _sanjindao(rules: Ruleset, gold: str, seat: _Seat) -> bool:
    """Three golds held, whatever the rest."""
    return golds_held(seat.tiles, gold) >= GOLDS_OF_SANJINDAO


def _qiangjin(rules: Ruleset, gold: str, seat: _Seat) -> bool:
    """The flipped gold completes the hand; the dealer drops a tile for it."""
    return any(complete(rules, gold, [*tiles, gold]) for tiles in _offered(seat))


def _qiangshuangyou(rules: Ruleset, gold: str, seat: _Seat) -> bool:
    """The hand is youjin-ready and takes the gold; the dealer's is so after dropping a tile."""
    return any(youjin_ready(rules, gold, tiles) for tiles in _offered(seat))


_VALID: Mapping[str, Callable[[Ruleset, str, _Seat], bool]] = {
    "tianhu": _tianhu,
    "sanjindao": _sanjindao,
    "qiangjin": _qiangjin,
    "qiangshuangyou": _qiangshuangyou,
}


def _offered(seat: _Seat) -> Iterator[Sequence[str]]:
    """The tiles that the flipped gold is offered to: of the dealer all that dropping one tile leaves."""
    if not seat.dealer:
        yield seat.tiles
        return
    for dropped in dict.fromkeys(seat.tiles):
        left = list(seat.tiles)
        left.remove(dropped)
        yield left
