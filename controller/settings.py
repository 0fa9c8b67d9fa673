"""Settings of one table: a TOML file and the environment, checked; every error names file, key and what was expected.

A key `port` of the section `[broker]` is overridden by the environment variable `KAIJIN_BROKER__PORT`. A value that
begins with `[`, `{` or a quotation mark is read as TOML, any other as plain text. Relative paths are taken from the
folder of the file.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

ENVIRONMENT_PREFIX = "KAIJIN_"


class SettingsError(ValueError):
    """Settings that cannot be used: one line for each problem, in words for the person who wrote them."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def split_listen(value: str) -> tuple[str, int]:
    """`127.0.0.1:8480` or `[::1]:8480` as host and port; ValueError when it is neither."""
    host, colon, port = value.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError("expected host:port")
    return host.strip("[]"), int(port)


def _listen(value: str) -> str:
    if value:
        split_listen(value)
    return value


def _port_name(value: str) -> str:
    if not value.strip():
        raise ValueError("expected the path of a device")
    return value


Listen = Annotated[str, AfterValidator(_listen)]
PortName = Annotated[str, AfterValidator(_port_name)]


class Section(BaseModel):
    """One section of the file: unknown keys are errors, values do not change afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class TableSettings(Section):
    """`[table]`: who this table is."""

    id: str = Field(
        pattern=r"^[a-z0-9-]{3,32}$",
        description="the table's immutable id: 3-32 of the letters a-z, digits and hyphens",
    )
    name: str = Field("", max_length=80, description="a text of at most 80 characters, shown to people")


class SerialSettings(Section):
    """`[serial]`: the lines to the hardware; a dice unit may be a board of its own."""

    ports: tuple[PortName, ...] = Field(
        min_length=1,
        max_length=4,
        description='a list of 1-4 devices such as ["/dev/kaijin-table"], or "socket://host:port" for a simulator',
    )
    baud: int = Field(115200, ge=1200, le=4_000_000, description="a whole number 1200-4000000, the same on the board")
    dialect: Literal["", "example"] = Field(
        "", description='"" (the contract), or "example" (docs/dialects.md): how the board at the first port speaks'
    )
    record: Path | None = Field(None, description="the folder for recordings (docs/recordings.md); left out: none")
    record_mb: int = Field(64, ge=1, le=65_536, description="MB that all recordings may take, 1-65536")


class BrokerSettings(Section):
    """`[broker]`: the table's own MQTT broker."""

    host: str = Field("127.0.0.1", min_length=1, description="a host name or address")
    port: int = Field(1883, ge=1, le=65535, description="a whole number 1-65535")
    socket: Path | None = Field(None, description="the path of the broker's Unix socket; replaces host and port")
    user: str = Field("", description="the broker user; left out: the table's id")
    credentials: Path | None = Field(None, description="the path of the credentials file made by `kaijin pair`")
    keepalive: int = Field(
        2, ge=1, le=60, description="seconds, a whole number 1-60: a hung broker is noticed in twice that"
    )


class JournalSettings(Section):
    """`[journal]`: where what happened is kept."""

    path: Path = Field(Path("/var/lib/kaijin/table.journal"), description="the path of the journal file")
    keep_days: int = Field(
        30, ge=1, le=3650, description="days that hands stay, a whole number 1-3650; the evening in play stays anyhow"
    )
    keep_mb: int = Field(
        32, ge=4, le=4096, description="MB that the journal may take before the oldest hands leave, 4-4096"
    )
    on_error: Literal["hold", "go_on"] = Field(
        "hold",
        description='"hold" (the table waits until the disk takes it) or "go_on" (play goes on, unsafe and marked so)',
    )
    ledger_days: int = Field(
        400,
        ge=0,
        le=36_500,
        description="days, 0-36500, that the ledger's rows stay which the hub has, or all without a hub; 0: for ever",
    )


