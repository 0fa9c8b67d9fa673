"""Fan: the patterns of a winning hand and what they come to (R35)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from engine.hand_tables import NEED, PAIR, honour_byte
from engine.hands import complete, golds_held
from engine.melds import Meld, natural_face
from engine.ruleset import Ruleset

NAMED_BY_WAY = {"zimo": "zimo", "sanjindao": "sanjindao", "sanjindao_late": "sanjindao"}
"""Patterns that a way of winning says already."""

KONG_WAYS: tuple[str, ...] = ("zimo", "sanjindao_late", "qiangjin")
"""Ways in which the winning tile may have replaced a kong."""

_BESIDE_PINGHU = {"menqing", "zimo"}


def patterns(
    rules: Ruleset,
    gold: str | None,
    concealed: Sequence[str],
    melds: Sequence[Meld],
    way: str,
    after_kong: bool = False,
) -> tuple[str, ...]:
    """The patterns beside what `way` says itself, in the reading of the golds that pays most.

    `concealed` holds the winning tile. The hand must be complete but for 三金倒, which may have 13 tiles and then has
    no pattern of shape or colour.
    """
    golds = golds_held(concealed, gold)
    found: list[str] = []
    if all(meld.kind == "kong_concealed" for meld in melds):
        found.append("menqing")
    if way == "sanjindao_late":
        found.append("zimo")
    if golds >= 3 and NAMED_BY_WAY.get(way) != "sanjindao":
        found.append("sanjindao")
    if golds >= 4:
        found.append("jinlong")
    if complete(rules, gold, concealed):
        found += _shape(rules, gold, concealed, melds)
    if after_kong:
        found.append("gangshangkaihua")
    return tuple(found)


def fan_total(rules: Ruleset, way: str, beside: Collection[str]) -> int:
    """What a way and the patterns beside it come to, before 底, 连庄番 and 封顶."""
    total = 0
    for name, value in fan_parts(rules, way, beside):
        total = total * value if name == "gangshangkaihua" else total + value
    return total


def fan_parts(rules: Ruleset, way: str, beside: Collection[str]) -> tuple[tuple[str, int], ...]:
    """What counts and how much, in the order it is reckoned: the way, the patterns, and 杠上开花, which multiplies.

    平胡 counts where nothing but 门清, 自摸 and 杠上开花 does.
    """
    assert rules.fans is not None
    fans: dict[str, int] = {str(name): value for name, value in rules.fans.items()}
    said = NAMED_BY_WAY.get(way, way)
    named = [name for name in (said, *beside) if name not in ("pinghu", "gangshangkaihua")]
    parts = [(name, fans[name] if name in fans else rules.value(name)) for name in dict.fromkeys(named)]
    if set(named) <= _BESIDE_PINGHU:
        parts.insert(0, ("pinghu", rules.value("pinghu")))
    if "gangshangkaihua" in beside:
        parts.append(("gangshangkaihua", fans["gangshangkaihua"]))
    return tuple(parts)


def _shape(rules: Ruleset, gold: str | None, concealed: Sequence[str], melds: Sequence[Meld]) -> list[str]:
    """Patterns of a complete hand. Triplets and colour never ask for different readings: a gold beside natural tiles
    has their suit whatever set it fills, and golds by themselves may be any face.
    """
    natural = Counter(natural_face(rules, gold, face) for face in concealed if face != gold)
    golds = golds_held(concealed, gold)
    laid = {natural_face(rules, gold, face) for meld in melds for face in meld.tiles}
    suits = {face[1] for face in {*natural, *laid}}
    found = []
    if all(meld.kind != "chi" for meld in melds) and _triplets(rules, natural, golds):
        found.append("pengpenghu")
    if len(suits) == 1 and "z" not in suits:
        found.append("qingyise")
    elif (len(suits) == 2 and "z" in suits) or (suits == {"z"} and _golds_alone(rules, natural, golds)):
        found.append("hunyise")
    return found


def _triplets(rules: Ruleset, natural: Counter[str], golds: int) -> bool:
    """Whether the tiles are triplets and a pair: each face is then read as honours are."""
    lacks, paired = _lacks(rules, natural)
    return golds >= (lacks - 1 if paired else lacks + 2)


def _golds_alone(rules: Ruleset, natural: Counter[str], golds: int) -> bool:
    """Whether honours leave a pair or a set of golds alone, which may then be suited: two golds more than sets want."""
    return golds >= _lacks(rules, natural)[0] + 2


def _lacks(rules: Ruleset, natural: Counter[str]) -> tuple[int, bool]:
    """Golds that make every face triplets alone, and whether a pair in one of them wants one gold less."""
    told = [honour_byte(count, rules.gold_in_pair == "both_or_none") for count in natural.values()]
    return sum(byte & NEED for byte in told), any(byte & PAIR for byte in told)
