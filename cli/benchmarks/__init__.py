"""The benchmarks behind `kaijin bench`: goals as ratios of two things done in turn in one run (docs/performance.md)."""
