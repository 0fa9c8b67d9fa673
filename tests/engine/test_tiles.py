"""Faces, runs of tiles and seats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.tiles import (
    ALL_FACES,
    SEATS,
    TileError,
    format_tiles,
    is_flower,
    join_tiles,
    next_seat,
    parse_tiles,
    play_order,
    previous_seat,
    sort_tiles,
)


def test_there_are_thirty_four_faces_and_eight_flowers() -> None:
    assert len(ALL_FACES) == len(set(ALL_FACES)) == 42
    assert [face for face in ALL_FACES if is_flower(face)] == [f"{n}f" for n in range(1, 9)]


def test_a_run_is_read_in_the_order_written() -> None:
    assert parse_tiles("55p7z123m1f") == ["5p", "5p", "7z", "1m", "2m", "3m", "1f"]
    assert parse_tiles("") == []


def test_answers_sort_suits_first_and_write_each_letter_once() -> None:
    assert format_tiles(["1f", "7z", "3s", "1p", "2m", "1m"]) == "12m1p3s7z1f"
    assert sort_tiles(["1z", "9s", "1m"]) == ["1m", "9s", "1z"]


@given(st.lists(st.sampled_from(ALL_FACES), max_size=40))
def test_tiles_come_back_as_they_were_written(tiles: list[str]) -> None:
    assert parse_tiles(join_tiles(tiles)) == tiles
    assert parse_tiles(format_tiles(tiles)) == sort_tiles(tiles)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("8z", "8z"),
        ("9f", "9f"),
        ("0m", "0m"),
        ("12", "without a suit"),
        ("m", "before 'm'"),
        ("1x", "'x'"),
        ("1m 2m", "' '"),
        ("¹m", "'¹'"),
        ("1M", "'M'"),
    ],
)
def test_nonsense_is_named(text: str, told: str) -> None:
    with pytest.raises(TileError) as caught:
        parse_tiles(text)
    assert told in str(caught.value)


@given(st.text(max_size=30))
def test_any_text_is_tiles_or_a_tile_error(text: str) -> None:
    try:
        assert all(face in ALL_FACES for face in parse_tiles(text))
    except TileError as error:
        assert str(error)


def test_play_runs_east_south_west_north() -> None:
    assert [next_seat("E", steps) for steps in range(5)] == ["E", "S", "W", "N", "E"]
    assert play_order("W") == ("W", "N", "E", "S")
    assert all(previous_seat(next_seat(seat)) == seat for seat in SEATS)
