"""Record and replay: a recording of a table (`controller.recording`) given to a daemon again, and what is made of it.

`story` merges a recording into what happened, one item after the other. `replay` gives it to a daemon's core, hardware
driver and lines on a clock of its own and names the differences; `shrink` makes a failing recording small; `profile`
tells how long a table's mechanisms take.
"""
