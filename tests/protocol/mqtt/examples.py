"""One message of every topic, the state and the seat's view as large as they can become."""

from __future__ import annotations

from typing import Any

from protocol.mqtt.topics import SEATS

FLOWERS = [f"{number}f" for number in range(1, 9)]
TAIL = ["W15t", "W15b", "W14t", "W14b", "W13t", "W13b"]


def enveloped(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "v": 1,
        "type": kind,
        "table": "hall-7",
        "epoch": 12,
        "seq": 40_321,
        "id": "a1b2c3d4e5f60718",
        "ts": 1_767_225_600_123,
        "clock": "synced",
        "mono_ms": 86_400_123,
        "cause": "c2-17",
        "data": data,
    }


def by_seat(value: Any) -> dict[str, Any]:
    return dict.fromkeys(SEATS, value)


def largest_play() -> dict[str, Any]:
    """Every tile that can be has been discarded or melded."""
    kong = {"kind": "kong_concealed", "tiles": "5555z"}
    return {
        "turn": "W",
        "stage": "window",
        "tile": "1m",
        "source": "W",
        "discards": by_seat(["1m"] * 23),
        "last": {"seat": "W", "tile": "1m"},
        "melds": by_seat([kong] * 4),
        "aside": by_seat(12),
        "covered": {"S": "claim_not_taken", "N": "wrong_opening"},
        "tour": {"owner": "W", "level": 3},
        "to_draw": 80,
        "number": 96,
        "position": "W15b",
    }


def largest_totals() -> dict[str, Any]:
    return {"net": by_seat(-12_345), "bonus": by_seat(-1_234), "next": {"dealer": "W", "base_steps": 12}}


def largest_book() -> dict[str, Any]:
    """An objection that the four decide, over three winners."""
    win = {"seat": "W", "way": "qiangshuangyou", "source": "E", "tile": "5m"}
    return {
        "stage": "vote",
        "kind": "win",
        "winners": [win] * 3,
        "foul": {"seat": "N", "kind": "zhashuangyou", "ready": ["E", "S", "W"]},
        "done": by_seat(False),
        "agreed": by_seat(False),
        "by": "N",
        "votes": by_seat(2),
        "settlement": largest_totals(),
        "second": largest_totals(),
    }


def largest_match() -> dict[str, Any]:
    return {
        "number": 1_000,
        "hand": 10_000,
        "hands": 10_000,
        "minutes": 10_080,
        "left_min": 10_080,
        "stage": "playing",
        "ended": "agreed",
        "players": by_seat({"id": "4", "name": "n" * 40}),
        "points": by_seat(-12_345),
        "chips": by_seat(-12_345),
        "deck": 200,
        "bonus": by_seat(-1_234),
        "swaps": by_seat(["half", "all"]),
        "steps": 12,
        "pausing": False,
    }


def largest_result() -> dict[str, Any]:
    win = {"seat": "W", "way": "qiangshuangyou", "source": "E", "tile": "5m"}
    return {
        "hand": 9_999,
        "winner": "W",
        "way": "qiangshuangyou",
        "dealer": "E",
        "match": 1_000,
        "kind": "win",
        "wins": [win] * 3,
        "foul": None,
        "net": by_seat(-12_345),
        "bonus": by_seat(-1_234),
        "next_dealer": "N",
        "tiles": by_seat("1m1p1s2m2p2s3m3p3s4m4p4s5m5p5s6m6p"),
        "melds": by_seat([{"kind": "pong", "tiles": "111m"}] * 2),
        "open": True,
    }


def largest_lines() -> list[dict[str, Any]]:
    """A loser pays three winners, each for a whole row of reasons."""
    names = ("base_dealer", "way", "water_flowers", "water_golds", "water_triplet", "water_kong_open", "multiplier")
    why = [{"code": name, "act": "add", "number": 12, "params": {"seat": "W"}} for name in names]
    one = {"payer": "E", "receiver": "W", "amount": 1_234, "account": "net", "why": why}
    return [one] * 3


