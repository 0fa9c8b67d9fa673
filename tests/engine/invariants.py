"""What must hold after every input of any match, whatever people, readers and machines do."""

from __future__ import annotations

import json
from collections import Counter

from engine import events as e
from engine.answers import ACTIONS
from engine.events import decode_event, encode_event
from engine.play import everything
from engine.state import State, gone_from_wall
from engine.table import fold, wants


class Invariants:
    """Watches a walker."""

    def __init__(self) -> None:
        self.operations: dict[str, tuple[str, str]] = {}
        self.timers: dict[str, tuple[str, int]] = {}

    def __call__(self, before: State, events: tuple[e.Event, ...], after: State) -> None:
        kept = [decode_event(json.loads(json.dumps(encode_event(event)))) for event in events]
        assert fold(kept, before) == after
        outstanding = wants(after)
        assert wants(after) == outstanding
        assert outstanding, f"nothing is wanted in phase {after.phase}"
        names = [(str(want.id), want.kind, want.seat) for want in outstanding]
        assert len(set(names)) == len(names)
        for want in outstanding:
            assert all((want.verb, action) in ACTIONS for action in want.actions), want
            if want.kind == "operation":
                meaning = (want.verb, json.dumps(dict(want.params), sort_keys=True))
                assert self.operations.setdefault(str(want.id), meaning) == meaning
                assert 0 <= want.id.step_number < 65536
        if after.setup is not None and after.reads_tiles and after.play.wall:
            self.conserved(after)

    @staticmethod
    def conserved(state: State) -> None:
        """No tile is taken twice, none vanishes: what stands and what has been taken make the set."""
        faces = state.match.rules.faces()
        if len(state.play.wall) < state.match.rules.tiles:
            return
        play, gone = state.play, gone_from_wall(state)
        standing = Counter(face for position, face in play.wall.items() if position not in gone)
        if play.game is not None:
            game = play.game
            assert everything(game) == faces
            assert Counter(game.deal.wall[place] for place in game.left) == standing
            return
        held = [face for hand in play.hands.values() for face in hand]
        laid = [face for flowers in play.flowers.values() for face in flowers]
        gold = [play.gold.tile] if play.gold is not None and play.gold.stage == "opened" else []
        assert standing + Counter(held + laid + gold) == faces
