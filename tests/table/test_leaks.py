"""The search for leaks finds each kind that is planted, and takes nothing harmless for one."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from engine.tiles import format_tiles, join_tiles, sort_tiles
from tests.table.hidden import Hand, Hidden, canonical
from tests.table.leaks import leaks_in_message, leaks_in_text, told_in_windows

SIDE = ("5m", "1p", "7z", "9s", "2f", "2m", "2m", "8p", "3s", "1z", "6m", "4p")
HAND = ("9m", "1m", "1m", "4s", "5z", "7p", "8p", "6s", "6s", "2z", "3f", "9p", "7m")
OTHER = ("1p", "1p", "2s", "2s", "3z", "4z", "5p", "5p", "6p", "7s", "7s", "8m", "4m")
TAKE = ("3s", "1z", "5p", "9m")
REPLACED = ("6z", "6z", "8s")
POND = ("9s", "2m", "", "2m", "8p")
"""S's discards: the one that lies face down is a 7p."""
MELD = ("3s", "4s", "5s")
BOOKED = 40
"""The number of the public event with which the first hand ended."""
DRAWN = "7m"
"""What S has just drawn."""
TURN = {"name": "kong_concealed", "tile": "6s"}
CLAIM = {"name": "chi", "tiles": ["7p", "9p"]}


@pytest.fixture
def hidden() -> Hidden:
    """A hand that is over, won by S with all hands shown, and one in play of which S has just drawn a tile."""
    over, known = Hand(), Hand(sides={SIDE}, claims={("S", "sanjindao")})
    over.shown.add(tuple(sort_tiles(OTHER)))
    over.ever["E"].update(OTHER)
    for tiles in (HAND, OTHER, TAKE, REPLACED):
        known.add_group(tiles)
    known.add_hand("S", HAND)
    known.add_hand("E", OTHER)
    known.gold.add("3p")
    known.flowers["E"].update(("1f", "2f", "4f"))
    known.discards["S"] = Counter(face for face in POND if face)
    known.discards["W"] = Counter(["8p"])
    known.melds["W"].add(MELD)
    known.offered = {("2.turn-9.1", "S"): {canonical(TURN)}, ("2.claim-9.1", "S"): {canonical(CLAIM)}}
    return Hidden([over, known], [BOOKED])


def own(**me: Any) -> dict[str, Any]:
    return {"seat": "S", "tiles": format_tiles(HAND), "wants": [], "answers": [], **me}


def message(kind: str = "seat", seq: int = BOOKED + 20, **data: Any) -> bytes:
    """A seat's view with something in it that should not be there."""
    harmless = {
        "hand": 2,
        "phase": "play",
        "wall": {"E": "111000111", "S": "0" * 30},
        "flowers": {"E": ["1f", "2f", "4f"], "S": []},
        "gold": {"face": "3p", "path": ["W1t", "W1b"], "passed": [], "roll": [1, 2], "white": None},
        "tail": {"next": ["N15t", "N15b", "N14t"], "taken": 4},
        "rules": "new-xiamen-120",
        "options": {"ways": {"sanjindao": 20}},
        "play": {
            "turn": "S",
            "stage": "turn",
            "tile": None,
            "last": {"seat": "S", "tile": "8p"},
            "discards": {"E": [], "S": list(POND), "W": [], "N": []},
            "melds": {"W": [{"kind": "chi", "tiles": join_tiles(MELD)}]},
            "aside": {"N": 2},
            "position": "S4t",
        },
        "me": own(),
    }
    envelope = {"v": 1, "type": kind, "table": "hall-1m", "id": "1234f1234f1234f5", "cause": "5678f", "seq": seq}
    return json.dumps({**envelope, "data": {**harmless, **data}}).encode()


def asked(verb: str, want: str = "2.x-9.1", **params: Any) -> dict[str, Any]:
    return own(wants=[{"id": want, "verb": verb, "params": params, "actions": [], "left_ms": None}])


def event(name: str, seq: int = BOOKED + 20, cause: str | None = None, **params: Any) -> bytes:
    """A public event."""
    data = {"stream": "game", "name": name, "hand": 2, "seat": "S", "params": params}
    return json.dumps({"v": 1, "type": "event", "seq": seq, "id": "1234f", "cause": cause, "data": data}).encode()


