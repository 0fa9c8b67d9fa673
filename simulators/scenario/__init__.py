"""Scenarios: what goes wrong at a simulated table, when, and how often, written down so that it happens again.

A scenario is a TOML file (`model`, `reading`), a library of them is shipped (`library`). At a table a `Director`
carries it out: `triggers` say when, `actions` what. The same seed gives the same faults.
"""
