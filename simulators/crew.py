"""The people at a table together: their settings checked, all of them run."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from engine.tiles import SEATS
from protocol.mqtt.topics import TopicError, table_id
from simulators.assumptions import default_assumptions
from simulators.channel import ChannelError, split_address
from simulators.mistakes import MistakeError, parse_mistakes
from simulators.pace import PaceError, parse_speed
from simulators.people import Player, Seating
from simulators.scenario.manners import Manners
from simulators.tasks import cancel_all, without_client_noise


class CrewError(ValueError):
    """Settings with which nobody can sit down; the message says which and what was expected."""


@dataclass(frozen=True, slots=True)
class CrewConfig:
    """Who sits where."""

    seatings: tuple[Seating, ...]

    @classmethod
    def checked(
        cls,
        world: str,
        broker: str,
        credentials: Path,
        table: str,
        seats: str,
        seed: int,
        speed: str,
        patience: float | None = None,
        mistakes: str = "",
        matches: int = 0,
        manners: Manners | None = None,
    ) -> CrewConfig:
        """The configuration of the command line's words; CrewError names the first wrong one.

        `patience`: seconds until somebody else presses what everybody may press; None: as assumed, at this speed.
        `mistakes`: `NAME=RATE,…`, as `simulators.mistakes` has them. `matches`: begun at most, 0 for no limit.
        `manners`: what a scenario lets them do wrong.
        """
        if not seats or len(set(seats)) != len(seats) or not set(seats) <= set(SEATS):
            raise CrewError(f"seats {seats!r}: expected some of E, S, W, N, each once, such as ESWN")
        try:
            table_id(table)
            parse_speed(speed)
            split_address(world)
            host, port, path = split_address(broker)
            rates = parse_mistakes(mistakes)
        except (TopicError, PaceError, ChannelError, MistakeError) as error:
            raise CrewError(str(error)) from None
        passwords = _read_credentials(credentials)
        seatings = []
        for seat in seats:
            user = f"{table}-{seat}"
            if user not in passwords:
                raise CrewError(f"credentials {credentials}: no user {user}")
            unix = None if path is None else Path(path)
            seatings.append(
                Seating(
                    seat, table, host, port, unix, user, passwords[user], world, seed, speed, patience, rates, matches,
                    manners or Manners(),
                )
            )
        return cls(tuple(seatings))


async def run_crew(config: CrewConfig, stopped: asyncio.Event) -> dict[str, int]:
    """All people sit and play until `stopped` is set; what they did, in counts."""
    people = default_assumptions().people
    players = [Player(seating, people) for seating in config.seatings]
    tasks = [asyncio.create_task(player.run(), name=f"seat {player.seating.seat}") for player in players]
    ended = asyncio.create_task(stopped.wait())
    try:
        done, _ = await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        asyncio.get_running_loop().set_exception_handler(without_client_noise)
        await cancel_all([ended, *tasks])
    total: Counter[str] = Counter()
    for player in players:
        total.update(player.counts)
    return dict(sorted(total.items()))


def _read_credentials(path: Path) -> dict[str, str]:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CrewError(f"credentials {path}: {error.strerror}") from None
    except ValueError as error:
        raise CrewError(f"credentials {path}: no JSON: {error}") from None
    if not isinstance(body, dict) or not all(isinstance(value, str) for value in body.values()):
        raise CrewError(f"credentials {path}: expected an object of user → password")
    return body
