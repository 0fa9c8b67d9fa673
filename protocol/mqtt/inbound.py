"""What comes in to a table: seat inputs and commands, checked before anything acts on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from protocol.mqtt.commands import ACTIONS, COMMANDS, Param
from protocol.mqtt.models import Command, SeatInput

MAX_INPUT_BYTES = 2 * 1024
MAX_COMMAND_BYTES = 8 * 1024
NOT_PASSED = "a moment that has not passed"


class InputError(ValueError):
    """An input or command that is refused: `code` for the sender, the field at fault and what was expected there.

    `expected` says it in English, `limits` for programs (`params.Accepts`). `id` and `client` are what the sender
    called itself and its message, empty where that could not be read.
    """

    def __init__(
        self, code: str, field: str, expected: str, id: str = "", client: str = "",
        limits: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(f"{field}: {code}, expected {expected}")
        self.code = code
        self.field = field
        self.expected = expected
        self.id = id
        self.client = client
        self.limits = dict(limits or {})


def parse_input(payload: bytes, epoch: int) -> SeatInput:
    """The input in `payload` for the present `epoch`.

    Raises InputError with one of the codes too_large, bad_json, bad_value, missing, unknown_action, old_epoch. Whether
    the want is outstanding is the table's to know.
    """
    raw = _object(payload, MAX_INPUT_BYTES)
    id = _readable(raw, "id", 40)
    try:
        said = SeatInput.model_validate(raw, strict=True)
    except ValidationError as error:
        raise _refused(error, id) from None
    action = ACTIONS.get(said.action)
    if action is None:
        raise InputError("unknown_action", "action", "one of " + ", ".join(ACTIONS), said.id)
    if said.epoch != epoch:
        raise InputError("old_epoch", "epoch", str(epoch), said.id, limits={"allowed": [epoch]})
    if not action.prompts and said.want:
        raise InputError("bad_value", "want", f"an empty string with {said.action}", said.id)
    if action.prompts and not said.want:
        raise InputError("bad_value", "want", "the id of the want it answers", said.id)
    return said.model_copy(update={"params": _known(said.params, action.params, "params", said.id)})


def parse_command(payload: bytes, verb: str, now_mono_ms: int, epoch: int, now_utc_ms: int | None = None) -> Command:
    """The command in `payload` for topic `command/{verb}`.

    `now_utc_ms` is given only while the table's clock is synced. Raises InputError with one of the codes too_large,
    bad_json, bad_value, missing, unknown_verb, no_expiry, old_epoch, expired, expiry_too_far.
    """
    raw = _object(payload, MAX_COMMAND_BYTES)
    id, client = _readable(raw, "id", 40), _readable(raw, "client", 64)
    try:
        asked = Command.model_validate(raw, strict=True)
    except ValidationError as error:
        raise _refused(error, id, client) from None
    known = COMMANDS.get(verb)
    if known is None:
        raise InputError("unknown_verb", "verb", "one of " + ", ".join(COMMANDS), id, client)
    left = left_ms(asked, now_mono_ms, epoch, now_utc_ms)
    if left is None and known.changes:
        expected = "epoch with not_after_ms, or not_after where both clocks are synced"
        raise InputError("no_expiry", "not_after_ms", expected, id, client)
    if left is not None and left < 0:
        raise InputError("expired", "not_after_ms", NOT_PASSED, id, client)
    if left is not None and left > known.lifetime_ms:
        expected = f"a moment at most {known.lifetime_ms} ms away"
        raise InputError("expiry_too_far", "not_after_ms", expected, id, client)
    return asked.model_copy(update={"args": _known(asked.args, known.args, "args", id, client)})


def left_ms(asked: Command, now_mono_ms: int, epoch: int, now_utc_ms: int | None) -> int | None:
    """Milliseconds until the command expires, None where it says nothing that both sides can compare.

    Arguments as of `parse_command`; InputError with missing or old_epoch.
    """
    if asked.not_after_ms is not None:
        if asked.epoch is None:
            raise InputError("missing", "epoch", "the epoch that not_after_ms counts in", asked.id, asked.client)
        if asked.epoch != epoch:
            raise InputError("old_epoch", "epoch", str(epoch), asked.id, asked.client)
        return asked.not_after_ms - now_mono_ms
    if asked.not_after is not None and asked.clock == "synced" and now_utc_ms is not None:
        return asked.not_after - now_utc_ms
    return None


def _object(payload: bytes, limit: int) -> dict[str, Any]:
    if len(payload) > limit:
        raise InputError("too_large", "payload", f"at most {limit} bytes")
    try:
        raw = from_json(payload, allow_inf_nan=False)
    except ValueError:
        raise InputError("bad_json", "payload", "a JSON object in UTF-8") from None
    if not isinstance(raw, dict):
        raise InputError("bad_value", "payload", "a JSON object")
    return raw


def _known(given: dict[str, Any], known: tuple[Param, ...], where: str, id: str, client: str = "") -> dict[str, Any]:
    """The known ones among the values given: readers ignore the rest."""
    for param in known:
        field = f"{where}.{param.name}"
        if param.name not in given:
            if param.required:
                raise InputError("missing", field, param.expected, id, client, param.accepts.limits)
        elif not param.accepts(given[param.name]):
            raise InputError("bad_value", field, param.expected, id, client, param.accepts.limits)
    return {param.name: given[param.name] for param in known if param.name in given}


def _refused(error: ValidationError, id: str, client: str = "") -> InputError:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(level) for level in fault["loc"]) or "payload"
    code = "missing" if fault["type"] == "missing" else "bad_value"
    return InputError(
        code, field, fault["msg"].removeprefix("Input should be ").removeprefix("String should "), id, client
    )


def _readable(raw: dict[str, Any], field: str, limit: int) -> str:
    """The sender's own name for itself or its message, if it is one that can be used in an answer."""
    value = raw.get(field)
    if not isinstance(value, str) or not value.isascii() or len(value) > limit:
        return ""
    return value if all(c.isalnum() or c in "._:-" for c in value) else ""
