"""The shape of a hand: is it complete, what does it wait for, is it youjin-ready (R20-R22).

A hand is read as five numbers: the suits m p s and the honours as codes of their counts, and the golds. Each code's
byte (`engine.hand_tables`) tells the golds it lacks; together they are compared with the golds held, the pair taken
where it is cheapest. A gold may stand for a fifth copy of a face (R11).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

from engine.hand_tables import NEED, PAIR, completing, honour_table, suit_table
from engine.ruleset import Ruleset
from engine.tiles import FACES, HONOURS, SUITED, WHITE, tile_order

_BITS = 21
_MASK = (1 << _BITS) - 1
_GOLD_AT = 4 * _BITS
_GOLD = 1 << _GOLD_AT
_FIELDS = 4
# What a hand's code must reach for every sum of its fields' bytes: the golds asked for, the pair taken where it is
# cheapest.
_ASKED = tuple((lack & NEED) - 1 if lack >= PAIR else lack + 2 for lack in range(5 * PAIR))
_LEAST_CODE = tuple(golds << _GOLD_AT for golds in _ASKED)


@dataclass(frozen=True, slots=True)
class Reading:
    """How tiles are read for one gold: what each face adds to a hand's code (R11, R12), and the tables of its codes.

    `fields` has for each of m p s z the faces that count there, with their power of five. In games where 白 stands for
    the gold both faces' tiles are in the set: 白 is then the natural tile of that face.
    """

    gold: str | None
    weights: Mapping[str, int]
    steps: Mapping[str, tuple[int, int]]
    """The field of each face, 4 for golds, and its power of five there."""
    fields: tuple[tuple[tuple[str, int], ...], ...]
    natural_pairs: bool
    suits: bytes
    honours: bytes
    complete: Callable[[Sequence[str]], bool]
    """R20: whether 3n+2 tiles, at least two, are sets and one pair."""
    named: tuple[dict[int, tuple[str, ...]], ...]
    """For each field the faces at a set of places, filled as they come up: at most 512 each."""

    @property
    def faces(self) -> Iterable[str]:
        """Every face that a hand may hold."""
        return self.weights.keys()

    def code(self, tiles: Sequence[str]) -> int:
        """The packed code of tiles; KeyError for a face that no hand of these rules holds."""
        if len(tiles) > 1:
            return sum(itemgetter(*tiles)(self.weights))
        return sum(self.weights[face] for face in tiles)

    def ready(self, code: int) -> bool:
        """R22: whether 3n+1 tiles are sets alone and one gold over."""
        return self._lack(code) & NEED < code >> _GOLD_AT

    def sets_alone(self, code: int) -> bool:
        """Whether 3n tiles are sets."""
        return self._lack(code) & NEED <= code >> _GOLD_AT

    def waits(self, code: int) -> tuple[str, ...]:
        """Faces that complete 3n+1 tiles, in tile order, whether or not a copy is left."""
        return self.waits_of(*split(code))

    def waits_of(self, m: int, p: int, s: int, z: int, golds: int) -> tuple[str, ...]:
        """`waits` of the fields' own codes and the golds."""
        suits = self.suits
        of_m, of_p, of_s, of_z = suits[m], suits[p], suits[s], self.honours[z]
        total = of_m + of_p + of_s + of_z
        # One tile saves one gold at most, and the pair another one.
        if (total & NEED) - golds > 2:
            return ()
        found: tuple[str, ...] = ()
        for field, field_code, own in ((0, m, of_m), (1, p, of_p), (2, s, of_s), (3, z, of_z)):
            rest = total - own
            # The golds left for this field, its pair counted; below zero the other fields alone ask for too many.
            left = golds + 1 - (rest & NEED)
            if left >= 0:
                places = completing(self.natural_pairs, field == 3, field_code, left, rest >= PAIR)
                if places:
                    found += self.named[field].get(places) or self._names(field, places)
        if self.gold is None:
            return found
        if golds > (total & NEED) - 3 if total >= PAIR else golds > total:
            found += (self.gold,)
        return tuple(sorted(found, key=tile_order)) if len(found) > 1 else found

    def _lack(self, code: int) -> int:
        m, p, s, z, _ = split(code)
        suits = self.suits
        return suits[m] + suits[p] + suits[s] + self.honours[z]

    def _names(self, field: int, places: int) -> tuple[str, ...]:
        """The faces at these places of a field, which may be none."""
        names = tuple(face for place, face in self._placed(field) if places >> place & 1)
        self.named[field][places] = names
        return names

    def _placed(self, field: int) -> list[tuple[int, str]]:
        return [(next(place for place in range(9) if 5**place == power), face) for face, power in self.fields[field]]


