"""A second reckoner of settlements, written from the rule book with nothing of the engine (R22, R30-R41).

It speaks the plain words of `rules eval`: seats are letters, hands lists of faces, melds pairs of kind and faces. Where
the engine has data and general code, this has the numbers of the rule book written out game by game.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

SEATS = "ESWN"
FAKES = {"zhahu": "youjin", "zhayou": "shuangyou", "zhashuangyou": "sanyou"}
WITH_BASE = ("new-xiamen-120-base", "classic-xiamen-144", "quanzhou-common", "zhangzhou")
PLAIN = ("new-xiamen-120", "bijin-xiamen-144", "xiamen-offline")
CLASSIC = ("classic-xiamen-144", "zhangzhou")
NEW = ("new-xiamen-120", "new-xiamen-120-base", "xiamen-offline")


def ways(rules: str, options: dict[str, Any]) -> dict[str, int]:
    """What each way counts: points, multiplier or fan, or as another way, where a house says so (R30-R36, R42)."""
    found = _agreed(rules, options)
    own = options.get("ways", {})
    return found | {way: found[value] if isinstance(value, str) else value for way, value in own.items()}


def _agreed(rules: str, options: dict[str, Any]) -> dict[str, int]:
    """The ways of a game as it comes (R30, R31, R33, R35, R36)."""
    if rules in ("new-xiamen-120", "xiamen-offline"):
        you, san = options.get("youjin_base", 10), options.get("sanyou_base", 80)
        like_you = dict.fromkeys(("youjin", "qiangjin", "sanhuayou", "tianhu", "sanjindao"), you)
        like_san = dict.fromkeys(("sanyou", "shuanghuagang"), san)
        return {"pinghu": 2, "zimo": 4, "qianggang": 4, "shuangyou": 20, "qiangshuangyou": 20, **like_you, **like_san}
    if rules == "bijin-xiamen-144":
        tours = {"youjin": 8, "qiangjin": 8, "shuangyou": 16, "qiangshuangyou": 16, "sanyou": 32}
        return {"pinghu": 1, "zimo": 2, "qianggang": 2, **tours}
    if rules == "basic-136":
        return {"pinghu": 1, "zimo": 1, "qiangjin": 5, "sanjindao": 5, "sanjindao_late": 5, "tianhu": 10, "dihu": 10}
    if rules == "quanzhou-seed":
        return dict.fromkeys(("pinghu", "zimo", "qianggang", "sanjindao", "sanjindao_late", "tianhu"), 0)
    one, two, three = options.get("tour_multipliers", [4, 8, 16])
    found = {"pinghu": 1, "zimo": 2, "qianggang": 2, "tianhu": 4, "youjin": one, "shuangyou": two, "sanyou": three}
    if rules == "new-xiamen-120-base":
        found |= {"qiangjin": one, "sanhuayou": one, "qiangshuangyou": two, "shuanghuagang": three, "sanjindao": 4}
    elif rules == "quanzhou-common":
        found |= {"qiangjin": 2, "sanjindao": 3, "sanjindao_late": 3}
    else:
        found |= {"qiangjin": one, "sanjindao": 4, "sanjindao_late": 3}
    return found


def fouls(rules: str) -> tuple[str, ...]:
    """R38: false wins of the game."""
    if rules in NEW:
        return tuple(FAKES)
    return ("zhahu",) if rules in (*CLASSIC, "bijin-xiamen-144") else ()


def base(rules: str, options: dict[str, Any], hand: dict[str, Any], winner: str, payer: str) -> int:
    """R31: the 底 between two seats."""
    few, many, step = {"quanzhou-common": (5, 10, 5), "new-xiamen-120-base": (8, 16, 8)}.get(rules, (8, 16, "double"))
    step = options.get("base_growth", step)
    concerned = winner if options.get("uniform_winner_base") else winner + payer
    if hand["dealer"] not in concerned:
        return few
    for _ in range(hand.get("base_steps", 0)):
        many = many * 2 if step == "double" else many + step
    return many


def one_pays(
    rules: str, options: dict[str, Any], hand: dict[str, Any], win: dict[str, Any], payer: str, water: int
) -> int:
    """What one seat owes a winner."""
    winner, way = win["seat"], win["way"]
    if rules in PLAIN:
        return ways(rules, options)[way] + water
    if rules in WITH_BASE:
        return (base(rules, options, hand, winner, payer) + water) * ways(rules, options)[way]
    if rules == "basic-136":
        total = fan(win)
        if winner == hand["dealer"]:
            total += options.get("streak_fan", 0) * hand.get("base_steps", 0)
        cap = options.get("fan_cap")
        return int((total if cap is None else min(total, cap)) * options.get("base", 1))
    series = options.get("base_series", [10, 20, 30, 40])
    money = series[0]
    if hand["dealer"] in (winner, payer):
        turn = hand.get("dealer_turn", 1)
        money = (series + series[-1:] * turn)[turn - 1] + hand.get("buy", 0)
        money += hand.get("top", {}).get(payer if winner == hand["dealer"] else winner, 0)
    return int(money * {"soft": 1, "hard": 2, "double": 4}[win["hardness"]])


def fan(win: dict[str, Any]) -> int:
    """R35: fan of a winner, before 连庄番 and 封顶."""
    table = {"menqing": 1, "zimo": 1, "pengpenghu": 2, "hunyise": 2, "qingyise": 4, "sanjindao": 5, "qiangjin": 5}
    table |= {"jinlong": 8, "tianhu": 10, "dihu": 10, "sanjindao_late": 5, "pinghu": 0}
    counted = [win["way"], *(name for name in win.get("fan", []) if name != "gangshangkaihua")]
    total = sum(table[name] for name in counted)
    if not set(counted) - {"pinghu", "menqing", "zimo"}:
        total += 1
    return total * 2 if "gangshangkaihua" in win.get("fan", []) else total


def bonus_each(rules: str, options: dict[str, Any], way: str) -> int:
    """R34."""
    if rules not in CLASSIC or options.get("bonus") is False:
        return 0
    return {"youjin": 50, "sanjindao": 50, "shuangyou": 100, "sanyou": 150}.get(way, 0)


def settle(rules: str, options: dict[str, Any], hand: dict[str, Any]) -> dict[str, Any]:
    """The answer to a `settle` question; `chips` by seat and `no_flowers`, `followed` may stand in the hand too."""
    if "foul" in hand:
        return _foul(rules, options, hand)
    chips = hand.get("chips")
    water = {seat: hand.get("water", {}).get(seat, 0) for seat in SEATS}
    wins = hand.get("winners") or ([hand] if hand.get("winner") else [])
    wins = [{"fan": [], **win, "seat": win.get("seat", win.get("winner"))} for win in wins]
    sweeps = chips is not None and rules in CLASSIC and any(win["way"] == "sanyou" for win in wins)
    debts, bonus = _followed(rules, options, hand), dict.fromkeys(SEATS, 0)
    for win in wins:
        seat = win["seat"]
        discarder_pays = options.get("payers") == "discarder" or (
            "payers" not in options and rules in ("basic-136", "zhangzhou")
        )
        alone = discarder_pays and hand.get("from") and win["way"] != "qianggang"
        for payer in hand["from"] if alone else SEATS.replace(seat, ""):
            amount = one_pays(rules, options, hand, win, payer, water[seat])
            if sweeps and not hand.get("pays_all"):
                amount = max(amount, (chips or {})[payer])
            debts.append((hand.get("pays_all") or payer, seat, amount))
            _move(bonus, hand.get("pays_all") or payer, seat, bonus_each(rules, options, win["way"]))
    winners = [win["seat"] for win in wins]
    settles = options.get("offsets", rules in (*NEW, "bijin-xiamen-144", "quanzhou-common"))
    if wins and settles and rules not in ("basic-136", "quanzhou-seed") and not sweeps:
        own = {seat: 0 if seat in hand.get("covered", []) else water[seat] for seat in SEATS if seat not in winners}
        debts += _pairs(own)
    if wins and rules == "quanzhou-seed":
        debts += _pairs({seat: hand.get("caishen", {}).get(seat, 0) for seat in SEATS})
    paid = debts if chips is None or options.get("debt") else clear(debts, chips)
    net = _sum(paid)
    if chips is not None and len(wins) == 1 and rules in CLASSIC and options.get("bonus") is not False:
        others = SEATS.replace(winners[0], "")
        emptied = all(chips[seat] > 0 and chips[seat] + net[seat] <= 0 for seat in others)
        for payer in others if sweeps or emptied else "":
            _move(bonus, hand.get("pays_all") or payer, winners[0], 100)
    return {"net": net, "bonus": bonus, "next": _next(rules, options, hand, winners)}


def clear(debts: list[tuple[str, str, int]], chips: dict[str, int]) -> list[tuple[str, str, int]]:
    """R41: the most that can be paid when everybody pays his debts in their order from what he holds and gets."""
    paid = [amount for _, _, amount in debts]
    while True:
        got = dict.fromkeys(SEATS, 0)
        for (_, receiver, _), amount in zip(debts, paid, strict=True):
            got[receiver] += amount
        purse = {seat: max(chips[seat], 0) + got[seat] for seat in SEATS}
        following = []
        for payer, _, amount in debts:
            following.append(min(amount, purse[payer]))
            purse[payer] -= following[-1]
        if following == paid:
            return [(payer, receiver, amount) for (payer, receiver, _), amount in zip(debts, paid, strict=True)]
        paid = following


def _foul(rules: str, options: dict[str, Any], hand: dict[str, Any]) -> dict[str, Any]:
    foul, chips = hand["foul"], hand.get("chips")
    seat, debts, bonus = foul["seat"], [], dict.fromkeys(SEATS, 0)
    for other in SEATS.replace(seat, ""):
        if rules in CLASSIC:
            _move(bonus, seat, other, 50)
        elif rules == "bijin-xiamen-144":
            debts.append((seat, other, 10))
        else:
            debts.append(
                (seat, other, one_pays(rules, options, hand, {"seat": other, "way": FAKES[foul["kind"]]}, seat, 0))
            )
    for one in foul.get("ready", []) if rules in CLASSIC else []:
        lucky = {"seat": one["seat"], "way": "youjin"}
        others = SEATS.replace(one["seat"], "")
        would = [(other, one["seat"], one_pays(rules, options, hand, lucky, other, one["water"])) for other in others]
        each = bonus_each(rules, options, "youjin")
        if chips is not None:
            would = would if options.get("debt") else clear(would, chips)
            if each and all(chips[payer] > 0 and chips[payer] <= amount for payer, _, amount in would):
                each += 100
        debts += [(seat, receiver, amount) for _, receiver, amount in would]
        _move(bonus, seat, one["seat"], 3 * each)
    net = _sum(debts if chips is None or options.get("debt") else clear(debts, chips))
    steps = _steps(rules, hand) if _grows(rules, options) else 0
    return {"net": net, "bonus": bonus, "next": {"dealer": hand["dealer"], "base_steps": steps}}


def _followed(rules: str, options: dict[str, Any], hand: dict[str, Any]) -> list[tuple[str, str, int]]:
    """R40."""
    if not options.get("dealer_followed", rules == "xiamen-offline"):
        return []
    each = bool(hand.get("no_flowers")) + 2 ** hand.get("followed", 0) - 1
    return [(hand["dealer"], other, each) for other in SEATS.replace(hand["dealer"], "")]


def _pairs(held: dict[str, int]) -> list[tuple[str, str, int]]:
    """R36, R37: each pair settles the difference of what they hold."""
    return [(poor, rich, held[rich] - held[poor]) for rich in held for poor in held if held[rich] > held[poor]]


def _next(rules: str, options: dict[str, Any], hand: dict[str, Any], winners: list[str]) -> dict[str, Any]:
    """R3, R18."""
    dealer = hand["dealer"]
    after = SEATS[(SEATS.index(dealer) + 1) % 4]
    if rules == "zhangzhou":
        return {"dealer": after, "base_steps": 0}
    if winners and rules == "bijin-xiamen-144":
        following = winners[0]
    elif winners:
        following = dealer if dealer in winners else after
    else:
        following = hand["last_drawer"] if rules == "bijin-xiamen-144" else dealer
    grown = _steps(rules, hand) + 1 if _grows(rules, options) and following == dealer else 0
    return {"dealer": following, "base_steps": grown}


def _steps(rules: str, hand: dict[str, Any]) -> int:
    return int(hand.get("dealer_turn", 1) - 1 if rules == "quanzhou-seed" else hand.get("base_steps", 0))


def _grows(rules: str, options: dict[str, Any]) -> bool:
    return rules in (*WITH_BASE, "quanzhou-seed") or bool(options.get("streak_fan"))


def _move(account: dict[str, int], payer: str, receiver: str, amount: int) -> None:
    account[payer] -= amount
    account[receiver] += amount


def _sum(paid: list[tuple[str, str, int]]) -> dict[str, int]:
    net = dict.fromkeys(SEATS, 0)
    for payer, receiver, amount in paid:
        _move(net, payer, receiver, amount)
    return net


# What the tiles count.


def read_as(rules: str, options: dict[str, Any], gold: str | None, face: str) -> str:
    """R12: 白 is a tile of the gold's face, but in 003 and as commonly played in Quanzhou."""
    plain = options.get("white_mode", "off" if rules in ("basic-136", "quanzhou-common") else "always") == "off"
    stands = face == "5z" and gold is not None and not plain
    return gold if stands and gold is not None else face


