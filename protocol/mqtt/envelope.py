"""The envelope around everything a table says, and the fast path that writes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json, to_json

from protocol.mqtt.topics import MAJOR

MAX_BYTES = 8 * 1024
"""No message of a table is longer."""

U64 = Annotated[int, Field(ge=0, lt=1 << 64)]
Clock = Literal["synced", "unsynced"]
Kind = Literal[
    "availability", "birth", "state", "seat", "event", "ledger", "response", "config/reported", "heartbeat",
    "pairing/grant", "pairing/release", "service",
]  # fmt: skip


class EnvelopeError(ValueError):
    """A payload that is no envelope of this contract; the message names the field and what was expected."""


class Envelope(BaseModel):
    """What a table says, with who, when and in which order. Unknown fields are ignored, an unknown major is refused.

    `seq` is the number of an event, or of the last event folded into a snapshot (0 before the first); messages that
    belong to neither carry the last number too. `ts` is UTC in milliseconds since 1970, to be believed when `clock`
    is `synced`. `mono_ms` is read from one clock that never steps, the same for the whole epoch. `cause` is the id of
    the input, command or event that led to this message, or null.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    v: Literal[1] = MAJOR
    type: Kind
    table: Annotated[str, Field(pattern=r"^[a-z0-9-]{3,32}$")]
    epoch: U64
    seq: U64
    id: Annotated[str, Field(min_length=1, max_length=64)]
    ts: Annotated[int, Field(ge=0)]
    clock: Clock
    mono_ms: Annotated[int, Field(ge=0)]
    cause: str | None = None
    data: dict[str, Any]


def encode(envelope: Envelope) -> bytes:
    """The envelope as UTF-8 JSON. `data` may hold what JSON holds, tuples and models of this package."""
    return to_json(envelope.__dict__)


def encode_parts(envelope: Envelope, public: bytes, me: bytes | None = None) -> bytes:
    """The envelope around data that stands encoded: `public` is an object, `me` (any JSON) becomes its field `me`.

    The `data` of `envelope` itself is left out. So the public part of five views is encoded once.
    """
    head = envelope.__dict__.copy()
    del head["data"]
    data = public if me is None else b"".join((public[:-1], b"," if len(public) > 2 else b"", b'"me":', me, b"}"))
    return b"".join((to_json(head)[:-1], b',"data":', data, b"}"))


def decode(payload: bytes | str) -> Envelope:
    """The envelope in `payload`; EnvelopeError where it is none, or of another major version."""
    try:
        raw = from_json(payload)
    except ValueError as error:
        raise EnvelopeError(f"not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise EnvelopeError(f"expected an object, found {type(raw).__name__}")
    if raw.get("v") != MAJOR:
        raise EnvelopeError(f"v: contract version {raw.get('v')!r}, this side speaks {MAJOR}")
    try:
        return Envelope.model_validate(raw)
    except ValidationError as error:
        raise EnvelopeError(first_fault(error)) from None


def first_fault(error: ValidationError) -> str:
    """The first thing a validation found wrong, as `field: what was expected`."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(level) for level in fault["loc"]) or "payload"
    return f"{field}: {fault['msg']}"
