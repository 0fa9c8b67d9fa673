"""Delivery: once, in order, whatever was lost, doubled or damaged; one thing wrong at a time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.serial.events import (
    Delivered,
    LinkConfig,
    LinkDown,
    LinkFull,
    Undecodable,
)
from protocol.serial.frames import Frame, FrameKind, encode_frame
from protocol.serial.link import Link
from protocol.serial.messages import MessageError, Ping, Pong
from protocol.serial.retransmission import RTO_LOWEST
from tests.protocol.serial.pair import Table, frames_in, ids, kinds_in, losses, tag_of


@pytest.fixture
def table() -> Table:
    return Table().settle()


# --- delivery ---------------------------------------------------------------------------------------------------------


def test_the_window_bounds_what_is_in_flight_and_the_queue_what_waits(table: Table) -> None:
    for req in range(64):
        table.host.send(Ping(req))
    assert table.host.room == 0
    with pytest.raises(LinkFull):
        table.host.send(Ping(64))
    assert kinds_in(table.host.outgoing(table.now)) == ["DATA"] * 8
    assert table.host.outgoing(table.now) == b""
    assert table.host.room == 8


def test_a_smaller_window_of_the_peer_is_kept() -> None:
    table = Table(mcu=Link("mcu", ids(2), LinkConfig(window=2))).settle()
    for req in range(5):
        table.host.send(Ping(req))
    assert kinds_in(table.host.outgoing(table.now)) == ["DATA"] * 2
    table = Table(host=Link("host", ids(1), LinkConfig(window=3))).settle()
    for req in range(5):
        table.mcu.send(Pong(req))
    assert kinds_in(table.mcu.outgoing(table.now)) == ["DATA"] * 3


def test_a_writer_without_room_gets_whole_frames_and_the_rest_later(table: Table) -> None:
    for req in range(8):
        table.host.send(Ping(req))
    assert table.host.outgoing(table.now, room=10) == b""
    first = table.host.outgoing(table.now, room=40)
    assert 0 < len(first) <= 40
    rest = table.host.outgoing(table.now)
    assert [frame.seq for frame in frames_in(first + rest)] == list(range(8))


def test_a_blocked_writer_never_makes_the_link_spin_or_grow(table: Table) -> None:
    """Peer stops reading: the shell does not ask for bytes, only lets time pass; every deadline lies ahead."""
    for req in range(64):
        table.host.send(Ping(req))
    table.host.outgoing(table.now, room=100)
    ticks = 0
    while table.now < 1010.0:
        deadline = table.host.next_deadline()
        assert deadline is not None
        table.now = max(deadline, table.now)
        table.host.tick(table.now)
        ticks += 1
        assert ticks < 200
    assert len(table.host.outgoing(table.now)) < 40  # one HELLO, no heap of old frames


def test_a_lost_frame_is_asked_for_once_and_sent_again(table: Table) -> None:
    for req in range(6):
        table.host.send(Ping(req))
    data = [encode_frame(frame) for frame in frames_in(table.host.outgoing(table.now))]
    table.mcu_events += table.mcu.receive(b"".join(data[:2] + data[3:]), table.now)
    assert table.at_mcu() == [Ping(0), Ping(1)]
    nak = table.mcu.outgoing(table.now)
    assert [(frame.kind.name, frame.ack) for frame in frames_in(nak)] == [("NAK", 2)]
    table.now += 0.002
    table.host_events += table.host.receive(nak, table.now)
    table.settle()
    assert table.at_mcu() == [Ping(req) for req in range(6)]
    assert table.mcu.stats.naks_out == 1
    assert table.host.stats.retransmits == 4


def test_a_gap_is_asked_for_once_however_many_frames_follow_it(table: Table) -> None:
    for req in range(8):
        table.host.send(Ping(req))
    data = [encode_frame(frame) for frame in frames_in(table.host.outgoing(table.now))]
    said = []
    for late in data[1:]:
        table.mcu.receive(late, table.now)
        said += kinds_in(table.mcu.outgoing(table.now))
    assert said == ["NAK"]
    table.mcu_events += table.mcu.receive(b"".join(data), table.now)
    assert table.at_mcu() == [Ping(req) for req in range(8)]


def test_garbage_that_hid_nothing_is_not_asked_for(table: Table) -> None:
    table.host.send(Ping(1))
    table.mcu.receive(b"AT\r\x00" + table.host.outgoing(table.now), table.now)
    assert kinds_in(table.mcu.outgoing(table.now)) == ["ACK"]


def test_a_second_nak_about_the_same_loss_repeats_nothing(table: Table) -> None:
    table.host.send(Ping(1))
    table.mcu.receive(table.host.outgoing(table.now), table.now)
    table.now += 0.08  # so long is the round trip
    table.host.receive(table.mcu.outgoing(table.now), table.now)
    table.host.send(Ping(2))
    table.host.outgoing(table.now)  # lost
    nak = encode_frame(Frame("mcu", FrameKind.NAK, tag_of(table.host_events), 0, 1))
    table.now += 0.08
    table.host.receive(nak, table.now)
    assert kinds_in(table.host.outgoing(table.now)) == ["DATA"]
    table.now += 0.03
    table.host.receive(nak, table.now)
    assert table.host.outgoing(table.now) == b""
    table.now += 0.02
    table.host.receive(nak, table.now)
    assert kinds_in(table.host.outgoing(table.now)) == ["DATA"]


def test_a_heartbeat_shows_that_the_last_frame_was_lost(table: Table) -> None:
    table.host.send(Ping(1))
    table.mcu.receive(table.host.outgoing(table.now), table.now)
    table.now += 0.4
    table.host.receive(table.mcu.outgoing(table.now), table.now)
    assert table.host.stats.rto > 1.0
    table.host.send(Ping(2))
    table.host.outgoing(table.now)  # lost
    table.wait(LinkConfig().keepalive + 0.02)
    assert table.at_mcu()[-1] == Ping(2)


def test_a_lost_last_frame_is_noticed_by_the_next_heartbeat_or_its_time_out(table: Table) -> None:
    table.host.send(Ping(1))
    table.host.outgoing(table.now)  # lost
    table.wait(0.2)
    assert table.at_mcu() == [Ping(1)]


@pytest.mark.parametrize(
    "garbage", [b"AT\r\n\x00", b"\x00\x05ab\x00" * 40, bytes(range(1, 256)) * 4 + b"\x00", b"\xff\x00" * 500]
)
def test_one_nak_a_burst_of_garbage(table: Table, garbage: bytes) -> None:
    for cut in range(0, len(garbage), 7):
        table.mcu_events += table.mcu.receive(garbage[cut : cut + 7], table.now)
        table.host_events += table.host.receive(table.mcu.outgoing(table.now), table.now)
    assert table.mcu.stats.naks_out == 1
    table.host.send(Ping(1))
    table.settle()
    assert table.at_mcu() == [Ping(1)]
    table.mcu.receive(garbage, table.now)
    table.settle()
    assert table.mcu.stats.naks_out == 2
    assert losses(table.mcu_events + table.host_events) == []


def test_noise_before_the_first_session_is_not_answered() -> None:
    mcu = Link("mcu", ids(2))
    mcu.receive(b"AT+GMI\r\n\x00\x00garbage\x00", 1.0)
    assert mcu.outgoing(1.0) == b""


def test_noise_on_an_idle_line_does_not_swallow_the_next_frame(table: Table) -> None:
    table.mcu.receive(b"AT\r", table.now)  # no delimiter behind it
    table.host.send(Ping(1))
    table.mcu_events += table.mcu.receive(table.host.outgoing(table.now), table.now)
    assert table.at_mcu() == [Ping(1)]


def test_karn_a_frame_sent_twice_is_no_sample(table: Table) -> None:
    before = table.host.stats.round_trip
    table.host.send(Ping(1))
    table.host.outgoing(table.now)  # lost
    table.now += 0.3
    table.host.tick(table.now)
    again = table.host.outgoing(table.now)
    table.mcu.receive(again, table.now)
    backed_off = table.host.stats.rto
    table.now += 0.0001
    table.host.receive(table.mcu.outgoing(table.now), table.now)
    assert table.host.stats.retransmits == 1
    assert table.host.stats.round_trip == before
    assert table.host.stats.rto == backed_off  # kept until a frame sent once is acknowledged
    table.host.send(Ping(2))
    table.mcu.receive(table.host.outgoing(table.now), table.now)
    table.now += 0.004
    table.host.receive(table.mcu.outgoing(table.now), table.now)
    assert table.host.stats.round_trip == pytest.approx(0.004)
    assert table.host.stats.rto == RTO_LOWEST


def test_retransmissions_back_off(table: Table) -> None:
    table.host.send(Ping(1))
    sent = []
    start = table.now
    while table.now < start + 1.9:
        if "DATA" in kinds_in(table.host.outgoing(table.now)):
            sent.append(round(table.now - start, 6))
        deadline = table.host.next_deadline()
        assert deadline is not None
        table.now = deadline
        table.host.tick(table.now)
    assert sent == [0.0, 0.1, 0.3, 0.7, 1.5]


def test_an_acknowledgement_of_what_was_never_sent_says_nothing(table: Table) -> None:
    table.host.send(Ping(1))
    table.host.outgoing(table.now)
    for ack in (5, 200, 0):
        table.host.receive(encode_frame(Frame("mcu", FrameKind.ACK, tag_of(table.host_events), 0, ack)), table.now)
    table.wait(0.3)
    assert table.at_mcu() == [Ping(1)]


def test_nor_does_one_of_what_is_still_to_be_written(table: Table) -> None:
    for req in range(8):
        table.host.send(Ping(req))
    written = table.host.outgoing(table.now, room=40)
    assert len(frames_in(written)) < 5
    table.host.receive(encode_frame(Frame("mcu", FrameKind.ACK, tag_of(table.host_events), 0, 5)), table.now)
    table.mcu_events += table.mcu.receive(written, table.now)
    table.settle()
    assert table.at_mcu() == [Ping(req) for req in range(8)]


def test_a_message_nobody_knows_is_told_and_does_not_block(table: Table) -> None:
    tag = tag_of(table.host_events)
    unknown = encode_frame(Frame("host", FrameKind.DATA, tag, 0, 0, b"\x7f\x01"))
    wrong_way = encode_frame(Frame("host", FrameKind.DATA, tag, 1, 0, b"\x82\x01\x00"))
    good = encode_frame(Frame("host", FrameKind.DATA, tag, 2, 0, b"\x02\x09\x00"))
    events = table.mcu.receive(unknown + wrong_way + good, table.now)
    assert [type(event) for event in events] == [Undecodable, Undecodable, Delivered]
    assert frames_in(table.mcu.outgoing(table.now))[0].ack == 3
    assert table.mcu.stats.undecodable == 2


def test_each_side_sends_only_its_own_messages(table: Table) -> None:
    with pytest.raises(MessageError):
        table.host.send(Pong(1))
    with pytest.raises(MessageError):
        table.mcu.send(Ping(1))
    with pytest.raises(MessageError):
        table.host.send(Ping(-1))


def test_nothing_is_sent_without_a_session() -> None:
    with pytest.raises(LinkDown):
        Link("host", ids(1)).send(Ping(1))


@settings(max_examples=150, derandomize=True)
@given(st.lists(st.binary(max_size=300), max_size=6))
def test_any_bytes_at_all_are_safe_in_a_session(chunks: list[bytes]) -> None:
    table = Table().settle()
    for chunk in chunks:
        events = table.mcu.receive(chunk, table.now) + table.host.receive(chunk, table.now)
        assert events == []
    table.host.receive(b"\x00", table.now)
    table.mcu.receive(b"\x00", table.now)
    table.host.send(Ping(1))
    table.settle().wait(0.5)
    assert table.at_mcu() == [Ping(1)]


@settings(max_examples=150)
@given(
    st.lists(
        st.builds(
            Frame,
            st.sampled_from(("host", "mcu")),
            st.sampled_from(FrameKind),
            st.sampled_from((0, 1, 2)),
            st.integers(0, 255),
            st.integers(0, 255),
            st.binary(min_size=5, max_size=12),
        ),
        max_size=30,
    ),
    st.sampled_from(("host", "mcu")),
)
def test_any_frames_at_all_are_safe(frames: list[Frame], role: str) -> None:
    """Well-formed frames of a peer that keeps no rule: no exception, and the link recovers by itself."""
    table = Table().settle()
    tag = tag_of(table.host_events)
    link = table.host if role == "host" else table.mcu
    for frame in frames:
        payload = frame.payload if frame.kind in (FrameKind.HELLO, FrameKind.HELLO_ACK, FrameKind.DATA) else b""
        session = (tag, tag ^ 1, 0xABC)[frame.session]
        link.receive(encode_frame(Frame(frame.sender, frame.kind, session, frame.seq, frame.ack, payload)), table.now)
    table.wait(6.0, step=0.05)
    assert table.host.connected
    assert table.mcu.connected
