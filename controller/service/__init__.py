"""What a repairer does at a table: service mode, live sensors, jogs, self-tests, times, the history of faults."""
