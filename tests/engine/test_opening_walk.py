"""Every roll of every profile and layout: no tile taken twice, hands of the right size, head and tail meet (R4-R8)."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from engine.dice import Dice, pointed_seat
from engine.opening import gold_path, lines, next_tiles, side_positions, stand_positions, taking, wall_positions
from engine.ruleset import load_ruleset, profiles
from engine.tiles import SEATS, next_seat, play_order, previous_seat

ROLLS: tuple[Dice, ...] = tuple((one, other) for one in range(1, 7) for other in range(1, 7))
GAMES = [(name, layout) for name in profiles() for layout in load_ruleset(name).layouts]


def doors(layout: str) -> tuple[Dice | None, ...]:
    return ROLLS if layout == "bagua" else (None,)


@pytest.mark.parametrize(("name", "layout"), GAMES)
@pytest.mark.parametrize("dealer", SEATS)
def test_every_deal_and_door_roll_shares_the_wall_out_once(name: str, layout: str, dealer: str) -> None:
    rules = load_ruleset(name)
    everything = frozenset(wall_positions(rules, layout))
    assert len(everything) == rules.tiles
    for deal in ROLLS:
        plan = taking(rules, layout, dealer, deal)
        taken = [position for _, positions in plan.takes for position in positions]
        assert len(set(taken)) == len(taken) == 4 * rules.hand
        for seat in SEATS:
            assert sum(len(positions) for taker, positions in plan.takes if taker == seat) == rules.hand
        for door in doors(layout):
            wall = lines(rules, layout, dealer, deal, door)
            assert wall.extra not in taken
            assert set(wall.head) == set(wall.tail) == everything - set(taken) - {wall.extra}
            assert len(wall.head) == len(wall.tail) == rules.tiles - 4 * rules.hand - 1


@pytest.mark.parametrize(("name", "layout"), GAMES)
def test_every_gold_roll_counts_distinct_standing_tiles_from_the_tail(name: str, layout: str) -> None:
    """All 36 deal × 36 door × 36 gold rolls; the number of tiles replaced before runs through 0-11 with them."""
    rules = load_ruleset(name)
    for at, (deal, door) in enumerate(product(ROLLS, doors(layout))):
        wall = lines(rules, layout, "E", deal, door)
        gone = frozenset(wall.tail[: at % 12])
        for gold in ROLLS:
            path = gold_path(wall, gone, sum(gold))
            assert path == wall.tail[at % 12 : at % 12 + sum(gold)]
            assert len(set(path)) == sum(gold) and not gone & set(path)


@pytest.mark.parametrize(("name", "layout"), GAMES)
def test_head_and_tail_meet_in_the_last_tile(name: str, layout: str) -> None:
    """Drawn in turn from both ends, every tile of the wall comes exactly once, whatever the parity."""
    rules = load_ruleset(name)
    for deal, door in product(ROLLS, doors(layout)[:6]):
        wall = lines(rules, layout, "S", deal, door)
        for first in (0, 1):
            gone: set[str] = set()
            while len(gone) < len(wall.head):
                line = wall.head if (len(gone) + first) % 3 else wall.tail
                (position,) = next_tiles(line, gone, 1)
                assert position not in gone
                gone.add(position)
            assert next_tiles(wall.head, gone, 1) == next_tiles(wall.tail, gone, 1) == ()


@pytest.mark.parametrize(("name", "layout"), [game for game in GAMES if game[1] == "zhitui"])
def test_straight_walls_are_taken_clockwise_from_behind_the_stacks_left(name: str, layout: str) -> None:
    rules = load_ruleset(name)
    for dealer, deal in product(SEATS, ROLLS):
        side = pointed_seat(dealer, deal)
        plan = taking(rules, layout, dealer, deal)
        assert plan.takes[0][1][0] == f"{side}{min(deal) + 1}t"
        assert [seat for seat, _ in plan.takes[:4]] == list(play_order(dealer))
        order = [position[0] for _, positions in plan.takes for position in positions]
        sides = [seat for at, seat in enumerate(order) if at == 0 or order[at - 1] != seat]
        for here, there in pairwise(sides):
            assert there == previous_seat(here)
        wall = lines(rules, layout, dealer, deal)
        left = [f"{side}{n}{tier}" for n in range(min(deal), 0, -1) for tier in "tb"]
        assert list(wall.tail[: len(left)]) == left


@pytest.mark.parametrize("name", [name for name, layout in GAMES if layout == "bagua"])
def test_rows_open_left_of_the_door_and_replace_right_of_it(name: str) -> None:
    """R6: 左门右花, from the right of the gap to the right end, then on at the left end of the next player's row."""
    rules = load_ruleset(name)
    for dealer, deal, door in product(SEATS, ROLLS, ROLLS):
        side = pointed_seat(pointed_seat(dealer, deal), door)
        wall = lines(rules, "bagua", dealer, deal, door)
        steps = sum(door)
        assert wall.extra == f"{side}{steps + 1}"
        assert wall.tail[:steps] == tuple(f"{side}{n}" for n in range(steps, 0, -1))
        assert wall.tail[steps] == f"{next_seat(side)}{rules.row}"
        assert wall.head[0] == (f"{side}{steps + 2}" if steps + 2 <= rules.row else f"{previous_seat(side)}1")


@pytest.mark.parametrize(("name", "layout"), GAMES)
def test_a_row_lies_as_its_stacks_stood(name: str, layout: str) -> None:
    """R5: the same notation serves the raised stacks and the laid row, stack by stack, top before bottom."""
    rules = load_ruleset(name)
    for side in SEATS:
        assert len(stand_positions(rules, side)) == len(side_positions(rules, layout, side)) == rules.stacks * 2
