"""Recordings of a table: what went over its serial lines and what reached its core, for `kaijin replay`.

A recording is a folder for each start of the daemon (or each `kaijin link probe --record`): a file of JSON lines for
each serial line, and one for the core. `format` says what stands in them and reads them, `writer` writes them off the
loop, `port` listens at a serial port, `core` at the core, `redact` takes hands and names out.
"""
