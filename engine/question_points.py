"""Questions about points: 水, fan and the settlement of a hand (R26-R38)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine import question_fields as read
from engine.fan import KONG_WAYS, NAMED_BY_WAY, fan_total, patterns
from engine.hands import complete, golds_held
from engine.melds import KONGS
from engine.question_fields import QuestionError
from engine.ruleset import Ruleset
from engine.ruleset_checks import PATTERNS
from engine.scoring import dealer_base
from engine.settlement import Settlement, foul_kinds, settle, settle_foul
from engine.tally import HARDNESS, FalseWin, Items, Tally, Winner, whole
from engine.tiles import is_flower
from engine.water import water
from engine.win_checks import objection

WATER_FIELDS = ("rules", "options", "gold", "flowers", "concealed", "melds", "won_by_discard")
FAN_FIELDS = ("rules", "options", "gold", "concealed", "melds", "way", "after_kong")
SETTLE_FIELDS = (
    "rules",
    "options",
    "dealer",
    "base_steps",
    "dealer_turn",
    "winner",
    "winners",
    "way",
    "from",
    "fan",
    "water",
    "covered",
    "foul",
    "pays_all",
    "last_drawer",
    "hardness",
    "buy",
    "top",
    "caishen",
)

_OF_SCORING = {
    "fan": ("fan", "winners"),
    "hardness": ("dealer_turn", "hardness", "buy", "top", "caishen"),
}
"""Fields of `settle` that belong to one kind of scoring."""

_BESIDE_NO_WIN = ("winners", "way", "from", "pays_all", "fan")
_MOST_STEPS = 100


def ask_water(question: Mapping[str, object]) -> dict[str, Any]:
    """R30, R32, R33: 水 of one seat."""
    rules = read.a_ruleset(question)
    gold = read.a_gold(rules, question)
    flowers = _flowers(rules, read.required(question, "flowers"))
    held, laid = read.concealed_and_melds(rules, gold, question)
    won = None
    if question.get("won_by_discard") is not None:
        won = read.a_face(rules, question["won_by_discard"], "won_by_discard")
        if won not in held:
            raise QuestionError("won_by_discard", f"{won} is not among the concealed tiles")
    items = water(rules, gold, flowers, held, laid, won)
    return {"water": sum(value for _, value in items), "items": [list(item) for item in items]}


def ask_fan(question: Mapping[str, object]) -> dict[str, Any]:
    """R35: the patterns of a winner and their total."""
    rules = read.a_ruleset(question)
    if rules.fans is None:
        raise QuestionError("rules", f"{rules.name} counts no fan; patterns belong to basic-136 (R35)")
    gold = read.a_gold(rules, question)
    held, laid = read.concealed_and_melds(rules, gold, question)
    way = _way(rules, read.required(question, "way"), "way")
    after_kong = read.a_bool(question.get("after_kong", False), "after_kong")
    golds = golds_held(held, gold)
    if way in ("sanjindao", "sanjindao_late") and golds < 3:
        raise QuestionError("way", f"三金倒 needs three golds, the hand holds {golds}")
    if way == "qiangjin" and golds == 0:
        raise QuestionError("way", "抢金 takes a gold, the hand holds none")
    if way not in ("sanjindao", "sanjindao_late") and not complete(rules, gold, held):
        raise QuestionError("concealed", f"the hand is not complete: no win by {way}, no patterns (R20)")
    if way == "sanjindao_late" and len(held) % 3 != 2:
        raise QuestionError("concealed", "the third gold was drawn: one tile more is held (R25)")
    if after_kong and way not in KONG_WAYS:
        raise QuestionError("after_kong", f"a kong's replacement is drawn; expected way {', '.join(KONG_WAYS)}")
    if after_kong and all(meld.kind not in KONGS for meld in laid):
        raise QuestionError("after_kong", "there is no kong among the melds")
    found = patterns(rules, gold, held, laid, way, after_kong)
    return {"fan": list(found), "total": fan_total(rules, way, found)}


def ask_settle(question: Mapping[str, object]) -> dict[str, Any]:
    """R30-R38: who pays what, and who deals next."""
    rules = read.a_ruleset(question)
    _check_scoring_fields(rules, question)
    dealer = read.a_seat(read.required(question, "dealer"), "dealer")
    if "foul" in question:
        return _told(settle_foul(rules, _foul(rules, dealer, question)))
    return _told(settle(rules, _tally(rules, dealer, question)))


def _told(settled: Settlement) -> dict[str, Any]:
    return {
        "net": dict(settled.net),
        "bonus": dict(settled.bonus),
        "next": {"dealer": settled.dealer, "base_steps": settled.steps},
    }


def _flowers(rules: Ruleset, value: object) -> list[str]:
    found = read.tiles(value, "flowers")
    for face in found:
        if not is_flower(face):
            raise QuestionError("flowers", f"{face} is no flower")
    read.check_copies(rules, found, "flowers")
    return found


def _way(rules: Ruleset, value: object, field: str) -> str:
    return read.one_of(value, field, [way for way in rules.ways if rules.knows(way)])


def _check_scoring_fields(rules: Ruleset, question: Mapping[str, object]) -> None:
    for scoring, fields in _OF_SCORING.items():
        for field in fields:
            if field in question and rules.scoring != scoring:
                raise QuestionError(field, f"{rules.name} has no use for it")
    if "base_steps" in question and rules.scoring == "hardness":
        raise QuestionError("base_steps", f"{rules.name} takes dealer_turn in its place")


def _steps(rules: Ruleset, question: Mapping[str, object]) -> int:
    """How often the dealer's base has grown; a turn counts one more than the steps to it."""
    if rules.scoring == "hardness":
        return read.a_number(question.get("dealer_turn", 1), "dealer_turn", 1, _MOST_STEPS) - 1
    return read.a_number(question.get("base_steps", 0), "base_steps", 0, _MOST_STEPS)