def split(code: int) -> list[int]:
    """A packed code as the codes of m, p, s and z and the number of golds."""
    return [
        code & _MASK,
        code >> _BITS & _MASK,
        code >> 2 * _BITS & _MASK,
        code >> 3 * _BITS & _MASK,
        code >> _GOLD_AT,
    ]


class Hand:
    """The concealed tiles of one seat as the codes of their fields, which a sum changes as tiles come and go.

    No natural face may be held more than four times.
    """

    __slots__ = ("_codes", "_honours", "_suits", "reading")

    def __init__(self, reading: Reading, tiles: Iterable[str] = ()) -> None:
        self.reading = reading
        self._suits, self._honours = reading.suits, reading.honours
        self._codes = split(reading.code(tuple(tiles)))

    def add(self, face: str) -> None:
        """A tile comes."""
        field, power = self.reading.steps[face]
        self._codes[field] += power

    def remove(self, face: str) -> None:
        """A tile goes; it must be held."""
        field, power = self.reading.steps[face]
        self._codes[field] -= power

    @property
    def code(self) -> int:
        """All of it as one number: equal for equal tiles."""
        return sum(code << (field * _BITS) for field, code in enumerate(self._codes))

    @property
    def golds(self) -> int:
        """Golds held."""
        return self._codes[_FIELDS]

    def complete(self) -> bool:
        """R20: sets and one pair; for 3n+2 tiles."""
        m, p, s, z, golds = self._codes
        suits = self._suits
        return golds >= _ASKED[suits[m] + suits[p] + suits[s] + self._honours[z]]

    def ready(self) -> bool:
        """R22: sets alone and one gold over; for 3n+1 tiles."""
        m, p, s, z, golds = self._codes
        suits = self._suits
        return (suits[m] + suits[p] + suits[s] + self._honours[z]) & NEED < golds

    def waits(self) -> tuple[str, ...]:
        """Faces that complete 3n+1 tiles, in tile order, whether or not a copy is left."""
        return self.reading.waits_of(*self._codes)

    def youjin_discards(self, tiles: Iterable[str]) -> tuple[str, ...]:
        """R22: faces among the `tiles` of this hand of 3n+2 whose discard leaves it ready, in tile order."""
        code, weights = self.code, self.reading.weights
        faces = sorted(set(tiles), key=tile_order)
        return tuple(face for face in faces if self.reading.ready(code - weights[face]))


def reading(rules: Ruleset, gold: str | None) -> Reading:
    """How a hand of these rules is read when `gold` is the gold's face; None before 开金."""
    return _reading(rules.tiles, rules.white_mode, rules.gold_in_pair, gold)


def golds_held(tiles: Iterable[str], gold: str | None) -> int:
    """Copies of the gold among the tiles; a 白 that stands for it is none (R12)."""
    return sum(1 for face in tiles if face == gold)


def complete(rules: Ruleset, gold: str | None, concealed: Sequence[str]) -> bool:
    """R20: whether 3n+2 concealed tiles are sets and a pair (melds are sets already); False for other counts."""
    if len(concealed) % 3 != 2:
        return False
    if reading(rules, gold).complete(concealed):
        return True
    return rules.seven_pairs and _seven_pairs(rules, gold, concealed)


