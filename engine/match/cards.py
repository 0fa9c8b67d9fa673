"""Chips as playing cards (R41): each player begins with one suit."""

from __future__ import annotations

from collections.abc import Mapping

DECKS: Mapping[int, Mapping[str, int]] = {
    200: {"K": 50, "Q": 50, "J": 50, "10": 10, "9": 9, "8": 8, "7": 7, "6": 6, "4": 4, "3": 3, "2": 2, "A": 1},
    300: {
        "5": 100,
        "K": 50,
        "Q": 50,
        "J": 50,
        "10": 10,
        "9": 9,
        "8": 8,
        "7": 7,
        "6": 6,
        "4": 4,
        "3": 3,
        "2": 2,
        "A": 1,
    },
}
"""What a card is worth: A-10 without 5 at their face, J Q K 50; in the larger deck the 5 is 100."""

SUITS = 4


def as_cards(points: int, deck: int) -> tuple[tuple[str, int], ...]:
    """A sum as `(card, how many)`: as many of the dearest as go in, and on; no more of a card than there are suits.

    ValueError for a deck that is none, a sum below nothing or more than all four players have together.
    """
    worth = DECKS.get(deck)
    if worth is None:
        raise ValueError(f"expected a deck of 200 or 300, got {deck}")
    if not 0 <= points <= SUITS * deck:
        raise ValueError(f"expected a sum from 0 to {SUITS * deck}, got {points}")
    found: list[tuple[str, int]] = []
    left = points
    for card, value in worth.items():
        count = min(left // value, SUITS)
        if count:
            found.append((card, count))
            left -= count * value
    return tuple(found)


def worth_of(cards: Mapping[str, int], deck: int) -> int:
    """What cards come to; KeyError for a card that the deck has not."""
    return sum(DECKS[deck][card] * count for card, count in cards.items())
