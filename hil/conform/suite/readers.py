"""7.4: tag readers in walls and zones (sections 6 and 14)."""

from __future__ import annotations

import asyncio

from hil.conform.bench import Bench
from hil.conform.requirement import Failed, Skipped, requirement
from hil.conform.suite.deal import clear_walls, walls_up
from protocol.serial.messages import (
    SIDES,
    UNKNOWN_TILE,
    OpRefused,
    ReadWall,
    TileFlipped,
    WallOutcome,
    Zone,
)
from protocol.serial.wire import MessageError


@requirement(
    "7.4.1", "A wall is read at any time",
    "sort stop, read wall, all queries, lamps, buzzer, service end | always (they move nothing)", section="6",
    profile="readers",
)  # fmt: skip
async def a_wall_is_read(b: Bench) -> None:
    if b.claim.identity.capabilities.sensing != "full":
        raise Skipped("sensing none: this table reads no tiles")
    talk = await b.talk()
    for side in SIDES:
        operation = ReadWall(b.new_op(), side)
        result = await talk.run(operation)
        if result.outcome != "done":
            raise Failed(f"ReadWall of {side} done", f"{result.outcome} {result.fault}")
        try:
            found = WallOutcome.unpack(result.values)
        except MessageError as error:
            raise Failed("a WallOutcome in the result of ReadWall", str(error)) from None
        if UNKNOWN_TILE in found.tiles and found.confidence < 60 and b.claim.status.set_up:
            b.note(f"{side}: {found.tiles.count(UNKNOWN_TILE)} tiles not read")
        answer = await talk.begin(operation)
        if answer != result:
            raise Failed(f"the stored result of {side}", str(answer))


@requirement(
    "7.4.2", "The same id for another side",
    "The same id with another verb or other arguments is refused (bad_argument).", section="6", profile="readers",
)  # fmt: skip
async def for_another_side(b: Bench) -> None:
    if b.claim.identity.capabilities.sensing != "full":
        raise Skipped("sensing none: this table reads no tiles")
    talk = await b.talk()
    op = b.new_op()
    await talk.run(ReadWall(op, "E"))
    answer = await talk.begin(ReadWall(op, "S"))
    if not isinstance(answer, OpRefused) or answer.reason != "bad_argument":
        raise Failed("OpRefused, bad_argument: the id was that of side E", str(answer))


@requirement(
    "7.4.3", "Zones are told whole",
    "The whole content of one reader zone after a change.", section="9", profile="readers",
)  # fmt: skip
async def zones_are_told_whole(b: Bench) -> None:
    talk = await b.talk()
    await asyncio.sleep(1.0)
    told = [one for one in talk.heard if isinstance(one, Zone)]
    if talk.unreadable:
        raise Failed("messages that can be read", talk.unreadable[0])
    if not told:
        raise Skipped("the board told of no zone")
    latest = {(one.seat, one.zone): one for one in told}
    b.note(f"{len(latest)} zones told, {sum(len(one.tiles) for one in latest.values())} tiles in them")


@requirement(
    "7.4.4", "A tile that is turned up is told, and the wall that stands is read",
    "A tile of the wall was turned face up in place. … Read the faces of one side's wall where tiles are read",
    section="9",
    profile="readers", moves=True, deeds=("clear_felt", "flip_tile"),
)  # fmt: skip
async def a_tile_is_turned_up(b: Bench) -> None:
    if b.claim.identity.capabilities.sensing != "full" or not b.claim.mechanisms:
        raise Skipped("this board reads no walls")
    talk = await b.talk()
    await walls_up(b, talk)
    found = WallOutcome.unpack((await talk.run(ReadWall(b.new_op(), "E"))).values)
    since = len(talk.heard)
    await b.do("flip_tile")
    told = await talk.message(lambda one: isinstance(one, TileFlipped), 3.0, since)
    if not isinstance(told, TileFlipped) or told.position != "E1t":
        raise Failed("TileFlipped at E1t", talk.told(since))
    b.end()
    await clear_walls(b)
    if not found.tiles:
        raise Failed("the faces of a wall that stands", "none")
    if told.tile != found.tiles[0]:
        raise Failed(f"the first tile of the wall, {found.tiles[0]}, at E1t", told.tile)
