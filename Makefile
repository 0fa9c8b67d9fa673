# The same commands for those whose fingers know make; ./kaijin does the work and needs no make.
.PHONY: check test bench demo pins

check test bench demo pins:
	@./kaijin $@
