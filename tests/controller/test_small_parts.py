"""Notifier, health, logs, back-off, answers, pairing: the small parts of the daemon."""

from __future__ import annotations

import io
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import structlog
from prometheus_client import CollectorRegistry, Counter

from controller.answers import REMEMBERED, SHOWN, Answers
from controller.backoff import Backoff
from controller.core import Speeds
from controller.health import HealthServer
from controller.logs import configure_logging
from controller.notify import Notifier
from controller.pairing import ASK_S, LONG_PRESS_MS, MOST_ASKING, NOTICE_S, Pairing
from engine.state import WantId
from engine.wants import Want
from protocol.mqtt.models import PairingRefused, PairingRequest, PairingState

# -- systemd -----------------------------------------------------------------------------------------------------------


def test_states_reach_the_socket_and_a_full_one_never_blocks(tmp_path: Path) -> None:
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(str(tmp_path / "notify"))
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "4000000"})
    assert notifier.watchdog_s == 2.0
    notifier.ready()
    notifier.status("two\nlines")
    assert receiver.recv(100) == b"READY=1" and receiver.recv(100) == b"STATUS=two lines"
    began = time.monotonic()
    for _ in range(5000):
        notifier.watchdog()
    assert time.monotonic() - began < 5
    receiver.close()
    notifier.watchdog()
    notifier.close()
    notifier.watchdog()


