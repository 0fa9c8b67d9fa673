"""What chips change of a settlement: nobody pays more than he holds, and 杀三 (R34, R41)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.reasons import Reason, Transfer, payment
from engine.tiles import SEATS


def net_of(transfers: Sequence[Transfer], account: str) -> dict[str, int]:
    """What every seat gets and pays in one account; sums to zero."""
    net = dict.fromkeys(SEATS, 0)
    for transfer in transfers:
        if transfer.account == account:
            net[transfer.payer] -= transfer.amount
            net[transfer.receiver] += transfer.amount
    return net


def swept(transfer: Transfer, chips: Mapping[str, int]) -> Transfer:
    """R41: a payment that takes all that its payer holds, where the sum alone would leave him something."""
    more = chips[transfer.payer] - transfer.amount
    if more <= 0:
        return transfer
    return payment(transfer.payer, transfer.receiver, transfer.account, (*transfer.why, Reason("sweep", "add", more)))


def within(transfers: Sequence[Transfer], chips: Mapping[str, int]) -> tuple[Transfer, ...]:
    """R41: the payments cut so that no seat loses more chips than it holds; 课外 is apart and stays.

    What a seat receives in the same hand counts as held. Who cannot pay everything pays in the order of the payments:
    what stands last is cut first. A cut can leave its receiver short in turn, so seats are looked at until none is.
    """
    paid = list(transfers)
    while True:
        net = net_of(paid, "net")
        short = next((seat for seat in SEATS if -net[seat] > max(chips[seat], 0)), None)
        if short is None:
            return tuple(paid)
        _cut(paid, short, -net[short] - max(chips[short], 0))


def empties_all(net: Mapping[str, int], chips: Mapping[str, int], winner: str) -> bool:
    """R34: whether the hand takes the last chips of all three others, all of whom had some."""
    return all(chips[seat] > 0 and chips[seat] + net[seat] <= 0 for seat in SEATS if seat != winner)


def _cut(paid: list[Transfer], payer: str, short: int) -> None:
    for index in range(len(paid) - 1, -1, -1):
        transfer = paid[index]
        if transfer.payer != payer or transfer.account != "net" or not transfer.amount:
            continue
        cut = min(short, transfer.amount)
        left = transfer.amount - cut
        why = tuple(reason for reason in transfer.why if reason.code != "cap")
        paid[index] = replace(transfer, amount=left, why=(*why, Reason("cap", "limit", left)))
        short -= cut
        if not short:
            return
