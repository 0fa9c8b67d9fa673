"""What a seat may do in play: the names travel over the wires; `engine.play.moves` says what each needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ACTIONS: tuple[str, ...] = (
    "hu",
    "kong_open",
    "pong",
    "chi",
    "kong_concealed",
    "kong_added",
    "tour_discard",
    "discard_down",
    "discard",
    "pass",
    "expose_false",
    "cover",
)
"""Every action; `discard_down` lays a 明游's discard face down, `expose_false` and `cover` are faults (R38, R39)."""

COVER_REASONS: tuple[str, ...] = (
    "wrong_count",
    "wrong_draw",
    "wrong_claim",
    "claim_not_taken",
    "wrong_opening",
    "wrong_gold",
    "gold_discard",
    "follow",
)
"""R14, R16, R17, R39: what puts a seat out of the hand."""

UNDRAWN = "undrawn"
"""The `kind` of a cover of the seat whose draw is due, before it has drawn."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action with what it needs; the other fields are empty.

    `tile`: of discard, discard_down, tour_discard (the gold), kong_concealed, kong_added, and of a hu by 抢金 or 抢双游
    the tile dropped where one must be. `tiles`: of chi, the two own tiles in tile order. `way`: of hu. `kind`: of
    expose_false, the false win; of cover `undrawn` or empty. `reason`: of cover, one of `COVER_REASONS`.
    """

    name: str
    tile: str = ""
    tiles: tuple[str, ...] = ()
    way: str = ""
    kind: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """An action and what it would do, as codes: `waits` and `ready` after a discard, `level` of a tour, `way`, …"""

    action: Action
    effect: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class No:
    """Why an action is refused: a code that displays word, the rule, parameters."""

    code: str
    rule: str
    params: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """An action that is carried out and punished: by a 盖牌 for a reason (R39), or as a false win of a kind (R38)."""

    why: str
