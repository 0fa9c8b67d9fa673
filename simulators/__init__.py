"""The other side of the wires: table hardware, players and the world that both of them touch."""
