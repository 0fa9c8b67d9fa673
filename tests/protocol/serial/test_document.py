"""The written contract says what the code does, down to the bytes; code that shares nothing reads its talk."""

import re
from pathlib import Path

import pytest

from protocol.serial.document import DOCUMENT, SECTIONS, main, renewed
from protocol.serial.events import LinkConfig
from protocol.serial.faults import FAULTS
from protocol.serial.link import Link
from protocol.serial.messages import CATALOGUE, FAULT_CODES, Message, decode_message
from protocol.serial.operations import REMEMBERED_AT_LEAST
from protocol.serial.retransmission import RTO_HIGHEST, RTO_LOWEST, RTO_START

TEXT = DOCUMENT.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert renewed(TEXT) == TEXT, "run python -m protocol.serial.document"
    assert main(["--check"]) == 0
    assert "up to date" in capsys.readouterr().out


def test_a_document_that_differs_is_noticed_and_renewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stale = tmp_path / "serial.md"
    stale.write_text(TEXT.replace("| req | u16 |", "| req | u8 |", 1), encoding="utf-8")
    assert main(["--check", str(stale)]) == 1
    assert main([str(stale)]) == 0
    assert stale.read_text(encoding="utf-8") == TEXT
    stale.write_text("no marks here", encoding="utf-8")
    assert main([str(stale)]) == 2
    assert main([str(tmp_path / "missing.md")]) == 2
    assert "section messages" in capsys.readouterr().err


def test_every_message_and_every_fault_is_in_it() -> None:
    for spec in CATALOGUE:
        assert TEXT.count(f"**0x{spec.type_id:02x} {spec.name}**") == 1
    assert set(FAULTS) == set(FAULT_CODES)
    for section in SECTIONS:
        assert TEXT.count(f"<!-- generated: {section} -->") == 1


def test_the_times_in_the_text_are_those_of_the_code() -> None:
    config = LinkConfig()
    for said in (
        f"every {config.hello_interval * 1000:.0f} ms until",
        f"nothing for **{config.keepalive * 1000:.0f} ms**",
        f"link lost after **{config.host_silence:.1f} s**",
        f"its host after **{config.mcu_silence:.1f} s**",
        f"unacknowledged for {config.patience:.0f} s",
        f"at first {RTO_START * 1000:.0f} ms",
        f"{RTO_LOWEST * 1000:.0f} ms ≤ RTO ≤ {RTO_HIGHEST:.0f} s",
        f"at least the last **{REMEMBERED_AT_LEAST}** results",
    ):
        assert said in TEXT, said


# --- the talk in bytes, read as a board maker would write it from the page --------------------------------------------


def uncobs(encoded: bytes) -> bytes:
    out, at = bytearray(), 0
    while at < len(encoded):
        code = encoded[at]
        out += encoded[at + 1 : at + code]
        at += code
        if code < 0xFF and at < len(encoded):
            out.append(0)
    return bytes(out)


def crc_bit_by_bit(data: bytes) -> int:
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def talk() -> list[tuple[str, str, bytes, bytes]]:
    """(sender, what, message bytes, line bytes) of every entry."""
    block = TEXT.split("```text")[-1].split("```")[0]
    entries = re.findall(r"^(host|mcu ) (.+)\n(?: +message (.+)\n)? +line +(.+)$", block, re.M)
    return [(role.strip(), what, bytes.fromhex(said), bytes.fromhex(line)) for role, what, said, line in entries]


def test_the_talk_keeps_the_page() -> None:
    kinds = ("HELLO", "HELLO_ACK", "DATA", "ACK", "NAK", "RESET", "BYE")
    assert len(talk()) >= 15
    for role, what, said, line in talk():
        assert line.endswith(b"\x00")
        assert line.count(0) == 1
        whole = uncobs(line[:-1])
        assert int.from_bytes(whole[-2:], "little") == crc_bit_by_bit(whole[:-2])
        assert whole[0] == (role == "mcu") << 7 | kinds.index(what.split()[0].strip(",")) << 4 | 1
        if what.startswith("DATA"):
            told = re.fullmatch(r"DATA (\d+), ack (\d+): (\w+)", what)
            assert told is not None
            seq, ack, name = told.groups()
            assert (whole[5], whole[6]) == (int(seq), int(ack))
            assert whole[7:-2] == said
            assert type(decode_message(said)).__name__ == name


def test_two_links_with_these_numbers_hold_exactly_this_talk() -> None:
    entries = talk()
    host, mcu = Link("host", lambda: 0x1B9D3F42), Link("mcu", lambda: 0x8C5A0E77)
    ends = {"host": host, "mcu": mcu}
    replay: list[tuple[str, bytes]] = []
    sendings = [(role, decode_message(said)) for role, _, said, _ in entries if said]

    def carry(role: str) -> None:
        data = ends[role].outgoing(1.0)
        replay.extend((role, piece + b"\x00") for piece in data.split(b"\x00") if piece)
        ends["mcu" if role == "host" else "host"].receive(data, 1.0)

    def say(role: str, message: Message) -> None:
        ends[role].send(message)
        carry(role)

    carry("host")
    carry("mcu")
    carry("host")
    for role, message in sendings:
        say(role, message)
    mcu.receive(b"\x05ab\x00", 1.0)
    carry("mcu")
    host.close()
    carry("host")
    assert replay == [(role, line) for role, _, _, line in entries[:-1]]
    late = next(line for role, what, _, line in entries if role == "host" and what.startswith("DATA"))
    assert mcu.receive(late, 1.0) == []
    assert ("mcu", mcu.outgoing(1.0).lstrip(b"\x00")) == (entries[-1][0], entries[-1][3])