def public(**data: Any) -> bytes:
    """The same view without what one seat alone may see."""
    view = json.loads(message(**data))
    del view["data"]["me"]
    return json.dumps(view).encode()


# --- harmless ---------------------------------------------------------------------------------------------------------

OWN_PROMPTS: dict[str, dict[str, Any]] = {
    "the opening": asked("opening", claims=["sanjindao"]),
    "the own turn": asked("turn", "2.turn-9.1", drawn=DRAWN, options=[TURN], discards=["9m", "1m"], follow=[]),
    "a claim": asked("claim", "2.claim-9.1", tile="8p", source="W", options=[CLAIM]),
    "flowers to be laid": asked("flowers", tiles=["3f"]),
    "a meld to be laid": asked("lay", kind="chi", tiles=["7p", "8p", "9p"], tile="8p", source="W"),
    "a discard to be taken back": asked("wrong_discard", tile="9p", code="follow"),
    "a zone that is read wrongly": asked("reader_check", zone="hand", seen=["1m"], believed=["9m"]),
    "flowers that lie there": asked("book", mine=[], taken={"1f": "E", "2f": "E"}),
}


@pytest.mark.parametrize("what", OWN_PROMPTS)
def test_what_a_seat_may_see_is_no_leak(hidden: Hidden, what: str) -> None:
    assert leaks_in_message(message(), hidden, "S") == []
    assert leaks_in_message(public(), hidden) == []
    assert leaks_in_message(message(me=OWN_PROMPTS[what]), hidden, "S") == []
    assert leaks_in_message(b"", hidden, "S") == []


def test_what_is_over_is_told(hidden: Hidden) -> None:
    result = {"hand": 1, "way": "sanjindao", "wins": [{"seat": "E", "way": "sanjindao", "tile": "8m"}]}
    told = {"result": {**result, "tiles": {"E": format_tiles(OTHER)}, "melds": {}}}
    assert leaks_in_message(message(**told), hidden, "S") == []
    early = leaks_in_message(message(seq=BOOKED - 1, **told, me=None, play=None, flowers={}, gold=None), hidden)
    assert [leak.partition(":")[0] for leak in early] == ["data.result.wins.0.tile", "data.result.tiles.E"]
    of_this_hand = {**told["result"], "tiles": {"S": format_tiles(HAND)}}
    assert leaks_in_message(public(result=of_this_hand), hidden)


def test_the_public_stream_names_what_lies_open(hidden: Hidden) -> None:
    harmless = (
        event("discarded", tile="8p"),
        event("discarded", tile=""),
        event("melded", kind="chi", tiles="345s"),
        event("drawn", position="S4t"),
        event("flower", tile="1f"),
        event("gold", tile="3p", face="3p", white=None),
        event("won", tile="8p", way="sanjindao"),
    )
    for payload in harmless:
        assert leaks_in_message(payload, hidden) == [], payload


# --- planted ----------------------------------------------------------------------------------------------------------


def test_a_hand_in_a_view_is_the_own_one_alone(hidden: Hidden) -> None:
    for reader in ("E", "W", ""):
        assert leaks_in_message(message(), hidden, reader) == [f"data.me.tiles: tiles {format_tiles(HAND)}"]


