"""Whether a win can have happened as it is told: by whom, how, on whose tile (R13, R15, R25, R29)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.ruleset import Ruleset

SELF_DRAWN = frozenset(
    {
        "zimo",
        "youjin",
        "shuangyou",
        "sanyou",
        "qiangshuangyou",
        "sanjindao",
        "sanjindao_late",
        "tianhu",
        "shuanghuagang",
        "sanhuayou",
    }
)
"""Ways in which nobody else's tile is won."""


@dataclass(frozen=True, slots=True)
class Objection:
    """What is wrong with a win: a code that displays word, the rule, the field at fault, and a sentence in English."""

    code: str
    rule: str
    field: str
    told: str


def objection(rules: Ruleset, dealer: str, source: str | None, seat: str, way: str) -> Objection | None:
    """Why a seat cannot have won so; None when it can. The discarder is known where he pays, and only where there is
    one.
    """
    if source == seat:
        return Objection("own_tile", "R13", "from", f"{source} won and cannot be the discarder")
    if source is not None and (way in SELF_DRAWN or (way == "qiangjin" and rules.qiangjin == "opening")):
        return Objection("nobodys_tile", "R13", "from", f"nobody's tile is won by {way}")
    if source is None and rules.payers == "discarder" and way in ("pinghu", "dihu"):
        return Objection("whose_tile", "R13", "from", "missing: the discarder pays")
    if way == "tianhu" and seat != dealer:
        return Objection("not_dealer", "R25", "way", f"天胡 is the dealer's, and {seat} does not deal (R25)")
    if way == "dihu" and seat == dealer:
        return Objection("is_dealer", "R29", "way", f"地胡 is a non-dealer's, and {seat} deals (R29)")
    return None