def water(
    rules: str, options: dict[str, Any], gold: str | None, seat: dict[str, Any], win: dict[str, Any] | None
) -> int:
    """R22, R30, R32, R33: 水 of one seat, `{"concealed", "melds", "flowers"}`; its win tells `way`, `tile`, `from`."""
    if rules in ("basic-136", "quanzhou-seed"):
        return 0
    with_base = rules in WITH_BASE
    total = sum(1 for face in seat["concealed"] if face == gold)
    for whole in ("1234", "5678"):
        count = sum(number + "f" in seat["flowers"] for number in whole)
        if rules == "bijin-xiamen-144":
            total += [0, 0, 1, 2, 8][count]
        else:
            total += count if count < 4 else (8 if with_base else options.get("flower_set", 4))
    for kind, faces in seat["melds"]:
        dear = with_base and _dear(rules, options, gold, faces[0])
        if kind == "pong":
            total += dear
        elif kind in ("kong_open", "kong_added"):
            total += (3 if dear else 2) if with_base else 1
        elif kind == "kong_concealed":
            total += (4 if dear else 3) if with_base else 2
    copies = Counter(face for face in seat["concealed"] if face != gold)
    for face, count in copies.items():
        dear = _dear(rules, options, gold, face)
        completed = win is not None and win.get("from") is not None and win.get("tile") == face and count == 3
        if with_base and count >= 3:
            total += dear if completed else 1 + dear
    return int(total) + _last_tile(rules, options, gold, seat, win, copies)


