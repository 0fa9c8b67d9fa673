"""Counters and gauges of one daemon, for Prometheus. Nothing here depends on a concealed tile."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_COMMIT_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0)


class Metrics:
    """One registry a daemon, so that two in one process do not collide."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        registry = self.registry
        self.facts = Counter("kaijin_public_events", "Public events said.", ["stream"], registry=registry)
        self.inputs = Counter("kaijin_inputs", "Inputs from seats by outcome.", ["outcome"], registry=registry)
        self.commands = Counter("kaijin_commands", "Commands by outcome.", ["outcome"], registry=registry)
        self.failures = Counter("kaijin_core_failures", "Inputs that the engine failed on.", registry=registry)
        self.commit = Histogram(
            "kaijin_journal_commit_seconds", "Time of one journal commit.", buckets=_COMMIT_BUCKETS, registry=registry
        )
        self.hands = Counter("kaijin_hands", "Hands ended.", registry=registry)
        self.queue = Gauge("kaijin_core_queue", "Inputs that wait for the core.", registry=registry)
        self.broker_up = Gauge("kaijin_broker_connected", "1 while the broker is connected.", registry=registry)
        self.broker_waiting = Gauge("kaijin_broker_waiting", "Messages the broker has not taken.", registry=registry)
        self.broker = Gauge("kaijin_broker_total", "Broker session counts.", ["what"], registry=registry)
        self.link_up = Gauge("kaijin_link_up", "1 while the board answers.", ["port"], registry=registry)
        self.link = Gauge(
            "kaijin_link_total", "Serial link counts since the start.", ["port", "what"], registry=registry
        )
        self.link_rtt = Gauge("kaijin_link_round_trip_seconds", "Smoothed round trip.", ["port"], registry=registry)
        self.uptime = Gauge("kaijin_uptime_seconds", "Since the daemon's start.", registry=registry)
        self.memory = Gauge("kaijin_resident_bytes", "Resident memory of the daemon.", registry=registry)
