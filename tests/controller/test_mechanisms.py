"""Learned times: no false alarm in ten thousand cycles, a motor that ages is told long before it fails, all is kept."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest

from controller.mechanisms import KEPT, Learned, LearnedTimes, Times
from controller.operations import LIMITS
from simulators.assumptions import default_assumptions
from tests.controller.hardware.rig import Notes

CYCLES = 10_000
ASSUMED = default_assumptions()
MOVEMENTS: Mapping[str, tuple[str, ...]] = {
    "centre_raise": ("centre_up",),
    "centre_lower": ("centre_down",),
    "walls_raise": ("walls_up", "walls_down"),
    "dice_roll": ("dice",),
    "read_wall": ("read_wall",),
    "present_group": ("present",),
}


def seconds(verb: str, chance: random.Random, slow_tail: bool = True) -> float:
    """One cycle as the simulator's table has it, slow sorts as often as assumed."""
    if verb != "sort":
        return sum(ASSUMED.movements[name].sample(chance) for name in MOVEMENTS[verb])
    slow = slow_tail and chance.random() * 1000 < ASSUMED.faults_per_1000_cycles.slow_tail
    return ASSUMED.sort.slow(chance) if slow else ASSUMED.sort.sample(chance)


def times_of(verb: str) -> Times:
    return Times(round(LIMITS[verb].seconds * 1000))


@pytest.mark.parametrize("verb", LIMITS)
def test_ten_thousand_usual_cycles_bring_no_false_warning(verb: str) -> None:
    """The sort's long tail among them: one in sixteen takes longer than 40 s."""
    chance, times, warnings, slowest = random.Random(f"usual/{verb}"), times_of(verb), 0, 0.0
    for _ in range(CYCLES):
        was, took = times.slow, seconds(verb, chance)
        times.add(round(1000 * took))
        warnings += times.slow and not was
        slowest = max(slowest, took)
    assert warnings == 0, f"{warnings} false warnings in {CYCLES} cycles"
    assert verb != "sort" or slowest > ASSUMED.sort.warn


def test_over_many_tables_hardly_any_sort_is_warned_of_falsely() -> None:
    """Thirty tables' worth of a thousand sorts each: a false warning in ten thousand sorts at most."""
    warnings = 0
    for seed in range(30):
        chance, times = random.Random(f"table/{seed}"), times_of("sort")
        for _ in range(1000):
            was = times.slow
            times.add(round(1000 * seconds("sort", chance)))
            warnings += times.slow and not was
    assert warnings <= 3, f"{warnings} false warnings in 30,000 sorts"


@pytest.mark.parametrize(
    ("verb", "drift"),
    [("centre_raise", 0.01), ("centre_raise", 0.002), ("centre_lower", 0.005), ("walls_raise", 0.003),
     ("dice_roll", 0.005), ("sort", 0.005), ("sort", 0.001), ("present_group", 0.01)],
)  # fmt: skip
def test_a_motor_that_slows_is_told_before_it_times_out(verb: str, drift: float) -> None:
    """By a share of its time more each cycle, quickly or over years: warned of with time left, not on the eve."""
    chance, times = random.Random(f"drift/{verb}/{drift}"), times_of(verb)
    for _ in range(200):
        times.add(round(1000 * seconds(verb, chance, slow_tail=False)))
    usual, cycle, warned = times.learned().usual_ms / 1000, 0, 0
    while (took := seconds(verb, chance, slow_tail=False) * (1 + drift * cycle)) < LIMITS[verb].seconds:
        times.add(round(1000 * took))
        cycle += 1
        warned = warned or (cycle if times.slow else 0)
    assert warned, f"{cycle} cycles from {usual:.1f} s to {took:.1f} s, and no warning"
    assert warned <= 0.85 * cycle
    now = times.learned()
    assert now.recent_ms > now.usual_ms and now.slow


def test_one_slow_cycle_says_nothing_and_several_do() -> None:
    times, chance = times_of("centre_raise"), random.Random(3)
    for _ in range(60):
        times.add(round(1000 * seconds("centre_raise", chance)))
    times.add(6_000)
    assert not times.slow
    for _ in range(8):
        times.add(2_400)
    assert times.slow


def test_before_enough_is_known_nothing_is_said() -> None:
    times = times_of("centre_raise")
    for number in range(30):
        times.add(1_000 + 200 * number)
        assert not times.slow


def test_a_mended_mechanism_is_not_warned_of_any_more() -> None:
    times, chance = times_of("centre_raise"), random.Random(4)
    for factor in [1.0] * 60 + [2.0] * 20:
        times.add(round(1000 * factor * seconds("centre_raise", chance)))
    assert times.slow
    for _ in range(20):
        times.add(round(1000 * seconds("centre_raise", chance)))
    assert not times.slow


class Heard:
    """What is told of slow mechanisms."""

    def __init__(self, notes: Notes) -> None:
        self.slow: list[tuple[str, Learned]] = []
        self.calm: list[str] = []
        self.times = LearnedTimes(notes, lambda verb, learned: self.slow.append((verb, learned)), self.calm.append)


async def feed(heard: Heard, cycles: int, factor: float = 1.0, chance: Callable[[], float] | None = None) -> None:
    draw = random.Random(5)
    for _ in range(cycles):
        await heard.times.finished("walls_raise", factor * seconds("walls_raise", draw))


async def test_a_warning_is_told_once_with_now_and_usual_and_taken_back() -> None:
    heard = Heard(Notes())
    await feed(heard, 60)
    await feed(heard, 30, 1.8)
    ((verb, learned),) = heard.slow
    assert verb == "walls_raise" and learned.recent_ms > 1.2 * learned.usual_ms
    assert not heard.calm and heard.times.slow() == ("walls_raise",)
    await feed(heard, 30)
    assert heard.calm == ["walls_raise"] and len(heard.slow) == 1


async def test_what_was_learned_outlives_the_daemon() -> None:
    notes = Notes()
    first = Heard(notes)
    await feed(first, 200)
    await feed(first, 30, 1.8)
    again = Heard(notes)
    assert again.times.learned() == first.times.learned()
    assert again.times.slow() == ("walls_raise",) and not again.slow, "it was told before"
    known = again.times.learned()["walls_raise"]
    assert known.count == KEPT and 2_500 < known.usual_ms < 4_500 and known.spread_ms > 0 and known.last_ms > 0
    assert again.times.learned()["sort"] == Learned(0, 0, 0, 0, 0, False)


async def test_a_repairer_lets_it_be_learned_anew() -> None:
    notes = Notes()
    heard = Heard(notes)
    await feed(heard, 60)
    await feed(heard, 30, 1.8)
    await heard.times.forget("walls_raise")
    assert heard.calm == ["walls_raise"]
    assert Heard(notes).times.learned()["walls_raise"].count == 0


@pytest.mark.parametrize(
    "note", ["", "{", "[]", '{"cycles": 5}', '{"cycles": [1, "2", -3, 4.5, true], "first": "x"}', "null"]
)
async def test_a_note_that_is_none_costs_what_was_learned_and_no_more(note: str) -> None:
    notes = Notes()
    notes.values["times:walls_raise"] = note
    heard = Heard(notes)
    assert heard.times.learned()["walls_raise"].count <= 1
    await feed(heard, 40)
    assert heard.times.learned()["walls_raise"].count >= 40