def test_without_systemd_nothing_happens() -> None:
    notifier = Notifier({})
    notifier.ready()
    assert notifier.watchdog_s is None
    assert Notifier({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": str(os.getpid() + 1)}).watchdog_s is None


def test_an_abstract_socket_is_understood() -> None:
    name = f"kaijin-test-{os.getpid()}"
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind("\0" + name)
    Notifier({"NOTIFY_SOCKET": "@" + name}).ready()
    assert receiver.recv(100) == b"READY=1"
    receiver.close()


# -- health ------------------------------------------------------------------------------------------------------------


class Table:
    """What a health page is asked about."""

    def __init__(self) -> None:
        self.well = True
        self.scrapes = 0

    def checks(self) -> tuple[bool, Mapping[str, Any]]:
        return self.well, {"link": "up" if self.well else "lost"}

    def collect(self) -> None:
        self.scrapes += 1


@pytest.fixture
def served() -> Iterator[tuple[Table, HealthServer]]:
    registry = CollectorRegistry()
    Counter("kaijin_hands", "Hands.", registry=registry).inc(3)
    table = Table()
    server = HealthServer("127.0.0.1", 0, table.checks, registry, table.collect)
    server.start()
    yield table, server
    server.stop()


def fetch(server: HealthServer, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_healthz_tells_the_truth_by_its_status(served: tuple[Table, HealthServer]) -> None:
    table, server = served
    status, body = fetch(server, "/healthz")
    assert status == 200 and json.loads(body) == {"ok": True, "link": "up"}
    table.well = False
    status, body = fetch(server, "/healthz?verbose")
    assert status == 503 and json.loads(body) == {"ok": False, "link": "lost"}


def test_metrics_are_collected_before_they_are_told(served: tuple[Table, HealthServer]) -> None:
    table, server = served
    status, body = fetch(server, "/metrics")
    assert status == 200 and "kaijin_hands_total 3.0" in body and table.scrapes == 1


def test_other_paths_and_methods_are_refused(served: tuple[Table, HealthServer]) -> None:
    _, server = served
    assert fetch(server, "/")[0] == 404
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}/healthz", data=b"x", method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=5)
    assert refused.value.code == 501


def test_nonsense_and_silent_clients_keep_nobody_waiting(served: tuple[Table, HealthServer]) -> None:
    _, server = served
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
    with socket.create_connection(("127.0.0.1", server.port)) as noise:
        noise.sendall(b"\x00\xff nonsense\r\n\r\n")
        noise.settimeout(5)
        assert b"400" in noise.recv(200)
    assert fetch(server, "/healthz")[0] == 200
    for client in silent:
        client.close()


def test_a_stopped_server_listens_no_more(served: tuple[Table, HealthServer]) -> None:
    _, server = served
    port = server.port
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
    assert not [thread for thread in threading.enumerate() if thread.name == "health"]


# -- logs --------------------------------------------------------------------------------------------------------------


def test_secrets_are_withheld_in_both_forms() -> None:
    for form in ("json", "text"):
        out = io.StringIO()
        configure_logging("info", form, out)  # type: ignore[arg-type] # the two literals, one after the other
        structlog.get_logger().warning("hand", tiles="1m2m", password="hush", seat="E")
        structlog.get_logger().debug("unheard")
        text = out.getvalue()
        assert "1m2m" not in text and "hush" not in text and "seat" in text and "unheard" not in text
        assert text.count("\n") == 1
    structlog.reset_defaults()


# -- back-off ----------------------------------------------------------------------------------------------------------


def test_delays_grow_to_the_cap_and_start_anew_after_a_stable_while() -> None:
    backoff = Backoff(0.1, 2.0, stable=5.0)
    delays = [backoff.next() for _ in range(10)]
    assert 0.05 <= delays[0] <= 0.1 and all(1.0 <= delay <= 2.0 for delay in delays[5:])
    backoff.held(4.0)
    assert backoff.next() >= 1.0
    backoff.held(6.0)
    assert backoff.next() <= 0.1


# -- answers -----------------------------------------------------------------------------------------------------------


def test_the_last_sixteen_answers_are_shown_and_older_ids_still_known() -> None:
    answers = Answers()
    for number in range(REMEMBERED):
        answers.accept("E", f"id{number}")
    assert [answer["id"] for answer in answers.shown()["E"]] == [
        f"id{n}" for n in range(REMEMBERED - SHOWN, REMEMBERED)
    ]
    assert answers.repeated("E", f"id{REMEMBERED - 1}")
    assert answers.shown()["E"][-1]["ok"] is True
    assert answers.repeated("E", "id3")
    assert answers.shown()["E"][-1] == {"id": "id3", "ok": False, "code": "duplicate", "rule": "", "params": {}}
    assert not answers.repeated("S", "id3") and not answers.shown()["S"]


def test_a_refusal_names_code_and_rule() -> None:
    answers = Answers()
    answers.refuse("W", "x", "flower_taken", "R7", {"tile": "1f"})
    shown = {"id": "x", "ok": False, "code": "flower_taken", "rule": "R7", "params": {"tile": "1f"}}
    assert answers.shown()["W"] == (shown,)


# -- pairing -----------------------------------------------------------------------------------------------------------


class Now:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def asking(code: str, seat: Any = "E") -> PairingRequest:
    return PairingRequest(code=code, seat=seat, device=f"device-{code}", name="tablet")


def test_a_display_is_confirmed_once_by_its_code() -> None:
    pairing = Pairing(Now())
    assert pairing.asked(asking("111111"))
    assert pairing.asking() == [{"code": "111111", "seat": "E", "name": "tablet"}]
    assert pairing.answer("222222", True) is None
    grant = pairing.answer("111111", False)
    assert grant is not None and (grant.seat, grant.device, grant.ok) == ("E", "device-111111", False)
    assert pairing.answer("111111", True) is None


def test_requests_and_notices_are_forgotten_in_time() -> None:
    now = Now()
    pairing = Pairing(now)
    pairing.asked(asking("111111"))
    pairing.refused(PairingRefused(seat="W", name="other"))
    assert pairing.notices() == [{"code": "second_device", "seat": "W", "left_ms": int(NOTICE_S * 1000)}]
    now.seconds += max(ASK_S, NOTICE_S)
    assert pairing.asking() == [] and pairing.notices() == []
    assert pairing.answer("111111", True) is None


def test_only_so_many_may_ask() -> None:
    pairing = Pairing(Now())
    assert all(pairing.asked(asking(f"{n:06}")) for n in range(MOST_ASKING))
    assert not pairing.asked(asking("999999"))


def test_a_key_held_long_confirms_the_oldest_of_its_seat() -> None:
    pairing = Pairing(Now())
    pairing.asked(asking("111111", "S"))
    pairing.asked(asking("222222", "E"))
    assert pairing.key_held("lift", "", LONG_PRESS_MS - 1) is None
    assert pairing.key_held("dice", "", LONG_PRESS_MS) is None
    grant = pairing.key_held("seat", "E", LONG_PRESS_MS)
    assert grant is not None and grant.code == "222222"
    grant = pairing.key_held("lift", "", LONG_PRESS_MS)
    assert grant is not None and grant.code == "111111" and grant.ok


def test_seats_that_lose_their_display_are_told() -> None:
    pairing = Pairing(Now())
    assert pairing.held(PairingState(E="a", S="b", W=None, N=None, view=None)) == []
    assert pairing.held(PairingState(E=None, S="b", W=None, N=None, view=None)) == ["E"]
    assert pairing.devices["S"] == "b"


# -- time ----------------------------------------------------------------------------------------------------


def test_people_have_their_own_time_while_the_machine_is_hurried() -> None:
    """`[timing] answer_speed` divides the timers in which people answer, `speed` all others."""
    speeds = Speeds(table=100.0, people=2.0)
    machine = Want(WantId(1, "pace", 1), "timer", "pace", after_ms=2500)
    window = Want(WantId(1, "claim_window", 1), "timer", "claim_window", after_ms=2500, people=True)
    assert (speeds.seconds(machine), speeds.seconds(window)) == (0.025, 1.25)
