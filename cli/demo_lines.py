"""What each public event of a table says to a reader, in one line; nothing for what happens all the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

SEATS = {"E": "东 E", "S": "南 S", "W": "西 W", "N": "北 N", "": "anyone"}
PURPOSES = {
    "seat": "for a seat (摇位)",
    "swap": "for a swap of seats (换位)",
    "dealer": "for the dealer (定庄)",
    "deal": "for the deal",
    "door": "for the door (开门)",
    "gold": "for the gold (开金)",
}
WAYS = {
    "pinghu": "平胡",
    "zimo": "自摸",
    "qianggang": "抢杠",
    "youjin": "游金",
    "shuangyou": "双游",
    "sanyou": "三游",
    "tianhu": "天胡",
    "dihu": "地胡",
    "sanjindao": "三金倒",
    "sanjindao_late": "三金倒",
    "qiangjin": "抢金",
    "qiangshuangyou": "抢双游",
    "shuanghuagang": "双花杠",
    "sanhuayou": "三花游",
}
MELDS = {
    "chi": "吃",
    "pong": "碰",
    "kong_open": "明杠",
    "kong_added": "补杠",
    "kong_concealed": "暗杠",
}
TOURS = {1: "明游", 2: "双游", 3: "三游"}
OVER = {
    "empty": "somebody's chips are empty",
    "hands": "all hands agreed on are played",
    "time": "the time is up",
    "agreed": "the players stop",
}


def told(name: str, params: Mapping[str, Any]) -> str | None:
    """The line of an event; None where there is nothing to say."""
    teller = _LINES.get(name)
    return None if teller is None else teller(params)


def discards_line(discards: list[tuple[str, str]]) -> str:
    """Some discards, oldest first: a tile that lies face down is 暗."""
    return "discards: " + "  ".join(f"{SEATS[seat]} {tile or '暗'}" for seat, tile in discards)


def _seat(params: Mapping[str, Any], key: str = "seat") -> str:
    return SEATS.get(str(params.get(key) or ""), "?")


def _rolled(params: Mapping[str, Any]) -> str:
    first, second = params.get("dice") or (0, 0)
    how = {"read": "read by the table"}.get(str(params.get("how")), f"{params.get('how')} at the displays")
    return f"{_seat(params, 'by')} throws {first}+{second} {PURPOSES.get(str(params.get('purpose')), '')} ({how})"


def _bid(params: Mapping[str, Any]) -> str:
    kind = {"buy": "买底", "top": "顶底"}.get(str(params.get("kind")), "bid")
    return f"{_seat(params)}: {kind} {params['points']}" if params.get("points") else f"{_seat(params)}: no {kind}"


def _taken(params: Mapping[str, Any]) -> str:
    return f"{_seat(params)} takes {_places(params)}"


def _places(params: Mapping[str, Any]) -> str:
    positions = [str(position) for position in params.get("positions") or ()]
    return " ".join(positions) if len(positions) <= 4 else f"{' '.join(positions[:2])} … {positions[-1]}"


def _replaced(params: Mapping[str, Any]) -> str:
    flowers = " ".join(params.get("flowers") or ())
    return (
        f"round {params.get('round')} of 补花: {_seat(params)} lays out {flowers}, takes {_places(params)} at the tail"
    )


def _gold(params: Mapping[str, Any]) -> str:
    white = f", 白 stands for {params['white']}" if params.get("white") else ""
    return f"开金 at {params.get('position')}: {params.get('tile')} is flipped, the gold is {params.get('face')}{white}"


def _passed(params: Mapping[str, Any]) -> str:
    why = (
        "the third of its kind running: opened again"
        if params.get("why") == "third_same"
        else "a flower: on to the next"
    )
    return f"{params.get('position')} is flipped: {params.get('tile')}, {why}"


def _ended(params: Mapping[str, Any]) -> str:
    head = f"hand {params.get('hand')} is over, dealer {_seat(params, 'dealer')}"
    if params.get("winner"):
        return f"{head}: {_seat(params, 'winner')} wins with {_way(params)}"
    return f"{head}: nobody wins"


def _way(params: Mapping[str, Any]) -> str:
    way = str(params.get("way"))
    return WAYS.get(way, way)


def _melded(params: Mapping[str, Any]) -> str:
    kind = str(params.get("kind"))
    source = f" of {_seat(params, 'source')}" if params.get("source") else ""
    return " ".join(f"{_seat(params)} {MELDS.get(kind, kind)} {params.get('tiles') or ''}".split()) + source


def _won(params: Mapping[str, Any]) -> str:
    tile = f" with {params['tile']}" if params.get("tile") else ""
    source = f" of {_seat(params, 'source')}" if params.get("source") else ""
    return f"{_seat(params)} 胡: {_way(params)}{tile}{source}"


def _booked(params: Mapping[str, Any]) -> str:
    """The settlement; the winner stands in the line that the hand is over, several or none stand here."""
    net = "  ".join(f"{SEATS[seat]} {amount:+d}" for seat, amount in dict(params.get("net") or {}).items())
    bonus = dict(params.get("bonus") or {})
    more = "  课外 " + "  ".join(f"{seat} {amount:+d}" for seat, amount in bonus.items() if amount)
    ended = {"draw": "流局", "foul": f"诈胡 of {_seat(params, 'foul')}"}.get(str(params.get("kind")), "")
    wins = list(params.get("wins") or ())
    if len(wins) > 1:
        ended = ", ".join(f"{_seat(win)} {_way(win)}" for win in wins)
    head = f"settled{f' ({ended})' if ended else ''}: {net}{more if any(bonus.values()) else ''}"
    return f"{head}; next dealer {_seat(params, 'next_dealer')}"


def _decided(params: Mapping[str, Any]) -> str | None:
    """Which version was voted for; that everybody agreed is said by the settlement."""
    if params.get("how") in ("agreed", "silence"):
        return None
    return f"decided by {params.get('how')}: version {params.get('choice')}"


def _seats(params: Mapping[str, Any]) -> str:
    seats = dict(params.get("seats") or {})
    return "  ".join(f"{SEATS[seat]} player {player}" for seat, player in seats.items())


def _swapped(params: Mapping[str, Any]) -> str:
    if params.get("player") == params.get("other"):
        return f"换位: player {params.get('player')} throws and stays"
    return f"换位: players {params.get('player')} and {params.get('other')} change seats: {_seats(params)}"


def _over(params: Mapping[str, Any]) -> str:
    return f"the match is over: {OVER.get(str(params.get('why')), params.get('why'))}"


def _miscounted(params: Mapping[str, Any]) -> str:
    sides = ", ".join(f"{one['side']} {one['counted']} of {one['expected']}" for one in params.get("sides") or ())
    return f"set {params.get('set')} is not complete ({sides}): look on the felt and under the rims"


_LINES: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "match_started": lambda p: f"a match begins: {p.get('rules')}, {p.get('layout')}, sensing {p.get('sensing')}",
    "sort_begun": lambda p: f"set {p.get('set')} is being sorted and stacked",
    "sorted": lambda p: f"set {p.get('set')} stands sorted",
    "miscounted": _miscounted,
    "centre_up": lambda p: "the centre is up: tiles are pushed in",
    "centre_down": lambda p: "the centre is closed",
    "walls_up": lambda p: f"the walls of set {p.get('set')} rise",
    "rows_laid": lambda p: "八卦: stacks pushed forward, rows laid",
    "bid": _bid,
    "rolled": _rolled,
    "roll_spoilt": lambda p: f"a throw that does not count ({p.get('reason')}): thrown again",
    "dice_disputed": lambda p: f"{_seat(p, 'by')} objects to the dice",
    "dice_lost": lambda p: "the power went in a throw: who saw the dice?",
    "dealer": lambda p: f"{_seat(p)} is dealer (庄)",
    "taken": _taken,
    "all_taken": lambda p: "everything has been taken",
    "taking_resumed": lambda p: f"{_seat(p, 'by')}: not everything has been taken yet",
    "flower": lambda p: f"补花: {_seat(p)} lays out {p.get('tile')}",
    "flowers_replaced": _replaced,
    "flowers_done": lambda p: "nobody holds a flower any more",
    "gold_counted": lambda p: f"counted along the tail to {(p.get('path') or ['?'])[-1]}",
    "gold_passed": _passed,
    "gold": _gold,
    "seats": lambda p: f"seats: {_seats(p)}",
    "swapped": _swapped,
    "opening": lambda p: "play begins",
    "melded": _melded,
    "kong": _melded,
    "kong_shown": lambda p: f"{_seat(p)} shows 补杠 {p.get('tile')}: it may be robbed",
    "tour": lambda p: f"{_seat(p)} is on tour: {TOURS.get(int(p.get('level') or 0), '游')}",
    "put_away": lambda p: f"{_seat(p)} puts away what it drew",
    "covered": lambda p: f"{_seat(p)} is out of the hand, 盖牌 ({p.get('reason')})",
    "followed": lambda p: f"跟庄: the dealer pays each {p.get('points')}",
    "no_flowers": lambda p: f"nobody has a flower: the dealer pays each {p.get('points')}",
    "won": _won,
    "fouled": lambda p: f"{_seat(p)} lays open a hand that has not won: 诈胡 ({p.get('kind')})",
    "flower_withdrawn": lambda p: f"{_seat(p)} takes back {p.get('tile')}",
    "kong_withdrawn": lambda p: f"{_seat(p)} takes back a {MELDS.get(str(p.get('kind')), 'kong')}",
    "objection": lambda p: f"{_seat(p)} objects to the settlement",
    "objection_withdrawn": lambda p: "the objection is withdrawn",
    "vote": lambda p: "two versions: the seats vote",
    "decided": _decided,
    "booked": _booked,
    "undo_asked": lambda p: f"{_seat(p)} wants the booking taken back",
    "booking_voided": lambda p: f"the booking of hand {p.get('number')} is taken back",
    "rebooked": lambda p: "the hand is booked anew",
    "hand_ended": _ended,
    "match_over": _over,
    "paused": lambda p: "the floor pauses the match" if p.get("on") else "the match goes on",
    "parking": lambda p: f"the table is to be turned off ({p.get('reason')})",
    "parked": lambda p: "the table is parked; the match is kept",
    "unparked": lambda p: "the table goes on",
    "operation_failed": lambda p: (
        f"the machine fails: {p.get('verb')}, {p.get('fault')} {p.get('side') or ''}".rstrip()
    ),
    "operation_retried": lambda p: "tried again",
    "stopped": lambda p: f"EMERGENCY STOP: {p.get('reason')}",
    "released": lambda p: "the emergency stop is cleared",
    "unasked_throw": lambda p: "a throw that nobody asked for; it does not count",
}
