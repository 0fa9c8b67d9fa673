"""Conformance: a numbered suite against whatever answers at a port, in the words of `docs/serial.md`.

    options = Options(moves=True, gear=120)
    report = await run_suite(await open_endpoint("/dev/kaijin-table", 115200), options)
    print(as_text(report))

`kaijin conform PORT` is this and nothing more; `docs/conformance.md` says how it is used.
"""