def largest_state() -> dict[str, Any]:
    """A state of 144 tiles in two rows with everything set that can be."""
    throw = {"purpose": "gold", "nth": 3, "by": "W", "values": [6, 6], "state": "checking", "points": "N"}
    roll = {"purpose": "deal", "by": "E", "values": [6, 5], "points": "W"}
    return {
        "use": "playing",
        "rules": "classic-xiamen-144",
        "layout": "bagua",
        "options": {"claim_window_ms": 5000, "several_winners": True, "debt": True},
        "sensing": "full",
        "dice_mode": "read",
        "hand": 10_000,
        "hands": 10_000,
        "dealer": "E",
        "streak": 12,
        "base": 4096,
        "phase": "gold",
        "machine": {
            "set_up": 1,
            "sorting": {"set": 2, "tiles": dict.fromkeys(SEATS, 36), "seconds": 59},
            "sorted_set": 0,
            "centre": "moving",
            "link": "up",
            "stop": "emergency_key",
            "faults": [
                {"code": "elevator_timeout", "severity": "fault", "mechanism": "elevator", "side": side}
                for side in SEATS
            ],
            "problem": {
                "kind": "count",
                "set": 2,
                "sides": [{"side": side, "counted": 35, "expected": 36} for side in SEATS],
            },
            "unasked_dice": [6, 6],
        },
        "stacks": dict.fromkeys(SEATS, 18),
        "row": 20,
        "wall": dict.fromkeys(SEATS, "1" * 36),
        "rows_laid": True,
        "dice": throw,
        "rolls": [roll] * 6,
        "take": {
            "seat": "W",
            "positions": [f"{side}{n}{half}" for side in SEATS for n in (7, 8) for half in "tb"],
            "n": 16,
            "of": 16,
        },
        "extra": "N20",
        "break": {"side": "S", "left": 6},
        "door": "N12",
        "tail": {"next": TAIL, "taken": 31},
        "head": "N11",
        "left": 144,
        "flowers": {"E": FLOWERS, "S": [], "W": [], "N": []},
        "flower_turn": {"round": 4, "seat": "N", "count": 6, "positions": TAIL},
        "gold": {
            "face": "3p",
            "position": "W10b",
            "indicator": "2p",
            "white": "3p",
            "path": [f"W{n}b" for n in range(1, 13)],
            "roll": [6, 6],
            "passed": [["W10b", "2f"], ["W10t", "3f"], ["W11b", "4f"]],
            "by": "W",
            "state": "shown",
        },
        "window": {"kind": "opening", "left_ms": 8000},
        "play": largest_play(),
        "book": largest_book(),
        "match": largest_match(),
        "result": largest_result(),
        "counts": dict.fromkeys(SEATS, 17),
        "notices": [{"code": "second_device", "seat": seat, "left_ms": 15000, "params": {}} for seat in SEATS],
    }


def largest_view() -> dict[str, Any]:
    want = {
        "id": "10000.gold_check-3.12",
        "verb": "gold_check",
        "params": {"tile": "3p", "by": "W"},
        "actions": ["agree", "object"],
        "left_ms": 4000,
    }
    answer = {
        "id": "x" * 40,
        "ok": False,
        "code": "flower_not_yours",
        "rule": "R25",
        "params": {"tile": "1f", "seat": "W"},
    }
    ask = {"code": "123456", "seat": "S", "name": "n" * 40}
    me = {
        "seat": "E",
        "tiles": "1223345667899m147p258s4z",
        "wants": [want] * 4,
        "answers": [answer] * 16,
        "points": -12_345,
        "lines": largest_lines(),
        "sheet": None,
        "device": {"name": "n" * 40},
        "pairing": [ask] * 8,
    }
    # A result is told in full until the next deal, before play and book begin.
    return {**largest_state(), "play": None, "book": None, "me": me}


def largest_message(view: dict[str, Any]) -> dict[str, Any]:
    """The view with as much of it as fits into a message."""
    me = view["me"]
    lines = [{**line, "why": []} for line in me["lines"]]
    return {**view, "me": {**me, "answers": me["answers"][-8:], "pairing": me["pairing"][:2], "lines": lines}}


