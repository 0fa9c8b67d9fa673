"""The shape of a hand: is it complete, what does it wait for, is it youjin-ready (R20-R22).

A hand is read as five numbers: the suits m p s and the honours as codes of their counts, and the golds. Each code's
byte (`engine.hand_tables`) tells the golds it lacks; together they are compared with the golds held, the pair taken
where it is cheapest. A gold may stand for a fifth copy of a face (R11).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.hand_tables import NEED, PAIR, four_alike, honour_byte, honour_table, suit_byte, suit_table
from engine.ruleset import Ruleset
from engine.tiles import FACES, HONOURS, SUITED, WHITE, tile_order

_BITS = 21
_MASK = (1 << _BITS) - 1
_GOLD_AT = 4 * _BITS
_GOLD = 1 << _GOLD_AT
_HALF = 5**5


@dataclass(frozen=True, slots=True)
class Reading:
    """How tiles are read for one gold: what each face adds to a hand's code (R11, R12), and the tables of its codes.

    `fields` has for each of m p s z the faces that count there, with their power of five. In games where 白 stands for
    the gold both faces' tiles are in the set: 白 is then the natural tile of that face.
    """

    gold: str | None
    weights: Mapping[str, int]
    fields: tuple[tuple[tuple[str, int], ...], ...]
    natural_pairs: bool
    suits: bytes
    honours: bytes

    @property
    def faces(self) -> Iterable[str]:
        """Every face that a hand may hold."""
        return self.weights.keys()

    def ready(self, code: int) -> bool:
        """R22: whether 3n+1 tiles are sets alone and one gold over."""
        suits = self.suits
        lack = suits[code & _MASK] + suits[code >> _BITS & _MASK] + suits[code >> 2 * _BITS & _MASK]
        return (lack + self.honours[code >> 3 * _BITS & _MASK]) & NEED < code >> _GOLD_AT

    def waits(self, code: int) -> tuple[str, ...]:
        """Faces that complete 3n+1 tiles, in tile order, whether or not a copy is left."""
        suits = self.suits
        golds = code >> _GOLD_AT
        codes = (code & _MASK, code >> _BITS & _MASK, code >> 2 * _BITS & _MASK, code >> 3 * _BITS & _MASK)
        told = (suits[codes[0]], suits[codes[1]], suits[codes[2]], self.honours[codes[3]])
        total = sum(told)
        found: list[str] = []
        for field, own in enumerate(told):
            rest = total - own
            # The golds left for this field, its pair counted; below zero the other fields alone ask for too many.
            left = golds + 1 - (rest & NEED)
            if left >= 0:
                found += self._waits_in(field, codes[field], left, rest >= PAIR)
        if self.gold is None:
            return tuple(found)
        if golds > (total & NEED) - 3 if total >= PAIR else golds > total:
            found.append(self.gold)
        return tuple(sorted(found, key=tile_order))

    def _waits_in(self, field: int, code: int, left: int, paired: bool) -> list[str]:
        """Faces of one field that complete the hand; `paired` says that another field has the pair."""
        table = self.honours if field == 3 else self.suits
        faces = self.fields[field]
        alike = four_alike()
        if alike[code % _HALF] or alike[code // _HALF]:
            lacks = [
                (face, self._with_fifth(field, code, power) if code // power % 5 == 4 else table[code + power])
                for face, power in faces
            ]
            return [face for face, lack in lacks if _fits(lack, left, paired)]
        if paired:
            return [face for face, power in faces if table[code + power] & NEED <= left]
        alone = left - 3
        return [face for face, power in faces if (lack := table[code + power]) <= alone or PAIR <= lack <= PAIR + left]

    def _with_fifth(self, field: int, code: int, power: int) -> int:
        """The byte of a field in which the face of `power`, held four times, comes once more: it has no code."""
        if field < 3:
            counts = [code // 5**place % 5 + (5**place == power) for place in range(9)]
            return suit_byte(counts, self.natural_pairs)
        without = self.honours[code - 4 * power]
        fifth = honour_byte(5, self.natural_pairs)
        return (without & NEED) + (fifth & NEED) + (PAIR if (without | fifth) & PAIR else 0)


class Hand:
    """The concealed tiles of one seat as one packed code that a sum changes as tiles come and go.

    No natural face may be held more than four times.
    """

    __slots__ = ("code", "reading")

    def __init__(self, reading: Reading, tiles: Iterable[str] = ()) -> None:
        self.reading = reading
        self.code = sum(map(reading.weights.__getitem__, tiles))

    def add(self, face: str) -> None:
        """A tile comes."""
        self.code += self.reading.weights[face]

    def remove(self, face: str) -> None:
        """A tile goes; it must be held."""
        self.code -= self.reading.weights[face]

    @property
    def golds(self) -> int:
        """Golds held."""
        return self.code >> _GOLD_AT

    def complete(self) -> bool:
        """R20: sets and one pair; for 3n+2 tiles."""
        code = self.code
        book = self.reading
        suits = book.suits
        lack = (
            suits[code & _MASK]
            + suits[code >> _BITS & _MASK]
            + suits[code >> 2 * _BITS & _MASK]
            + book.honours[code >> 3 * _BITS & _MASK]
        )
        return code >> _GOLD_AT >= ((lack & NEED) - 1 if lack >= PAIR else lack + 2)

    def ready(self) -> bool:
        """R22: sets alone and one gold over; for 3n+1 tiles."""
        return self.reading.ready(self.code)

    def waits(self) -> tuple[str, ...]:
        """Faces that complete 3n+1 tiles, in tile order, whether or not a copy is left."""
        return self.reading.waits(self.code)

    def youjin_discards(self, tiles: Iterable[str]) -> tuple[str, ...]:
        """R22: faces among the `tiles` of this hand of 3n+2 whose discard leaves it ready, in tile order."""
        weights = self.reading.weights
        faces = sorted(set(tiles), key=tile_order)
        return tuple(face for face in faces if self.reading.ready(self.code - weights[face]))


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
    if Hand(reading(rules, gold), concealed).complete():
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
    suits, honours_told = suit_table(natural_pairs), honour_table(natural_pairs)
    return Reading(gold, ordered, _fields(ordered), natural_pairs, suits, honours_told)


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


def _fits(lack: int, left: int, paired: bool) -> bool:
    """Whether a field's byte asks for no more golds than are left for it and the pair."""
    return lack & NEED <= left if paired or lack >= PAIR else lack + 3 <= left


def _fields(weights: Mapping[str, int]) -> tuple[tuple[tuple[str, int], ...], ...]:
    fields: tuple[list[tuple[str, int]], ...] = ([], [], [], [])
    for face, weight in weights.items():
        field = (weight.bit_length() - 1) // _BITS
        if field < 4:
            fields[field].append((face, weight >> (field * _BITS)))
    return tuple(tuple(field) for field in fields)


def _seven_pairs(rules: Ruleset, gold: str | None, tiles: Sequence[str]) -> bool:
    """R20, option: 14 concealed tiles in pairs; golds fill up single tiles where they may stand in a pair."""
    if len(tiles) != 14:
        return False
    weights = reading(rules, gold).weights
    counts = Counter(weights[face] for face in tiles)
    golds = counts.pop(_GOLD, 0)
    singles = sum(count % 2 for count in counts.values())
    return singles == 0 if rules.gold_in_pair == "both_or_none" else singles <= golds
