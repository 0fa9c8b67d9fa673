"""Every topic with what travels on it: the one declaration behind schemas, AsyncAPI document and docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from protocol.mqtt import models
from protocol.mqtt.parts import Payload
from protocol.mqtt.views import PublicState, SeatView

Side = Literal["table", "display", "parlor", "hub", "web"]


@dataclass(frozen=True, slots=True)
class Channel:
    """One topic below `kaijin/1/`. `{t}` is the table's id. `enveloped` ones carry `model` as the envelope's `data`."""

    name: str
    address: str
    sender: Side
    retain: bool
    qos: Literal[0, 1]
    model: type[Payload]
    enveloped: bool
    meaning: str


CHANNELS: tuple[Channel, ...] = (
    Channel("availability", "{t}/availability", "table", True, 1, models.Availability, True,
            "whether the table can be counted on; also the will"),
    Channel("birth", "{t}/birth", "table", True, 1, models.Birth, True,
            "who the table is, what it can do, which events can be replayed; at every connection"),
    Channel("state", "{t}/state", "table", True, 1, PublicState, True,
            "the whole public snapshot; on change (at most 250 ms later) and every 3 s"),
    Channel("seat", "{t}/seat/{s}", "table", True, 1, SeatView, True,
            "the whole view of one seat, the public part included; on change at once and every 3 s"),
    Channel("seat-input", "{t}/seat/{s}/input", "display", False, 1, models.SeatInput, False,
            "an answer to a want of this seat"),
    Channel("event", "{t}/event/{stream}", "table", False, 1, models.Event, True,
            "public events; one gapless numbering over machine, game, fault and audit"),
    Channel("ledger", "{t}/ledger", "table", False, 1, models.LedgerRecord, True,
            "results of hands and sessions, with a gapless number of their own"),
    Channel("ledger-ack", "{t}/ledger/ack", "hub", False, 1, models.LedgerAck, False,
            "up to which number everything stands committed in the hub's database"),
    Channel("command", "{t}/command/{verb}", "parlor", False, 1, models.Command, False,
            "a request with id, sender and expiry"),
    Channel("response", "{t}/response/{client}", "table", False, 1, models.Response, True,
            "accepted or rejected, then done or failed"),
    Channel("service", "{t}/service", "table", False, 0, models.ServiceLive, True,
            "while a table is in service mode: sensors and motion as they are, several times a second"),
    Channel("config-desired", "{t}/config/desired", "hub", True, 1, models.ConfigDesired, False,
            "the whole configuration wished for, with its revision"),
    Channel("config-reported", "{t}/config/reported", "table", True, 1, models.ConfigReported, True,
            "the configuration that holds; key by key what was refused and why"),
    Channel("heartbeat", "{t}/heartbeat", "table", False, 0, models.Heartbeat, True,
            "every 30 s: how the table itself is"),
    Channel("pairing-request", "{t}/pairing/request", "web", False, 1, models.PairingRequest, False,
            "a display shows a code and asks for a seat"),
    Channel("pairing-grant", "{t}/pairing/grant", "table", False, 1, models.PairingGrant, True,
            "somebody at the table confirmed that display, or refused it"),
    Channel("pairing-release", "{t}/pairing/release", "table", False, 1, models.PairingRelease, True,
            "a seat un-pairs its display"),
    Channel("pairing-refused", "{t}/pairing/refused", "web", False, 1, models.PairingRefused, False,
            "a second display tried a seat that is held"),
    Channel("pairing-state", "{t}/pairing/state", "web", True, 1, models.PairingState, False,
            "which display holds which seat"),
)  # fmt: skip


def topics_table() -> str:
    """The table of topics in Markdown, as docs/mqtt.md shows it."""
    rows = ["| topic | from | retained | QoS | envelope | content |", "|---|---|---|---|---|---|"]
    for one in CHANNELS:
        marks = f"{'yes' if one.retain else 'no'} | {one.qos} | {'yes' if one.enveloped else 'no'}"
        rows.append(f"| `{one.address}` | {one.sender} | {marks} | {one.meaning} |")
    return "\n".join(rows) + "\n"
