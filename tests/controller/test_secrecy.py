"""The security boundary: nothing that is public, and no seat's view, holds or follows from what its eyes cannot see."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from controller.clock import Stamp, SystemClock
from controller.core import _answers_in_secret
from controller.live import Live, TableFacts
from controller.publisher import Publisher, Step
from controller.views import lamps, public_events, public_view, seat_view
from engine import events as e
from engine import inputs as i
from engine.opening import next_to_flip
from engine.play import events as p
from engine.play.state import PlayState, Tour, place_of_next
from engine.readings import coming_draw, hand_is
from engine.state import State, flower_turn_seat
from engine.table import apply, decide, fold, wants
from engine.tiles import ALL_FACES, FLOWERS, SEATS, is_flower, play_order
from tests.engine.walker import Walker

LIVE = Live(TableFacts("new-xiamen-120", "zhitui", "full", "read", "guide", 2, 0))


def steps(walker: Walker) -> list[tuple[State, tuple[e.Event, ...], State]]:
    """Every input of a finished match: the state before, what it caused, the state after."""
    seen: list[tuple[State, tuple[e.Event, ...], State]] = []
    walker.watch = lambda before, events, after: seen.append((before, events, after))
    walker.run()
    return seen


def told(before: State, events: tuple[e.Event, ...]) -> list[tuple[str, str, dict[str, Any]]]:
    """What the public stream says of events."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    for event in events:
        after = apply(before, event)
        found += public_events(event, before, after)
        before = after
    return found


def faces_in(value: Any) -> Iterator[str]:
    """Every face that a payload names, runs of tiles such as `123m` taken apart."""
    if isinstance(value, dict):
        for item in value.values():
            yield from faces_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from faces_in(item)
    elif isinstance(value, str):
        numbers = ""
        for character in value:
            if character.isdigit():
                numbers += character
                continue
            yield from (face for number in numbers if (face := number + character) in ALL_FACES)
            numbers = ""


# -- two tables that differ in hidden tiles only -----------------------------------------------------------------------


def other_tiles(state: State, seat: str) -> State | None:
    """The same table but for two tiles: one that `seat` holds, and one that stands deep in the wall."""
    play = state.play
    if play.gold is None or play.gold.stage != "opened" or play.lines is None:
        return None
    if play.game is not None:
        return _other_game(state, play.game, seat)
    standing = next_to_flip(play.lines, frozenset(), play.lines.tail[-20])
    mine, other = play.hands[seat][0], play.wall[standing]
    if mine == other:
        return None
    wall = {place: other if face == mine else mine if face == other else face for place, face in play.wall.items()}
    hands = {**play.hands, seat: (other, *play.hands[seat][1:])}
    seen = {**play.seen, (seat, "hand"): hands[seat]}
    return replace(state, play=replace(play, wall=wall, hands=hands, seen=seen))


def _other_game(state: State, game: PlayState, seat: str) -> State | None:
    hand, wall = game.seats[seat].hand, list(game.deal.wall)
    gold = game.deal.gold
    deep = [place for place in game.left[20:-20] if wall[place] not in (hand[0], gold) and not is_flower(wall[place])]
    if not deep or game.phase == "over" or hand[0] == gold or hand[-1] == hand[0]:
        return None
    mine, other = hand[0], wall[deep[0]]
    wall[deep[0]] = mine
    seats = {**game.seats, seat: game.seats[seat].but(hand=(other, *hand[1:]))}
    seen = dict(state.play.seen)
    if (seat, "hand") in seen:
        shown = list(seen[(seat, "hand")])
        if mine not in shown:
            return None
        shown[shown.index(mine)] = other
        seen[(seat, "hand")] = tuple(shown)
    changed = game.but(seats=seats, deal=replace(game.deal, wall=tuple(wall)))
    faces = {**state.play.wall, state.play.places[deep[0]]: mine}
    return replace(state, play=replace(state.play, game=changed, seen=seen, wall=faces))