class MatchSettings(Section):
    """`[match]`: what is played when nobody says otherwise."""

    rules: str = Field("new-xiamen-120", description="a profile named by `kaijin rules list`")
    layout: Literal["", "zhitui", "bagua"] = Field("", description='"zhitui", "bagua" or "" for the profile\'s own')
    options: dict[str, Any] = Field(default_factory=dict, description="a table of house rules, see `kaijin rules show`")
    hands: int = Field(0, ge=0, le=10_000, description="hands in a match, 0-10000; 0: until it is ended")
    minutes: int = Field(0, ge=0, le=10_080, description="minutes of a match, 0-10080; 0: no limit")
    seats: Literal["free", "dice"] = Field(
        "free", description='"free" (people sit where they like) or "dice" (the draw for seats, R2)'
    )
    autostart: bool = Field(False, description="true or false: start a match as soon as the table is ready")
    sensing: Literal["auto", "none"] = Field(
        "auto", description='"auto" (as the board can), or "none": people enter all'
    )


class TimingSettings(Section):
    """`[timing]`: how long people are given."""

    object_ms: int = Field(4000, ge=0, le=60_000, description="ms to object to entered dice or gold, 0-60000")
    take_pace_ms: int = Field(
        2500, ge=0, le=60_000, description="ms for each group taken where nothing is read, 0-60000"
    )
    agree_ms: int = Field(
        30_000, ge=1_000, le=600_000, description="ms until silence agrees to a settlement, 1000-600000"
    )
    speed: float = Field(
        1.0, gt=0, le=10_000, description="a number above 0 that divides every timer; 1 at a real table"
    )
    answer_speed: float | None = Field(
        None,
        gt=0,
        le=10_000,
        description="a number above 0 that divides the timers in which people answer; left out: the same as speed",
    )

    @property
    def people_speed(self) -> float:
        """What divides the timers in which people answer."""
        return self.speed if self.answer_speed is None else self.answer_speed


class HealthSettings(Section):
    """`[health]`: where `/healthz` and `/metrics` are served."""

    listen: Listen = Field("127.0.0.1:9470", description='host:port such as "127.0.0.1:9470", or "" for none')


class LogSettings(Section):
    """`[log]`: what is written, and how."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description='"debug", "info", "warning" or "error"'
    )
    format: Literal["auto", "json", "text"] = Field("auto", description='"json", "text" or "auto" (text in a terminal)')
    directory: Path | None = Field(None, description="the folder for flight recordings; left out: beside the journal")


class SupportSettings(Section):
    """`[support]`: the bundles for a repairer that the command `support_bundle` writes."""

    directory: Path | None = Field(
        None, description="the folder for support bundles; left out: `support` in that of the flight recordings"
    )
    keep: int = Field(5, ge=1, le=100, description="bundles that stay in that folder, a whole number 1-100")


class WebSettings(Section):
    """`[web]`: the pages and their MQTT bridge (`kaijin web`)."""

    listen: Listen = Field("127.0.0.1:8480", min_length=1, description='host:port such as "0.0.0.0:8480"')
    health_listen: Listen = Field(
        "127.0.0.1:9471",
        description='host:port such as "127.0.0.1:9471" for /healthz and /metrics, or "" for none',
    )
    public_url: str = Field(
        "", pattern=r"^(https?://[^\s/]+(/[^\s]*)?)?$", description='how tablets reach the pages, as "http://host:port"'
    )
    state_dir: Path = Field(Path("/var/lib/kaijin-web"), description="the folder in which pairings are kept")
    credentials: Path | None = Field(None, description="the path of the credentials file; left out: the broker's")
    user: str = Field("", description="the broker user of the page server; left out: the table's id and -web")
    max_sockets: int = Field(64, ge=1, le=10_000, description="open WebSockets at most, 1-10000")
    max_sockets_each: int = Field(16, ge=1, le=10_000, description="open WebSockets of one address at most, 1-10000")
    max_message: int = Field(65_536, ge=1024, le=1_048_576, description="bytes of one WebSocket message at most")


class Settings(Section):
    """Everything a table is told, once, at its start."""

    table: TableSettings
    serial: SerialSettings
    broker: BrokerSettings = BrokerSettings()
    journal: JournalSettings = JournalSettings()
    match: MatchSettings = MatchSettings()
    timing: TimingSettings = TimingSettings()
    health: HealthSettings = HealthSettings()
    log: LogSettings = LogSettings()
    support: SupportSettings = SupportSettings()
    web: WebSettings = WebSettings()

    @property
    def broker_user(self) -> str:
        """The broker user of the daemon: the table's id unless said otherwise."""
        return self.broker.user or self.table.id

    @property
    def log_directory(self) -> Path:
        """Where flight recordings are written."""
        return self.log.directory if self.log.directory is not None else self.journal.path.parent

    @property
    def support_directory(self) -> Path:
        """Where support bundles are written."""
        return self.support.directory if self.support.directory is not None else self.log_directory / "support"