MESSAGES: dict[str, dict[str, Any]] = {
    "availability": enveloped("availability", {"state": "ready", "reason": ""}),
    "birth": enveloped(
        "birth",
        {
            "name": "Hall 7",
            "journal": "0123456789abcdef",
            "versions": {"daemon": "0.1.0", "mcu": "2.4.1", "contract": "1.0"},
            "capabilities": {
                "sensing": "full",
                "dice": "read",
                "sets": 2,
                "layouts": ["zhitui", "bagua"],
                "deals": False,
                "commands": ["status", "replay"],
            },
            "boot": "restart",
            "replay": {"first": 1, "last": 40_321},
        },
    ),
    "state": enveloped("state", largest_state()),
    "seat": enveloped("seat", largest_message(largest_view())),
    "seat-input": {"id": "c2-17", "epoch": 12, "want": "3.roll-1.1", "action": "roll", "params": {}},
    "event": enveloped(
        "event", {"stream": "game", "name": "rolled", "hand": 3, "seat": "E", "params": {"dice": [5, 1]}}
    ),
    "ledger": enveloped(
        "ledger",
        {
            "journal": "0123456789abcdef",
            "number": 7,
            "voids": None,
            "record": {
                "kind": "hand", "session": 2, "match": 3, "hand": 4, "result": "win",
                "seats": {"E": "1", "S": "2", "W": "3", "N": "4"}, "dealer": "E", "steps": 1,
                "wins": [{"seat": "W", "way": "zimo"}], "source": None, "foul": None,
                "points": {"1": -6, "2": -4, "3": 14, "4": -4}, "bonus": {"1": 0, "2": 0, "3": 0, "4": 0},
                "next_dealer": "S", "duration_ms": 421_337, "restarts": 1,
            },
        },
    ),
    "ledger-ack": {"journal": "0123456789abcdef", "number": 7},
    "command": {"id": "a-1", "client": "counter", "who": "Mei", "epoch": 12, "not_after_ms": 86_460_000, "args": {}},
    "response": enveloped(
        "response",
        {
            "id": "a-1",
            "verb": "park",
            "outcome": "rejected",
            "code": "no_expiry",
            "field": "not_after_ms",
            "expected": "epoch with not_after_ms",
            "result": {},
        },
    ),
    "config-desired": {"revision": 3, "values": {"match.hands": 8}},
    "config-reported": enveloped(
        "config/reported",
        {"revision": 3, "keys": {"match.hands": {"value": 8, "ok": True, "code": "", "expected": ""}}},
    ),
    "heartbeat": enveloped(
        "heartbeat",
        {
            "uptime_s": 3600,
            "memory_kb": 51_200,
            "disk_free_kb": 1_000_000,
            "clock_offset_ms": None,
            "outbox": 0,
            "ledger_last": 120,
            "ledger_waiting": 3,
            "oldest_unacknowledged_s": 41,
            "acks_refused": 0,
            "links": {"/dev/table": {"state": "up", "frames_in": 9}},
        },
    ),
    "service": enveloped(
        "service",
        {
            "who": "Mei", "left_s": 583, "link": "up", "at_rest": True, "board_mode": True, "key": True, "stop": None,
            "sensors": {"lid_closed": True, "eye_W": False}, "values": {"supply": 24_100, "eye_level_W": 140},
            "motion": {"action": "jog", "what": "walls", "left_ms": 300},
        },
    ),
    "pairing-request": {"code": "123456", "seat": "S", "device": "device-1", "name": "tablet"},
    "pairing-grant": enveloped("pairing/grant", {"code": "123456", "seat": "S", "device": "device-1", "ok": True}),
    "pairing-release": enveloped("pairing/release", {"seat": "S"}),
    "pairing-refused": {"seat": "S", "name": "phone"},
    "pairing-state": {"E": "tablet", "S": None, "W": None, "N": None, "view": None, "service": "phone"},
}