@pytest.mark.parametrize("seat", SEATS)
def test_nothing_but_a_seats_own_view_depends_on_its_hidden_tiles(seat: str) -> None:
    walker = Walker("new-xiamen-120", hands=3, seed=11)
    compared: dict[str, int] = {}
    for number, (_, _, state) in enumerate(steps(walker)):
        other = other_tiles(state, seat) if number % 3 == 0 or state.phase != "play" else None
        if other is None:
            continue
        compared[state.phase] = compared.get(state.phase, 0) + 1
        public = public_view(state, LIVE)
        assert public == public_view(other, LIVE)
        assert lamps(state) == lamps(other)
        for watcher in SEATS:
            if watcher != seat:
                assert seat_view(state, watcher, LIVE, public) == seat_view(other, watcher, LIVE, public)
        assert seat_view(state, seat, LIVE, public) != seat_view(other, seat, LIVE, public)
    assert compared["play"] > 30 and compared["opening"] >= 3


def _coming(state: State, face: str) -> State:
    """The same table with another tile where the next draw is made."""
    game = state.play.game
    assert game is not None
    place = place_of_next(game, game.end)
    wall = [face if at == place else tile for at, tile in enumerate(game.deal.wall)]
    changed = game.but(deal=replace(game.deal, wall=tuple(wall)))
    faces = {**state.play.wall, state.play.places[place]: face}
    return replace(state, play=replace(state.play, game=changed, wall=faces))


def _draws(state: State) -> tuple[State, list[tuple[str, str, dict[str, Any]]]]:
    """The hand of the seat to draw holds the next tile: the state, and what the stream says of it."""
    game = state.play.game
    assert game is not None
    draw = coming_draw(game)
    assert draw is not None
    events = decide(state, i.ZoneSeen(draw.seat, "hand", (*game.seats[draw.seat].hand, draw.tile)))
    return fold(events, state), told(state, events)


def test_a_flower_that_is_drawn_looks_like_any_tile_until_it_is_laid_out() -> None:
    """R7: state, stream and everybody else's view; then the flower is told, and one tile more is drawn at the tail."""
    compared = 0
    for _, _, state in steps(Walker("new-xiamen-120", hands=2, seed=5)):
        game = state.play.game
        draw = coming_draw(game) if game is not None else None
        if game is None or draw is None or compared >= 40 or not hand_is(state, draw.seat, game.seats[draw.seat].hand):
            continue
        laid = {face for own in game.seats.values() for face in own.flowers}
        flower = next((face for face in FLOWERS if face not in laid), None)
        plain = next(face for face in ("9s", "8s", "7s") if face != game.deal.gold)
        if flower is None:
            continue
        (first, said), (second, said_too) = _draws(_coming(state, flower)), _draws(_coming(state, plain))
        assert public_view(first, LIVE) == public_view(second, LIVE)
        assert said == said_too and [name for _, name, _ in said] == ["drawn"]
        assert public_view(first, LIVE)["counts"][draw.seat] == len(game.seats[draw.seat].hand) + 1
        for watcher in set(SEATS) - {draw.seat}:
            assert seat_view(first, watcher, LIVE) == seat_view(second, watcher, LIVE)
        own = seat_view(first, draw.seat, LIVE)["me"]
        assert own["tiles"].endswith(flower)
        after, story, held = first, [], game.seats[draw.seat]
        for zone, tiles in (("flowers", (*held.flowers, flower)), ("hand", held.hand)):
            events = decide(after, i.ZoneSeen(draw.seat, zone, tiles))
            story += told(after, events)
            after = fold(events, after)
        assert ("flower", draw.seat, flower) in [(name, data.get("seat"), data.get("tile")) for _, name, data in story]
        assert not [name for _, name, _ in story if name == "drawn"]
        assert flower in public_view(after, LIVE)["flowers"][draw.seat]
        compared += 1
    assert compared >= 20


