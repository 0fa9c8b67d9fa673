"""The wire between daemon and MCU: frames, link, messages, operations; bytes and time in, events and bytes out.

No I/O and no clock in here: ``now`` is monotonic seconds. One end of a line is served like this, the other the same
with ``Link("mcu", …)``::

    link = Link("host", session_ids=lambda: secrets.randbits(32))
    while serving:
        wait until the port is readable or link.next_deadline() has come
        events = link.receive(port.read(), now) if readable else link.tick(now)
        for event in events:
            match event:
                case SessionStarted():      link.send(Identify(req=1, ...))
                case Delivered(message):    act on it, perhaps link.send(...)
                case LinkLost(reason, n):   n messages were not acknowledged; a new session follows by itself
                case Undecodable(error):    log it
                case VersionRefused():      tell people its words
        port.write(link.outgoing(now))

``docs/serial.md`` is the written contract.
"""