def load_settings(path: Path | str, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of a file under the environment's overrides; SettingsError says all that is wrong with them."""
    file = Path(path)
    tree = _read(file)
    origins: dict[tuple[str, str], str] = {}
    _override(tree, os.environ if environ is None else environ, origins)
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        raise SettingsError([_problem(file, origins, dict(item)) for item in error.errors()]) from None
    return _with_absolute_paths(settings, file.absolute().parent)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(
            [f"{file}: no such file; expected the settings of a table (see deploy/table.toml)"]
        ) from None
    except UnicodeDecodeError as error:
        raise SettingsError([f"{file}: expected UTF-8 text, byte {error.start} is none"]) from None
    except (ValueError, RecursionError) as error:
        # Numbers of thousands of digits and endless brackets are no TOMLDecodeError.
        raise SettingsError([f"{file}: expected TOML: {error}"]) from None
    except OSError as error:
        raise SettingsError([f"{file}: cannot be read: {error.strerror}"]) from None


def _override(tree: dict[str, Any], environ: Mapping[str, str], origins: dict[tuple[str, str], str]) -> None:
    for name, text in environ.items():
        section, mark, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().partition("__")
        if not name.startswith(ENVIRONMENT_PREFIX) or not mark:
            continue
        if section not in Settings.model_fields:
            raise SettingsError([f"environment {name}: there is no section [{section}]; {_known(Settings, section)}"])
        entries = tree.setdefault(section, {})
        if isinstance(entries, dict):
            entries[key] = _environment_value(name, text)
            origins[section, key] = name


def _environment_value(name: str, text: str) -> object:
    if not text.startswith(("[", "{", '"')):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError) as error:
        raise SettingsError([f"environment {name}: expected a TOML value: {error}"]) from None


def _problem(file: Path, origins: Mapping[tuple[str, str], str], error: dict[str, Any]) -> str:
    place = tuple(str(part) for part in error["loc"])
    section, key = place[0], place[1] if len(place) > 1 else ""
    model = _section_model(section)
    origin = origins.get((section, key))
    where = f"environment {origin}" if origin else f"{file}: [{section}]" + (f" {'.'.join(place[1:])}" if key else "")
    if model is None:
        return f"{file}: there is no section [{section}]; {_known(Settings, section)}"
    if not key:
        return f"{where}: this section is missing" if error["type"] == "missing" else f"{where}: expected a section"
    if error["type"] == "extra_forbidden":
        return f"{where}: unknown key; {_known(model, key)}"
    expected = model.model_fields[key].description
    if error["type"] == "missing":
        return f"{where}: missing; expected {expected}"
    return f"{where}: expected {expected}, got {error['input']!r}"


def _section_model(section: str) -> type[BaseModel] | None:
    field = Settings.model_fields.get(section)
    return field.annotation if field is not None and isinstance(field.annotation, type) else None


def _known(model: type[BaseModel], wrong: str) -> str:
    names = list(model.model_fields)
    near = difflib.get_close_matches(wrong, names, n=1)
    return f"expected one of {', '.join(names)}" + (f"; did you mean {near[0]}?" if near else "")


def _with_absolute_paths(settings: Settings, folder: Path) -> Settings:
    changed: dict[str, Section] = {}
    for name in Settings.model_fields:
        section: Section = getattr(settings, name)
        paths: dict[str, object] = {
            key: folder / value
            for key in type(section).model_fields
            if isinstance(value := getattr(section, key), Path)
        }
        if isinstance(section, SerialSettings):
            paths["ports"] = tuple(port if "://" in port else str(folder / port) for port in section.ports)
        if paths:
            changed[name] = section.model_copy(update=paths)
    return settings.model_copy(update=changed)