def _flower_comes(state: State) -> Iterator[State]:
    """The table about to draw a flower, then a plain tile: in turn and, where nobody is in a tour, in laps of one."""
    game = state.play.game
    draw = coming_draw(game) if game is not None else None
    if game is None or draw is None or not hand_is(state, draw.seat, game.seats[draw.seat].hand):
        return
    laid = {face for own in game.seats.values() for face in own.flowers}
    flower = next((face for face in FLOWERS if face not in laid), None)
    if flower is None or len(game.left) < 30:
        return
    wall = list(game.deal.wall)
    tail = [place for place in game.deal.tail if place in game.left]
    coming = tail if game.end == "tail" else [game.left[0], *tail]
    plain = [face for face in ("9s", "8s", "7s") if face != game.deal.gold]
    wall[coming[0]], wall[coming[1]] = flower, plain[0]
    game = game.but(deal=replace(game.deal, wall=tuple(wall)))
    faces = {**state.play.wall, **{state.play.places[place]: wall[place] for place in coming[:2]}}
    others = tuple(seat for seat in play_order(draw.seat)[1:])
    for tour in (game.tour,) if game.tour else (None, Tour(draw.seat, 2, 1, ()), Tour(others[2], 2, 0, others[:1])):
        yield replace(state, play=replace(state.play, game=game.but(tour=tour), wall=faces))


Story = list[tuple[State, list[tuple[str, str, dict[str, Any]]]]]
"""States, and what the stream says on the way to each."""


def _may_win(state: State, ready: bool, chain: int) -> State:
    """The same table, the seat to draw youjin-ready or not (R22), so many flowers behind it in one chain (R26)."""
    game = state.play.game
    assert game is not None
    seats = {**game.seats, game.turn: game.seats[game.turn].but(ready=ready)}
    return replace(state, play=replace(state.play, game=game.but(seats=seats, chain=chain)))


def _go_on(state: State, early: bool) -> Story:
    """A flower is drawn, laid out and does not win, its replacement is drawn: before that is pressed where `early`."""
    game = state.play.game
    draw = coming_draw(game) if game is not None else None
    assert game is not None and draw is not None
    seat, own = draw.seat, game.seats[draw.seat]
    tail = next(at for at in game.deal.tail if at in game.left and at != place_of_next(game, game.end))
    story = _fed(
        state,
        i.ZoneSeen(seat, "hand", (*own.hand, draw.tile)),
        i.ZoneSeen(seat, "flowers", (*own.flowers, draw.tile)),
        i.ZoneSeen(seat, "hand", own.hand),
    )
    if game.tour is not None and game.tour.owner != seat:
        return story
    drawn = i.ZoneSeen(seat, "hand", (*own.hand, game.deal.wall[tail]))
    return story + (_fed(story[-1][0], drawn, "pass") if early else _fed(story[-1][0], "pass", drawn))


def _fed(state: State, *inputs: i.Input | str) -> Story:
    """Inputs in turn, `pass` where a flower may win and need not (R22); up to where the seat has to win."""
    story: Story = []
    for happened in inputs:
        events: tuple[e.Event, ...] = ()
        if not isinstance(happened, str):
            events = decide(state, happened)
        elif asked := [want for want in wants(state) if want.verb == "flower"]:
            if any(option.get("way") not in ("sanhuayou", None) for option in asked[0].params["options"]):
                break
            events = decide(state, i.SeatAction(asked[0].seat, str(asked[0].id), happened, {}))
        said = told(state, events)
        state = fold(events, state)
        story.append((state, said))
    return story


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(("ready", "chain"), [(True, 0), (False, 2)])
def test_that_a_flower_may_win_is_nobody_elses_to_know(ready: bool, chain: int, early: bool) -> None:
    """R22, R26: a seat that lays a drawn flower looks the same whether or not it may win by it, in turn and in laps."""
    compared: Counter[str] = Counter()
    for _, _, state in steps(Walker("new-xiamen-120", hands=1, seed=5)):
        for table in _flower_comes(state):
            game = table.play.game
            assert game is not None
            seat = game.turn
            kind = "turn" if game.tour is None else "own tour" if game.tour.owner == seat else "lap"
            winning, plain = _go_on(_may_win(table, ready, chain), early), _go_on(_may_win(table, False, 0), early)
            for (first, said), (second, said_too) in zip(winning, plain, strict=False):
                assert first.play.game is not None and second.play.game is not None
                compared[kind] += (first.play.game.phase, second.play.game.phase) == ("flower", "draw")
                assert public_view(first, LIVE) == public_view(second, LIVE)
                assert lamps(first) == lamps(second)
                for watcher in set(SEATS) - {seat}:
                    assert seat_view(first, watcher, LIVE) == seat_view(second, watcher, LIVE)
                assert said == said_too
            stories = [[one for _, said in story for one in said] for story in (winning, plain[: len(winning)])]
            assert stories[0] == stories[1] and [name for _, name, _ in stories[0]][:2] == ["drawn", "flower"]
            compared[f"{kind} told"] += len(winning) == len(plain)
    assert compared["turn"] > 20 and compared["lap told"] > 20
    assert compared["own tour"] > 20 if ready else compared["turn told"] > 20


