"""Play with hands: every act and its refusals, tiles conserved, eyes that see no more than they should."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.tiles import SEATS, next_seat
from simulators import laying
from simulators.acts import perform
from simulators.felt import ZONES, Felt, Happening, Tile, WorldError
from simulators.sight import Eyes, Sight, public_sight, seat_sight
from simulators.world import World
from tests.simulators.dealt import Table


def felt_of(**hands: str) -> Felt:
    """A felt on which seats hold these tiles (`E="1m 2m"`) and nothing else lies."""
    felt, number = Felt(), 0
    for seat, faces in hands.items():
        for face in faces.split():
            felt.hands[seat].append(Tile(1, number, face))
            number += 1
    return felt


def lying(felt: Felt) -> Counter[Tile]:
    return Counter(tile for seat in SEATS for tile in felt.lying_at(seat))


def refused(felt: Felt, act: Callable[[], Any], words: str) -> None:
    """The act is refused with these words and has changed nothing."""
    before = felt.version, lying(felt), repr(felt.hands), repr(felt.discards), repr(felt.melds)
    with pytest.raises(WorldError, match=words):
        act()
    assert (felt.version, lying(felt), repr(felt.hands), repr(felt.discards), repr(felt.melds)) == before


def told(felt: Felt) -> list[str]:
    """What readers notice from now on, as `seat zone`."""
    noticed: list[str] = []

    def notice(happening: Happening) -> None:
        if happening.kind == "zone":
            noticed.append(f"{happening.seat} {happening.word}")

    felt.notify = notice
    return noticed


def test_a_discard_lies_before_its_seat_and_readers_see_it_come_and_go() -> None:
    felt = felt_of(E="1m 2m 2m")
    noticed = told(felt)
    laying.discard(felt, "E", "2m")
    laying.discard(felt, "E", "1m")
    assert felt.zone_faces("E", "discards") == ("2m", "1m") and felt.zone_faces("E", "hand") == ("2m",)
    assert noticed == ["E discards", "E hand"] * 2
    refused(felt, lambda: laying.discard(felt, "E", "9m"), "E does not hold 9m")
    refused(felt, lambda: laying.discard(felt, "E", "0q"), "no tile '0q'")
    assert laying.take_back(felt, "E") == "1m"
    assert noticed[4:] == ["E hand", "E discards"]
    refused(felt, lambda: laying.take_back(felt, "S"), "no discard lies before S")


def test_a_discard_face_down_is_read_by_tags_and_claimed_by_nobody() -> None:
    felt = felt_of(E="1m 2m", S="1m 1m")
    laying.discard(felt, "E", "1m", down=True)
    assert felt.zone_faces("E", "discards") == ("1m",)
    refused(felt, lambda: laying.meld(felt, "S", "pong", "E", "1m", ["1m", "1m"]), "lies face down")
    laying.take_back(felt, "E")
    laying.discard(felt, "E", "1m")
    laying.meld(felt, "S", "pong", "E", "1m", ["1m", "1m"])
    assert not felt.down


def test_melds_take_the_last_discard_and_own_tiles() -> None:
    felt = felt_of(E="3m 5p", S="1m 2m 5p 5p 5p", W="5p")
    noticed = told(felt)
    laying.discard(felt, "E", "3m")
    laying.discard(felt, "E", "5p")
    refused(felt, lambda: laying.meld(felt, "S", "chi", "E", "3m", ["1m", "2m"]), "last discard of E is 5p, not 3m")
    refused(felt, lambda: laying.meld(felt, "S", "pung", "E", "5p", ["5p", "5p"]), "kind: expected chi, pong")
    refused(felt, lambda: laying.meld(felt, "S", "pong", "E", "5p", ["5p"]), "a pong needs 2 own tiles, not 1")
    refused(felt, lambda: laying.meld(felt, "W", "pong", "E", "5p", ["5p", "5p"]), "W does not hold 5p")
    refused(felt, lambda: laying.meld(felt, "E", "pong", "E", "5p", ["5p", "5p"]), "discard of its own")
    refused(felt, lambda: laying.meld(felt, "S", "pong", "N", "5p", ["5p", "5p"]), "no discard lies before N")
    noticed.clear()
    laying.meld(felt, "S", "kong_open", "E", "5p", ["5p"] * 3)
    assert noticed == ["S melds", "E discards", "S hand"]
    laying.meld(felt, "S", "chi", "E", "3m", ["2m", "1m"])
    assert [(meld.kind, [tile.face for tile in meld.tiles]) for meld in felt.melds["S"]] == [
        ("kong_open", ["5p"] * 4),
        ("chi", ["1m", "2m", "3m"]),
    ]
    assert felt.zone_faces("S", "melds") == ("5p", "5p", "5p", "5p", "1m", "2m", "3m")
    assert felt.zone_faces("S", "hand") == () and felt.zone_faces("E", "discards") == ()


def test_kongs_of_own_tiles() -> None:
    felt = felt_of(E="7z", S="7z 7z 7z 1s 1s 1s 1s 2s 2s 2s")
    refused(felt, lambda: laying.kong(felt, "S", "concealed", "2s"), "S does not hold 2s")
    refused(felt, lambda: laying.kong(felt, "S", "added", "7z"), "no pong of 7z lies before S")
    refused(felt, lambda: laying.kong(felt, "S", "open", "1s"), "kind: expected concealed or added")
    laying.kong(felt, "S", "concealed", "1s")
    laying.discard(felt, "E", "7z")
    laying.meld(felt, "S", "pong", "E", "7z", ["7z", "7z"])
    laying.kong(felt, "S", "added", "7z")
    assert [meld.kind for meld in felt.melds["S"]] == ["kong_concealed", "kong_added"]
    assert felt.zone_faces("S", "melds") == ("1s",) * 4 + ("7z",) * 4


def test_a_meld_comes_apart_as_it_was_laid() -> None:
    felt = felt_of(E="7z 7z 1s", S="7z 7z 7z 2s 2s 2s 2s")
    whole = lying(felt)
    refused(felt, lambda: laying.undo_meld(felt, "S"), "no meld lies before S")
    laying.discard(felt, "E", "7z")
    laying.meld(felt, "S", "pong", "E", "7z", ["7z", "7z"])
    laying.kong(felt, "S", "added", "7z")
    laying.kong(felt, "S", "concealed", "2s")
    laying.undo_meld(felt, "S")
    assert sorted(felt.zone_faces("S", "hand")) == ["2s"] * 4
    laying.undo_meld(felt, "S")
    assert [meld.kind for meld in felt.melds["S"]] == ["pong"]
    laying.undo_meld(felt, "S")
    assert felt.melds["S"] == [] and felt.zone_faces("E", "discards") == ("7z",)
    assert sorted(felt.zone_faces("S", "hand")) == ["2s"] * 4 + ["7z"] * 3
    assert lying(felt) == whole


def test_a_tile_of_anothers_lap_is_put_away_out_of_every_zone() -> None:
    felt = felt_of(S="1m 2m 3m")
    assert laying.put_away(felt, "S") == "3m", "the last that came"
    assert laying.put_away(felt, "S", "1m") == "1m"
    refused(felt, lambda: laying.put_away(felt, "S", "9m"), "S does not hold 9m")
    refused(felt, lambda: laying.put_away(felt, "N"), "N holds no tile")
    assert [tile.face for tile in felt.aside["S"]] == ["3m", "1m"]
    assert all(felt.zone_faces("S", zone) == (("2m",) if zone == "hand" else ()) for zone in ZONES)


def test_taking_out_of_turn_and_putting_back() -> None:
    table = Table("new-xiamen-120")
    world, before = table.world, Counter(table.world.all_tiles())
    first, second = table.lines.head[-1], next(p for p in table.lines.head if p not in table.gone())
    held = world.zone_faces("W", "hand")
    world.take("W", [second])
    with pytest.raises(WorldError, match=f"no tile stands at {second} any more"):
        world.take("N", [second])
    refused(world, lambda: laying.put_back(world, "W", "E99t"), "W holds no tile that stood at E99t")
    assert laying.put_back(world, "W") == second
    assert world.zone_faces("W", "hand") == held and second in world.standing(second[0])
    assert first != second and Counter(world.all_tiles()) == before
    positions = [position for position in table.lines.head if position not in table.gone()][:2]
    world.take("W", positions)
    assert laying.put_back(world, "W", positions[0]) == positions[0]
    world.take("E", [positions[0]])
    laying.put_back(world, "W")
    stranger = felt_of(N="1m")
    refused(stranger, lambda: laying.put_back(stranger, "N"), "N holds no tile of the wall")


def test_the_gold_is_taken_only_where_it_lies_open() -> None:
    table = Table("new-xiamen-120")
    other = next(p for p in table.lines.head if p not in table.gone())
    refused(table.world, lambda: laying.take_flipped(table.world, "S", other), f"{other} is not flipped")
    face = table.world.face_at(table.gold)
    assert table.act("take_flipped", "S", position=table.gold) == {"tile": face}
    assert table.gold not in table.world.flipped and public_sight(table.world).flipped == {}
    refused(table.world, lambda: laying.take_flipped(table.world, "S", table.gold), "no tile stands")


def test_a_hand_laid_open_is_seen_by_all_until_it_is_taken_up() -> None:
    table = Table("new-xiamen-120")
    table.act("show_hand", "W")
    seen = table.world.version
    table.act("show_hand", "W")
    assert table.world.version == seen, "saying it again changes nothing"
    hand = sorted(table.world.zone_faces("W", "hand"))
    for sight in (public_sight(table.world), seat_sight(table.world, "E")):
        assert {seat: sorted(tiles) for seat, tiles in sight.shown.items()} == {"W": hand}
    table.act("show_hand", "W", open=False)
    assert public_sight(table.world).shown == {}
    refused(Felt(), lambda: laying.show_hand(Felt(), "E"), "E holds no tile")


ACTS: tuple[Callable[[World, str, random.Random], Any], ...] = (
    lambda w, s, c: laying.discard(w, s, c.choice(w.hands[s]).face, c.random() < 0.3),
    lambda w, s, c: laying.take_back(w, s),
    lambda w, s, c: laying.meld(
        w, s, "pong", next_seat(s), w.discards[next_seat(s)][-1].face, [tile.face for tile in c.sample(w.hands[s], 2)]
    ),
    lambda w, s, c: laying.kong(w, s, c.choice(laying.KONGS), c.choice(w.hands[s]).face),
    lambda w, s, c: laying.undo_meld(w, s),
    lambda w, s, c: laying.put_away(w, s),
    lambda w, s, c: laying.take_flipped(w, s, next(iter(w.flipped))),
    lambda w, s, c: laying.show_hand(w, s, c.random() < 0.5),
    lambda w, s, c: laying.put_back(w, s),
    lambda w, s, c: w.take(s, c.sample(w.standing(s), 1)),
    lambda w, s, c: w.lay_flowers(s),
    lambda w, s, c: w.push_in(s),
    lambda w, s, c: w.move_centre(c.choice(("up", "moving", "down", "up"))),
)


@given(st.integers(0, 10_000), st.lists(st.integers(0, len(ACTS) - 1), min_size=20, max_size=120))
def test_no_act_of_play_loses_or_doubles_a_tile(seed: int, acts: list[int]) -> None:
    table, chance = Table("new-xiamen-120", seed=seed % 5), random.Random(seed)
    world, everything = table.world, Counter(table.world.all_tiles())
    eyes = Eyes(world)
    assert set(everything.values()) == {1}
    for number in acts:
        seat, before = chance.choice(SEATS), world.version
        try:
            ACTS[number](world, seat, chance)
        except WorldError as refusal:
            assert str(refusal) and world.version == before, "a refused act changes nothing"
        except (IndexError, StopIteration, ValueError):
            assert world.version == before, "chance found nothing to act with"
        assert Counter(world.all_tiles()) == everything
        looked = Sight.model_validate_json(eyes.sight(seat))
        assert looked == seat_sight(world, seat) and looked.seen == world.version


def test_pushing_in_takes_everything_and_what_is_left_lies_about() -> None:
    table = Table("new-xiamen-120")
    world = table.world
    for seat in SEATS:
        table.act("discard", seat, tile=world.hands[seat][0].face, down=seat == "E")
        table.act("put_away", seat)
    table.act("show_hand", "S")
    world.move_centre("up")
    noticed, flowers = told(world), ["E flowers"] if world.flowers["E"] else []
    table.act("push_in", "E")
    assert noticed == ["E hand", *flowers, "E discards"]
    assert world.lying_at("E") == [] and not world.down
    for seat in "SW":
        world.push_in(seat)
    assert world.shown == set()
    left = len(world.lying_at("N"))
    world.move_centre("down")
    assert world.lying_at("N") == [] and len(world.forgotten) == left
    assert world.put_in_forgotten() == left
    assert len(world.inside[1]) + len(world.inside[2]) == 240 - sum(
        len(tiles) for sides in world.stacked.values() for tiles in sides.values()
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_a_seat_sees_does_not_depend_on_tiles_that_are_hidden_from_it(seed: int) -> None:
    """Other hands, walls, tiles face down or put away are exchanged for one another: the sight stays the same."""
    table, chance = Table("new-xiamen-120", seed=seed), random.Random(seed)
    world = table.world
    for seat in SEATS:
        for down in (False, True, False):
            table.act("discard", seat, tile=chance.choice(world.hands[seat]).face, down=down)
        table.act("put_away", seat)
    table.act("show_hand", "N")
    for seat in (*SEATS, None):
        before = Eyes(world).sight(seat)
        others = [Eyes(world).sight(other) for other in SEATS if other not in (seat, "N")]
        assert [tiles[1] for tiles in json.loads(before)["discards"].values()] == [""] * 4
        hide_anew(world, seat, chance)
        assert Eyes(world).sight(seat) == before
        after = [Eyes(world).sight(other) for other in SEATS if other not in (seat, "N")]
        assert all(one != other for one, other in zip(others, after, strict=True)), "whose tiles they are sees it"


def hide_anew(world: World, seat: str | None, chance: random.Random) -> None:
    """Exchange the faces of all tiles that this seat may not see among each other."""
    spots: list[tuple[list[Any], int]] = []
    for side in SEATS:
        names = world.names(side)
        spots += [
            (world.walls[side], at)
            for at, tile in enumerate(world.walls[side])
            if tile is not None and names[at] not in world.flipped
        ]
        if side not in (seat, "N"):
            spots += [(world.hands[side], at) for at in range(len(world.hands[side]))]
        spots += [(world.aside[side], at) for at in range(len(world.aside[side]))]
        spots += [(world.discards[side], at) for at, tile in enumerate(world.discards[side]) if tile in world.down]
    faces = [tiles[at].face for tiles, at in spots]
    chance.shuffle(faces)
    for (tiles, at), face in zip(spots, faces, strict=True):
        down = tiles[at] in world.down
        world.down.discard(tiles[at])
        tiles[at] = replace(tiles[at], face=face)
        if down:
            world.down.add(tiles[at])


@pytest.mark.parametrize(
    ("act", "arguments", "words"),
    [
        ("discard", {}, "tile: expected a text"),
        ("discard", {"tile": "1m", "down": "yes"}, "down: expected true or false"),
        ("meld", {"kind": "chi", "tile": "1m", "own": []}, "from: expected E, S, W or N"),
        ("meld", {"kind": "chi", "from": "S", "tile": "1m", "own": "2m3m"}, "own: expected a list of texts"),
        ("kong", {"kind": "added"}, "tile: expected a text"),
        ("put_back", {"position": 7}, "position: expected a text"),
        ("show_hand", {"open": 1}, "open: expected true or false"),
        ("begin_round", {"layout": "square"}, "layout: expected zhitui or bagua"),
        ("begin_round", {"layout": "zhitui", "rules": 120}, "rules: expected a text"),
        ("begin_round", {"layout": "zhitui", "options": 3}, "options: expected an object"),
        ("begin_round", {"layout": "zhitui", "rules": "poker"}, "there is no ruleset 'poker'"),
        ("begin_round", {"layout": "zhitui", "rules": "basic-136", "deal": [7, 1]}, "deal: a die shows 1-6"),
        ("begin_round", {"layout": "zhitui", "flips": -1}, "flips: expected a count"),
        ("play", {"action": "pass"}, "action: expected an object"),
        ("play", {"action": {"name": "pass", "speed": "1"}}, "there is no field 'speed'"),
        ("play", {"action": {"name": "pass"}, "number": "3"}, "number: expected"),
        ("play", {"action": {"name": "pass"}}, "no hand has begun"),
        ("close_window", {}, "no hand has begun"),
    ],
)
def test_acts_that_say_too_little_are_refused_in_words(act: str, arguments: dict[str, Any], words: str) -> None:
    world = Table("new-xiamen-120").world
    before = world.version
    with pytest.raises(WorldError, match=words):
        perform(world, act, {"seat": "E", **arguments})
    assert world.version == before