def _foul(rules: Ruleset, dealer: str, question: Mapping[str, object]) -> FalseWin:
    for field in ("winner", *_BESIDE_NO_WIN):
        if field in question:
            raise QuestionError(field, "a foul stands in place of a winner: leave one of them out (R38)")
    _water(rules, question)
    given = read.a_mapping(question["foul"], "foul", 'a foul such as {"seat": "W", "kind": "zhahu"}')
    read.check_fields(given, ("seat", "kind", "ready"), "foul.")
    seat = read.a_seat(read.required(given, "seat", "foul."), "foul.seat")
    kind = read.required(given, "kind", "foul.")
    kinds = foul_kinds(rules)
    if not kinds:
        raise QuestionError("foul.kind", f"{rules.name} says nothing about false wins (R38)")
    kind = read.one_of(kind, "foul.kind", kinds)
    ready: dict[str, Items] = {}
    if "ready" in given:
        if not rules.foul_ready:
            raise QuestionError("foul.ready", f"{rules.name} knows no 重判 (R38)")
        ready = _ready(seat, given["ready"])
    return FalseWin(dealer, _steps(rules, question), seat, kind, ready)


def _ready(offender: str, value: object) -> dict[str, Items]:
    found: dict[str, Items] = {}
    for item in read.a_list(value, "foul.ready", 'a list such as [{"seat": "N", "water": 3}]'):
        given = read.a_mapping(item, "foul.ready", 'a seat and its water such as {"seat": "N", "water": 3}')
        read.check_fields(given, ("seat", "water"), "foul.ready.")
        seat = read.a_seat(read.required(given, "seat", "foul.ready."), "foul.ready.seat")
        if seat == offender:
            raise QuestionError("foul.ready", f"{seat} is the offender and is not paid (R38)")
        if seat in found:
            raise QuestionError("foul.ready", f"{seat} is there twice")
        found[seat] = whole(read.a_number(read.required(given, "water", "foul.ready."), "foul.ready.water"))
    return found


def _tally(rules: Ruleset, dealer: str, question: Mapping[str, object]) -> Tally:
    source = None
    if question.get("from") is not None:
        source = read.a_seat(question["from"], "from")
    wins = _wins(rules, question)
    for win in wins:
        _check_win(rules, dealer, source, win)
    covered = read.seats(question.get("covered", []), "covered")
    winners = [win.seat for win in wins]
    for seat in covered:
        if seat in winners:
            raise QuestionError("covered", f"{seat} is under 盖牌 and cannot win (R39)")
    pays_all = None
    if question.get("pays_all") is not None:
        pays_all = read.a_seat(question["pays_all"], "pays_all")
        if pays_all in winners:
            raise QuestionError("pays_all", f"{pays_all} won and cannot pay for all (R27)")
    steps = _steps(rules, question)
    hardness = HARDNESS[0]
    if rules.scoring == "hardness" and (wins or "hardness" in question):
        hardness = read.one_of(read.required(question, "hardness"), "hardness", HARDNESS)
    most = dealer_base(rules, steps) if rules.scoring == "hardness" else 0
    return Tally(
        dealer=dealer,
        steps=steps,
        wins=wins,
        source=source,
        water=_water(rules, question),
        covered=covered,
        pays_all=pays_all,
        last_drawer=_last_drawer(rules, question, wins),
        hardness=hardness,
        buy=read.a_number(question.get("buy", 0), "buy", 0, most),
        top=_top(dealer, question, most),
        caishen=read.seat_numbers(question.get("caishen", {}), "caishen", 4),
    )


