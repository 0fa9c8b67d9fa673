"""Random settle questions and random ends of hands, for the engine and the second reckoner alike."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from engine.fan import KONG_WAYS
from engine.melds import Meld
from engine.outcome import Foul, HandEnd, Held, Outcome, Win
from engine.ruleset import Ruleset, load_ruleset
from engine.settlement import foul_kinds
from engine.tiles import FLOWERS, SEATS, SUITED
from engine.win_checks import objection
from simulators.reckoning import as_question as as_question

ALL_RULES = (
    "new-xiamen-120",
    "new-xiamen-120-base",
    "classic-xiamen-144",
    "bijin-xiamen-144",
    "basic-136",
    "quanzhou-seed",
    "quanzhou-common",
    "zhangzhou",
    "xiamen-offline",
)
WITH_BASE = ("new-xiamen-120-base", "classic-xiamen-144", "quanzhou-common", "zhangzhou")
FANS = ("menqing", "pengpenghu", "hunyise", "qingyise", "jinlong", "gangshangkaihua")


def some_options(chance: random.Random, rules: str) -> dict[str, Any]:
    """Options of points that the rules know, each set or left alone."""
    known: dict[str, list[Any]] = {"offsets": [True, False]}
    if rules in ("new-xiamen-120", "xiamen-offline"):
        known |= {"youjin_base": [8, 10], "sanyou_base": [40, 60, 80], "flower_set": [4, 10]}
    if rules in WITH_BASE:
        known |= {
            "tour_multipliers": [[4, 8, 12], [3, 6, 9], [4, 8, 16]],
            "base_growth": [8, "double", 5, 0],
            "uniform_winner_base": [True, False],
            "white_value": ["face", "honour"],
        }
    if rules in ("classic-xiamen-144", "zhangzhou"):
        known["bonus"] = [True, False]
    if rules == "basic-136":
        known = {"base": [1, 2, 5], "fan_cap": [4, 8, 20], "streak_fan": [0, 1, 2]}
    if rules == "quanzhou-seed":
        known = {"base_series": [[2, 4, 6, 8], [3, 5], [10, 20, 30, 40]]}
    return {name: chance.choice(values) for name, values in known.items() if chance.random() < 0.4}


def some_chips(chance: random.Random) -> dict[str, int]:
    """What the seats hold: often enough little."""
    return {seat: chance.choice((1, 5, 20, 60, 100, 150, 300, 2_000)) for seat in SEATS}


def some_win(chance: random.Random, rules: Ruleset, dealer: str) -> tuple[str, str, str | None]:
    """A seat, a way and the discarder or the robbed, such as the rules allow."""
    while True:
        seat = chance.choice(SEATS)
        way = chance.choice([str(way) for way in rules.ways if rules.knows(way)])
        source = chance.choice([None, *(other for other in SEATS if other != seat)])
        if objection(rules, dealer, source, seat, way) is None:
            return seat, way, source


def question(chance: random.Random, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """A random `settle` question of one game, wins, draws and fouls."""
    rules = load_ruleset(name, options)
    dealer = chance.choice(SEATS)
    asked: dict[str, Any] = {"op": "settle", "rules": name, "options": dict(options), "dealer": dealer}
    turns = {"dealer_turn": chance.randint(1, 6)} if name == "quanzhou-seed" else {"base_steps": chance.randint(0, 5)}
    asked |= turns
    kind = chance.random()
    if kind < 0.12 and foul_kinds(rules):
        return {**asked, "foul": _some_foul(chance, rules)}
    if rules.water is not None:
        asked["water"] = {seat: chance.randint(0, 20) for seat in SEATS if chance.random() < 0.8}
    if kind < 0.22:
        asked["winner"] = None
        return asked | ({"last_drawer": chance.choice(SEATS)} if name == "bijin-xiamen-144" else {})
    seat, way, source = some_win(chance, rules, dealer)
    asked |= {"winner": seat, "way": way} | ({"from": source} if source else {})
    losers = [other for other in SEATS if other != seat]
    asked["covered"] = [other for other in losers if chance.random() < 0.2]
    if chance.random() < 0.15:
        asked["pays_all"] = chance.choice(losers)
    if name == "basic-136":
        asked["fan"] = _some_fan(chance, way)
        if source and way == "pinghu" and chance.random() < 0.3:
            return _several(chance, asked, source)
    if name == "quanzhou-seed":
        most = rules.base_series[min(asked["dealer_turn"], len(rules.base_series)) - 1] if rules.base_series else 0
        asked |= {"hardness": chance.choice(("soft", "hard", "double")), "buy": chance.randint(0, most)}
        asked["top"] = {other: chance.randint(0, most) for other in SEATS if other != dealer}
        asked["caishen"] = {other: chance.randint(0, 2) for other in SEATS}
    return asked


def _some_foul(chance: random.Random, rules: Ruleset) -> dict[str, Any]:
    seat = chance.choice(SEATS)
    foul: dict[str, Any] = {"seat": seat, "kind": chance.choice(foul_kinds(rules))}
    if rules.foul_ready:
        others = [other for other in SEATS if other != seat and chance.random() < 0.4]
        foul["ready"] = [{"seat": other, "water": chance.randint(0, 9)} for other in others]
    return foul


def _some_fan(chance: random.Random, way: str) -> list[str]:
    names = [name for name in FANS if chance.random() < 0.35]
    if "hunyise" in names and "qingyise" in names:
        names.remove("hunyise")
    if way not in ("zimo", "sanjindao_late", "qiangjin") and "gangshangkaihua" in names:
        names.remove("gangshangkaihua")
    return names


def _several(chance: random.Random, asked: dict[str, Any], source: str) -> dict[str, Any]:
    seats = [seat for seat in SEATS if seat != source][: chance.randint(1, 3)]
    wins = [{"seat": seat, "way": "pinghu", "fan": _some_fan(chance, "pinghu")} for seat in seats]
    kept = {name: value for name, value in asked.items() if name not in ("winner", "way", "fan", "covered", "pays_all")}
    return {**kept, "winners": wins}


def some_end(chance: random.Random, rules: Ruleset) -> HandEnd:
    """A random end of a hand with the tiles of all four seats; the winner's is complete more often than not."""
    gold = chance.choice([face for face in rules.faces() if face not in FLOWERS])
    dealer = chance.choice(SEATS)
    steps = chance.randint(0, 4)
    flowers = list(FLOWERS) if rules.has_flowers else []
    chance.shuffle(flowers)
    cuts = sorted(chance.randint(0, len(flowers)) for _ in range(3))
    laid = [flowers[low:high] for low, high in zip([0, *cuts], [*cuts, len(flowers)], strict=True)]
    bag = rules.faces()
    bag[gold] = 3 if rules.gold == "flipped" else 4
    held = {seat: some_held(chance, rules, gold, tuple(own), bag) for seat, own in zip(SEATS, laid, strict=True)}
    most = (rules.base_series or (0,))[0] if rules.scoring == "hardness" else 0
    top = {seat: chance.randint(0, most) if seat != dealer else 0 for seat in SEATS}
    return HandEnd(dealer, gold, _some_outcome(chance, rules, dealer, held), held, steps, chance.randint(0, most), top)


