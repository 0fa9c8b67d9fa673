"""`kaijin replay`: give a recording of a table to a daemon again, and what else can be made of one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from hil.recording.story import Story
    from hil.recording.streams import Report

FOLDER = click.Path(path_type=Path, file_okay=False)


class _Group(click.Group):
    """What is no sub-command is a recording to be replayed: `kaijin replay RECORDING`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Group)
def replay() -> None:
    """Give a recording of a table to a daemon again and name what differs; redact, shrink, measure recordings.

    `kaijin replay RECORDING` is short for `kaijin replay run RECORDING`. Recordings are made with `[serial] record`
    in a table's settings, or with `kaijin link probe --record` (docs/recordings.md).
    """


@replay.command()
@click.argument("recording", type=FOLDER)
@click.option("--lockstep", is_flag=True, help="As fast as the daemon goes (the default).")
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), help="At so many times the recorded pace.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as one JSON object a recording.")
def run(recording: Path, lockstep: bool, speed: float | None, as_json: bool) -> None:
    """Replay RECORDING, or each recording in that folder; ends with 1 where the daemon does not do as it did then.

    What boards said, what people answered and which timers ran out comes again in its order, to the daemon's own core,
    hardware driver and lines; what these do and what is journaled is compared by meaning.
    """
    if lockstep and speed is not None:
        raise click.UsageError("--lockstep and --speed exclude each other")
    from controller.logs import configure_logging
    from hil.recording.replay import replay as play

    configure_logging("error", "text")
    failed = False
    for folder, story in _stories(recording):
        with _explained():
            report = play(story, pace=0.0 if speed is None else 1.0 / speed)
        failed = failed or not report.same
        click.echo(json.dumps(_told(folder, report), ensure_ascii=False) if as_json else _as_text(folder, report))
    click.get_current_context().exit(int(failed))


@replay.command()
@click.argument("recording", type=FOLDER)
@click.option("-o", "--out", type=FOLDER, required=True, help="An empty or new folder.")
def redact(recording: Path, out: Path) -> None:
    """Write RECORDING to another folder without tiles of hands and walls, serial numbers, names."""
    from controller.recording.redact import redact as without_secrets

    with _explained():
        made = without_secrets(recording, out)
    click.echo(f"{made.folder}: {sum(len(stream.entries) for stream in made.streams.values())} entries, redacted")


@replay.command()
@click.argument("recordings", nargs=-1, required=True, type=FOLDER)
def profile(recordings: tuple[Path, ...]) -> None:
    """Tell as TOML how long the mechanisms of a recorded table take, how its dice lie, what fails, how it answers.

    For `kaijin simulate table --assumptions`.
    """
    from hil.recording.profile import as_toml, measure

    with _explained():
        told = as_toml(measure([story for recording in recordings for _, story in _stories(recording, True)]))
    click.echo(told, nl=False)


@replay.command()
@click.argument("recording", type=FOLDER)
@click.option("-o", "--out", type=FOLDER, required=True, help="An empty or new folder for the small recording.")
@click.option("--difference", is_flag=True, help="Keep the first difference that a replay finds.")
@click.option("--still", metavar="COMMAND", help="Keep what lets this command end with 0; {} is the recording.")
@click.option("--most", type=click.IntRange(1), default=400, show_default=True, help="Candidates tried at most.")
def shrink(recording: Path, out: Path, difference: bool, still: str | None, most: int) -> None:
    """Make a failing RECORDING small: leave out what boards and people said as long as it still fails."""
    if difference == (still is not None):
        raise click.UsageError("one of --difference and --still COMMAND is needed")
    from controller.logs import configure_logging
    from hil.recording.shrink import shrink_difference, shrink_while
    from hil.recording.writing import write_story

    configure_logging("error", "text")
    stories = _stories(recording)
    if len(stories) != 1:
        raise click.ClickException(f"{recording}: {len(stories)} recordings; name one of the folders in it")
    with _explained():
        story = stories[0][1]
        small = shrink_difference(story, most) if still is None else shrink_while(story, shlex.split(still), most)
        write_story(small.story, out)
    click.echo(f"{out}: {small.after} of {small.before} messages and inputs, {small.runs} candidates tried")


@replay.command()
@click.argument("recording", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def show(recording: Path, as_json: bool) -> None:
    """Show what happened in RECORDING, one thing a line: messages, sessions, inputs, events. Tells hidden tiles."""
    for _, story in _stories(recording):
        for item in story.items:
            plain = _plain(item)
            if as_json:
                click.echo(json.dumps(plain, ensure_ascii=False))
            else:
                where = f"line {plain['line']}" if plain["line"] else "core"
                click.echo(f"{plain['at']:12.6f} {where:<7} {plain['kind']:<8} {plain['what']}")


# --- within -----------------------------------------------------------------------------------------------------------


def _stories(recording: Path, lines_only: bool = False) -> list[tuple[Path, Story]]:
    from controller.recording.format import read_recording, recordings_in
    from hil.recording.story import read_story

    with _explained():
        return [(folder, read_story(read_recording(folder), lines_only)) for folder in recordings_in(recording)]


class _explained:
    """What is wrong with a recording, in one line."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        from controller.recording.format import RecordingError

        if isinstance(error, RecordingError | FileExistsError):
            raise click.ClickException(str(error)) from None


def _told(folder: Path, report: Report) -> dict[str, Any]:
    return {
        "recording": str(folder),
        "same": report.same,
        "seconds": round(report.seconds, 3),
        "counts": dict(sorted(report.counts.items())),
        "differences": [one.plain() for one in report.differences],
    }


def _as_text(folder: Path, report: Report) -> str:
    counts = report.counts
    given = sum(count for name, count in counts.items() if name.startswith("given: "))
    alike = sum(count for name, count in counts.items() if name.startswith("line "))
    head = (
        f"{folder}: {'as it was' if report.same else f'{len(report.differences)} differences'} in "
        f"{report.seconds:.1f} recorded seconds; {given} given, {counts['journal']} journaled and {alike} said alike"
    )
    return "\n".join([head, *(f"  {one}" for one in report.differences)])


def _plain(item: Any) -> dict[str, Any]:
    from controller.recording.core import encode_input
    from hil.recording.meaning import of_event, of_message

    if item.message is not None:
        what = of_message(item.message)
    elif item.happened is not None:
        what = of_event(encode_input(item.happened))
    elif item.events:
        what = "; ".join(map(of_event, item.events))
    else:
        what = " ".join(filter(None, (item.reason, item.id)))
    return {"n": item.n, "at": item.at, "line": item.line, "kind": item.kind, "seat": item.seat, "what": what}
