"""The page server's figures, as Prometheus reads them."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest

from controller.broker import Counters
from controller.web_bridge import BridgeCounters
from controller.web_pairing import PairingCounters

CONTENT_TYPE = CONTENT_TYPE_LATEST


def exposition(
    sockets: int, bridge: BridgeCounters, broker_up: bool, broker: Counters, paired: int, pairing: PairingCounters
) -> bytes:
    """All figures at this moment."""
    registry = CollectorRegistry()
    gauges = (
        ("kaijin_web_sockets", "Open WebSockets", sockets),
        ("kaijin_web_broker_up", "Whether the broker is connected", int(broker_up)),
        ("kaijin_web_places_paired", "Seats and wall view held by a display", paired),
    )
    counters = (
        ("kaijin_web_sockets_opened", "WebSockets opened", bridge.opened),
        ("kaijin_web_sockets_refused", "WebSockets refused", bridge.refused),
        ("kaijin_web_bad_connects", "First packets that were no CONNECT", bridge.bad_connects),
        ("kaijin_web_bytes_in", "Bytes from displays", bridge.bytes_in),
        ("kaijin_web_bytes_out", "Bytes to displays", bridge.bytes_out),
        ("kaijin_web_pairings", "Displays let in", pairing.paired),
        ("kaijin_web_pairings_refused", "Displays not let in", pairing.refused),
        ("kaijin_web_broker_connections", "Connections to the broker", broker.connections),
    )
    for name, words, value in gauges:
        Gauge(name, words, registry=registry).set(value)
    for name, words, value in counters:
        Counter(name, words, registry=registry).inc(value)
    return generate_latest(registry)
