"""Which parts of journaled events are secret while their hand is in play: concealed tiles, walls, claims.

An event type that is not listed is withheld whole: a new one must be judged before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from controller.journal import StoredEvent

SECRET_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "WallRead": frozenset({"tiles"}),
    "HandSeen": frozenset({"tiles"}),
    "TakeDone": frozenset({"tiles"}),
    "HandAccepted": frozenset({"tiles"}),
    "FlowersReplaced": frozenset({"tiles"}),
    "SeatPlayed": frozenset({"seat", "name", "tile", "tiles", "way", "kind", "reason"}),
    "Played": frozenset({"event"}),
    "BookSaid": frozenset({"event"}),
    "ZoneAccepted": frozenset({"seat", "zone", "tiles"}),
    "WallCorrected": frozenset({"seat", "tiles"}),
    "CountDoubted": frozenset({"seat", "zone"}),
    "CountRight": frozenset({"seat", "zone"}),
    "DiscardRefused": frozenset({"seat", "tile", "code", "rule"}),
}
"""Event type → fields that nobody may read before the hand is over."""

PUBLIC_EVENTS: Final = frozenset(
    {
        "MatchStarted", "MatchEnding", "MatchEnded", "PhaseEntered", "SortBegun", "SetSorted", "SetMiscounted",
        "LiftPressed", "CentreRaised", "TilesPushed", "CentreLowered", "WallsRaised", "RowsLaid", "RollWanted",
        "RollBegun", "RollSpoilt", "DiceLie", "DiceEntered", "DiceAgreed", "DiceObjected", "DiceLost", "DiceWitnessed",
        "DiceRolled", "DealerChosen", "TakeShown", "TakingDone", "FlowerDeclared", "FlowerWithdrawn", "TailShifted",
        "FlowerTurn", "FlowersDone", "GoldCounted", "GoldEntered", "GoldObjected", "GoldPassed", "NextFlipped",
        "GoldOpened", "HandEnded", "OperationBroken", "OperationRetried", "UnaskedThrow", "FaultNoted", "FaultGone",
        "Stopped", "ReleaseWanted", "Released", "WallRejected", "GoldAgreed", "SessionSaid", "PlayBegun",
        "WindowTimeUp", "UndoAsked", "UndoKept", "HandReopened", "HandRebooked", "SeatsTaken", "SwapAsked",
        "HandDropped", "MinutePassed", "PauseWanted", "ParkWanted", "Parked", "Unparked", "EndAsked", "EndKept",
        "ServiceBegun", "ServiceDone", "ServiceEnded", "Audited",
        "CountTold", "CountRuled", "EndDoubted", "CallOffAsked", "CallOffKept",
        "GroupPresented", "BidsAsked", "BidSaid", "OperationVouched", "OperationStands", "ThrowBroken", "MechanismSlow",
        "TakingResumed", "EveningEnded",
    }
)  # fmt: skip
"""Event types that hold nothing but what lies open at the table."""

WITHHELD: Final = "withheld"


def finished_hands(events: Iterable[StoredEvent]) -> frozenset[int]:
    """The hands that are over: their tiles may be told."""
    return frozenset(event.hand for event in events if event.type == "HandEnded")


def redacted(event: StoredEvent, finished: frozenset[int]) -> dict[str, Any]:
    """The event's body as it may be shown."""
    if event.hand in finished or event.type in PUBLIC_EVENTS:
        return event.body
    secret = SECRET_FIELDS.get(event.type)
    return {key: WITHHELD if secret is None or key in secret else value for key, value in event.body.items()}
