"""JSON Schemas of every message and one AsyncAPI 3 document, made from the models and checked in under `schemas/`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from protocol.mqtt.channels import CHANNELS, Channel
from protocol.mqtt.commands import COMMANDS
from protocol.mqtt.envelope import Envelope
from protocol.mqtt.topics import MAJOR, ROOT, SEATS, STREAMS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ASYNCAPI = "kaijin.asyncapi.json"

_PARAMETERS: dict[str, dict[str, Any]] = {
    "t": {"description": "the table's id: 3 to 32 of a-z, 0-9 and -"},
    "s": {"description": "a seat", "enum": list(SEATS)},
    "stream": {"description": "which stream of events", "enum": list(STREAMS)},
    "verb": {"description": "which command", "enum": list(COMMANDS)},
    "client": {"description": "the client named in the command"},
}


def checked_in() -> Path:
    """Where the documents stand in the repository."""
    return Path(__file__).with_name("schemas")


def documents() -> dict[str, str]:
    """File name to text, for every document."""
    made = {f"{channel.name}.schema.json": _message_schema(channel) for channel in CHANNELS}
    made[ASYNCAPI] = _asyncapi()
    return {name: json.dumps(document, ensure_ascii=False, indent=1) + "\n" for name, document in made.items()}


def _message_schema(channel: Channel) -> dict[str, Any]:
    schema = channel.model.model_json_schema()
    if channel.enveloped:
        definitions = schema.pop("$defs", {})
        schema = _enveloped(channel, "#/$defs/" + channel.model.__name__)
        schema["$defs"] = {**definitions, channel.model.__name__: channel.model.model_json_schema()}
        schema["$defs"][channel.model.__name__].pop("$defs", None)
    return {"$schema": DIALECT, "$id": f"urn:kaijin:{MAJOR}:{channel.name}", **schema}


def _enveloped(channel: Channel, reference: str) -> dict[str, Any]:
    schema = Envelope.model_json_schema()
    schema["title"] = channel.name
    schema["properties"]["type"] = {"const": channel.name.replace("-", "/")}
    schema["properties"]["data"] = {"$ref": reference}
    # Fields with a default stand in every message all the same.
    schema["required"] = list(schema["properties"])
    return schema


def _asyncapi() -> dict[str, Any]:
    models = sorted({channel.model for channel in CHANNELS}, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    messages: dict[str, Any] = {}
    for channel in CHANNELS:
        reference = f"#/components/schemas/{channel.model.__name__}"
        payload = _enveloped(channel, reference) if channel.enveloped else {"$ref": reference}
        messages[channel.name] = {"name": channel.name, "summary": channel.meaning, "payload": payload}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Kaijin table",
            "version": f"{MAJOR}.0.0",
            "description": "What an automatic mahjong table says and hears over MQTT; the rules stand in docs/mqtt.md.",
        },
        "defaultContentType": "application/json",
        "servers": {"table": {"host": "localhost:1883", "protocol": "mqtt", "protocolVersion": "3.1.1"}},
        "channels": {channel.name: _channel(channel) for channel in CHANNELS},
        "operations": {channel.name: _operation(channel) for channel in CHANNELS},
        "components": {"messages": messages, "schemas": schemas["$defs"]},
    }


def _channel(channel: Channel) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", channel.address)
    return {
        "address": f"{ROOT}/{channel.address}",
        "parameters": {name: _PARAMETERS[name] for name in names},
        "messages": {channel.name: {"$ref": f"#/components/messages/{channel.name}"}},
    }


def _operation(channel: Channel) -> dict[str, Any]:
    return {
        "action": "send" if channel.sender == "table" else "receive",
        "channel": {"$ref": f"#/channels/{channel.name}"},
        "summary": f"from the {channel.sender}: {channel.meaning}",
        "bindings": {"mqtt": {"qos": channel.qos, "retain": channel.retain}},
    }
