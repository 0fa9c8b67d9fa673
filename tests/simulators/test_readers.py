"""Readers that err now and then: as the seed will have it, in play alone, and only until the zone changes again."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from engine.tiles import SEATS
from simulators.felt import Happening
from simulators.readers import SURE, UNSURE, Readers, Reading
from tests.simulators.dealt import Table, play_out


class Watch:
    """Readers at a table, and everything they say while a hand is played."""

    def __init__(self, rate: float, seed: int = 4) -> None:
        self.said: list[tuple[str, str, Reading]] = []
        self.errors: Counter[str] = Counter()
        self.table = Table("new-xiamen-120", seed=seed)
        self.world = self.table.world
        self.readers = Readers(self.world, rate)
        self.world.notify = self._notice

    def play(self) -> None:
        self.table.act("begin_round", "E", **self.table.begin, opening=["", ""])
        play_out(self.table, 3)

    def _notice(self, happening: Happening) -> None:
        if happening.kind != "zone":
            return
        seat, zone = happening.seat, happening.word
        self.readers.changed(seat, zone)
        reading, truth = self.readers.read(seat, zone), self.world.zone_faces(seat, zone)
        self.said.append((seat, zone, reading))
        if len(reading.tiles) != len(truth):
            self.errors["missing" if len(reading.tiles) < len(truth) else "doubled"] += 1
            lost, added = Counter(truth) - Counter(reading.tiles), Counter(reading.tiles) - Counter(truth)
            assert (lost.total(), added.total()) in ((1, 0), (0, 1)) and reading.confidence == SURE
            assert set(added) <= set(truth)
        elif reading.tiles != truth:
            self.errors["wrong"] += 1
            assert sum(one != other for one, other in zip(reading.tiles, truth, strict=True)) == 1
            assert UNSURE[0] <= reading.confidence <= UNSURE[1] < 60
        else:
            assert reading.confidence == SURE


def test_without_a_rate_they_tell_the_truth() -> None:
    watch = Watch(0.0)
    watch.play()
    assert watch.said and not watch.errors and watch.readers.misread == 0


def test_with_a_rate_they_err_in_every_way_about_as_often() -> None:
    watch = Watch(0.3)
    watch.play()
    assert set(watch.errors) == {"missing", "doubled", "wrong"}
    assert watch.errors.total() == watch.readers.misread
    assert 0.15 < watch.errors.total() / len(watch.said) < 0.45


def test_the_same_seed_errs_the_same() -> None:
    one, other, third = Watch(0.3), Watch(0.3), Watch(0.3, seed=5)
    for watch in (one, other, third):
        watch.play()
    assert one.said == other.said != third.said


def test_until_the_first_discard_and_while_tiles_are_pushed_in_they_err_by_order_alone() -> None:
    watch = Watch(1.0)
    world = watch.world
    world.take("S", [next(place for place in watch.table.lines.head if place not in watch.table.gone())])
    assert not watch.errors
    watch.table.act("discard", "S", tile=world.hands["S"][0].face)
    assert watch.errors
    count = watch.errors.total()
    world.move_centre("up")
    for seat in SEATS:
        watch.table.act("push_in", seat)
    assert watch.errors.total() == count
    assert all(watch.readers.read(seat, "hand") == Reading((), SURE) for seat in SEATS)


@pytest.mark.parametrize("kind", ["missing", "doubled", "wrong"])
def test_an_error_heals_at_the_next_change_of_its_zone_and_no_other(kind: str) -> None:
    watch, chance = Watch(0.0), random.Random(1)
    world, readers = watch.world, watch.readers
    readers.err("S", "hand", kind)
    wrong = readers.read("S", "hand")
    assert wrong.tiles != world.zone_faces("S", "hand")
    watch.table.act("discard", "E", tile=chance.choice(world.hands["E"]).face)
    assert readers.read("S", "hand") == wrong
    watch.table.act("discard", "S", tile=chance.choice(world.hands["S"]).face)
    assert readers.read("S", "hand") == Reading(world.zone_faces("S", "hand"), SURE)
