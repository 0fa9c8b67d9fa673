"""Sessions and liveness: how a link begins, notices that it has ended, and begins anew."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.serial.events import (
    Delivered,
    LinkConfig,
    LinkDown,
    LinkEvent,
    LinkLost,
    SessionStarted,
    VersionRefused,
)
from protocol.serial.frames import Frame, FrameKind, encode_frame
from protocol.serial.link import Link
from protocol.serial.messages import Ping, Pong
from tests.protocol.serial.pair import Table, frames_in, ids, kinds_in, losses, tag_of


@pytest.fixture
def table() -> Table:
    return Table().settle()


# --- session ----------------------------------------------------------------------------------------------------------


def test_the_daemon_speaks_first_and_both_agree_on_a_session(table: Table) -> None:
    assert table.host_events == table.mcu_events
    assert isinstance(table.host_events[0], SessionStarted)
    assert table.host.connected
    assert table.mcu.connected


def test_hello_is_repeated_until_it_is_answered() -> None:
    host, now, hellos = Link("host", ids(1)), 5.0, 0
    while now < 10.0:
        hellos += kinds_in(host.outgoing(now)).count("HELLO")
        deadline = host.next_deadline()
        assert deadline is not None
        now = max(now, deadline)
        host.tick(now)
    assert hellos == 20
    assert Link("mcu", ids(2)).next_deadline() is None


def test_messages_go_both_ways_in_order(table: Table) -> None:
    for req in range(1, 40):
        table.host.send(Ping(req))
        table.mcu.send(Pong(req))
    table.settle()
    assert table.at_mcu() == [Ping(req) for req in range(1, 40)]
    assert table.at_host() == [Pong(req) for req in range(1, 40)]
    assert table.host.stats.retransmits == table.mcu.stats.retransmits == 0


def test_numbers_pass_255(table: Table) -> None:
    for req in range(1, 1001):
        table.host.send(Ping(req))
        table.settle()
    assert table.at_mcu() == [Ping(req) for req in range(1, 1001)]


def test_a_host_that_began_anew_ends_the_old_session_and_resets_numbers(table: Table) -> None:
    table.host.send(Ping(1))
    table.settle()
    table.mcu.send(Pong(1))  # never leaves: the host is gone by then
    table.host = Link("host", ids(77))
    table.settle()
    assert losses(table.mcu_events) == [LinkLost("peer_restarted", 1)]
    assert isinstance(table.mcu_events[-1], SessionStarted)
    table.host.send(Ping(2))
    table.settle()
    assert table.at_mcu() == [Ping(1), Ping(2)]
    assert table.at_host() == []


def test_an_mcu_that_began_anew_is_noticed_by_the_next_frame(table: Table) -> None:
    table.mcu = Link("mcu", ids(88))
    table.wait(1.0)
    assert losses(table.host_events) == [LinkLost("peer_reset", 0)]
    assert table.host.connected
    assert table.mcu.connected


def test_a_hello_alone_does_not_end_a_running_session(table: Table) -> None:
    stray = encode_frame(Frame("host", FrameKind.HELLO, 0xABCD, payload=b"\x08"))
    table.mcu_events += table.mcu.receive(stray, table.now)
    assert kinds_in(table.mcu.outgoing(table.now)) == ["HELLO_ACK"]
    table.host.send(Ping(5))
    table.settle()
    assert losses(table.mcu_events) == []
    assert table.at_mcu() == [Ping(5)]


def test_a_repeated_hello_gets_the_same_answer_and_starts_nothing() -> None:
    host, mcu = Link("host", ids(1)), Link("mcu", ids(2))
    hello = host.outgoing(0.0)
    mcu.receive(hello, 0.0)
    first = mcu.outgoing(0.0)
    mcu.receive(hello, 0.1)
    assert mcu.outgoing(0.1) == first
    assert len(host.receive(first, 0.1)) == 1
    confirmation = host.outgoing(0.1)
    assert [type(event) for event in mcu.receive(confirmation, 0.1)] == [SessionStarted]
    assert host.receive(first, 0.2) == []
    assert mcu.receive(hello, 0.2) == []
    assert frames_in(mcu.outgoing(0.2))[0] == frames_in(first)[0]


def test_a_host_that_offers_the_same_number_again_gets_a_new_session() -> None:
    table = Table(host=Link("host", lambda: 5)).settle()
    old = tag_of(table.mcu_events)
    table.mcu_events += table.mcu.tick(table.now + 1.0)
    table.now += 2.0
    table.host_events += table.host.tick(table.now)
    table.settle().wait(0.3)
    assert table.host.connected
    assert table.mcu.connected
    assert table.mcu_events[-1] != SessionStarted(old)


def test_a_farewell_does_not_begin_the_session_it_ends() -> None:
    mcu = Link("mcu", ids(2))
    mcu.receive(encode_frame(Frame("host", FrameKind.HELLO, 7, payload=b"\x08")), 0.0)
    offered = int.from_bytes(frames_in(mcu.outgoing(0.0))[0].payload[:4], "little") ^ 7
    assert mcu.receive(encode_frame(Frame("host", FrameKind.BYE, offered)), 0.0) == []
    assert not mcu.connected
    assert mcu.outgoing(0.0) == b""


def test_frames_of_another_session_are_ignored_and_answered_by_a_reset(table: Table) -> None:
    foreign = encode_frame(Frame("host", FrameKind.DATA, 0xDEAD, 0, 0, b"\x02\x01\x00"))
    assert table.mcu.receive(foreign * 20, table.now) == []
    answer = frames_in(table.mcu.outgoing(table.now))
    assert [(frame.kind, frame.session) for frame in answer] == [(FrameKind.RESET, 0xDEAD)]
    # That reset is not about the host's session.
    assert table.host.receive(encode_frame(answer[0]), table.now) == []
    assert table.mcu.stats.foreign == 20


def test_an_echoing_line_is_seen_through(table: Table) -> None:
    table.host.send(Ping(1))
    out = table.host.outgoing(table.now)
    assert table.host.receive(out, table.now) == []
    table.mcu_events += table.mcu.receive(out, table.now)
    table.settle()
    assert table.at_mcu() == [Ping(1)]
    assert table.host.stats.echoes == 1
    # A line that only echoes is a silent one.
    events: list[LinkEvent] = []
    for _ in range(300):
        table.now += 0.01
        events += table.host.tick(table.now)
        events += table.host.receive(table.host.outgoing(table.now), table.now)
    assert losses(events) == [LinkLost("silence", 0)]


def test_another_link_version_is_refused_with_words_on_both_sides() -> None:
    old_host = Link("host", ids(1))
    own = frames_in(old_host.outgoing(0.0))[0].session
    newer = encode_frame(Frame("mcu", FrameKind.HELLO_ACK, own, payload=bytes(5), version=2))
    refused = old_host.receive(newer, 0.1)
    assert isinstance(refused[0], VersionRefused)
    assert "host's software" in refused[0].words
    assert old_host.receive(newer, 0.2) == []  # said once
    mcu = Link("mcu", ids(2))
    refused = mcu.receive(encode_frame(Frame("host", FrameKind.HELLO, 7, payload=b"\x08", version=2)), 0.0)
    assert isinstance(refused[0], VersionRefused)
    assert "board's firmware" in refused[0].words
    assert kinds_in(mcu.outgoing(0.0)) == ["HELLO_ACK"]
    assert not mcu.connected


def test_closing_tells_the_peer_and_ends_for_good(table: Table) -> None:
    table.host.send(Ping(1))
    assert table.host.close() == [LinkLost("closed", 1)]
    bye = table.host.outgoing(table.now)
    assert kinds_in(bye) == ["BYE"]
    assert table.mcu.receive(bye, table.now) == [LinkLost("peer_closed", 0)]
    assert table.host.next_deadline() is None
    assert table.host.outgoing(table.now) == b""
    assert table.host.tick(table.now + 100) == []
    assert table.host.close() == []
    with pytest.raises(LinkDown):
        table.host.send(Ping(2))


def test_a_port_that_comes_back_under_another_name_means_a_new_session_at_once(table: Table) -> None:
    half = encode_frame(Frame("mcu", FrameKind.ACK, 1))[:5]
    table.host.receive(half, table.now)
    table.host_events += table.host.line_lost()
    table.now += 0.6
    table.settle()
    assert losses(table.host_events) == [LinkLost("line", 0)]
    assert losses(table.mcu_events) == [LinkLost("peer_restarted", 0)]
    assert table.host.connected
    assert table.host.stats.errors["crc"] == 0


# --- liveness ---------------------------------------------------------------------------------------------------------


def test_heartbeats_keep_an_idle_session_alive_for_an_hour() -> None:
    table = Table().settle()
    table.wait(3600.0, step=0.1)
    assert losses(table.host_events + table.mcu_events) == []
    frames = table.host.stats.frames_out
    assert 3600 / 0.4 <= frames <= 3600 / 0.2


@pytest.mark.parametrize(("silent", "limit"), [("host", 1.0), ("mcu", 2.0)])
def test_silence_is_declared_in_time(table: Table, silent: str, limit: float) -> None:
    other = table.mcu if silent == "host" else table.host
    start, lost_at = table.now, None
    while lost_at is None and table.now < start + 5:
        deadline = other.next_deadline()
        assert deadline is not None
        table.now = deadline
        if losses(other.tick(table.now)):
            lost_at = table.now
        other.outgoing(table.now)
    assert lost_at is not None
    assert abs(lost_at - start - limit) < 1e-6


def test_a_link_that_gave_up_begins_a_new_session_by_itself(table: Table) -> None:
    for req in (1, 2, 3):
        table.host.send(Ping(req))
    for _ in range(250):  # the line swallows everything
        table.now += 0.01
        table.host_events += table.host.tick(table.now)
        table.mcu_events += table.mcu.tick(table.now)
        table.host.outgoing(table.now)
        table.mcu.outgoing(table.now)
    assert losses(table.host_events) == [LinkLost("silence", 3)]
    assert losses(table.mcu_events) == [LinkLost("silence", 0)]
    table.wait(0.5)
    assert table.host.connected
    assert table.mcu.connected
    table.host.send(Ping(4))
    table.settle()
    assert table.at_mcu() == [Ping(4)]  # what was queued is told as lost, never sent later


@pytest.mark.parametrize("beat", [FrameKind.ACK, FrameKind.NAK])
def test_a_peer_that_beats_but_never_acknowledges_is_given_up(beat: FrameKind) -> None:
    """Nor does it help to ask for the same frame again and again: a link that limps is ended."""
    table = Table().settle()
    table.host.send(Ping(1))
    started = table.now
    while table.now < started + 20 and not losses(table.host_events):
        table.host.outgoing(table.now)  # lost on the way
        answer = encode_frame(Frame("mcu", beat, tag_of(table.host_events), 0, 0))
        table.host_events += table.host.receive(answer, table.now)
        table.now += 0.05
        table.host_events += table.host.tick(table.now)
    assert losses(table.host_events) == [LinkLost("no_answer", 1)]
    assert table.now - started == pytest.approx(LinkConfig().patience, abs=0.06)
    assert table.host.stats.retransmits >= 4


def test_after_a_stall_of_20_s_and_a_flood_nothing_is_delivered_twice(table: Table) -> None:
    """The board stands still while the host sends, repeats, gives up and says HELLO: then all of it is read at once."""
    for req in range(1, 6):
        table.host.send(Ping(req))
    flood = b""
    for _ in range(2000):
        table.now += 0.01
        table.host_events += table.host.tick(table.now)
        flood += table.host.outgoing(table.now)
    assert losses(table.host_events) == [LinkLost("silence", 5)]
    assert kinds_in(flood).count("DATA") >= 20
    woken = table.mcu.receive(flood, table.now)
    assert woken[0] == LinkLost("silence", 0)  # motors stop before anything else is heard
    assert [event for event in woken if isinstance(event, Delivered)] == []
    table.settle().wait(1.0)
    for req in range(1, 6):
        table.host.send(Ping(100 + req))
    table.settle()
    assert table.at_mcu() == [Ping(100 + req) for req in range(1, 6)]


def test_many_copies_in_one_read_are_delivered_once(table: Table) -> None:
    table.host.send(Ping(1))
    table.host.send(Ping(2))
    out = table.host.outgoing(table.now)
    table.mcu_events += table.mcu.receive(out * 12, table.now)
    assert table.at_mcu() == [Ping(1), Ping(2)]
    assert table.mcu.stats.duplicates == 22
    assert kinds_in(table.mcu.outgoing(table.now)) == ["ACK"]


@settings(max_examples=20)
@given(st.integers(0, 10**9), st.integers(0, 2**31))
def test_only_differences_of_time_count(origin: int, seed: int) -> None:
    """Whatever the clock's origin, the same bytes leave after the same waits."""

    def play(start: float) -> list[bytes]:
        host, mcu, said = Link("host", ids(seed)), Link("mcu", ids(seed + 1)), []
        for turn in range(120):
            now = start + turn * 0.0625
            host.tick(now)
            mcu.tick(now)
            if host.connected and turn % 7 == 0:
                host.send(Ping(turn))
            out = host.outgoing(now)
            if turn % 5:
                mcu.receive(out, now)
            back = mcu.outgoing(now)
            host.receive(back, now)
            said += [out, back]
        return said

    assert play(float(origin)) == play(16.0)
