"""The envelope: what is written is read again, what is none is refused, and the largest fits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from protocol.mqtt.channels import CHANNELS
from protocol.mqtt.envelope import MAX_BYTES, Envelope, EnvelopeError, decode, encode, encode_parts
from tests.protocol.mqtt.examples import MESSAGES, enveloped

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
ENVELOPED = [channel for channel in CHANNELS if channel.enveloped]


@pytest.mark.parametrize("name", [channel.name for channel in ENVELOPED])
def test_what_is_written_is_read_again(name: str) -> None:
    envelope = Envelope.model_validate(MESSAGES[name])
    assert decode(encode(envelope)) == envelope
    assert json.loads(encode(envelope)) == MESSAGES[name]


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel.name)
def test_examples_are_what_the_models_say_with_no_field_unknown(channel: object) -> None:
    (one,) = (one for one in CHANNELS if one is channel)
    message = MESSAGES[one.name]
    one.model.model_validate(message["data"] if one.enveloped else message, extra="forbid")


@pytest.mark.parametrize("name", ["state", "seat"])
def test_the_largest_messages_fit_into_8_kib(name: str) -> None:
    assert len(encode(Envelope.model_validate(MESSAGES[name]))) <= MAX_BYTES


def test_parts_encoded_once_make_the_same_message() -> None:
    view = dict(MESSAGES["seat"]["data"])
    whole = Envelope.model_validate(MESSAGES["seat"])
    head = whole.model_copy(update={"data": {}})
    me = view.pop("me")
    assert json.loads(encode_parts(head, to_json(view), to_json(me))) == MESSAGES["seat"]
    assert json.loads(encode_parts(head, b"{}", b"1"))["data"] == {"me": 1}
    state = Envelope.model_validate(MESSAGES["state"])
    assert json.loads(encode_parts(state, to_json(state.data))) == MESSAGES["state"]


def test_unknown_fields_are_ignored() -> None:
    assert decode(json.dumps({**MESSAGES["availability"], "tomorrow": 1})).data["state"] == "ready"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"v": 2}, "contract version 2, this side speaks 1"),
        ({"v": None}, "contract version None"),
        ({"type": "gossip"}, "type: "),
        ({"table": "HALL"}, "table: "),
        ({"epoch": -1}, "epoch: "),
        ({"seq": 1 << 64}, "seq: "),
        ({"seq": 1.5}, "seq: "),
        ({"seq": "7"}, "seq: "),
        ({"data": []}, "data: "),
        ({"clock": "sundial"}, "clock: "),
    ],
)
def test_what_is_no_envelope_is_refused_by_field(changed: dict[str, object], words: str) -> None:
    with pytest.raises(EnvelopeError, match=words):
        decode(json.dumps({**enveloped("state", {}), **changed}))


@given(st.binary(max_size=200) | st.text(max_size=50).map(str.encode))
def test_any_bytes_are_an_envelope_or_a_clear_refusal(payload: bytes) -> None:
    with pytest.raises(EnvelopeError, match=r".+"):
        decode(payload)


@given(JSON)
def test_any_json_is_carried_unchanged(value: object) -> None:
    envelope = Envelope.model_validate(enveloped("event", {"params": value}))
    assert decode(encode(envelope)).data == {"params": value}
