"""Schemas, AsyncAPI document and docs/mqtt.md say what the code says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from protocol.mqtt.channels import CHANNELS, topics_table
from protocol.mqtt.commands import ACTIONS, COMMANDS, actions_table, commands_table
from protocol.mqtt.envelope import MAX_BYTES, Envelope, encode
from protocol.mqtt.schema import ASYNCAPI, checked_in, documents
from protocol.mqtt.topics import ROOT, TopicError, Topics, parse_topic
from tests.protocol.mqtt.examples import MESSAGES

DOCS = Path(__file__).parents[3] / "docs" / "mqtt.md"


def test_checked_in_documents_are_those_of_the_models() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in checked_in().glob("*.json")}
    assert found == documents(), "run `kaijin schema export`"


@pytest.mark.parametrize(
    ("marker", "table"), [("topics", topics_table()), ("actions", actions_table()), ("commands", commands_table())]
)
def test_the_tables_in_the_docs_are_those_of_the_code(marker: str, table: str) -> None:
    found = re.search(rf"<!-- {marker} -->\n(.*?)<!-- end -->", DOCS.read_text(encoding="utf-8"), re.S)
    assert found is not None
    assert found.group(1).strip() == table.strip(), f"put this into docs/mqtt.md:\n{table}"


def test_the_schemas_are_valid_and_every_topic_has_one() -> None:
    for name, text in documents().items():
        if name != ASYNCAPI:
            jsonschema.Draft202012Validator.check_schema(json.loads(text))
    assert documents().keys() - {ASYNCAPI} == {f"{channel.name}.schema.json" for channel in CHANNELS}


@pytest.mark.parametrize("name", [channel.name for channel in CHANNELS])
def test_examples_keep_their_schema_and_nonsense_does_not(name: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(documents()[f"{name}.schema.json"]))
    validator.validate(MESSAGES[name])
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"v": 2})
    validator.validate({**MESSAGES[name], "field_of_tomorrow": 1})


@pytest.mark.parametrize("name", ["state", "seat"])
def test_the_largest_state_and_view_fit_into_a_message(name: str) -> None:
    envelope = Envelope.model_validate(MESSAGES[name])
    assert 6_000 < len(encode(envelope)) <= MAX_BYTES


def test_every_reference_of_the_asyncapi_document_leads_somewhere() -> None:
    document = json.loads(documents()[ASYNCAPI])
    references = re.findall(r'"\$ref": "#/([^"]+)"', documents()[ASYNCAPI])
    assert references
    for reference in set(references):
        place = document
        for level in reference.split("/"):
            place = place[level]
    assert document["channels"].keys() == document["operations"].keys() == {channel.name for channel in CHANNELS}


def test_channels_and_topics_agree() -> None:
    topics = Topics("hall-7")
    for channel in CHANNELS:
        address = channel.address.format(t="hall-7", s="W", stream="game", verb="status", client="counter")
        parsed = parse_topic(f"{ROOT}/{address}")
        assert parsed.table == "hall-7"
    retained = {
        channel.address.format(t="hall-7", s="E")
        for channel in CHANNELS
        if channel.retain and channel.sender == "table"
    }
    assert {f"{ROOT}/{one}" for one in retained} <= set(topics.table_retains())


def test_names_of_actions_and_commands_are_codes() -> None:
    for name in (*ACTIONS, *COMMANDS):
        assert re.fullmatch(r"[a-z_]+", name)
    assert [verb.name for verb in COMMANDS.values() if verb.moves] == ["park", "service"]
    assert all(verb.changes for verb in COMMANDS.values() if verb.moves)
    assert COMMANDS["service"].lifetime_ms <= 15_000, "what a motor is to do is meant for now"


@pytest.mark.parametrize(
    "topic",
    [
        "",
        "kaijin",
        "kaijin/1/hall-7",
        "kaijin/1/hall-7/",
        "kaijin/1/HALL/state",
        "kaijin/1/hall-7/seat/X",
        "kaijin/1/ab/state",
        "kaijin/1/hall-7/seat/E/input/more",
        "kaijin/1/hall-7/event/secret",
        "other/1/hall-7/state",
        "kaijin/1/hall-7/command/",
        "kaijin/1/hall-7/command/+",
        "kaijin/1/hall-7/pairing/steal",
    ],
)
def test_other_topics_are_refused(topic: str) -> None:
    with pytest.raises(TopicError, match=r"expected|not a topic"):
        parse_topic(topic)


def test_another_major_version_is_refused_by_name() -> None:
    with pytest.raises(TopicError, match="version '2', this side speaks 1"):
        parse_topic("kaijin/2/hall-7/state")


def test_topics_cannot_be_built_from_nonsense() -> None:
    with pytest.raises(TopicError, match="3 to 32"):
        Topics("a/b")
    topics = Topics("hall-7")
    for build in (
        lambda: topics.seat("X"),
        lambda: topics.seat_input("+"),
        lambda: topics.command("a/b"),
        lambda: topics.response("#"),
        lambda: topics.event("x"),
        lambda: topics.pairing("x"),
    ):
        with pytest.raises(TopicError):
            build()