def _dear(rules: str, options: dict[str, Any], gold: str | None, face: str) -> bool:
    """Whether a set of the face counts as one of honours; a 白 that stands for a suited gold by option."""
    return read_as(rules, options, gold, face)[1] == "z" or (face == "5z" and options.get("white_value") == "honour")


def _last_tile(
    rules: str,
    options: dict[str, Any],
    gold: str | None,
    seat: dict[str, Any],
    win: dict[str, Any] | None,
    copies: Counter[str],
) -> int:
    """R22 (004): 碰牌捏杠算一分; the fourth of a concealed triplet makes it a 暗杠."""
    if (
        not options.get("tour_last_tile", rules in NEW)
        or win is None
        or win["way"] not in ("youjin", "shuangyou", "sanyou")
    ):
        return 0
    tile = win.get("tile")
    if tile is None or tile[1] == "f" or tile == gold:
        return 0
    own = read_as(rules, options, gold, tile)
    if any(kind == "pong" and read_as(rules, options, gold, faces[0]) == own for kind, faces in seat["melds"]):
        return 1
    return 2 if copies[tile] >= 4 else 0


def hardness(options: dict[str, Any], gold: str | None, concealed: list[str], way: str) -> str:
    """R36."""
    golds = concealed.count(gold) if gold else 0
    natural = [read_as("quanzhou-seed", options, gold, face) for face in concealed if face != gold]
    whole = bool(readings(tuple(sorted(natural)), golds, False))
    if way == "tianhu" or (golds >= 3 and whole):
        return "double"
    if way != "pinghu" or not 0 < golds < 3:
        return "hard"
    home = readings(tuple(sorted(natural + [gold or ""] * golds)), 0, False)
    return "hard" if home else "soft"


