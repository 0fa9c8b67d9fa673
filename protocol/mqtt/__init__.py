"""The MQTT contract: topics, envelope, models, commands and seat actions. Pure: no client, no clock, no files."""
