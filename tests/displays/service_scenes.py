"""States of the repairer's page, for tests, pictures and one's own eyes."""

from __future__ import annotations

from typing import Any

from protocol.serial.vocabulary import LEARNED, MOTORS, SELF_TESTS, SENSOR_BITS, SENSOR_VALUES

_ON = (
    "lid_closed", "centre_down", "walls_down", "dice_still", "tiles_on_felt", "service_mode", "eye_E", "eye_S", "eye_N",
    "head_E", "head_S", "head_W", "head_N",
)  # fmt: skip

SENSORS = {name: name in _ON for name in SENSOR_BITS}
VALUES = dict(zip((name for name, _ in SENSOR_VALUES), (24_100, 120, 3081, 3131, 930, 905, 140, 921), strict=True))

BASE: dict[str, Any] = {
    "paired": True, "code": "", "asking": False, "problem": "", "connected": True, "mode": "off", "who": "", "left": 0,
    "live": None, "heard": True, "tab": "sensors", "name": "陈师傅", "duration": 500, "pending": "", "times": None,
    "history": None, "counters": None, "sure": False,
}  # fmt: skip


def live(**changes: Any) -> dict[str, Any]:
    """The table's word in service mode."""
    return {
        "who": "陈师傅", "left_s": 583, "link": "up", "at_rest": True, "board_mode": True, "key": False, "stop": None,
        "sensors": SENSORS, "values": VALUES, "motion": None, **changes,
    }  # fmt: skip


def on(tab: str, **changes: Any) -> dict[str, Any]:
    """A state in service mode."""
    return {**BASE, "mode": "on", "who": "陈师傅", "left": 583, "tab": tab, "live": live(), **changes}


HELD = live(key=True, sensors={**SENSORS, "service_key": True})
MOTION = {"action": "jog", "what": "walls", "left_ms": 300}
AWAY = {"centre": "moving", "walls": "unknown"}
SOUND = {"fault": "", "side": ""}
FAILED_TEST = {
    "ok": True,
    "result": {
        "outcome": "failed", "fault": "eye_dirty", "side": "W", "number": 0, "test": "all",
        "checks": [
            {"number": number, "test": test, **({"fault": "eye_dirty", "side": "W"} if test == "eyes" else SOUND)}
            for number, test in enumerate(SELF_TESTS)
            if number and test != "readers"
        ],
    },
}  # fmt: skip

_MOVEMENTS = ("sort", "centre_raise", "centre_lower", "walls_raise", "dice_roll", "read_wall", "present_group")
TIMES = {
    "movements": [
        {
            "movement": movement, "count": 128 if place < 5 else 0, "spread_ms": 80, "slow": movement == "centre_raise",
            **(dict.fromkeys(("usual_ms", "now_ms", "last_ms"), 1210 + 4000 * place if place < 5 else None)),
            "limit_ms": 8_000 if place else 60_000,
            "board_ms": 1220 if place == 1 else None,
        }
        for place, movement in enumerate(_MOVEMENTS)
    ],
    "board": dict.fromkeys(LEARNED, 1200),
}  # fmt: skip


def _fault(code: str, side: str, count: int, sensors: list[str]) -> dict[str, Any]:
    return {
        "code": code, "side": side, "mechanism": "eye", "sensors": sensors, "count": count, "per_1000": count * 2,
        "first_ts": 0, "last_ts": 0, "last_clock": "synced", "last_hand": 4, "last_cycle": 480,
    }  # fmt: skip


HISTORY = {
    "cycles": 512,
    "faults": [
        _fault("eye_dirty", "W", 14, ["eye_W", "eye_level_W"]),
        _fault("head_jam", "S", 3, ["head_S"]),
        _fault("centre_limit_missing", "", 2, ["centre_down", "centre_up"]),
        _fault("sort_timeout", "", 1, ["tiles_on_felt"]),
        _fault("single_tile_push", "N", 1, ["eye_N"]),
    ],
    "latest": [],
    "next": 5,
}
COUNTERS = {
    "cycles": 10_412,
    "motor_seconds": dict(zip(MOTORS, (25_012, 41_760, 270_720, 60_000, 50_120, 43_100), strict=True)),
    "lines": [
        {
            "port": "kaijin-table", "state": "up", "frames_in": 1_204_331, "frames_out": 1_190_201, "retransmits": 12,
            "bad_frames": 3, "losses": 1, "board_retransmits": 4, "board_bad_frames": 0,
        }
    ],
    "history_cycles": 512,
}  # fmt: skip

SCENES: dict[str, dict[str, Any]] = {
    "unpaired": {**BASE, "paired": False},
    "code": {**BASE, "paired": False, "asking": True, "code": "482913"},
    "refused": {**BASE, "paired": False, "problem": "cover.ask_refused"},
    "off": BASE,
    "asked": {**BASE, "mode": "asked", "who": "陈师傅", "left": 52},
    "sensors": on("sensors"),
    "sensors_held": on("sensors", live=HELD),
    "motors": on("motors"),
    "motors_held": on("motors", live=HELD, jogs={
        "centre": {"ok": True, "result": {"outcome": "done", "fault": "", "side": ""}},
        "walls": {"ok": True, "result": {"outcome": "failed", "fault": "motor_stall", "side": ""}},
        "pushers": {"ok": False, "code": "key_not_held", "params": {}},
    }),
    "motors_running": on("motors", live={**HELD, "motion": MOTION}, pending="jog.walls"),
    "tests": on("tests"),
    "tests_done": on("tests", live=HELD, tested={"all": FAILED_TEST}),
    "tests_running": on("tests", pending="test.eyes"),
    "not_home": on("motors", sure=True, failed={"code": "not_home", "params": AWAY}),
    "stopped": on("motors", live=live(stop="service key let go")),
    "resting": on("motors", live=live(at_rest=False)),
    "board_off": on("motors", live=live(board_mode=False)),
    "no_board": on("sensors", live=live(link="lost", sensors={}, values={})),
    "times": on("times", times=TIMES),
    "history": on("history", history=HISTORY),
    "history_none": {**BASE, "tab": "history", "history": {"cycles": 0, "faults": [], "latest": [], "next": None}},
    "counters": on("counters", counters=COUNTERS),
    "away": on("sensors", connected=False, heard=False),
}  # fmt: skip
"""By name."""