PLANTED: dict[str, Any] = {
    "a wall side": list(SIDE),
    "a part of a wall side": list(SIDE[3:6]),
    "a wall side backwards": list(SIDE[::-1]),
    "a wall side behind a flower": ["8f", *SIDE[5:8]],
    "a wall side as text": join_tiles(SIDE),
    "a wall by position": {f"E{n}t": face for n, face in enumerate(SIDE)},
    "a wall in pairs": [[f"E{n}t", face] for n, face in enumerate(SIDE)],
    "a wall in objects": [{"position": f"E{n}t", "tile": face} for n, face in enumerate(SIDE)],
    "the next tile of the wall": "4p",
    "a hand as it was seen": list(HAND),
    "a hand in order": sorted(HAND),
    "a hand as text": format_tiles(HAND),
    "a hand as text, unsorted": join_tiles(HAND),
    "a hand within words": f"the hand is {format_tiles(HAND)}.",
    "a hand as a list within words": f"the hand is {list(HAND)}.",
    "a hand deep inside": {"a": [{"b": [[list(OTHER)]]}]},
    "a hand as a name": {format_tiles(OTHER): 1},
    "a hand as names": dict.fromkeys(TAKE, 1),
    "a part of a hand as text": "456p7z",
    "two tiles of a hand": "56p",
    "a take": list(TAKE),
    "a take in another order": list(TAKE[::-1]),
    "a take as text": join_tiles(TAKE),
    "replacements": list(REPLACED),
    "replacements as text": join_tiles(REPLACED),
    "a draw": DRAWN,
    "a draw within words": f"S has drawn {DRAWN}",
    "a draw as a name": {DRAWN: "S"},
    "tiles put away": {"N": ["3m", "6z"]},
    "a discard that lies face down": {"S": "7p"},
    "an answer in an open window": {"S": {"name": "chi", "tiles": ["7p", "9p"]}},
    "an open tile where none is told": "8p",
    "a way to win": "sanjindao",
    "ways to win": [["S", "sanjindao"]],
    "a way to win by seat": {"S": {"way": "zimo"}},
    "a way to win as a name": {"pinghu": "S"},
}


@pytest.mark.parametrize("what", PLANTED)
@pytest.mark.parametrize("reader", ["", "S"])
def test_what_is_planted_in_a_message_is_found(hidden: Hidden, what: str, reader: str) -> None:
    planted = message(extra=PLANTED[what], me=None)
    assert all(leak.startswith("data.extra") for leak in leaks_in_message(planted, hidden, reader))
    assert leaks_in_message(planted, hidden, reader)
    assert leaks_in_message(event("drawn", position="S4t", extra=PLANTED[what]), hidden, reader)
    answered = json.dumps({"type": "response", "seq": 0, "data": {"result": {"extra": PLANTED[what]}}}).encode()
    assert leaks_in_message(answered, hidden)


PLANTED_IN_PLAY: dict[str, dict[str, Any]] = {
    "a face-down discard in its pond": {"discards": {"S": ["9s", "2m", "7p", "2m", "8p"]}},
    "a discard oftener than it was made": {"discards": {"S": ["9s", "9s"]}},
    "a discard of another": {"discards": {"S": [], "E": ["9s"]}},
    "a face-down discard as the last": {"last": {"seat": "S", "tile": "7p"}},
    "what may be claimed next": {"tile": "6z"},
    "a hand as a meld": {"melds": {"W": [{"kind": "chi", "tiles": format_tiles(HAND)}]}},
    "a meld that nobody has laid": {"melds": {"W": [{"kind": "pong", "tiles": "666s"}]}},
    "a meld of another": {"melds": {"E": [{"kind": "chi", "tiles": join_tiles(MELD)}]}},
    "a tile put away": {"aside": {"N": ["3m"]}},
    "a draw": {"drawn": DRAWN},
}


@pytest.mark.parametrize("what", PLANTED_IN_PLAY)
def test_what_is_planted_in_play_is_found(hidden: Hidden, what: str) -> None:
    play = {**json.loads(message())["data"]["play"], **PLANTED_IN_PLAY[what]}
    assert leaks_in_message(public(play=play), hidden)
    assert leaks_in_message(message(play=play), hidden, "S")


PLANTED_PROMPTS: dict[str, dict[str, Any]] = {
    "the draw of another": asked("turn", "2.turn-9.1", drawn="8m"),
    "the discards of another": asked("turn", "2.turn-9.1", discards=["9m", "8m"]),
    "a kong of another": asked("turn", "2.turn-9.1", options=[{"name": "kong_concealed", "tile": "7s"}]),
    "a claim of another": asked("claim", "2.claim-9.1", tile="8p", options=[{"name": "pong"}]),
    "a claim in words alone": asked("claim", "2.claim-9.1", tile="8p", options=[{"name": "hu", "way": "pinghu"}]),
    "what others wait for": asked("claim", "2.claim-9.1", tile="8p", options=[CLAIM], waits=["8m"]),
    "a tile that stands in the wall": asked("draw", position="S4t", tile="4p"),
    "the flower to come": asked("replace", tile="8f"),
    "a meld of another": asked("lay", kind="chi", tiles=["4z", "8m", "9p"], tile="9p", source="W"),
    "a way of another": asked("opening", claims=["tianhu"]),
    "what another holds": asked("reader_check", zone="hand", seen=["8m"], believed=["9m"]),
    "what another has entered": asked("entry", tiles={"concealed": ["8m"]}),
    "an entry before the end": asked("vote", differs=[{"seat": "E", "first": ["8m"]}]),
}