def waits(rules: Ruleset, gold: str | None, concealed: Sequence[str]) -> tuple[str, ...]:
    """Faces of the rules' tiles that complete 3n+1 tiles, in tile order; whether a copy is left does not matter."""
    if len(concealed) % 3 != 1:
        return ()
    book = reading(rules, gold)
    found = Hand(book, concealed).waits()
    if not rules.seven_pairs:
        return found
    pairs = [face for face in book.faces if _seven_pairs(rules, gold, [*concealed, face])]
    return tuple(sorted({*found, *pairs}, key=tile_order))


def youjin_ready(rules: Ruleset, gold: str | None, concealed: Sequence[str]) -> bool:
    """R22: whether 3n+1 tiles are sets and one gold over; False where the game knows no 游金."""
    return rules.youjin and len(concealed) % 3 == 1 and Hand(reading(rules, gold), concealed).ready()


def youjin_discards(rules: Ruleset, gold: str | None, concealed: Sequence[str]) -> tuple[str, ...]:
    """R22: faces among 3n+2 tiles whose discard leaves the hand youjin-ready, in tile order."""
    if not rules.youjin or len(concealed) % 3 != 2:
        return ()
    return Hand(reading(rules, gold), concealed).youjin_discards(concealed)


def wins_by(rules: Ruleset, golds: int) -> tuple[bool, bool]:
    """R21: whether a complete hand with so many golds may win by discard, and by self-draw."""
    if golds == 0:
        return (True, True)
    least = rules.min_way_by_gold[min(golds, 3) - 1]
    return (least == "any", least in ("any", "self"))


@lru_cache(maxsize=256)
def _reading(tiles: int, white_mode: str, gold_in_pair: str, gold: str | None) -> Reading:
    honours = (WHITE,) if tiles == 120 else HONOURS
    weights = {face: _NATURAL[face] for face in SUITED + honours}
    if gold is not None:
        if white_mode == "always" and gold != WHITE:
            weights[WHITE] = _NATURAL[gold]
        weights[gold] = _GOLD
    ordered = {face: weights[face] for face in FACES if face in weights}
    natural_pairs = gold_in_pair == "both_or_none"
    steps = {}
    for face, weight in ordered.items():
        field = (weight.bit_length() - 1) // _BITS
        steps[face] = (field, weight >> (field * _BITS))
    fields = tuple(
        tuple((face, power) for face, (at, power) in steps.items() if at == field) for field in range(_FIELDS)
    )
    suits, honours_told = suit_table(natural_pairs), honour_table(natural_pairs)
    return Reading(
        gold, ordered, steps, fields, natural_pairs, suits, honours_told,
        _completeness(ordered, suits, honours_told), tuple({} for _ in range(_FIELDS)),
    )  # fmt: skip


def _completeness(weights: Mapping[str, int], suits: bytes, honours: bytes) -> Callable[[Sequence[str]], bool]:
    """The check of a list of tiles. Everything that it looks at is at hand, not behind attributes: it is short."""

    def complete(tiles: Sequence[str]) -> bool:
        code: int = sum(itemgetter(*tiles)(weights))
        upper = code >> 2 * _BITS
        lack = (
            suits[code & _MASK] + suits[code >> _BITS & _MASK] + suits[upper & _MASK] + honours[upper >> _BITS & _MASK]
        )
        return code >= _LEAST_CODE[lack]

    return complete


def _natural_weights() -> dict[str, int]:
    """What one natural tile of each face adds to a code."""
    weights: dict[str, int] = {}
    for field, faces in enumerate((SUITED[:9], SUITED[9:18], SUITED[18:], HONOURS)):
        weight = 1 << (field * _BITS)
        for face in faces:
            weights[face] = weight
            weight *= 5
    return weights


_NATURAL = _natural_weights()


def _seven_pairs(rules: Ruleset, gold: str | None, tiles: Sequence[str]) -> bool:
    """R20, option: 14 concealed tiles in pairs; golds fill up single tiles where they may stand in a pair."""
    if len(tiles) != 14:
        return False
    weights = reading(rules, gold).weights
    counts = Counter(weights[face] for face in tiles)
    golds = counts.pop(_GOLD, 0)
    singles = sum(count % 2 for count in counts.values())
    return singles == 0 if rules.gold_in_pair == "both_or_none" else singles <= golds
