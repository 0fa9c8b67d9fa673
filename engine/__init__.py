"""The rule book and the table as a pure state machine: no I/O, clock, randomness, logging or environment."""
