"""A client that hands a message to the socket at once instead of when the loop comes by next.

The client library queues a packet and waits for the loop to find the socket writable, and makes two tasks for each
receipt: with four views to say, all four are packed before the first byte leaves. Here packing, the one attempt to
write and the receipt are plain calls. The socket never blocks; what it does not take, the loop writes when it can.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import aiomqtt
import paho.mqtt.client as paho

if TYPE_CHECKING:
    from paho.mqtt.properties import Properties
    from paho.mqtt.reasoncodes import ReasonCode


LOOKS_A_KEEPALIVE: Final = 10
"""How often in a keepalive it is looked whether the broker still answers: silence is noticed within 2.2 of them."""


class PromptClient(aiomqtt.Client):
    """`say` beside all that its base offers; `on_receipt(number, denied)` hears of what was said that way.

    `denied`: the access list does not allow it, which a broker tells where both speak MQTT 5. It is called from inside
    the library's reading and writing: it must not say anything itself.
    """

    on_receipt: Callable[[int, bool], None] | None = None
    _saying = False

    def give_up_connecting_after(self, seconds: float) -> None:
        """How long a broker that cannot be reached at all is waited for."""
        self._client.connect_timeout = seconds

    def say(self, topic: str, payload: bytes, qos: int, retain: bool) -> int:
        """Queue a message for `flush` and give its number; a QoS 0 one has its receipt when it is written.

        MqttError when the connection is known to be lost, ValueError for what no client could publish.
        """
        self._saying = True
        try:
            info = self._client.publish(topic, payload, qos, retain)
        finally:
            self._saying = False
        if info.rc != paho.MQTT_ERR_SUCCESS:
            raise aiomqtt.MqttCodeError(info.rc, "Could not publish message")
        return info.mid

    def forget_loss(self) -> None:
        """Why the connection was lost has been told: nobody asks the library any more."""
        if self._disconnected.done() and not self._disconnected.cancelled():
            self._disconnected.exception()

    def flush(self) -> None:
        """Write what the socket takes now and leave the rest to the loop. A loss is told where the messages end."""
        self._write()
        sock = self._client.socket()
        if sock is not None and self._client.want_write():
            self._loop.add_writer(sock.fileno(), self._write)

    def _write(self) -> None:
        try:
            self._client.loop_write()
        except Exception as error:
            if not self._disconnected.done():
                self._disconnected.set_exception(error)

    def _on_socket_register_write(self, client: paho.Client, userdata: Any, sock: Any) -> None:
        """The library wants to write. What is being said is written by `flush`.

        On the loop's own thread the watch begins here and now: put off, as the base does it, it could begin after a
        `flush` has written everything and already ended it, and then it would never end.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            super()._on_socket_register_write(client, userdata, sock)
            return
        if not self._saying:
            self._loop.add_writer(sock.fileno(), self._write)

    def _on_publish(
        self, client: paho.Client, userdata: Any, mid: int, reason_code: ReasonCode, properties: Properties
    ) -> None:
        super()._on_publish(client, userdata, mid, reason_code, properties)
        if self.on_receipt is not None:
            self.on_receipt(mid, reason_code.is_failure)

    async def _misc_loop(self) -> None:
        """As the base does once a second: asks a silent broker, and gives it up when it does not answer."""
        pause = min(1.0, self._keepalive / LOOKS_A_KEEPALIVE)
        while self._client.loop_misc() == paho.MQTT_ERR_SUCCESS:
            await asyncio.sleep(pause)