def test_how_many_flowers_a_seat_is_to_replace_is_its_own_to_know_until_they_lie_there() -> None:
    """R7: whose turn it is everybody sees; the table says no more of the flowers in its hand, nor do its lamps."""
    compared = grown = 0
    for _, _, state in steps(Walker("new-xiamen-120", hands=3, seed=11)):
        seat = flower_turn_seat(state)
        if not seat:
            continue
        hand = state.play.hands[seat]
        plain = next(place for place, face in enumerate(hand) if not is_flower(face))
        more = next(face for face in FLOWERS if face not in (*hand, *state.play.flowers[seat]))
        hands = {**state.play.hands, seat: (*hand[:plain], more, *hand[plain + 1 :])}
        other = replace(state, play=replace(state.play, hands=hands))
        public = public_view(state, LIVE)
        assert public == public_view(other, LIVE) and lamps(state) == lamps(other)
        for watcher in set(SEATS) - {seat}:
            assert seat_view(state, watcher, LIVE) == seat_view(other, watcher, LIVE)
        wanted = [
            next(want for want in seat_view(one, seat, LIVE)["me"]["wants"] if want["verb"] == "flowers")
            for one in (state, other)
        ]
        assert wanted[1]["params"]["count"] == wanted[0]["params"]["count"] + 1
        laid = set(state.play.seen.get((seat, "flowers"), ())) - set(state.play.flowers[seat])
        turn = public["flower_turn"]
        assert turn["count"] == len(laid) and turn["positions"] == public["tail"]["next"][: len(laid)]
        compared += not laid
        grown += bool(laid)
    assert compared > 5 and grown > 2


# -- whole hands -------------------------------------------------------------------------------------------------------


def open_faces(state: State) -> set[str]:
    """What lies open at the table."""
    play = state.play
    found = {face for flowers in play.flowers.values() for face in flowers}
    found |= {passed.tile for passed in play.passed}
    if play.gold is not None:
        # What 白 stands for is the gold's face: told as `white`.
        found |= {play.gold.tile, play.gold.face, play.gold.entered, play.gold.white or ""}
    if play.game is not None:
        for own in play.game.seats.values():
            found |= {*own.flowers, *(tile for meld in own.melds for tile in meld.tiles)}
        found |= {one.tile for one in play.game.discards if one.how != "ming"}
        found |= {win.tile for win in play.game.wins if win.tile}
        found.add(play.game.tile)
    if state.undoable is not None and state.result is not None:
        found |= {tile for held in state.result.held.values() for tile in held.concealed}
        found |= {tile for held in state.result.held.values() for meld in held.melds for tile in meld.tiles}
    if state.result is not None and state.result.booking is not None:
        found |= {win["tile"] for win in state.result.booking.wins if win.get("tile")}
    return found


