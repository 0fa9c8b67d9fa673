"""A hand that was played, in the words of the second reckoner: its points are counted there and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.outcome import HandEnd, Held, Win
from engine.tiles import SEATS
from simulators import reckoner


def reckoned(name: str, options: Mapping[str, Any], end: HandEnd, chips: Mapping[str, int] | None) -> dict[str, Any]:
    """What a hand comes to by the second reckoner: `net` and `bonus` by seat. `chips`: what each seat held before."""
    told = as_question(name, options, end)
    return reckoner.settle(name, dict(options), told if chips is None else told | {"chips": dict(chips)})


def as_question(name: str, options: Mapping[str, Any], end: HandEnd) -> dict[str, Any]:
    """The same hand in the reckoner's words, its points counted by the reckoner."""
    outcome, told = end.outcome, {"dealer": end.dealer, "base_steps": end.steps, "dealer_turn": end.steps + 1}
    told |= {"buy": end.buy, "top": dict(end.top), "no_flowers": outcome.no_flowers, "followed": outcome.followed}
    held = {seat: _seat(one) for seat, one in end.held.items()}
    own = {win.seat: {"way": win.way, "tile": win.tile, "from": win.source} for win in outcome.winners}
    opts = dict(options)
    counted = {seat: reckoner.water(name, opts, end.gold, held[seat], own.get(seat)) for seat in SEATS}
    if outcome.foul is not None:
        ready = [{"seat": seat, "water": counted[seat]} for seat in outcome.foul.ready]
        return {**told, "foul": {"seat": outcome.foul.seat, "kind": outcome.foul.kind, "ready": ready}}
    told |= {"water": counted, "last_drawer": outcome.last_drawer}
    if not outcome.winners:
        return told
    told |= {"from": outcome.winners[0].source, "covered": outcome.covered, "pays_all": outcome.pays_all}
    told["winners"] = [_win(name, opts, end, win, held[win.seat]) for win in outcome.winners]
    if name == "quanzhou-seed":
        told["caishen"] = {seat: one.concealed.count(end.gold) for seat, one in end.held.items()}
    return told


def _win(name: str, options: dict[str, Any], end: HandEnd, win: Win, seat: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"seat": win.seat, "way": win.way}
    tiles, melds = seat["concealed"], seat["melds"]
    if name == "basic-136":
        told["fan"] = reckoner.fan_names(options, end.gold, tiles, melds, win.way, win.after_kong)
    if name == "quanzhou-seed":
        told["hardness"] = reckoner.hardness(options, end.gold, tiles, win.way)
    return told


def _seat(held: Held) -> dict[str, Any]:
    melds = [(meld.kind, list(meld.tiles)) for meld in held.melds]
    return {"concealed": list(held.concealed), "melds": melds, "flowers": list(held.flowers)}