def _some_outcome(chance: random.Random, rules: Ruleset, dealer: str, held: Mapping[str, Held]) -> Outcome:
    kind = chance.random()
    if kind < 0.1 and foul_kinds(rules):
        seat = chance.choice(SEATS)
        ready = tuple(other for other in SEATS if other != seat and chance.random() < 0.4) if rules.foul_ready else ()
        return Outcome("foul", foul=Foul(seat, chance.choice(foul_kinds(rules)), ready))
    followed: dict[str, Any] = {"no_flowers": chance.random() < 0.3, "followed": chance.choice((0, 0, 1, 2))}
    if kind < 0.2:
        return Outcome("draw", last_drawer=chance.choice(SEATS), **followed)
    seat, way, source = some_win(chance, rules, dealer)
    tiles = held[seat].concealed
    kongs = [meld for meld in held[seat].melds if meld.kind.startswith("kong")]
    after_kong = bool(kongs) and way in KONG_WAYS
    win = Win(seat, way, chance.choice(tiles) if tiles else None, source, after_kong)
    losers = [other for other in SEATS if other != seat]
    covered = tuple(other for other in losers if chance.random() < 0.2)
    pays_all = chance.choice(losers) if chance.random() < 0.15 else None
    return Outcome("win", (win,), covered, pays_all, **followed)


def some_held(chance: random.Random, rules: Ruleset, gold: str, flowers: tuple[str, ...], bag: Counter[str]) -> Held:
    """Sets and a pair out of a bag of tiles, some of them laid, some turned into golds; now and then one is another."""
    faces = [face for face in rules.faces() if face not in FLOWERS and face != gold]
    if chance.random() < 0.4:
        suit = chance.choice("mps")
        faces = [face for face in faces if face[1] in (suit, "z")]
    concealed: list[str] = []
    melds: list[Meld] = []
    for _ in range(rules.sets):
        meld = _some_set(chance, faces, bag, gold)
        bag.subtract(meld.tiles)
        if chance.random() < 0.35 or meld.kind.startswith("kong"):
            melds.append(meld)
        else:
            concealed += meld.tiles
    pair = _first(bag, 2, chance, faces, gold)
    concealed += [pair, pair]
    bag[pair] -= 2
    lucky = chance.choice((0.05, 0.05, 0.05, 0.5))
    for index, face in enumerate(concealed):
        becomes = gold if chance.random() < lucky else None
        if index == 0 and chance.random() < 0.2:
            becomes = chance.choice(faces)
        if becomes is not None and bag[becomes] > 0:
            bag.update({face: 1, becomes: -1})
            concealed[index] = becomes
    return Held(tuple(concealed), tuple(melds), flowers)


def _some_set(chance: random.Random, faces: list[str], bag: Counter[str], gold: str) -> Meld:
    """A run, a triplet or a kong of which the bag still has the tiles."""
    lows = [face for face in faces if face in SUITED and face[0] <= "7"]
    for _ in range(30):
        low = chance.choice(lows)
        run = tuple(f"{int(low[0]) + step}{low[1]}" for step in range(3))
        if chance.random() < 0.5 and all(face in faces and bag[face] > 0 for face in run):
            return Meld("chi", run)
        face, kong = chance.choice(faces), chance.random() < 0.3
        if bag[face] >= (4 if kong else 3):
            kind = chance.choice(("kong_open", "kong_added", "kong_concealed")) if kong else "pong"
            return Meld(kind, (face,) * (4 if kong else 3))
    return Meld("pong", (_first(bag, 3, chance, faces, gold),) * 3)


def _first(bag: Counter[str], copies: int, chance: random.Random, faces: list[str], gold: str) -> str:
    """A face of which the bag has so many, of those wanted if it can be."""
    natural = [face for face in bag if bag[face] >= copies and face not in (*FLOWERS, gold)]
    return chance.choice([face for face in natural if face in faces] or natural)