def _water(rules: Ruleset, question: Mapping[str, object]) -> dict[str, Items]:
    found = read.seat_numbers(question.get("water", {}), "water")
    if rules.water is None and any(found.values()):
        raise QuestionError("water", f"{rules.name} counts no 水")
    return {seat: whole(water) for seat, water in found.items()}


def _top(dealer: str, question: Mapping[str, object], most: int) -> dict[str, int]:
    found = read.seat_numbers(question.get("top", {}), "top", most)
    if found[dealer]:
        raise QuestionError("top", f"{dealer} deals: 顶底 is of the others, the dealer's is buy (R36)")
    return found


def _last_drawer(rules: Ruleset, question: Mapping[str, object], wins: tuple[Winner, ...]) -> str | None:
    if rules.dealer_after_draw != "last_drawer":
        if "last_drawer" in question:
            raise QuestionError("last_drawer", f"{rules.name} has no use for it (R3)")
        return None
    if wins and question.get("last_drawer") is None:
        return None
    return read.a_seat(read.required(question, "last_drawer"), "last_drawer")


def _wins(rules: Ruleset, question: Mapping[str, object]) -> tuple[Winner, ...]:
    if "winners" in question:
        return _several(rules, question)
    winner = read.required(question, "winner")
    if winner is None:
        for field in _BESIDE_NO_WIN:
            if question.get(field) is not None:
                raise QuestionError(field, "nobody won")
        return ()
    seat = read.a_seat(winner, "winner")
    way = _way(rules, read.required(question, "way"), "way")
    return (Winner(seat, way, _patterns(question.get("fan", []), "fan", way)),)


def _several(rules: Ruleset, question: Mapping[str, object]) -> tuple[Winner, ...]:
    """R13: several winners on one tile."""
    if not rules.several_winners:
        raise QuestionError("winners", f"{rules.name} knows one winner only (R13)")
    for field in ("winner", "way", "fan"):
        if field in question:
            raise QuestionError(field, "each of the winners has its own: leave it out beside winners")
    found: list[Winner] = []
    for item in read.a_list(question["winners"], "winners", "a list of winners"):
        given = read.a_mapping(item, "winners", 'a winner such as {"seat": "S", "way": "pinghu", "fan": []}')
        read.check_fields(given, ("seat", "way", "fan"), "winners.")
        seat = read.a_seat(read.required(given, "seat", "winners."), "winners.seat")
        way = _way(rules, read.required(given, "way", "winners."), "winners.way")
        if seat in [win.seat for win in found]:
            raise QuestionError("winners.seat", f"{seat} is there twice")
        found.append(Winner(seat, way, _patterns(given.get("fan", []), "winners.fan", way)))
    if not found:
        raise QuestionError("winners", "expected one winner at least; a drawn hand has winner null")
    if len(found) > 1 and question.get("from") is None:
        raise QuestionError("from", "missing: several win on one tile of one seat (R13)")
    return tuple(found)


def _patterns(value: object, field: str, way: str) -> tuple[str, ...]:
    known = (*PATTERNS, "zimo", "sanjindao")
    found = tuple(
        read.one_of(name, field, known) for name in read.a_list(value, field, 'a list of patterns such as ["menqing"]')
    )
    if len(set(found)) != len(found):
        raise QuestionError(field, "the same pattern twice")
    if NAMED_BY_WAY.get(way) in found:
        raise QuestionError(field, f"{NAMED_BY_WAY[way]} is said by way {way} already (R35)")
    if "hunyise" in found and "qingyise" in found:
        raise QuestionError(field, "hunyise and qingyise exclude each other (R35)")
    if "gangshangkaihua" in found and way not in KONG_WAYS:
        raise QuestionError(field, f"gangshangkaihua needs a drawn tile; expected way {', '.join(KONG_WAYS)}")
    if "zimo" in found and way in ("pinghu", "dihu"):
        raise QuestionError(field, f"{way} is a win by discard: no zimo")
    return found


def _check_win(rules: Ruleset, dealer: str, source: str | None, win: Winner) -> None:
    wrong = objection(rules, dealer, source, win.seat, win.way)
    if wrong is not None:
        raise QuestionError(wrong.field, wrong.told)
