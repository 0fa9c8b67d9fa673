"""What a seat may answer: every action, the prompts it answers and the values it takes. The docs show the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from protocol.mqtt.params import (
    DICE,
    FLOWER,
    HANDS,
    LAYOUT,
    MAY_BE_SEAT,
    MAY_BE_TILE,
    MELDS,
    MINUTES,
    ON,
    RULES,
    SEAT,
    SEATING,
    TILE,
    WAY,
    Param,
    either_step,
    face,
    flag,
    one_of,
    or_null,
    run_of,
    some,
    text,
    whole,
)
from protocol.mqtt.topics import SEATS


@dataclass(frozen=True, slots=True)
class Action:
    """One answer of a seat. `prompts` are the wants it may answer, none for an action that answers none."""

    name: str
    prompts: tuple[str, ...]
    phases: str
    level: Literal["both", "none", "full"]
    params: tuple[Param, ...]
    meaning: str


_KONG = (
    Param("kind", "open, added or concealed", one_of("open", "added", "concealed")),
    Param("honour", "true or false", flag, required=False),
    MAY_BE_SEAT,
)
_LAID = ("flowers", "tail", "book", "entry", "object_entry")
_ENTRIES = ("entry", "object_entry")
_DECLARED = ("book", *_ENTRIES)
_FALSE_WIN = Param("kind", "a false win, in lower case", text("[a-z_]{1,40}"))
_COUNT = whole(0, 8)
_ITEMS = tuple(
    Param(name, "a whole number from 0 to 8", _COUNT, required=False)
    for name in ("golds", "pongs_suited", "pongs_honour", "triplets_suited", "triplets_honour", "last_tile")
)


def _once(name: str, prompts: tuple[str, ...], phases: str, meaning: str, *params: Param) -> Action:
    return Action(name, prompts, phases, "both", params, meaning)


def _read(name: str, prompts: tuple[str, ...], phases: str, meaning: str, *params: Param) -> Action:
    return Action(name, prompts, phases, "full", params, meaning)


def _told(name: str, prompts: tuple[str, ...], phases: str, meaning: str, *params: Param) -> Action:
    return Action(name, prompts, phases, "none", params, meaning)


_PROCEDURE = (
    _once(
        "start", ("start",), "idle, ended",
        "begin a match, agreed so; `seats` by the draw of R2 where `dice`; `fresh` for another party than the last",
        RULES, LAYOUT, HANDS, MINUTES, SEATING, Param("fresh", "true or false", flag, required=False),
    ),
    _once("lift", ("lift",), "lift", "raise the centre, as the lift key does"),
    _once("pushed", ("push_in",), "push_in", "all tiles are pushed in"),
    _once("retry", ("count", "retry", "stands"), "any", "what stopped the machine is put right: try again"),
    _once("stands", ("stands",), "any", "it stands done, as I can see; two seats that say so go on"),
    _once("roll", ("roll",), "*_roll, seating, sorting", "throw the dice, as the dice key does"),
    _once("dice", ("dice", "dice_lost"), "*_roll, seating, sorting", "what the dice show", DICE),
    _once(
        "agree", ("dice_check", "gold_check", "agree"), "*_roll, gold, settle",
        "what was entered, or the settlement, is right",
    ),
    _once(
        "object", ("dice_check", "gold_check", "agree"), "*_roll, gold, settle",
        "what was entered, or the settlement, is wrong",
    ),
    _once("nobody", ("dice_lost",), "*_roll", "I did not see the dice stop"),
    _once("cocked", ("dice",), "*_roll", "a die leans: the throw is thrown again"),
    _once("flower", _LAID, "flowers to settle", "I hold this flower; `seat` in an objection", FLOWER, MAY_BE_SEAT),
    _once(
        "unflower", _LAID, "flowers to settle", "I do not hold it; `seat` in an objection", FLOWER, MAY_BE_SEAT
    ),
    _read(
        "by_hand", ("take", "flowers", "draw", "lay", "replace"), "taking, door, flowers, play",
        "done, though no reader saw it",
    ),
    _once("clear", ("stopped",), "any", "hands are off: clear the emergency stop"),
    _told(
        "tail_shift", ("flowers", "tail"), "flowers, gold_roll",
        "one tile more (1) or less (-1) is gone from the tail than the table shows",
        Param("by", "1 or -1", either_step),
    ),
    _once(
        "ok", ("take", "flowers", "row", "hand_check", "seats", "count_wrong"), "any",
        "done: all is taken, nobody has more flowers, the row lies, all sit; the hand is right, the reader wrong",
    ),
    _told("not_yet", ("taken",), "door_roll, flowers, gold_roll", "not all is taken yet: back to the taking"),
    _once("face", ("gold_face", "flip"), "gold", "the face of the tile turned up", TILE),
)  # fmt: skip

_PLAY = (
    _read("claim", ("opening",), "opening", "claim this way of winning; `tile` is dropped for it", WAY, MAY_BE_TILE),
    _read("pass", ("opening", "claim", "lap", "flower"), "opening, play", "claim nothing"),
    _read(
        "hu", ("turn", "claim", "lap", "flower"), "play", "胡, by this way; `tile` is dropped for it", WAY, MAY_BE_TILE
    ),
    _read("kong_open", ("claim",), "play", "明杠 of the discard"),
    _read("pong", ("claim",), "play", "碰"),
    _read(
        "chi", ("claim",), "play", "吃 with these two tiles", Param("tiles", "two faces of one suit", some(face, 2, 2))
    ),
    _read("kong_concealed", ("turn", "lap"), "play", "暗杠", TILE),
    _read("kong_added", ("turn", "lap"), "play", "补杠", TILE),
    _read("tour_discard", ("turn", "lap"), "play", "discard a gold into 双游 or 三游", TILE),
    _read("discard", ("turn",), "play", "discard, where no reader saw it", TILE),
    _read("discard_down", ("turn",), "play", "discard face down (明游)", TILE),
    _read("expose_false", ("turn", "claim", "lap"), "play", "lay a hand open that does not win", _FALSE_WIN),
    _read("admit", ("count_wrong",), "play", "my number of tiles is wrong (相公)"),
    _read("believed", ("reader_check", "count_ruling"), "play", "the tiles are as the table believes, also another's"),
    _read("seen", ("reader_check",), "play", "the tiles are as the reader sees them"),
    _read("out", ("count_ruling",), "play", "this seat, which does not answer, is out of the hand (盖牌)"),
    _read("call_off", ("call_off",), "play", "the hand cannot go on: call it off (流局); two seats that say so do"),
)

_BOOK = (
    _once("kong", _DECLARED, "play, settle", "a kong; `seat` in an objection alone", *_KONG),
    _once("unkong", _DECLARED, "play, settle", "no such kong; `seat` in an objection alone", *_KONG),
    _once(
        "win", _DECLARED, "play, settle", "胡: which way, whose (the presser's), on whose tile",
        WAY, MAY_BE_SEAT, Param("source", "E, S, W, N or null", or_null(one_of(*SEATS)), required=False),
    ),
    _once(
        "drawn", _DECLARED, "play, settle", "流局, and who drew the last tile where that counts",
        Param("last_drawer", "E, S, W, N or null", or_null(one_of(*SEATS)), required=False),
    ),
    _once("foul", _DECLARED, "play, settle", "诈胡 of this kind, whose (the presser's)", _FALSE_WIN, MAY_BE_SEAT),
    _once("cover", _DECLARED, "play, settle", "盖牌 of a seat, or not", SEAT, ON),
    _once("items", _ENTRIES, "settle", "how many of these I hold; `seat` in an objection alone", *_ITEMS, MAY_BE_SEAT),
    _once(
        "tiles", _ENTRIES, "settle", "my whole hand; `tile` is the winning tile; `seat` in an objection alone",
        Param("concealed", "at most 17 faces, a list or such as 123m5z", run_of(0, 17)), MELDS,
        Param("tile", "a face, or null", or_null(face), required=False), MAY_BE_SEAT,
        Param("flowers", "a list of at most 8 flowers", some(text("[1-8]f"), 0, 8), required=False),
    ),
    _once(
        "patterns", _ENTRIES, "settle", "the patterns of the winning hand; `seat` in an objection alone",
        Param("patterns", "a list of patterns, in lower case", some(text("[a-z_]{1,40}"), 0, 12)), MAY_BE_SEAT,
    ),
    _once(
        "hardness", _ENTRIES, "settle", "how hard the winning hand is; `seat` in an objection alone",
        Param("hardness", "soft, hard or double", one_of("soft", "hard", "double")), MAY_BE_SEAT,
    ),
    _once("ready", _ENTRIES, "settle", "I was 游金-ready when the false win was laid open", ON, MAY_BE_SEAT),
    _once(
        "pays_all", _ENTRIES, "settle", "who pays for all (包赔)",
        Param("seat", "E, S, W, N or null", or_null(one_of(*SEATS))),
    ),
    _once(
        "followed", _DECLARED, "settle", "跟庄: nobody had a flower, and how many discards all followed",
        Param("no_flowers", "true or false", flag), Param("followed", "a whole number from 0 to 20", whole(0, 20)),
    ),
    _once("unwin", _ENTRIES, "settle", "this seat has not won, of several", SEAT),
    _once(
        "bid", ("bid", *_ENTRIES), "bids, settle",
        "买底 or 顶底 of this seat, 0 for none (R36, P7); `seat` in an objection alone",
        Param("points", "a whole number from 0 to 10000", whole(0, 10_000)), MAY_BE_SEAT,
    ),
    _once("done", ("entry",), "settle", "my entries are complete"),
    _once("undone", ("entry",), "settle", "my entries are not complete"),
    _once("reopen", ("entry",), "settle", "nobody has won yet: back to play"),
    _once("change", ("agree",), "settle", "back to my entries"),
    _once("propose", ("object_entry",), "settle", "put my version of the settlement to the vote"),
    _once("withdraw", ("object_entry", "vote"), "settle", "take my objection back"),
    _once(
        "vote", ("vote",), "settle", "the first settlement (1), or the objector's (2)",
        Param("choice", "1 or 2", whole(1, 2)),
    ),
)  # fmt: skip

_MATCH = (
    _once(
        "swap", ("swap",), "between hands", "use my right to swap seats (R2)",
        Param("right", "win, half or all", one_of("win", "half", "all")),
    ),
    _once("undo", ("undo",), "until the deal roll", "the last booking is wrong; two seats that say so take it back"),
    _once("end", ("end",), "any", "end the match after the hand in play; two seats that say so end it"),
    _once("keep", ("undo", "end", "call_off"), "any", "the last booking is right; the match, or the hand, goes on"),
    _once("unpark", ("parked",), "any", "go on: the table is parked"),
    _once(
        "look", (), "any", "show this in `me.sheet`; `none` closes it",
        Param(
            "what", "history, statistics, hand, record, match or none",
            one_of("history", "statistics", "hand", "record", "match", "none"),
        ),
        Param("page", "a whole number from 0 to 9999", whole(0, 9_999), required=False),
        Param("match", "the number of a match of the evening", whole(1, 1_000_000), required=False),
        Param("hand", "the number of a hand of the match", whole(1, 10_000), required=False),
    ),
    _once(
        "confirm_device", (), "any", "let the display that shows this code take the seat it asks for, or not",
        Param("code", "six digits", text("[0-9]{6}")), Param("ok", "true or false", flag),
    ),
    _once("unpair", (), "any", "this display gives its seat up"),
)  # fmt: skip

ACTIONS: Mapping[str, Action] = {action.name: action for action in (*_PROCEDURE, *_PLAY, *_BOOK, *_MATCH)}
"""By name; a name means the same whatever prompt it answers."""


def actions_table() -> str:
    """The table of seat actions in Markdown, as docs/mqtt.md shows it."""
    rows = ["| action | answers | phase | level | params | meaning |", "|---|---|---|---|---|---|"]
    for action in ACTIONS.values():
        prompts = ", ".join(f"`{prompt}`" for prompt in action.prompts) or "no want"
        cells = (f"`{action.name}`", prompts, action.phases, action.level, told(action.params), action.meaning)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def told(params: tuple[Param, ...]) -> str:
    """Params as a cell of the docs' tables."""
    parts = (f"`{one.name}`: {one.expected}{'' if one.required else ' (optional)'}" for one in params)
    return "; ".join(parts) or "–"