@pytest.mark.parametrize("what", PLANTED_PROMPTS)
def test_what_is_planted_in_a_prompt_is_found(hidden: Hidden, what: str) -> None:
    assert leaks_in_message(message(me=PLANTED_PROMPTS[what]), hidden, "S")


@pytest.mark.parametrize("what", OWN_PROMPTS)
def test_a_prompt_of_another_seat_is_found(hidden: Hidden, what: str) -> None:
    """What S is asked is shown to E; the flowers that lie there are for all."""
    shown = {**OWN_PROMPTS[what], "seat": "E", "tiles": format_tiles(OTHER)}
    found = leaks_in_message(message(me=shown), hidden, "E")
    assert bool(found) == (what != "flowers that lie there")


@pytest.mark.parametrize("what", PLANTED_PROMPTS)
def test_a_prompt_in_the_public_part_is_found(hidden: Hidden, what: str) -> None:
    view = json.loads(public())
    view["data"]["asked"] = PLANTED_PROMPTS[what]
    assert leaks_in_message(json.dumps(view).encode(), hidden)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("discarded", {"tile": "7p"}),
        ("melded", {"kind": "pong", "tiles": "666s"}),
        ("flower", {"tile": "8f"}),
        ("gold", {"face": "4p"}),
        ("hand_ended", {"tiles": format_tiles(HAND)}),
        ("booked", {"hands": {"S": list(HAND)}}),
        ("window_closed", {"missed": [{"seat": "S", "way": "pinghu"}]}),
    ],
)
def test_what_is_planted_in_the_public_stream_is_found(hidden: Hidden, name: str, params: dict[str, Any]) -> None:
    assert leaks_in_message(event(name, **params), hidden)


def test_who_answers_in_a_window_is_not_told() -> None:
    def stream(*events: bytes) -> list[tuple[str, bytes]]:
        return [("kaijin/1/t/event/game", payload) for payload in events]

    opened, closed = event("discarded", cause="W-1", tile="8p"), event("window_closed")
    assert told_in_windows(stream(opened, closed, event("drawn", position="S4t"), opened, event("won"))) == []
    assert told_in_windows(stream(opened, event("passed"), closed)) == ["passed"]
    assert told_in_windows(stream(opened, event("window_closed", cause="E-7"))) == ["window_closed because of E-7"]


# --- logs -------------------------------------------------------------------------------------------------------------

LOGGED = [
    what
    for what in PLANTED
    if isinstance(PLANTED[what], str | list)
    and not any(word in what for word in ("way", "pairs", "objects", "within words", "two tiles"))
]


@pytest.mark.parametrize("what", LOGGED)
def test_what_is_planted_in_a_log_is_found(what: str) -> None:
    planted = PLANTED[what]
    for line in (f"x {planted!r} y", json.dumps({"event": "x", "y": planted}), json.dumps(json.dumps([planted]))):
        assert leaks_in_text(line), line
    assert leaks_in_text(f'kaijin_hands{{tiles="{planted}"}} 1.0')


def test_a_single_tile_in_a_log_is_found() -> None:
    for line in ('{"event": "drawn", "tile": "7m"}', "seat=S tile=7m", "{'tile': '7m'}", 'kaijin_draws{tile="7m"} 1.0'):
        assert leaks_in_text(line), line


def test_harmless_lines_are_no_leaks() -> None:
    lines = (
        '{"event": "paired", "seat": "E", "boot": "1234f", "timestamp": "2026-11-29T23:59:59.123456Z"}',
        "kaijin_loop_seconds 1.2345e-05\nkaijin_up 1.0",
        "gold 3p at W10b; flowers 1f 2f 3f 4f; 12345678f; waited 12s of 5m",
    )
    assert [leak for line in lines for leak in leaks_in_text(line)] == []
