"""Which tests of a module check nothing, or never run: read from their source."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[2]


@cache
def named_tests(path: Path) -> Mapping[str, str | None]:
    """The tests of a module as pytest names them, a class before its methods, and what each lacks; only read."""
    return judged(path.read_text(encoding="utf-8"), _module_of)


def judged(source: str, other: Callable[[str], ast.Module | None] = lambda name: None) -> dict[str, str | None]:
    """What is wrong with each test of a module's source, None when it checks something.

    `other` finds the modules that helpers are imported from.
    """
    module = ast.parse(source)
    helpers = _helpers(module, other)
    outer = "skipped" if _skips(_marks_of_module(module)) else None
    return {name: outer or _lack(test, marks, helpers) for name, test, marks in _tests(module.body, "", ())}


Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def _tests(
    body: Sequence[ast.stmt], before: str, marks: tuple[ast.expr, ...]
) -> Iterator[tuple[str, Function, tuple[ast.expr, ...]]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield before + node.name, node, (*marks, *node.decorator_list)
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            own = _marks_of_module(ast.Module(node.body, []))
            yield from _tests(node.body, f"{before}{node.name}::", (*marks, *node.decorator_list, *own))


def _marks_of_module(module: ast.Module) -> tuple[ast.expr, ...]:
    """What `pytestmark` is set to."""
    sets = [node for node in module.body if isinstance(node, ast.Assign)]
    return tuple(node.value for node in sets if any("pytestmark" in ast.unparse(target) for target in node.targets))


def _skips(marks: Iterable[ast.expr]) -> bool:
    return any(re.search(r"\b(skip|skipif|xfail)\b", ast.unparse(mark)) for mark in marks)


def _lack(test: Function, marks: tuple[ast.expr, ...], helpers: Mapping[str, Function]) -> str | None:
    if _skips(marks) or any(_called(node) in ("skip", "xfail") for node in ast.walk(test)):
        return "skipped"
    body = [node for node in test.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    if not body or isinstance(body[0], ast.Return | ast.Pass):
        return "it does nothing"
    if _checks(test) or any(name in helpers and _checks(helpers[name]) for name in map(_called, _own_nodes(test))):
        return None
    return "it checks nothing"


def _checks(function: Function) -> bool:
    """Whether the body asserts something that could be false, raises, or waits for an error."""
    for node in _own_nodes(function):
        if isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant):
            return True
        if _called(node) == "raises":
            return True
        if isinstance(node, ast.Raise) and node.exc is not None and "AssertionError" in ast.unparse(node.exc):
            return True
    return False


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """What a function runs itself: nothing after a `return` of its own block, nor in functions made inside it."""
    pending: list[ast.AST] = [*_reached(function.body)]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        for _, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                pending.append(value)
            elif isinstance(value, list):
                pending += _reached([part for part in value if isinstance(part, ast.AST)])


def _reached(block: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in block:
        yield node
        if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            return


def _called(node: ast.AST) -> str:
    """The name that is called, without what stands before its last point."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _helpers(module: ast.Module, other: Callable[[str], ast.Module | None]) -> dict[str, Function]:
    """The functions and methods that a test may call: of its own module, and those imported from modules of tests."""
    found = _functions(module)
    for node in module.body:
        if not isinstance(node, ast.ImportFrom) or (source := other(node.module or "")) is None:
            continue
        theirs = _functions(source)
        found |= {alias.asname or alias.name: theirs[alias.name] for alias in node.names if alias.name in theirs}
    return found


def _functions(module: ast.Module) -> dict[str, Function]:
    bodies = [module.body, *(node.body for node in module.body if isinstance(node, ast.ClassDef))]
    functions = (node for body in bodies for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {node.name: node for node in functions if not node.name.startswith("test_")}


def _module_of(name: str) -> ast.Module | None:
    """A module of tests by the name it is imported by; None for every other."""
    path = ROOT / (name.replace(".", "/") + ".py")
    return ast.parse(path.read_text(encoding="utf-8")) if name.startswith("tests.") and path.is_file() else None
