"""`kaijin web`: the pages, their bridge to the broker, and the pairing of displays. A process of its own.

It knows no hand and no wall: it reads nothing from the broker but the answers to pairings. A password leaves it in the
body of a POST answer alone, never in a page, a path or a log. How the server is stands on a listener of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import NoReturn
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from pydantic import ValidationError

from controller.broker import BrokerSession
from controller.broker_address import BrokerAddress
from controller.credentials import Credentials, CredentialsError, load_credentials, user_of, web_users
from controller.notify import Notifier
from controller.settings import Settings, split_listen
from controller.web_address import pages_url
from controller.web_bridge import Bridge
from controller.web_pages import HEADERS, Pages, add_headers
from controller.web_pairing import Asks, PairingCounters, PairingError, Register, Tokens
from controller.web_requests import Refusal, body_of, compact_json, reply, reply_to, text_field, who_asks
from protocol.mqtt.envelope import EnvelopeError, decode
from protocol.mqtt.models import PairingGrant, PairingRelease
from protocol.mqtt.topics import Topics

MAX_BODY_BYTES = 4096
LOOK_S = 1.0
SHUTDOWN_S = 1.5

_STATUS = {"bad_token": 403, "refused": 403, "second_device": 409, "expired": 410, "too_many": 429}
_log = structlog.get_logger("web")
_http_log = logging.getLogger("web.http")
_Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class ListenError(Exception):
    """An address that cannot be listened on; the message names the key of the settings and the reason."""


class WebServer:
    """The page server of one table: `start`, then `run` until `stop`.

    `port` is that of the pages, `health_port` that of `/healthz` and `/metrics` (0: not served).
    """

    def __init__(self, settings: Settings, credentials: Credentials | None = None) -> None:
        self.settings = settings
        self.table = settings.table.id
        self.topics = Topics(self.table)
        self.counters = PairingCounters()
        self.credentials = credentials or web_credentials(settings)
        self.tokens = Tokens(settings.web.state_dir)
        self.register = Register(settings.web.state_dir)
        self.asks = Asks()
        broker = settings.broker
        self.bridge = Bridge(
            broker.host,
            broker.port,
            broker.socket,
            self.credentials,
            self.register,
            max_sockets=settings.web.max_sockets,
            max_sockets_each=settings.web.max_sockets_each,
            max_message=settings.web.max_message,
        )
        user = settings.web.user or user_of(self.table, "web")
        self.session = BrokerSession(
            BrokerAddress(
                broker.host, broker.port, broker.socket, user, self.credentials.get(user), keepalive=broker.keepalive
            ),
            (self.topics.pairing("grant"), self.topics.pairing("release")),
            self._hear,
            read_back=(self.topics.pairing("state"),),
        )
        self._said: Mapping[str, str | None] | None = None
        self._stop = asyncio.Event()
        self._runners: list[web.AppRunner] = []
        self.port = 0
        self.health_port = 0

    @property
    def url(self) -> str:
        """How the pages are reached."""
        return pages_url(self.settings, self.port)

    def stop(self) -> None:
        """Make `run` return."""
        self._stop.set()

    async def start(self) -> None:
        """Listen; ListenError where an address cannot be had."""
        web_settings = self.settings.web
        pages = self._application()
        pages.router.add_get("/mqtt", self.bridge.handle)
        pages.router.add_post("/pair", self._pair)
        pages.router.add_post("/pair/ask", self._ask)
        pages.router.add_post("/pair/wait", self._wait)
        Pages().add_routes(pages)
        self.port = await self._listen("listen", web_settings.listen, pages)
        if web_settings.health_listen:
            health = self._application()
            health.router.add_get("/healthz", self._healthz)
            health.router.add_get("/metrics", self._metrics)
            self.health_port = await self._listen("health_listen", web_settings.health_listen, health)

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.on_response_prepare.append(add_headers)
        return app

    async def _listen(self, key: str, where: str, app: web.Application) -> int:
        """Serve the application at host:port; the port."""
        runner = web.AppRunner(app, access_log=None, logger=_http_log, shutdown_timeout=SHUTDOWN_S)
        await runner.setup()
        assert runner.server is not None
        # Around the whole application: its routing looks at headers before any middleware of it.
        runner.server.request_handler = functools.partial(self._guard, runner.server.request_handler)
        self._runners.append(runner)
        try:
            await web.TCPSite(runner, *split_listen(where)).start()
        except OSError as error:
            await self._stop_listening()
            raise ListenError(f"[web] {key} = {where!r}: {error.strerror}") from None
        return int(runner.addresses[0][1])

    async def _stop_listening(self) -> None:
        await asyncio.gather(*(runner.cleanup() for runner in self._runners))
        self._runners.clear()

    async def run(self, notifier: Notifier | None = None) -> None:
        """Serve until `stop`; then end within 5 s."""
        notifier = notifier or Notifier({})
        session = asyncio.create_task(self.session.run())
        notifier.ready()
        try:
            while not self._stop.is_set():
                self._look()
                notifier.watchdog()
                if session.done():
                    await session
                    return
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), LOOK_S)
        finally:
            notifier.stopping()
            self.session.stop()
            self.bridge.close_all()
            await self._stop_listening()
            await session

    def _look(self) -> None:
        """What may have changed in the register, by an un-pairing here or by `kaijin pair --release`."""
        holders = self.register.holders()
        if holders != self._said:
            self._said = holders
            self.session.set_retained(self.topics.pairing("state"), compact_json(holders))
        self.bridge.close_released()

    def _hear(self, topic: str, payload: bytes, retained: bool) -> None:
        try:
            data = decode(payload).data
            if topic == self.topics.pairing("grant"):
                grant = PairingGrant.model_validate(data)
                self.asks.answered(grant.code, grant.seat, grant.device, grant.ok, time.monotonic())
            else:
                release = PairingRelease.model_validate(data)
                if self.register.release(release.seat):
                    _log.info("unpaired", seat=release.seat)
                self._look()
        except (EnvelopeError, ValidationError) as error:
            _log.warning("message_not_understood", topic=topic, error=type(error).__name__)

    async def _pair(self, request: web.Request) -> web.StreamResponse:
        body = await body_of(request)
        place, device, name = who_asks(body)
        token = text_field(body, "token", 1, 128, "a one-time token")
        if not self.tokens.check(token, place):
            self._refuse("bad_token")
        self._need_room(place, device, name)
        if not self.tokens.use(token, place):
            self._refuse("bad_token")
        return self._admit(place, device, name)

    async def _ask(self, request: web.Request) -> web.StreamResponse:
        place, device, name = who_asks(await body_of(request))
        self._need_room(place, device, name)
        if not self.session.connected:
            raise Refusal(503, code="no_table")
        try:
            ask = self.asks.begin(place, device, name, request.remote or "", time.monotonic())
        except PairingError as error:
            self._refuse(error.code)
        asked = {"code": ask.code, "seat": place, "device": device, "name": name}
        self.session.publish(self.topics.pairing("request"), compact_json(asked))
        seconds = max(1, int(ask.until - time.monotonic()))
        return reply({"code": ask.code, "ask": ask.secret, "expires_s": seconds})

    async def _wait(self, request: web.Request) -> web.StreamResponse:
        secret = text_field(await body_of(request), "ask", 1, 128, "what /pair/ask answered")
        try:
            ask = self.asks.outcome(secret, time.monotonic())
        except PairingError as error:
            self._refuse(error.code)
        if ask is None:
            return reply({"code": "waiting"}, 202)
        self._need_room(ask.place, ask.device, ask.name)
        return self._admit(ask.place, ask.device, ask.name)

    def _need_room(self, place: str, device: str, name: str) -> None:
        if self.register.held_by_other(place, device):
            self.session.publish(self.topics.pairing("refused"), compact_json({"seat": place, "name": name}))
            self._refuse("second_device")

    def _admit(self, place: str, device: str, name: str) -> web.Response:
        try:
            secret = self.register.admit(place, device, name)
        except PairingError as error:
            self._refuse(error.code)
        self.counters.paired += 1
        _log.info("paired", seat=place)
        self._look()
        return reply({"user": user_of(self.table, place), "password": secret, "table": self.table, "seat": place})

    def _refuse(self, code: str) -> NoReturn:
        self.counters.refused += 1
        raise Refusal(_STATUS[code], code=code)

    async def _healthz(self, request: web.Request) -> web.StreamResponse:
        up = self.session.connected
        return reply({"ok": up, "broker": "up" if up else "lost"}, 200 if up else 503)

    async def _metrics(self, request: web.Request) -> web.StreamResponse:
        # Imported when first asked for: most page servers are never measured.
        from controller.web_metrics import CONTENT_TYPE, exposition

        paired = sum(name is not None for name in self.register.holders().values())
        body = exposition(
            self.bridge.open, self.bridge.counters, self.session.connected, self.session.counters, paired, self.counters
        )
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})

    async def _guard(self, handler: _Handler, request: web.BaseRequest) -> web.StreamResponse:
        """Turns away other sites' pages, and words every error in one way.

        What is turned away is not routed, so that the application adds no headers to it.
        """
        origin = request.headers.get("Origin")
        if origin is not None and not self._own(origin, request.host):
            return reply({"code": "foreign_origin"}, 403, HEADERS)
        if request.headers.get("Expect", "").lower() not in ("", "100-continue"):
            return reply({"code": "bad_request"}, 417, HEADERS)
        try:
            return await handler(request)
        except Refusal as refusal:
            return reply(refusal.fields, refusal.status)
        except web.HTTPUpgradeRequired:
            raise
        except web.HTTPException as error:
            return reply_to(error)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception:
            _log.exception("request_failed", path=request.path)
            return reply({"code": "internal"}, 500)

    def _own(self, origin: str, host: str) -> bool:
        return _netloc(origin) in {host, _netloc(self.settings.web.public_url)} - {""}


def _is_own_trouble(record: logging.LogRecord) -> bool:
    """Whether a line of the HTTP library is worth writing: that a client sent nonsense is not."""
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


_http_log.addFilter(_is_own_trouble)


def _netloc(url: str) -> str:
    """Host and port of an address, empty where it has none or is nonsense."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def web_credentials(settings: Settings) -> Credentials:
    """The users that the page server needs to know, from its own file or the broker's; CredentialsError."""
    path = settings.web.credentials or settings.broker.credentials
    if path is None:
        raise CredentialsError("[broker] credentials: missing; expected the path of the credentials file")
    return load_credentials(path, settings.table.id, web_users(settings.table.id))
