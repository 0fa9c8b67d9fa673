"""`kaijin schema`: the MQTT contract as JSON Schemas and one AsyncAPI document."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def schema() -> None:
    """Export the MQTT contract."""


@schema.command()
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Where to write; left out: the checked-in folder."
)
@click.option("--check", is_flag=True, help="Write nothing; say which files differ from the models.")
def export(out: Path | None, check: bool) -> None:
    """Write JSON Schemas and an AsyncAPI 3 document, made from the models."""
    from protocol.mqtt.schema import checked_in, documents

    folder = out if out is not None else checked_in()
    wanted = documents()
    found = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))}
    if check:
        differ = sorted(name for name in {*wanted, *found} if wanted.get(name) != found.get(name))
        if differ:
            names = ", ".join(differ)
            raise click.ClickException(f"{folder}: differ from the models: {names}; run `kaijin schema export`")
        click.echo(f"{folder}: {len(wanted)} files as the models say")
        return
    folder.mkdir(parents=True, exist_ok=True)
    if out is None:
        for name in found.keys() - wanted.keys():
            (folder / name).unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    click.echo(f"{folder}: {len(wanted)} files")
