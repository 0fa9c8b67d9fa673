"""Inputs and commands: what is accepted, and that everything else is refused with a code and never raises otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers import ACTIONS as ANSWERS
from protocol.mqtt.commands import ACTIONS, COMMANDS, MAX_LIFETIME_MS
from protocol.mqtt.inbound import (
    MAX_COMMAND_BYTES,
    MAX_INPUT_BYTES,
    InputError,
    parse_command,
    parse_input,
)

GOOD: dict[str, Any] = {"id": "c2-17", "epoch": 3, "want": "3.roll-1.1", "action": "roll", "params": {}}
ASKED: dict[str, Any] = {"id": "a-1", "client": "counter", "who": "Mei", "args": {}}
NOW_MS = 1_000_000

PARAMS: dict[str, dict[str, Any]] = {
    "start": {"rules": "new-xiamen-120", "layout": "bagua", "hands": 8, "minutes": 120, "seats": "dice"},
    "dice": {"dice": [5, 1]},
    "flower": {"tile": "1f"},
    "unflower": {"tile": "8f"},
    "tail_shift": {"by": -1},
    "face": {"tile": "3p"},
    "claim": {"way": "qiangjin", "tile": "9s"},
    "hu": {"way": "zimo"},
    "chi": {"tiles": ["1m", "3m"]},
    "kong_concealed": {"tile": "5z"},
    "kong_added": {"tile": "5z"},
    "tour_discard": {"tile": "3p"},
    "discard": {"tile": "1z"},
    "discard_down": {"tile": "1z"},
    "expose_false": {"kind": "zhahu"},
    "kong": {"kind": "concealed", "honour": True, "seat": "S"},
    "unkong": {"kind": "open"},
    "win": {"way": "pinghu", "seat": "E", "source": "W"},
    "unwin": {"seat": "W"},
    "drawn": {"last_drawer": "N"},
    "foul": {"kind": "zhahu", "seat": "N"},
    "cover": {"seat": "S", "on": True},
    "items": {"golds": 2, "pongs_honour": 1, "triplets_suited": 0, "last_tile": 3},
    "tiles": {
        "concealed": ["1m", "1m"],
        "melds": [{"kind": "pong", "tiles": ["5z", "5z", "5z"]}],
        "tile": "1m",
        "flowers": ["1f"],
    },
    "patterns": {"patterns": ["menqing"]},
    "hardness": {"hardness": "soft", "seat": "E"},
    "bid": {"points": 5},
    "ready": {"on": True},
    "pays_all": {"seat": None},
    "followed": {"no_flowers": False, "followed": 2},
    "vote": {"choice": 2},
    "swap": {"right": "win"},
    "look": {"what": "history", "page": 2, "match": 1, "hand": 3},
    "confirm_device": {"code": "012345", "ok": True},
}


def refused(changed: dict[str, Any], epoch: int = 3) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_input(json.dumps({**GOOD, **changed}).encode(), epoch)
    return caught.value


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_with_its_params_is_accepted(action: str) -> None:
    want = "3.some-1.1" if ACTIONS[action].prompts else ""
    said = {**GOOD, "want": want, "action": action, "params": PARAMS.get(action, {})}
    parsed = parse_input(json.dumps(said).encode(), 3)
    assert (parsed.id, parsed.want, parsed.action, parsed.params) == ("c2-17", want, action, PARAMS.get(action, {}))


WRONG_PARAMS: list[tuple[str, dict[str, Any], str]] = [
    ("chi", {"tiles": ["1m"]}, "params.tiles"),
    ("chi", {"tiles": ["1m", "0m"]}, "params.tiles"),
    ("hu", {"way": "Zimo"}, "params.way"),
    ("hu", {}, "params.way"),
    ("claim", {"way": "tianhu", "tile": "10m"}, "params.tile"),
    ("kong", {"kind": "kong_open"}, "params.kind"),
    ("win", {"way": "zimo", "seat": "X"}, "params.seat"),
    ("win", {"way": "pinghu", "source": ""}, "params.source"),
    ("cover", {"seat": "E", "on": 1}, "params.on"),
    ("items", {"golds": True}, "params.golds"),
    ("items", {"golds": -1}, "params.golds"),
    ("tiles", {"concealed": ["1m"] * 18, "melds": []}, "params.concealed"),
    ("tiles", {"concealed": [], "melds": [{"kind": "pong", "tiles": ["1m", "1m"]}]}, "params.melds"),
    ("tiles", {"concealed": [], "melds": [{"kind": "row", "tiles": ["1m", "1m", "1m"]}]}, "params.melds"),
    ("tiles", {"concealed": [], "melds": ["pong"]}, "params.melds"),
    ("tiles", {"concealed": "123m5"}, "params.concealed"),
    ("tiles", {"concealed": "123456789123456789m"}, "params.concealed"),
    ("tiles", {"concealed": "123m", "tile": "0m"}, "params.tile"),
    ("pays_all", {}, "params.seat"),
    ("vote", {"choice": True}, "params.choice"),
    ("vote", {"choice": 3}, "params.choice"),
    ("look", {"what": "everything"}, "params.what"),
    ("look", {"what": "hand", "page": -1}, "params.page"),
    ("start", {"seats": "chosen"}, "params.seats"),
    ("start", {"hands": 1.0}, "params.hands"),
]


@pytest.mark.parametrize(("action", "params", "field"), WRONG_PARAMS)
def test_params_that_are_none_are_named(action: str, params: dict[str, Any], field: str) -> None:
    want = "3.some-1.1" if ACTIONS[action].prompts else ""
    error = refused({"want": want, "action": action, "params": params})
    assert error.field == field and error.code in ("missing", "bad_value") and error.expected


def test_every_answer_that_the_table_takes_has_its_action() -> None:
    """The table of actions knows each prompt that the engine lets an action answer."""
    for verb, action in ANSWERS:
        assert verb in ACTIONS[action].prompts or verb == "start", (verb, action)


def test_params_may_be_left_out_and_unknown_ones_are_dropped() -> None:
    said = {**GOOD, "tomorrow": 1, "params": {"hurry": True}}
    assert parse_input(json.dumps(said).encode(), 3).params == {}
    del said["params"]
    assert parse_input(json.dumps(said).encode(), 3).params == {}


@pytest.mark.parametrize(
    ("changed", "code", "field"),
    [
        ({"id": ""}, "bad_value", "id"),
        ({"id": "x" * 41}, "bad_value", "id"),
        ({"id": "a b"}, "bad_value", "id"),
        ({"id": 7}, "bad_value", "id"),
        ({"epoch": "3"}, "bad_value", "epoch"),
        ({"epoch": 3.0}, "bad_value", "epoch"),
        ({"epoch": True}, "bad_value", "epoch"),
        ({"epoch": -1}, "bad_value", "epoch"),
        ({"epoch": 2}, "old_epoch", "epoch"),
        ({"epoch": 4}, "old_epoch", "epoch"),
        ({"want": None}, "bad_value", "want"),
        ({"want": ""}, "bad_value", "want"),
        ({"want": "x" * 65}, "bad_value", "want"),
        ({"action": "dance"}, "unknown_action", "action"),
        ({"action": "Roll"}, "bad_value", "action"),
        ({"action": "unpair"}, "bad_value", "want"),
        ({"params": []}, "bad_value", "params"),
        ({"action": "dice"}, "missing", "params.dice"),
        ({"action": "dice", "params": {"dice": [0, 1]}}, "bad_value", "params.dice"),
        ({"action": "dice", "params": {"dice": [7, 1]}}, "bad_value", "params.dice"),
        ({"action": "dice", "params": {"dice": [1]}}, "bad_value", "params.dice"),
        ({"action": "dice", "params": {"dice": [True, 1]}}, "bad_value", "params.dice"),
        ({"action": "dice", "params": {"dice": [1.0, 1]}}, "bad_value", "params.dice"),
        ({"action": "dice", "params": {"dice": "51"}}, "bad_value", "params.dice"),
        ({"action": "flower", "params": {"tile": "9f"}}, "bad_value", "params.tile"),
        ({"action": "flower", "params": {"tile": "1f\n"}}, "bad_value", "params.tile"),
        ({"action": "face", "params": {"tile": "8z"}}, "bad_value", "params.tile"),
        ({"action": "tail_shift", "params": {"by": 2}}, "bad_value", "params.by"),
        ({"action": "tail_shift", "params": {"by": True}}, "bad_value", "params.by"),
        ({"action": "start", "params": {"rules": "../../etc/passwd"}}, "bad_value", "params.rules"),
        ({"action": "start", "params": {"layout": "spiral"}}, "bad_value", "params.layout"),
        ({"want": "", "action": "confirm_device", "params": {"code": "12345", "ok": True}}, "bad_value", "params.code"),
        ({"want": "", "action": "confirm_device", "params": {"code": "123456", "ok": 1}}, "bad_value", "params.ok"),
    ],
)
def test_a_bad_input_says_field_code_and_what_was_expected(changed: dict[str, Any], code: str, field: str) -> None:
    error = refused(changed)
    assert (error.code, error.field) == (code, field)
    assert error.expected
    if field != "id":
        assert error.id == "c2-17"


def test_a_missing_field_is_missing() -> None:
    for field in ("id", "epoch", "want", "action"):
        with pytest.raises(InputError) as caught:
            parse_input(json.dumps({name: value for name, value in GOOD.items() if name != field}).encode(), 3)
        assert (caught.value.code, caught.value.field) == ("missing", field)


def test_size_and_shape() -> None:
    for payload, code in (
        (b"", "bad_json"),
        (b"{", "bad_json"),
        (b"\xff", "bad_json"),
        (b"[1]", "bad_value"),
        (b"null", "bad_value"),
        (b"[" * 2000, "bad_json"),
        (b'{"id":NaN}', "bad_json"),
        (b" " * (MAX_INPUT_BYTES + 1), "too_large"),
    ):
        with pytest.raises(InputError) as caught:
            parse_input(payload, 3)
        assert caught.value.code == code
        assert caught.value.id == ""
    with pytest.raises(InputError, match="too_large"):
        parse_command(b" " * (MAX_COMMAND_BYTES + 1), "status", NOW_MS, 3)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
CHANGES = st.dictionaries(st.sampled_from(sorted(GOOD)), JSON)


@given(CHANGES, st.sampled_from(sorted(ACTIONS)), JSON)
def test_nonsense_is_refused_or_accepted_and_never_raises_otherwise(
    changed: dict[str, Any], action: str, params: Any
) -> None:
    for said in ({**GOOD, **changed}, {**GOOD, "action": action, "params": params}):
        try:
            parsed = parse_input(json.dumps(said).encode(), 3)
        except InputError as error:
            assert error.code and error.field and error.expected
        else:
            known = {param.name for param in ACTIONS[parsed.action].params}
            assert parsed.params.keys() <= known


@given(st.binary(max_size=100), st.text(max_size=10))
def test_any_bytes_are_refused(payload: bytes, verb: str) -> None:
    with pytest.raises(InputError):
        parse_input(payload, 3)
    with pytest.raises(InputError):
        parse_command(payload, verb, NOW_MS, 3)


# --- commands ---------------------------------------------------------------------------------------------------------


def command(verb: str, changed: dict[str, Any], now_utc_ms: int | None = None, epoch: int = 3) -> Any:
    return parse_command(json.dumps({**ASKED, **changed}).encode(), verb, NOW_MS, epoch, now_utc_ms)


@pytest.mark.parametrize("verb", [verb.name for verb in COMMANDS.values() if verb.changes])
def test_a_command_that_changes_anything_needs_an_end(verb: str) -> None:
    for changed in ({}, {"epoch": 3}, {"not_after": 5, "clock": "synced"}, {"not_after": 5}):
        with pytest.raises(InputError) as caught:
            command(verb, changed)
        assert (caught.value.code, caught.value.id, caught.value.client) == ("no_expiry", "a-1", "counter")
    # The table's clock is synced and the sender's is not, or does not say so.
    with pytest.raises(InputError, match="no_expiry"):
        command(verb, {"not_after": 5_000, "clock": "unsynced"}, now_utc_ms=4_000)


def test_a_command_that_only_reads_needs_none() -> None:
    assert command("status", {}).who == "Mei"
    assert command("replay", {"args": {"first": 7}}).args == {"first": 7}


@pytest.mark.parametrize(
    ("changed", "now_utc_ms", "code"),
    [
        ({"epoch": 3, "not_after_ms": NOW_MS}, None, ""),
        ({"epoch": 3, "not_after_ms": NOW_MS + 5000}, None, ""),
        ({"epoch": 3, "not_after_ms": NOW_MS - 1}, None, "expired"),
        ({"epoch": 2, "not_after_ms": NOW_MS + 5000}, None, "old_epoch"),
        ({"epoch": 4, "not_after_ms": NOW_MS + 5000}, None, "old_epoch"),
        ({"not_after_ms": NOW_MS + 5000}, None, "missing"),
        ({"epoch": 3, "not_after_ms": NOW_MS + MAX_LIFETIME_MS}, None, ""),
        ({"epoch": 3, "not_after_ms": NOW_MS + MAX_LIFETIME_MS + 1}, None, "expiry_too_far"),
        ({"not_after": 50_000, "clock": "synced"}, 49_000, ""),
        ({"not_after": 50_000, "clock": "synced"}, 50_001, "expired"),
        ({"not_after": 50_000 + MAX_LIFETIME_MS, "clock": "synced"}, 1_000, "expiry_too_far"),
        # The monotonic end wins: a stepped clock of day cannot revive a command.
        ({"epoch": 3, "not_after_ms": NOW_MS - 1, "not_after": 50_000, "clock": "synced"}, 49_000, "expired"),
    ],
)
def test_f8_when_a_command_expires(changed: dict[str, Any], now_utc_ms: int | None, code: str) -> None:
    if not code:
        assert command("park", changed, now_utc_ms).id == "a-1"
        return
    with pytest.raises(InputError) as caught:
        command("park", changed, now_utc_ms)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("verb", "changed", "code", "field"),
    [
        ("explode", {}, "unknown_verb", "verb"),
        ("status", {"client": "a/b"}, "bad_value", "client"),
        ("status", {"client": "#"}, "bad_value", "client"),
        ("status", {"who": ""}, "bad_value", "who"),
        ("status", {"args": []}, "bad_value", "args"),
        ("status", {"not_after_ms": "soon"}, "bad_value", "not_after_ms"),
        ("replay", {}, "missing", "args.first"),
        ("replay", {"args": {"first": -1}}, "bad_value", "args.first"),
        ("replay", {"args": {"first": 1, "last": "x"}}, "bad_value", "args.last"),
    ],
)
def test_a_bad_command_says_field_and_code(verb: str, changed: dict[str, Any], code: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        command(verb, changed)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert caught.value.expected and caught.value.id == "a-1"