def fan_names(
    options: dict[str, Any], gold: str | None, concealed: list[str], melds: list[Any], way: str, after_kong: bool
) -> list[str]:
    """R35: the patterns beside the way, in the reading that pays most (003: two golds or two naturals in the pair)."""
    strict = options.get("gold_in_pair", "both_or_none") == "both_or_none"
    golds = concealed.count(gold) if gold else 0
    found = [] if any(kind != "kong_concealed" for kind, _ in melds) else ["menqing"]
    found += ["zimo"] * (way == "sanjindao_late") + ["jinlong"] * (golds >= 4)
    found += ["sanjindao"] * (golds >= 3 and not way.startswith("sanjindao"))
    natural = tuple(sorted(face for face in concealed if face != gold))
    laid = {face[1] for _, faces in melds for face in faces}
    best: set[str] = set()
    found_readings = readings(natural, golds, strict)
    if options.get("seven_pairs") and len(concealed) == 14:
        found_readings |= _as_pairs(natural, golds, strict)
    for triplets, suits, free in found_readings:
        names = {"pengpenghu"} if triplets and all(kind != "chi" for kind, _ in melds) else set()
        seen = suits | laid
        if len(seen - {"z"}) == 1:
            names |= {"hunyise"} if "z" in seen else {"qingyise"}
        elif seen == {"z"} and free:
            names |= {"hunyise"}
        worth = {"pengpenghu": 2, "hunyise": 2, "qingyise": 4}
        best = max(best, names, key=lambda some: sum(worth[name] for name in some))
    return found + sorted(best) + ["gangshangkaihua"] * after_kong