@pytest.mark.parametrize(
    ("rules", "layout", "seed"),
    [("new-xiamen-120", "zhitui", 1), ("classic-xiamen-144", "bagua", 4), ("quanzhou-seed", "zhitui", 2)],
)
def test_no_public_word_of_whole_hands_names_a_concealed_tile(rules: str, layout: str, seed: int) -> None:
    """Faces in the public view and the stream are those that lie open; a hand's when it is booked, a wall's never."""
    walker = Walker(rules, layout, hands=3, seed=seed)
    names: set[str] = set()
    for before, events, after in steps(walker):
        assert set(faces_in(json.loads(json.dumps(public_view(after, LIVE))))) <= open_faces(after)
        lying = open_faces(before) | open_faces(after)
        state = before
        for event in events:
            following = apply(state, event)
            lying |= open_faces(state)
            for _, name, data in public_events(event, state, following):
                names.add(name)
                assert set(faces_in(json.loads(json.dumps(data)))) <= lying | open_faces(following), name
            state = following
    assert names >= {"drawn", "discarded", "window_closed", "booked", "hand_ended", "opening"}


def test_face_down_discards_and_tiles_put_away_are_counted_and_not_named() -> None:
    """R23: 明游. The owner's discard lies face down; what the others put away lies aside."""
    walker = Walker("xiamen-offline", options={"tour_discard": "ming"}, hands=1, seed=3)
    walker.run(lambda state: state.play.game is not None and len(state.play.game.discards) > 6)
    state, game = walker.state, walker.state.play.game
    assert game is not None
    owner = game.discards[-1].seat
    down = [replace(one, how="ming") if one is game.discards[-1] else one for one in game.discards]
    hidden = game.discards[-1].tile
    seats = {seat: own.but(aside=("9m", "9p") if seat != owner else ()) for seat, own in game.seats.items()}
    changed = game.but(discards=tuple(down), seats=seats, tour=Tour(owner, 1, 0, ()), phase="draw", tile="", source="")
    shown = public_view(replace(state, play=replace(state.play, game=changed)), LIVE)["play"]
    assert shown["discards"][owner][-1] == "" and shown["last"] == {"seat": owner, "tile": ""}
    assert shown["aside"] == {seat: 0 if seat == owner else 2 for seat in SEATS}
    assert shown["tour"] == {"owner": owner, "level": 1}
    event = p.TileDiscarded(owner, hidden, "ming", True, False)
    before = replace(state, play=replace(state.play, game=game))
    (discarded, tour) = public_events(e.Played(event), before, replace(state, play=replace(state.play, game=changed)))
    assert discarded[2]["tile"] == "" and discarded[2]["down"] and hidden not in json.dumps([discarded, tour])
    assert tour[1:] == ("tour", {"hand": 1, "seat": owner, "level": 1})


SECRET = (e.HandSeen, e.WallRead, e.SeatPlayed, e.HandAccepted, e.ZoneAccepted, e.WallCorrected, e.CountDoubted,
          e.CountRight, e.DiscardRefused, e.WindowTimeUp)  # fmt: skip


def test_the_public_stream_tells_no_answer_and_no_reading() -> None:
    """What a reader shows is told as the draw or the flower that it is; an answer in a window not at all."""
    walker = Walker("new-xiamen-120", hands=3, seed=2)
    quiet: set[str] = set()
    for before, events, _ in steps(walker):
        state = before
        for event in events:
            after = apply(state, event)
            said = public_events(event, state, after)
            if isinstance(event, SECRET):
                assert {name for _, name, _ in said} <= {"drawn", "flower"}
                quiet.add(type(event).__name__)
            if isinstance(event, e.Played) and type(event.event).__name__ == "ClaimAnswered":
                assert said == ()
                assert public_view(state, LIVE) == public_view(after, LIVE)
            if isinstance(event, e.TakeDone | e.FlowersReplaced):
                assert "tiles" not in said[0][2]
            state = after
    assert {"HandSeen", "SeatPlayed", "WallRead"} <= quiet


