"""A report of the suite: for who reads it, as JSON, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final
from xml.etree import ElementTree

from hil.conform.bench import Claim
from hil.conform.requirement import GROUPS, Requirement, in_order
from hil.conform.runner import Report, Result

CONTRACT: Final = "docs/serial.md"
_WORDS: Final = {"pass": "PASS", "fail": "FAIL", "skip": "SKIP"}


def as_text(report: Report) -> str:
    """The whole report, grouped, each failure with the sentence of the contract that it breaks."""
    lines = [f"board at {report.port}", *_claimed(report)]
    group = ""
    for result in report.results:
        if result.requirement.group != group:
            group = result.requirement.group
            lines += ["", f"{group}  {GROUPS[group]}"]
        lines += result_lines(result)
    return "\n".join([*lines, "", *_summary(report)])


def result_lines(result: Result) -> list[str]:
    """One result; a failure with what was expected and seen."""
    one = result.requirement
    lines = [f"  {_WORDS[result.verdict]} {one.number:<7} {one.title}"]
    if result.verdict == "skip":
        lines[0] += f": {result.reason}"
    lines += [f"               {note}" for note in result.notes]
    if result.verdict == "fail":
        lines += [
            f"       contract: {one.says} ({CONTRACT}, section {one.section})",
            f"       expected: {result.expected}",
            f"       seen:     {result.seen}",
        ]
    return lines


def as_plain(report: Report) -> dict[str, Any]:
    """The report as JSON: what the board claims, each result, the counts."""
    return {
        "port": report.port,
        "claim": None if report.claim is None else _plain_claim(report.claim),
        "trouble": report.trouble or None,
        "profiles": list(report.profiles),
        "counts": counts(report),
        "left": list(report.left),
        "results": [_plain_result(result) for result in report.results],
    }


def as_junit(report: Report) -> str:
    """The report as JUnit XML: a test suite for each group, a failure's text with contract, expected and seen."""
    root = ElementTree.Element(
        "testsuites", name="kaijin conform", tests=str(len(report.results)), failures=str(len(report.failed)),
        time=_seconds(report.results),
    )  # fmt: skip
    for group, name in GROUPS.items():
        results = [result for result in report.results if result.requirement.group == group]
        if not results:
            continue
        suite = ElementTree.SubElement(
            root, "testsuite", name=f"{group} {name}", tests=str(len(results)),
            failures=str(sum(result.verdict == "fail" for result in results)), errors="0",
            skipped=str(sum(result.verdict == "skip" for result in results)), time=_seconds(results),
        )  # fmt: skip
        if report.claim is not None:
            properties = ElementTree.SubElement(suite, "properties")
            for key, value in _plain_claim(report.claim)["board"].items():
                ElementTree.SubElement(properties, "property", name=key, value=_clean(str(value)))
        for result in results:
            _junit_case(suite, result)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _junit_case(suite: ElementTree.Element, result: Result) -> None:
    one = result.requirement
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"conform.{one.group}", name=f"{one.number} {one.title}",
        time=f"{result.seconds:.3f}",
    )  # fmt: skip
    if result.verdict == "fail":
        failure = ElementTree.SubElement(
            case, "failure", message=_clean(f"expected {result.expected}; seen: {result.seen}"), type="conformance"
        )
        failure.text = _clean("\n".join(result_lines(result)))
    elif result.verdict == "skip":
        ElementTree.SubElement(case, "skipped", message=_clean(result.reason))
    if result.notes:
        ElementTree.SubElement(case, "system-out").text = _clean("\n".join(result.notes))


def listed(tests: Iterable[Requirement] | None = None) -> str:
    """Every test: number, title, profile, what it needs, its sentence."""
    lines: list[str] = []
    group = ""
    for one in in_order() if tests is None else tests:
        if one.group != group:
            group = one.group
            lines += ([""] if lines else []) + [f"{group}  {GROUPS[group]}"]
        lines.append(f"  {one.number:<7} {one.title} [{', '.join(needs(one))}]")
        lines.append(f"          {one.says} (section {one.section})")
    return "\n".join(lines)


def needs(one: Requirement) -> list[str]:
    """Its profile, and what it needs beside a line."""
    found: list[str] = [one.profile]
    found += ["--moves"] if one.moves else []
    found += ["--provoke"] if one.provokes else []
    return found + [f"hands: {deed.replace('_', ' ')}" for deed in one.deeds]


def counts(report: Report) -> dict[str, int]:
    """How many tests passed, failed, were skipped."""
    return {_WORDS[verdict].lower(): len(report.of(verdict)) for verdict in ("pass", "fail", "skip")}


def _claimed(report: Report) -> list[str]:
    if report.claim is None:
        return [f"  it did not say what it is: {report.trouble}"]
    plain = _plain_claim(report.claim)
    lines = [f"  {part}: " + ", ".join(f"{key} {_word(value)}" for key, value in plain[part].items()) for part in
             ("board", "capabilities", "gear")]  # fmt: skip
    return [*lines, f"  profiles: {', '.join(report.profiles)}"]


def _summary(report: Report) -> list[str]:
    lines = ["left behind: " + "; ".join(report.left)] if report.left else []
    if report.failed:
        lines.append("failed: " + ", ".join(report.failed))
    told = counts(report)
    return [*lines, f"{told['pass']} passed, {told['fail']} failed, {told['skip']} skipped"]


def _plain_claim(claim: Claim) -> dict[str, Any]:
    told = claim.identity
    return {
        "board": {
            "model": told.model,
            "firmware": told.firmware,
            "serial_number": told.serial_number,
            "protocol": told.protocol,
            "boot_id": f"{told.boot_id:08x}",
        },
        "capabilities": {**asdict(told.capabilities), "mechanisms": claim.mechanisms},
        "gear": {"tiles": told.gear_tiles, "stacks": list(told.stacks)},
    }


def _plain_result(result: Result) -> dict[str, Any]:
    one = result.requirement
    plain: dict[str, Any] = {"number": one.number, "title": one.title, "verdict": result.verdict}
    if result.verdict == "fail":
        plain |= {"contract": one.says, "section": one.section, "expected": result.expected, "seen": result.seen}
    if result.verdict == "skip":
        plain["reason"] = result.reason
    if result.notes:
        plain["notes"] = list(result.notes)
    return plain | {"seconds": round(result.seconds, 3)}


def _seconds(results: Iterable[Result]) -> str:
    return f"{sum(result.seconds for result in results):.3f}"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "/".join(map(str, value)) if isinstance(value, list) else str(value)


def _clean(text: str) -> str:
    """Without what XML cannot hold: a board may say anything."""
    return "".join(sign if sign in "\n\t" or (sign >= " " and sign not in "\ufffe\uffff") else "?" for sign in text)
