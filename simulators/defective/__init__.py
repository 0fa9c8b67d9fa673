"""Boards with one defect each (`simulators.defects` lists them): of the link, of operations, of everything else."""