def test_every_draw_is_told_once() -> None:
    """As many as the hand has draws, each of its seat, none with a tile."""
    for sensing_seed in (3, 4):
        walker = Walker("new-xiamen-120", hands=2, seed=sensing_seed)
        drawn = 0
        for before, events, after in steps(walker):
            for _, name, data in told(before, events):
                if name == "drawn":
                    drawn += 1
                    assert set(data) == {"hand", "seat", "end"}
            game = before.play.game
            if game is not None and after.play.game is None:
                assert drawn >= sum(own.draws for own in game.seats.values())
                drawn = 0


class Outlet:
    """What the publisher says, topic by topic."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        self.said.append(topic.rpartition("kaijin/1/hall-7/")[2])

    def publish(self, topic: str, payload: bytes, qos: int = 1) -> None:
        self.said.append(topic)


def test_a_press_in_a_window_is_answered_to_its_seat_alone() -> None:
    """No other seat's view and no public message is said because somebody has answered, or how."""
    outlet = Outlet()
    publisher = Publisher("hall-7", 1, SystemClock(), outlet)
    checked = 0
    for before, events, after in steps(Walker("new-xiamen-120", hands=1, seed=9)):
        game = after.play.game
        pressed = [event for event in events if isinstance(event, e.SeatPlayed)]
        if not pressed or game is None or game.phase != "window" or not game.answers:
            continue
        (one,) = pressed
        encoded = publisher.encode_views(before, replace(LIVE, timers={"1.claim_window-1.1": 2000}))
        publisher.say_seats(encoded)
        publisher.say_state(encoded)
        outlet.said.clear()
        answered = {one.seat: ({"id": "a", "ok": True, "code": "", "rule": "", "params": {}},)}
        later = publisher.encode_views(after, replace(LIVE, timers={"1.claim_window-1.1": 1400}, answers=answered))
        publisher.say_seats(later, "a", first=one.seat)
        assert outlet.said == [f"seat/{one.seat}"] and publisher.state_is_said(later)
        stamp = Stamp(1, 1, "synced")
        state, each = before, []
        for event in events:
            each.append(Step(event, state, apply(state, event)))
            state = each[-1].after
        assert publisher.facts(each, 1, stamp, "a") == []
        checked += 1
    assert checked > 3


def test_nobody_is_told_whose_press_closed_a_window() -> None:
    """The cause of what follows is in no other seat's message and in no public one; in a turn it is told."""
    windows = turns = 0
    for before, events, _ in steps(Walker("new-xiamen-120", hands=1, seed=9)):
        each, state = [], before
        for event in events:
            each.append(Step(event, state, apply(state, event)))
            state = each[-1].after
        if any(isinstance(step.event, e.Played) and isinstance(step.event.event, p.ClaimAnswered) for step in each):
            windows += 1
            assert _answers_in_secret(each)
        elif any(isinstance(step.event, e.SeatPlayed) for step in each):
            turns += 1
            assert not _answers_in_secret(each)
    assert windows > 5 and turns > 5
    said: dict[str, Any] = {}

    class Listening(Outlet):
        def set_retained(self, topic: str, payload: bytes | None) -> None:
            said[topic[-1]] = json.loads(payload or b"{}")["cause"]

    publisher = Publisher("hall-7", 1, SystemClock(), Listening())
    publisher.say_seats(publisher.encode_views(before, LIVE), "press-7", only_changed=False, first="S", others=None)
    assert said == {"E": None, "S": "press-7", "W": None, "N": None}


def test_what_a_seat_enters_in_the_book_is_nobody_elses_until_its_hand_is_shown() -> None:
    """Sensing none: `items` of a loser who has not said that he is done are in no other view and in no event."""
    walker = Walker("classic-xiamen-144", "zhitui", "none", hands=4, seed=6)
    entered = 0
    for before, events, after in steps(walker):
        if after.book is None or after.book.stage != "entry":
            continue
        for event in events:
            if isinstance(event, e.BookSaid) and type(event.event).__name__ == "SeatWritten":
                names = [name for _, name, _ in told(before, events)]
                assert set(names) <= {"flower", "flower_withdrawn", "kong", "kong_withdrawn"}
                entered += 1
        assert "golds" not in json.dumps(public_view(after, LIVE)["book"])
    assert entered > 2
