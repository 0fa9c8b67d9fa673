"""The catalogue's codec: every message comes back as it was, and nothing else is taken for a message."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.serial import wire
from protocol.serial.messages import (
    CATALOGUE,
    FAULT_CODES,
    LEARNED,
    MESSAGE_LIMIT,
    MOTORS,
    OPERATIONS,
    SENSOR_BITS,
    SENSOR_VALUES,
    TILE_CODES,
    Capabilities,
    CentreRaise,
    Counters,
    DiceFaces,
    DiceOutcome,
    DiceRoll,
    FaultRaised,
    Identify,
    Identity,
    Jog,
    Key,
    Message,
    MessageError,
    MessageSpec,
    OpId,
    OpProgress,
    OpResult,
    Ping,
    PresentGroup,
    Sensors,
    SetGear,
    SortOutcome,
    WallOutcome,
    WallsRaise,
    Zone,
    decode_message,
    direction_of,
    encode_message,
    protocol_refusal,
)

OP = OpId(0x0123456789ABCDEF, 7, 3, 1)
tiles = st.sampled_from(sorted(TILE_CODES))


def values_of(kind: wire.Wire) -> st.SearchStrategy[Any]:
    match kind:
        case wire.Number():
            return st.integers(kind.low, kind.high)
        case wire.Flag():
            return st.booleans()
        case wire.Word():
            return st.sampled_from(sorted(kind.codes))
        case wire.Text():
            return st.text(st.characters(codec="utf-8"), max_size=kind.limit).filter(
                lambda text: len(text.encode()) <= kind.limit
            )
        case wire.Blob():
            return st.binary(max_size=kind.limit)
        case wire.Several():
            return st.tuples(*[values_of(kind.kind)] * kind.count)
        case wire.Tiles():
            return st.lists(tiles, max_size=kind.limit).map(tuple)
        case wire.Tile():
            return tiles
        case wire.Optional():
            return st.none() | values_of(kind.kind)
        case wire.Record():
            return st.builds(kind.build, **{name: values_of(part) for name, part in kind.fields})
    raise AssertionError(f"no strategy for {kind}")


def messages_of(spec: MessageSpec) -> st.SearchStrategy[Any]:
    return st.builds(spec.cls, **{field.name: values_of(field.wire) for field in spec.fields})


messages = st.one_of([messages_of(spec) for spec in CATALOGUE])


@pytest.mark.parametrize("spec", CATALOGUE, ids=lambda spec: spec.name)
def test_every_message_comes_back_as_it_was(spec: MessageSpec) -> None:
    @settings(max_examples=25)
    @given(messages_of(spec))
    def comes_back(message: Message) -> None:
        data = encode_message(message)
        assert data[0] == spec.type_id
        assert len(data) <= MESSAGE_LIMIT
        assert decode_message(data) == message

    comes_back()


@settings(max_examples=150)
@given(messages)
def test_a_message_cut_short_or_drawn_out_is_none(message: Message) -> None:
    data = encode_message(message)
    for length in range(len(data)):
        with pytest.raises(MessageError):
            decode_message(data[:length])
    with pytest.raises(MessageError, match="too long"):
        decode_message(data + b"\x00")


@settings(max_examples=400)
@given(st.binary(max_size=MESSAGE_LIMIT + 20))
def test_any_bytes_are_a_message_that_encodes_to_them_or_a_message_error(data: bytes) -> None:
    try:
        message = decode_message(data)
    except MessageError as error:
        assert error.field
        assert error.expected
        return
    assert encode_message(message) == data


@settings(max_examples=200)
@given(st.sampled_from(CATALOGUE), st.binary(max_size=60))
def test_any_bytes_behind_a_known_type_are_safe(spec: MessageSpec, rest: bytes) -> None:
    data = bytes((spec.type_id,)) + rest
    try:
        assert encode_message(decode_message(data)) == data
    except MessageError as error:
        assert error.field


def test_the_catalogue_is_sound() -> None:
    assert len({spec.type_id for spec in CATALOGUE}) == len(CATALOGUE)
    for spec in CATALOGUE:
        assert (spec.type_id < 0x80) == (spec.direction == "host → MCU"), spec.name
        assert spec.says, spec.name
        # Every field of the class is on the wire, and described.
        assert [field.name for field in spec.fields] == [field.name for field in dataclasses.fields(spec.cls)]
        assert all(field.says for field in spec.fields)
    assert {spec.cls for spec in CATALOGUE if spec.fields and spec.fields[0].name == "op"} >= set(OPERATIONS)
    assert len(OPERATIONS) == 11


def test_the_longest_message_of_each_kind_fits_a_frame() -> None:
    def longest(kind: wire.Wire) -> int:
        match kind:
            case wire.Text() | wire.Blob() | wire.Tiles():
                return 1 + kind.limit
            case wire.Several():
                return kind.count * longest(kind.kind)
            case wire.Optional():
                return 1 + longest(kind.kind)
            case wire.Record():
                return sum(longest(part) for _, part in kind.fields)
            case wire.Number():
                return len(kind.put("it", kind.high))
        return 1

    for spec in CATALOGUE:
        assert 1 + sum(longest(field.wire) for field in spec.fields) <= MESSAGE_LIMIT, spec.name


def test_known_bytes() -> None:
    """Vectors worked out by hand: the wire does not change unnoticed."""
    assert encode_message(Ping(0x1234)).hex() == "023412"
    assert encode_message(DiceRoll(OP)).hex() == "26" + "efcdab8967452301" + "07000000" + "0300" + "0100"
    assert encode_message(Jog(OP, 2, -500)).hex() == "29" + "efcdab89674523010700000003000100" + "02" + "0cfe"
    assert (
        encode_message(Zone("W", "hand", ("1m", "9s", "7z", "8f", "??"), 90)).hex() == "c1020005" + "01293748ff" + "5a"
    )
    assert encode_message(Key("lift")).hex() == "c000ff0000"
    assert encode_message(DiceFaces(9, True, (5, 1))).hex() == "87090001050100"
    assert encode_message(SetGear(1, 148, (19, 18, 19, 18))).hex() == "04010094" + "13121312"
    assert encode_message(OpProgress(OP, (1, 2, 3, 4), 26))[-6:].hex() == "010203041a00"
    assert len(encode_message(DiceRoll(OP))) == 17


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (Ping(-1), "req"),
        (Ping(0x10000), "req"),
        (Ping(True), "req"),
        (WallsRaise(OP, 3), "set_no"),
        (CentreRaise(OpId(1 << 64, 0, 0, 0)), "op.journal"),
        (PresentGroup(OP, "E", 0, 0, "S"), "count"),
        (SetGear(1, 144, (18, 18, 18)), "stacks"),
        (SetGear(1, 144, (18, 18, 18, 41)), "stacks[3]"),
        (DiceFaces(1, True, (7, 1)), "dice[0]"),
        (Identify(1, 1, 1, "x" * 49), "host"),
        (Identify(1, 1, 1, "字" * 17), "host"),
        (Identify(1, 1, 1, "\ud800"), "host"),
        (Zone("E", "hand", ("5x",), 50), "tiles"),
        (Zone("E", "hand", ("5m",) * 65, 50), "tiles"),
        (OpResult(OP, "done", values=b"x" * 161), "values"),
        (OpResult(OP, "over"), "outcome"),
        (Key("lift", "X"), "seat"),
    ],
)
def test_what_the_wire_cannot_carry_is_refused_by_name(message: Message, field: str) -> None:
    with pytest.raises(MessageError) as caught:
        encode_message(message)
    assert caught.value.field == field
    assert caught.value.expected


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"", "type"),
        (b"\x00", "type"),
        (b"\x7f", "type"),
        (b"\x02\x01", "req"),
        (b"\x01\x01\x00\x01\x01\x31" + b"x" * 49, "host"),
        (b"\x20" + bytes(12), "op.step"),
        (b"\x87\x09\x00\x01\x06\x07\x00", "dice[1]"),
        (b"\xc0\x04\xff\x00\x00", "key"),
        (b"\xc0\x00\x04\x00\x00", "seat"),
        (b"\xc6\x00\xff", "code"),
        (b"\xc6\x17\xff", "code"),
        (b"\x87\x09\x00\x02\x00\x00\x00", "known"),
        (b"\xc2\x02\xff\xff\x01\x5a", "position"),
        (b"\xc2\x01E\x0a\x5a", "tile"),
        (b"\xc2\x01E\x01\x65", "confidence"),
    ],
)
def test_bytes_out_of_range_are_refused_by_name(data: bytes, field: str) -> None:
    with pytest.raises(MessageError) as caught:
        decode_message(data)
    assert caught.value.field == field


def test_an_error_about_tiles_does_not_tell_them() -> None:
    with pytest.raises(MessageError) as caught:
        encode_message(Zone("E", "hand", ("1m", "2m", "nonsense"), 50))
    assert "1m" not in str(caught.value)
    with pytest.raises(MessageError) as caught:
        encode_message(Zone("E", "hand", ("1m",) * 65, 50))
    assert "1m" not in str(caught.value)


@settings(max_examples=100)
@given(
    st.builds(OpId, st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 65535), st.integers(0, 65535))
)
def test_an_operation_id_has_one_text(op: OpId) -> None:
    assert OpId.parse(str(op)) == op


def test_the_text_of_an_operation_id() -> None:
    assert str(OpId(0xA1, 3, 7, 0)) == "00000000000000a1.3.7.0"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x.1.1.1",
        "a1.3.7.0",
        "00000000000000a1.3.7",
        "00000000000000a1.3.7.0.1",
        "00000000000000a1.3.7.65536",
        "00000000000000A1.3.7.0",
        "00000000000000a1.03.7.0",
        " 00000000000000a1.3.7.0",
        "00000000000000a1.-3.7.0",
    ],
)
def test_anything_else_is_no_operation_id(text: str) -> None:
    with pytest.raises(MessageError):
        OpId.parse(text)


@pytest.mark.parametrize(
    "outcome",
    [
        DiceOutcome((3, 4), "clean", 3900),
        DiceOutcome(None, "unread", 4100),
        SortOutcome((36, 36, 36, 36)),
        WallOutcome(("1m", "??") * 19, 88),
        WallOutcome((), 0),
    ],
)
def test_outcomes_come_back_as_they_were(outcome: DiceOutcome | SortOutcome | WallOutcome) -> None:
    values = outcome.pack()
    assert len(values) <= 160
    assert type(outcome).unpack(values) == outcome
    for wrong in (values[:-1], values + b"\x00"):
        with pytest.raises(MessageError):
            type(outcome).unpack(wrong)


def test_a_die_has_six_faces() -> None:
    with pytest.raises(MessageError):
        DiceOutcome((0, 4), "clean", 1).pack()
    with pytest.raises(MessageError):
        DiceOutcome.unpack(bytes((1, 7, 1, 0, 0, 0)))


def test_the_vocabulary() -> None:
    assert len(FAULT_CODES) == len(set(FAULT_CODES)) == 22
    assert len(set(TILE_CODES.values())) == len(TILE_CODES) == 27 + 7 + 8 + 1
    assert len(SENSOR_BITS) <= 32
    assert len(SENSOR_VALUES) == 8
    assert len(MOTORS) == len(LEARNED) == 6
    assert direction_of(FaultRaised("head_jam", "fault")) == "MCU → host"
    Counters(1, 1, (0,) * 6, (0,) * 6)
    Sensors(1, 0, (0,) * 8)


def test_a_refused_protocol_says_which_side_to_update() -> None:
    assert protocol_refusal(3, host_min=2, host_max=3) is None
    newer, older = protocol_refusal(4, 2, 3), protocol_refusal(1, 2, 3)
    assert newer is not None and "host's software" in newer
    assert older is not None and "board's firmware" in older


def test_the_handshake_carries_everything() -> None:
    capabilities = Capabilities("full", "present", 1, "unread", "nonvolatile", lamps=False, readers=True, service=True)
    identity = Identity(1, 1, "1.4", "four-port", "KJ-7", 0xDEADBEEF, capabilities, 144, (18, 18, 18, 18), OP, "lid")
    assert decode_message(encode_message(identity)) == identity
