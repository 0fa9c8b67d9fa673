# The same commands for those whose fingers know make; ./kaijin does the work and needs no make.
.PHONY: check test bench demo pins long

check test bench demo pins:
	@./kaijin $@

# Hours: every test that is marked long, then days of play under random faults at both sensing levels, then whether
# the memory of a daemon that is never started anew stays as it is.
HOURS ?= 200
EVENTS ?= 1000000
SEED ?= 1
long:
	@./kaijin test -m long
	@./kaijin soak --hours-of-play $(HOURS) --seed $(SEED) --sensing none
	@./kaijin soak --hours-of-play $(HOURS) --seed $(SEED) --sensing full
	@./kaijin bench --only memory --events $(EVENTS) --strict
