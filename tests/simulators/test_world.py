"""The physical truth: tiles are conserved, the seed decides, eyes see no more than they should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.opening import lines, side_positions, stand_positions, taking
from engine.ruleset import load_ruleset
from engine.tiles import SEATS, is_flower, play_order
from simulators.script import ScriptError, parse_script
from simulators.sight import public_sight, seat_sight
from simulators.world import Happening, Missing, World, WorldError

RULES = load_ruleset("new-xiamen-120")
GEAR = (15, 15, 15, 15)


def world_of(seed: int = 7, rules: str = "new-xiamen-120", **options: Any) -> World:
    return World(faces=load_ruleset(rules).faces(), seed=seed, **options)


def with_walls(world: World, gear: Sequence[int] = GEAR) -> World:
    world.sort(1, gear)
    world.move_centre("up")
    for seat in SEATS:
        world.push_in(seat)
    world.move_centre("down")
    world.raise_walls(1)
    return world


def dealt(world: World, dealer: str = "E", deal: tuple[int, int] = (5, 1)) -> World:
    for seat, positions in taking(RULES, "zhitui", dealer, deal).takes:
        world.take(seat, positions)
    world.take(dealer, [lines(RULES, "zhitui", dealer, deal).extra])
    return world


def wall_faces(world: World) -> list[str]:
    return [world.face_at(position) for side in SEATS for position in world.standing(side)]


def test_the_same_seed_gives_the_same_walls_and_throws() -> None:
    one, other, third = (with_walls(world_of(seed)) for seed in (7, 7, 8))
    assert wall_faces(one) == wall_faces(other) != wall_faces(third)
    throws = [[world.settle().dice for _ in range(20)] for world in (one, other, third)]
    assert throws[0] == throws[1] != throws[2]


def test_each_sort_of_a_run_shuffles_anew() -> None:
    world = world_of()
    world.sort(1, GEAR)
    first = [tile.number for tile in world.stacked[1]["E"]]
    world.sort(1, GEAR)
    assert [tile.number for tile in world.stacked[1]["E"]] != first


def test_a_throw_does_not_depend_on_when_walls_rise() -> None:
    early = world_of()
    early_throw = early.settle()
    late = with_walls(world_of())
    assert late.settle().dice == early_throw.dice


def test_names_of_places_are_those_of_the_rule_book() -> None:
    world = with_walls(world_of())
    assert tuple(world.names("S")) == stand_positions(RULES, "S")
    world.lay_row("S")
    assert tuple(world.names("S")) == side_positions(RULES, "bagua", "S")
    with pytest.raises(WorldError, match="row of S is laid"):
        world.lay_row("S")


ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["sort1", "sort2", "up", "down", "walls1", "walls2", "push", "take", "lay", "flip", "give", "row", "find"]
        ),
        st.sampled_from(SEATS),
        st.integers(0, 40),
    ),
    max_size=80,
)


def act(world: World, word: str, seat: str, number: int) -> None:
    standing = world.standing(seat)
    position = standing[number % len(standing)] if standing else "E1t"
    match word:
        case "sort1" | "sort2":
            world.sort(int(word[-1]), GEAR)
        case "up" | "down":
            world.move_centre("up" if word == "up" else "down")
        case "walls1" | "walls2":
            world.raise_walls(int(word[-1]))
        case "push":
            world.push_in(seat)
        case "take":
            world.take(seat, standing[number % 20 : number % 20 + 4])
        case "lay":
            world.lay_flowers(seat)
        case "flip":
            world.flip(position)
        case "give":
            world.give_flower(position, seat)
        case "row":
            world.lay_row(seat)
        case "find":
            world.put_in_forgotten()


@given(ACTS, st.integers(0, 1000))
def test_no_act_loses_or_doubles_a_tile(acts: list[tuple[str, str, int]], seed: int) -> None:
    world = world_of(seed, missing=(Missing(1, "S", 2), Missing(3, "E")))
    everything = Counter(world.all_tiles())
    assert len(everything) == 240 and set(everything.values()) == {1}
    for word, seat, number in acts:
        before = world.version
        try:
            act(world, word, seat, number)
        except WorldError as refusal:
            assert str(refusal)
            assert world.version == before, "a refused act changes nothing"
        assert Counter(world.all_tiles()) == everything
        assert public_sight(world).seen == world.version


def test_acts_that_hands_cannot_do_are_refused_with_the_reason() -> None:
    world = with_walls(world_of())
    with pytest.raises(WorldError, match="centre is not up"):
        world.push_in("E")
    with pytest.raises(WorldError, match="there is no place S16t"):
        world.take("E", ["S16t"])
    with pytest.raises(WorldError, match="no position 'X1t'"):
        world.take("E", ["X1t"])
    with pytest.raises(WorldError, match="named twice"):
        world.take("E", ["S2t", "S2t"])
    world.take("E", ["S2t"])
    with pytest.raises(WorldError, match="no tile stands at S2t any more"):
        world.take("S", ["S2t"])
    with pytest.raises(WorldError, match="tiles of a wall still stand"):
        world.raise_walls(2)
    with pytest.raises(WorldError, match="no tile lies about"):
        world.put_in_forgotten()
    with pytest.raises(WorldError, match="is not flipped"):
        world.turn_back("S3t")


def test_a_forgotten_tile_is_missing_at_its_side_until_somebody_puts_it_in() -> None:
    world = world_of(missing=(Missing(1, "S", 2),))
    assert world.sort(1, GEAR) == {"E": 30, "S": 28, "W": 30, "N": 30}
    assert public_sight(world).forgotten == ("S", "S")
    assert world.put_in_forgotten() == 2
    assert world.sort(1, GEAR) == dict.fromkeys(SEATS, 30)
    assert public_sight(world).forgotten == ()


def test_a_wrong_gear_leaves_tiles_inside() -> None:
    world = world_of(rules="classic-xiamen-144")
    assert world.sort(1, GEAR) == dict.fromkeys(SEATS, 30)
    assert len(world.inside[1]) == 24


def test_eyes_see_no_other_hand_and_no_face_of_a_wall() -> None:
    world = dealt(with_walls(world_of()))
    for seat in SEATS:
        sight = seat_sight(world, seat)
        assert sorted(sight.hand) == sorted(world.zone_faces(seat, "hand"))
        others = sight.model_dump(exclude={"hand"})
        assert not {face for face in RULES.faces() if f"'{face}'" in str(others)}
    assert public_sight(world).hand == ()
    world.flip("W10b")
    assert public_sight(world).flipped == {"W10b": world.face_at("W10b")}


def test_sensors_notice_what_hands_do() -> None:
    noticed: list[Happening] = []
    world = with_walls(world_of())
    world.notify = noticed.append
    world.take("N", ["E1t", "E1b"])
    world.flip("E2t")
    world.lay_row("S")
    world.press("lift", "W")
    kinds = [one for one in noticed if one.kind != "tiles"]
    assert [one.kind for one in kinds] == ["zone", "flip", "row", "key"]
    assert (kinds[0].seat, kinds[0].word) == ("N", "hand")
    assert (kinds[1].position, kinds[1].face) == ("E2t", world.face_at("E2t"))
    assert kinds[3].seat == "W"


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dealer", SEATS)
def test_flowers_are_replaced_in_rounds_from_the_dealer(seed: int, dealer: str) -> None:
    """R7: in a round each seat lays all it holds; flowers among the replacements wait for the next round."""
    world = dealt(with_walls(world_of(seed)), dealer)
    tail = list(lines(RULES, "zhitui", dealer, (5, 1)).tail)
    order = play_order(dealer)
    world.begin_flowers(dealer)
    turns: list[tuple[int, int]] = []
    while (turn := world.flower_turn()) is not None and not turn.done:
        seat = turn.seat
        turns.append((turn.round, order.index(seat)))
        laid = world.lay_flowers(seat)
        owing = world.flower_turn()
        assert owing is not None and (owing.seat, owing.owed) == (seat, len(laid))
        world.take(seat, [tail.pop(0) for _ in laid])
    assert turns == sorted(set(turns)), "rounds and seats in order, each once"
    assert not any(is_flower(face) for seat in SEATS for face in world.zone_faces(seat, "hand"))
    assert [len(world.zone_faces(seat, "hand")) for seat in order] == [17, 16, 16, 16]


def test_a_script_lays_walls_and_dice_hand_by_hand() -> None:
    faces = RULES.faces()
    straight = [face for face, count in faces.items() for _ in range(count)]
    text = "\n".join(
        f'{{"wall": "{"".join(wall)}", "dice": {dice}}}'
        for wall, dice in ((straight, "[[5, 1], [2, 4]]"), (straight[::-1], "[[6, 6]]"))
    )
    world = with_walls(world_of(script=parse_script(text, faces)))
    assert wall_faces(world) == straight
    assert [world.settle().dice, world.settle().dice] == [(5, 1), (2, 4)]
    world.sort(2, GEAR)
    world.move_centre("up")
    for seat in SEATS:
        world.push_in(seat)
    world.raise_walls(2)
    assert wall_faces(world) == straight[::-1]
    assert world.settle().dice == (6, 6)


def test_a_sort_that_is_tried_again_lays_the_same_hand_of_the_script() -> None:
    faces = RULES.faces()
    straight = [face for face, count in faces.items() for _ in range(count)]
    script = parse_script(f'{{"wall": "{"".join(straight)}"}}', faces)
    world = world_of(script=script, missing=(Missing(1, "E"),))
    world.sort(1, GEAR)
    world.put_in_forgotten()
    world.sort(1, GEAR)
    world.move_centre("up")
    for seat in SEATS:
        world.push_in(seat)
    world.raise_walls(1)
    assert wall_faces(world) == straight


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "line 1: no JSON"),
        ('{"wall": "1m", "dice": []}', "line 1: wall: 0 tiles 1f where the set has 1"),
        ('{"walls": ""}', "unknown field 'walls': expected wall and dice"),
        ('{"dice": [[7, 1]]}', "a die shows 1-6, got 7"),
        ('{"wall": "1q"}', "no tile suit 'q'"),
        ("[]", "expected an object, got list"),
        ("", "the script is empty"),
    ],
)
def test_a_script_that_cannot_be_laid_says_why(line: str, words: str) -> None:
    with pytest.raises(ScriptError) as error:
        parse_script(line, RULES.faces())
    assert words in str(error.value)
