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
        self.ledger_acks = Counter(
            "kaijin_ledger_acks", "Acknowledgements of the ledger by outcome.", ["outcome"], registry=registry
        )
        self.ledger_waiting = Gauge(
            "kaijin_ledger_waiting", "Rows of the ledger that the hub has not acknowledged.", registry=registry
        )
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
        self.link_errors = Gauge(
            "kaijin_link_bad_frames", "What came and was no frame, by kind.", ["port", "kind"], registry=registry
        )
        self.link_rtt = Gauge("kaijin_link_round_trip_seconds", "Smoothed round trip.", ["port"], registry=registry)
        self.healthy = Gauge("kaijin_healthy", "1 while the table can be counted on.", registry=registry)
        self.wrong = Gauge("kaijin_wrong", "1 for each thing that /healthz names.", ["what"], registry=registry)
        self.core_beat_age = Gauge("kaijin_core_beat_age_seconds", "Since the core last came by.", registry=registry)
        self.journal_unsafe = Gauge(
            "kaijin_journal_unsafe", "Transactions that are in memory alone.", registry=registry
        )
        self.clock_synced = Gauge("kaijin_clock_synced", "1 while the time of day can be trusted.", registry=registry)
        self.ledger_oldest = Gauge(
            "kaijin_ledger_oldest_seconds", "For how long the oldest row waits for the hub.", registry=registry
        )
        self.uptime = Gauge("kaijin_uptime_seconds", "Since the daemon's start.", registry=registry)
        self.memory = Gauge("kaijin_resident_bytes", "Resident memory of the daemon.", registry=registry)
