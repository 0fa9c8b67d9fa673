"""Why a seat pays: every payment is the sum that its reasons say, step by step (R27, R30-R41).

A reason is a code that displays word (`why.CODE`), what it does to the sum so far, a number and parameters. The amount
of a payment *is* the outcome of its reasons (`worth`), so that what is shown cannot differ from what is paid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Act: TypeAlias = Literal["add", "times", "limit", "note"]
Account: TypeAlias = Literal["net", "bonus"]

WATER_ITEMS: tuple[str, ...] = (
    "flowers",
    "golds",
    "pong",
    "triplet",
    "kong_open",
    "kong_added",
    "kong_concealed",
    "last_tile",
)
"""What counts as 水 (R22, R30, R32, R33); `water` stands for a sum told without its parts."""

CODES: Mapping[str, str] = {
    "base_dealer": "R31",
    "base_others": "R31",
    "base_buy": "R36",
    "base_top": "R36",
    "base_fan": "R35",
    "way": "R30",
    "water": "R32",
    **{f"water_{name}": "R32" for name in WATER_ITEMS},
    "multiplier": "R31",
    "fan_pinghu": "R35",
    "fan_way": "R35",
    "fan_zimo": "R35",
    "fan_sanjindao": "R35",
    "fan_menqing": "R35",
    "fan_pengpenghu": "R35",
    "fan_hunyise": "R35",
    "fan_qingyise": "R35",
    "fan_jinlong": "R35",
    "fan_gangshangkaihua": "R35",
    "fan_streak": "R35",
    "fan_cap": "R35",
    "hardness_soft": "R36",
    "hardness_hard": "R36",
    "hardness_double": "R36",
    "caishen_theirs": "R36",
    "caishen_own": "R36",
    "offset_theirs": "R37",
    "offset_own": "R37",
    "covered": "R39",
    "bonus_way": "R34",
    "bonus_sweep": "R34",
    "fine": "R38",
    "faked": "R38",
    "ready": "R38",
    "pays_all": "R27",
    "no_flowers": "R40",
    "followed": "R40",
    "sweep": "R41",
    "cap": "R41",
}
"""Every code a reason may have, and the rule it belongs to."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of a sum: `add` the number, multiply by it, let no more than it stand, or only note something."""

    code: str
    act: Act = "note"
    number: int = 0
    params: Mapping[str, str | int] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The reason as JSON data."""
        return {"code": self.code, "act": self.act, "number": self.number, "params": dict(self.params)}


@dataclass(frozen=True, slots=True)
class Transfer:
    """What one seat pays another for one thing, and why; `bonus` is 课外, apart from the chips (R34)."""

    payer: str
    receiver: str
    amount: int
    account: Account
    why: tuple[Reason, ...]

    def plain(self) -> dict[str, Any]:
        """The payment as JSON data."""
        return {
            "payer": self.payer,
            "receiver": self.receiver,
            "amount": self.amount,
            "account": self.account,
            "why": [reason.plain() for reason in self.why],
        }


def worth(why: Iterable[Reason]) -> int:
    """What the reasons come to, in their order, from nothing."""
    total = 0
    for reason in why:
        if reason.act == "add":
            total += reason.number
        elif reason.act == "times":
            total *= reason.number
        elif reason.act == "limit":
            total = min(total, reason.number)
    return total


def payment(payer: str, receiver: str, account: Account, why: tuple[Reason, ...]) -> Transfer:
    """The payment that the reasons come to; one below nothing goes the other way and is not built here."""
    return Transfer(payer, receiver, worth(why), account, why)
