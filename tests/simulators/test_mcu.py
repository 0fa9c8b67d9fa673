"""The board over a real pty: operations at most once, the dice's honour, interlocks, stops, resets, readers."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from engine.tiles import SEATS
from protocol.serial.events import LinkLost
from protocol.serial.messages import (
    CentreLower,
    CentreRaise,
    ClearStop,
    Counters,
    CountersQuery,
    DiceFaces,
    DiceOutcome,
    DiceQuery,
    DiceRoll,
    DiceUnasked,
    EmergencyStop,
    FaultCleared,
    FaultRaised,
    GearSet,
    Jog,
    Key,
    OpAccepted,
    OpProgress,
    OpResult,
    Ping,
    Pong,
    PresentGroup,
    ReadWall,
    RowLaid,
    SelfTest,
    Sensors,
    SensorsQuery,
    SetGear,
    SortOutcome,
    SortStart,
    SortStop,
    Status,
    StatusQuery,
    StopCleared,
    StopLatched,
    TileFlipped,
    WallOutcome,
    WallsRaise,
    Zone,
)
from simulators.channel import ActRefused
from simulators.table import SimulatedTable, parse_failure, parse_missing
from simulators.world import World
from tests.simulators.host import RULES, Host, hands, table_and_host


async def ready(host: Host) -> None:
    await host.identify()
    assert (await host.set_gear()).accepted


async def walls_up(table: SimulatedTable, host: Host) -> None:
    """Sort the first set, clear the felt by hand, raise the walls."""
    await ready(host)
    assert (await host.run(SortStart, set_no=1)).outcome == "done"
    await host.run(CentreRaise)
    for seat in SEATS:
        table.world.push_in(seat)
    await host.run(CentreLower)
    assert (await host.run(WallsRaise, set_no=1)).outcome == "done"


async def status(host: Host) -> Status:
    host.send(StatusQuery(host.next_req()))
    return await host.until(Status)


async def test_it_says_who_it_is_and_what_it_can(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, sensing="full", dice="unread") as (_, host):
        identity = await host.identify()
        assert identity.capabilities.readers and identity.capabilities.sensing == "full"
        assert identity.capabilities.dice == "unread" and identity.capabilities.memory == "volatile"
        assert identity.gear_tiles == 0 and identity.last_op is None and identity.boot_id
        host.send(Ping(9))
        assert (await host.until(Pong)).req == 9


async def test_a_hand_is_sorted_raised_and_read(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, sensing="full") as (table, host):
        await walls_up(table, host)
        progress = [message for message in host.heard if isinstance(message, OpProgress)]
        assert len(progress) >= 4
        assert [sum(one.tiles) for one in progress] == sorted(sum(one.tiles) for one in progress)
        assert progress[-1].tiles == (30, 30, 30, 30) and progress[-1].seconds > 0
        read = []
        for side in SEATS:
            outcome = WallOutcome.unpack((await host.run(ReadWall, side=side)).values)
            assert outcome.tiles == tuple(table.world.face_at(place) for place in table.world.standing(side))
            read += outcome.tiles
        assert sorted(read) == sorted(RULES.faces().elements())
        now = await status(host)
        assert (now.set_up, now.sorted_set, now.centre, now.walls) == (1, 0, "down", "down")


async def test_a_repeated_id_is_answered_from_memory_and_throws_once(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        roll = DiceRoll(host.new_op())
        host.send(roll)
        first = await host.until(OpResult)
        for _ in range(3):
            host.send(roll)
            assert await host.until(OpResult) == first
        assert table.world.throws == 1
        lying = table.world.lying
        assert lying is not None and DiceOutcome.unpack(first.values).dice == lying.dice
        host.send(DiceQuery(host.next_req()))
        faces = await host.until(DiceFaces)
        assert faces.known and faces.dice == lying.dice
        assert table.world.throws == 1


async def test_the_same_id_over_a_new_session_throws_no_second_time(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, speed=20) as (table, host):
        await ready(host)
        roll = DiceRoll(host.new_op())
        host.send(roll)
        await host.until(OpAccepted)
        host.close()
        await host.until(LinkLost)
        host.open()
        await host.identify()
        host.send(roll)
        assert (await host.until(OpResult)).outcome == "done"
        assert table.world.throws == 1


async def test_an_unread_throw_says_so_and_a_cocked_one_too(tmp_path: Path) -> None:
    for options, quality in (({"dice": "unread"}, "unread"), ({"cocked": 1.0}, "cocked")):
        async with table_and_host(tmp_path, **options) as (_, host):
            await ready(host)
            found = DiceOutcome.unpack((await host.run(DiceRoll)).values)
            assert (found.dice, found.quality) == (None, quality)
            host.send(DiceQuery(host.next_req()))
            assert not (await host.until(DiceFaces)).known


async def test_hand_dice_are_not_thrown_by_the_board(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, dice="hand") as (table, host):
        await ready(host)
        assert await host.refused(DiceRoll) == "unsupported"
        async with hands(table) as person:
            thrown = await person.act("throw")
        assert table.world.lying is not None and tuple(thrown["dice"]) == table.world.lying.dice


async def test_interlocks(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, speed=20) as (table, host):
        await host.identify()
        assert await host.refused(SortStart, set_no=1) == "gear"
        host.send(SetGear(host.next_req(), 120, (15, 15, 15, 14)))
        assert await host.until(GearSet) == GearSet(host._req, False, "bad_argument")
        await host.set_gear()
        assert await host.refused(WallsRaise, set_no=1) == "interlock"
        await host.run(CentreRaise)
        assert await host.refused(SortStart, set_no=1) == "interlock"
        await host.run(CentreLower)
        host.send(SortStart(host.new_op(), 1))
        await host.until(OpAccepted)
        assert await host.refused(SortStart, set_no=2) == "busy"
        assert await host.refused(CentreRaise) == "interlock"
        assert await host.refused(WallsRaise, set_no=1) == "interlock"
        assert await host.refused(ReadWall, side="E") == "unsupported"
        assert await host.refused(PresentGroup, side="E", first=0, count=2, to_seat="S") == "unsupported"
        assert await host.refused(Jog, motor=1, milliseconds=100) == "service_mode"
        async with hands(table) as person:
            await person.act("control", verb="lid", open=True)
        assert (await host.until(FaultRaised)).code == "lid_open"
        assert await host.refused(DiceRoll) == "interlock"


async def test_a_sort_that_is_stopped_is_interrupted_and_lies_loose_inside(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, speed=5) as (table, host):
        await ready(host)
        sort = SortStart(host.new_op(), 1)
        host.send(sort)
        await host.until(OpProgress)
        host.send(SortStop(host.new_op()))
        results = [await host.until(OpResult), await host.until(OpResult)]
        interrupted = next(result for result in results if result.op == sort.op)
        assert interrupted.outcome == "interrupted"
        host.send(sort)
        assert await host.until(OpResult) == interrupted, "going on is a new attempt"
        assert len(table.world.inside[1]) == 120
        assert (await status(host)).sorting_set == 0


async def test_a_stop_latches_with_its_first_reason_until_a_person_clears_it(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        host.send(EmergencyStop("a hand in the centre"))
        assert (await host.until(StopLatched)).reason == "a hand in the centre"
        async with hands(table) as person:
            await person.act("control", verb="stop_button", pressed=True)
            assert (await host.until(StopLatched)).reason == "a hand in the centre"
            assert await host.refused(CentreRaise) == "latched"
            assert (await status(host)).stop_reason == "a hand in the centre", "queries are answered"
            host.send(ClearStop(host.next_req()))
            assert (await host.until(StopLatched)).req, "the button is still in"
            await person.act("control", verb="stop_button", pressed=False)
        host.send(ClearStop(host.next_req()))
        await host.until(StopCleared)
        assert (await host.run(CentreRaise)).outcome == "done"


async def test_without_its_host_it_stops_its_motors_but_ends_its_throw(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, speed=4) as (table, host):
        await ready(host)
        sort, roll = SortStart(host.new_op(), 1), DiceRoll(host.new_op())
        host.send(sort)
        await host.until(OpProgress)
        host.send(roll)
        await host.until(OpAccepted)
        host.deaf = True
        async with asyncio.timeout(4):
            while table.mcu.counts["sort_interrupted"] == 0 or table.world.spinning:
                await asyncio.sleep(0.02)
        host.deaf = False
        await host.until(LinkLost)
        await host.identify()
        host.send(sort)
        assert (await host.until(OpResult)).outcome == "interrupted"
        host.send(roll)
        assert (await host.until(OpResult)).outcome == "done"
        assert table.world.throws == 1


async def test_a_reset_gives_a_new_boot_id_and_dice_that_rolled_lie_there(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, speed=20) as (table, host):
        before = await host.identify()
        roll = DiceRoll(host.new_op())
        host.send(roll)
        await host.until(OpAccepted)
        async with hands(table) as person:
            await person.act("control", verb="reboot")
        await host.until(LinkLost)
        after = await host.identify()
        assert after.boot_id != before.boot_id and after.last_op is None
        async with asyncio.timeout(5):
            while table.world.spinning:
                await asyncio.sleep(0.02)
        host.send(DiceQuery(host.next_req()))
        faces = await host.until(DiceFaces)
        assert faces.known and table.world.throws == 1


async def test_a_board_with_lasting_memory_answers_after_a_reset(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, nonvolatile=True) as (table, host):
        await ready(host)
        roll = DiceRoll(host.new_op())
        host.send(roll)
        result = await host.until(OpResult)
        await table.mcu.reboot()
        await host.until(LinkLost)
        assert (await host.identify()).last_op == roll.op
        host.send(roll)
        assert await host.until(OpResult) == result
        assert table.world.throws == 1


async def test_a_pulled_adapter_returns_under_another_name_behind_the_same_link(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        result = await host.run(CentreRaise)
        name = os.readlink(tmp_path / "serial")
        unplugging = asyncio.create_task(table.mcu.unplug(0.05))
        async with asyncio.timeout(5):
            while (tmp_path / "serial").is_symlink():
                await asyncio.sleep(0)
        host.close()
        assert await unplugging == os.readlink(tmp_path / "serial") != name
        host.open()
        await host.identify()
        host.send(CentreRaise(result.op))
        assert await host.until(OpResult) == result


async def test_over_tcp_a_pulled_line_comes_back_at_the_same_port(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, link=None, tcp="127.0.0.1:0") as (table, host):
        await ready(host)
        result = await host.run(CentreRaise)
        assert await table.mcu.unplug(0.05) == host.device
        host.close()
        host.open()
        await host.identify()
        host.send(CentreRaise(result.op))
        assert await host.until(OpResult) == result


async def test_a_slow_line_takes_its_time(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, baud=4800) as (_, host):
        began = asyncio.get_running_loop().time()
        await host.identify()
        sent = host.link.stats.bytes_in
        assert asyncio.get_running_loop().time() - began > 0.5 * sent * 10 / 4800


async def test_the_link_is_gone_when_the_table_is_switched_off(tmp_path: Path) -> None:
    async with table_and_host(tmp_path):
        assert (tmp_path / "serial").is_symlink() and (tmp_path / "world").is_socket()
    assert not (tmp_path / "serial").is_symlink() and not (tmp_path / "world").exists()


async def test_a_file_in_place_of_the_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "serial").write_text("mine")
    with pytest.raises(OSError, match="no symlink"):
        async with table_and_host(tmp_path):
            pass
    assert (tmp_path / "serial").read_text() == "mine"


async def test_readers_tell_every_change_and_all_of_it_to_a_new_host(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, sensing="full") as (table, host):
        await walls_up(table, host)
        async with hands(table, "S") as person:
            taken = (await person.act("take", positions=["E1t", "E1b"]))["tiles"]
            assert await host.until(Zone) == Zone("S", "hand", tuple(taken), 100)
            tile = (await person.act("flip", position="W10b"))["tile"]
            assert await host.until(TileFlipped) == TileFlipped("W10b", tile, 100)
            await person.act("lay_row")
            assert (await host.until(RowLaid)).side == "S"
        host.close()
        host.open()
        await host.identify()
        zones = {(zone.seat, zone.zone): zone.tiles for zone in [await host.until(Zone) for _ in range(16)]}
        assert zones["S", "hand"] == tuple(taken) and zones["E", "hand"] == ()
        assert (await host.until(TileFlipped)).position == "W10b"


async def test_readers_tell_discards_and_melds_whole_after_each_change_and_again_to_a_new_host(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, sensing="full") as (table, host):
        await walls_up(table, host)
        async with hands(table, "S") as south, hands(table, "W") as west:
            tiles = table.world.walls["E"]
            alike = [f for f in RULES.faces() if sum(tile is not None and tile.face == f for tile in tiles) >= 3]
            names = [name for name in table.world.standing("E") if table.world.face_at(name) == alike[0]][:3]
            await south.act("take", positions=names[:1])
            assert (await host.until(Zone)).zone == "hand"
            await west.act("take", positions=names[1:])
            assert await host.until(Zone) == Zone("W", "hand", (alike[0],) * 2, 100)
            await south.act("discard", tile=alike[0])
            assert await host.until(Zone) == Zone("S", "discards", (alike[0],), 100)
            assert await host.until(Zone) == Zone("S", "hand", (), 100)
            await west.act("meld", **{"kind": "pong", "from": "S", "tile": alike[0], "own": [alike[0]] * 2})
            assert await host.until(Zone) == Zone("W", "melds", (alike[0],) * 3, 100)
            assert await host.until(Zone) == Zone("S", "discards", (), 100)
            assert await host.until(Zone) == Zone("W", "hand", (), 100)
        host.close()
        host.open()
        await host.identify()
        zones = {(zone.seat, zone.zone): zone.tiles for zone in [await host.until(Zone) for _ in range(16)]}
        assert len(zones) == 16 and zones["W", "melds"] == (alike[0],) * 3
        assert all(tiles == () for place, tiles in zones.items() if place != ("W", "melds"))


async def test_a_misreading_is_told_at_once_kept_for_a_new_host_and_healed_by_the_next_change(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, sensing="full") as (table, host):
        await walls_up(table, host)
        async with hands(table, "S") as person:
            one, two, three = (await person.act("take", positions=["E1t", "E1b", "E2t"]))["tiles"]
            await host.until(Zone)
            await person.act("control", verb="misread", seat="S", zone="hand", kind="missing")
            assert await host.until(Zone) == Zone("S", "hand", (one, two), 100)
            await person.act("control", verb="misread", seat="S", zone="hand", kind="doubled", tile=one)
            doubled = await host.until(Zone)
            assert len(doubled.tiles) == 4 and doubled.tiles.count(one) == (one, two, three).count(one) + 1
            await person.act("control", verb="misread", seat="S", zone="hand", kind="wrong", tile=three, **{"as": "9s"})
            wrong = await host.until(Zone)
            assert wrong.tiles == (one, two, "9s") and wrong.confidence < 60
            host.close()
            host.open()
            await host.identify()
            assert wrong in [await host.until(Zone) for _ in range(16)]
            (four,) = (await person.act("take", positions=["E2b"]))["tiles"]
            assert await host.until(Zone) == Zone("S", "hand", (one, two, three, four), 100)
            for said, words in (
                ({"kind": "odd"}, "kind: expected missing, doubled, wrong"),
                ({"kind": "missing", "zone": "lap"}, "zone: expected hand, flowers, discards, melds"),
                ({"kind": "missing", "zone": "melds"}, "no tile lies in the zone melds of S"),
                ({"kind": "wrong", "as": "0z"}, "as: expected a tile of the set"),
            ):
                with pytest.raises(ActRefused, match=words):
                    await person.act("control", **{"verb": "misread", "seat": "S", "zone": "hand", **said})
            assert (await person.act("control", verb="summary"))["misread"] == 3
    async with table_and_host(tmp_path, sensing="none") as (table, host), hands(table, "S") as person:
        with pytest.raises(ActRefused, match="no readers"):
            await person.act("control", verb="misread", seat="S", zone="hand", kind="missing")


async def test_a_table_without_readers_tells_nothing_of_tiles(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, sensing="none") as (table, host):
        await walls_up(table, host)
        async with hands(table, "S") as person:
            await person.act("take", positions=["E1t", "E1b"])
            await person.act("flip", position="W10b")
            await person.act("press", key="lift")
        await host.until(Key)
        assert not [message for message in host.heard if isinstance(message, Zone | TileFlipped | RowLaid)]


async def test_keys_are_told_and_a_long_press_throws_unasked(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        async with hands(table, "W") as person:
            await person.act("press", key="dice")
            assert await host.until(Key) == Key("dice", "", 80)
            assert table.world.throws == 0
            await person.act("press", key="seat", held_ms=120)
            assert await host.until(Key) == Key("seat", "W", 120)
            await person.act("press", key="dice", held_ms=2000)
            unasked = await host.until(DiceUnasked)
            assert table.world.lying is not None and unasked.dice == table.world.lying.dice
            with pytest.raises(ActRefused, match="no key 'horn'"):
                await person.act("press", key="horn")


async def test_a_missing_tile_is_counted_and_found(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, missing=[parse_missing("1:S")]) as (table, host):
        await ready(host)
        first = await host.run(SortStart, set_no=1)
        assert SortOutcome.unpack(first.values).tiles == (30, 29, 30, 30)
        async with hands(table, "S") as person:
            assert (await person.act("put_in"))["tiles"] == 1
        assert SortOutcome.unpack((await host.run(SortStart, set_no=1)).values).tiles == (30, 30, 30, 30)


async def test_an_operation_that_is_to_fail_fails_once(tmp_path: Path) -> None:
    failures = [parse_failure("centre_raise:2"), parse_failure("sort:1:sort_timeout")]
    async with table_and_host(tmp_path, failures=failures) as (table, host):
        await ready(host)
        timed_out = await host.run(SortStart, set_no=1)
        assert (timed_out.outcome, timed_out.fault, timed_out.side) == ("failed", "sort_timeout", "")
        assert (await host.run(SortStart, set_no=1)).outcome == "done"
        assert FaultCleared("sort_timeout", "") in host.heard
        assert (await host.run(CentreRaise)).outcome == "done"
        await host.run(CentreLower)
        jammed = await host.run(CentreRaise)
        assert (jammed.outcome, jammed.fault) == ("failed", "centre_limit_missing")
        assert (await status(host)).centre == "moving"
        assert (await host.run(CentreRaise)).outcome == "done"
        assert table.world.centre == "up"


async def test_wear_brings_faults_as_the_seed_will_have_it(tmp_path: Path) -> None:
    async def faults(folder: Path, wear: float) -> list[str]:
        folder.mkdir()
        async with table_and_host(folder, wear=wear) as (_, host):
            await ready(host)
            return [(await host.run(SortStart, set_no=1)).fault for _ in range(30)]

    none, worn, again = [await faults(tmp_path / str(n), wear) for n, wear in enumerate((0.0, 10.0, 10.0))]
    assert set(none) == {""}
    assert worn == again and "sort_timeout" in worn and "" in worn


async def test_a_wrong_gear_is_found_by_sorting(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (_, host):
        await host.identify()
        host.send(SetGear(host.next_req(), 108, (14, 13, 14, 13)))
        await host.until(GearSet)
        result = await host.run(SortStart, set_no=1)
        assert (result.outcome, result.fault) == ("failed", "gear_mismatch")


async def test_service_mode_needs_the_key_and_counts_what_motors_do(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        async with hands(table) as person:
            await person.act("press", key="service", held_ms=3500)
            await host.until(Key)
            assert await host.refused(Jog, motor=3, milliseconds=-2000) == "service_mode", "nobody holds the key"
            await person.act("hold", key="service")
        assert (await host.run(Jog, motor=3, milliseconds=-2000)).outcome == "done"
        assert (await host.run(SelfTest, number=0)).outcome == "done"
        await host.run(CentreRaise)
        host.send(CountersQuery(host.next_req()))
        counters = await host.until(Counters)
        assert counters.motor_seconds[3] == 2 and 1000 < counters.learned_ms[0] < 1500
        assert counters.frames_in > 0
        host.send(SensorsQuery(host.next_req()))
        sensors = await host.until(Sensors)
        assert sensors.bits & 0b101 == 0b101, "lid closed, centre up"


async def test_a_table_that_deals_pushes_groups_to_the_seats(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, aid="present", sensing="full") as (table, host):
        await walls_up(table, host)
        result = await host.run(PresentGroup, side="E", first=1, count=2, to_seat="N")
        assert result.outcome == "done"
        assert len(table.world.hands["N"]) == 4 and "E2t" not in table.world.standing("E")


async def test_two_tables_of_one_seed_deal_the_same(tmp_path: Path) -> None:
    async def wall(folder: Path, seed: int) -> tuple[World, OpResult]:
        folder.mkdir()
        async with table_and_host(folder, seed=seed) as (table, host):
            await walls_up(table, host)
            return table.world, await host.run(DiceRoll)

    one, other, third = [await wall(tmp_path / str(n), seed) for n, seed in enumerate((5, 5, 6))]
    assert one[0].walls == other[0].walls != third[0].walls
    assert one[1].values == other[1].values