def _as_pairs(natural: tuple[str, ...], golds: int, strict: bool) -> frozenset[Any]:
    """R20: the reading as seven pairs, if it is one: each single wants a gold, and two golds over are a pair alone."""
    singles = sum(count % 2 for count in Counter(natural).values())
    if singles > (0 if strict else golds):
        return frozenset()
    return frozenset({(False, frozenset(face[1] for face in natural), golds - singles > 0)})


@cache
def readings(natural: tuple[str, ...], golds: int, strict: bool, paired: bool = False) -> frozenset[Any]:
    """Every way to read tiles and golds as sets and one pair: (triplets alone, suits of the naturals, golds alone)."""
    if (len(natural) + golds) % 3 != (0 if paired else 2):
        return frozenset()
    if not natural:
        alone = golds > 0
        return frozenset({(True, frozenset(), alone)})
    first, found = natural[0], set()
    groups = [((first,) * held, 3 - held) for held in (3, 2, 1)]
    if first[1] != "z":
        number = int(first[0])
        for low in range(max(1, number - 2), min(7, number) + 1):
            run = [f"{n}{first[1]}" for n in range(low, low + 3) if n >= number]
            rest = [face for face in run if face != first]
            choices = [()] + [(face,) for face in rest] + ([tuple(rest)] if len(rest) == 2 else [])
            groups += [((first, *choice), 2 - len(choice)) for choice in choices]
    if not paired:
        groups += [((first, first), 0)] + ([] if strict else [((first,), 1)])
    for index, (taken, wild) in enumerate(groups):
        left = list(natural)
        if wild > golds or any(taken.count(face) > left.count(face) for face in taken):
            continue
        for face in taken:
            left.remove(face)
        pair = len(taken) + wild == 2
        alike = pair or index < 3
        for triplets, suits, alone in readings(tuple(left), golds - wild, strict, paired or pair):
            found.add((triplets and alike, suits | {first[1]}, alone))
    return frozenset(found)
