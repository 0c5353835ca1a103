"""Find rules that no test covers: break one at a time, and see whether a test fails.

    python benchmarks/mutations.py                       40 places of `stats` and `design`, drawn at random
    python benchmarks/mutations.py src/steelyard/stats --many 100 --seed 7

Each mutant is a copy of the package with one operator, constant or condition changed (as by mutmut and others), on
which the tests that mirror its module run, and the recorded command lines. A survivor is a rule that no test covers, or
a change without meaning.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/steelyard"
PATIENCE_S = 300

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: Path
    line: int
    what: str
    source: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    tree = ast.parse(path.read_text())
    for number, node in enumerate(ast.walk(tree)):
        for what in _changes(node):
            changed = copy.deepcopy(tree)
            target = next(other for place, other in enumerate(ast.walk(changed)) if place == number)
            _change(target)
            yield Mutant(path, getattr(node, "lineno", 0), f"{what} in `{_shown(node)}`", ast.unparse(changed))


def _changes(node: ast.AST) -> Iterator[str]:
    """Yield the changes that can be made to a node; none for most nodes."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            yield f"{type(op).__name__} -> {_COMPARED[type(op)].__name__}"
        case ast.BinOp(op=op) if type(op) in _COMPUTED and not _is_text(node):
            yield f"{type(op).__name__} -> {_COMPUTED[type(op)].__name__}"
        case ast.BoolOp(op=op):
            yield f"{type(op).__name__} -> {'Or' if isinstance(op, ast.And) else 'And'}"
        case ast.UnaryOp(op=ast.Not()):
            yield "without `not`"
        case ast.Constant(value=bool() as value):
            yield f"{value} -> {not value}"
        case ast.Constant(value=int() | float() as value):
            yield f"{value} -> {_other_number(value)}"


def _change(node: ast.AST) -> None:
    match node:
        case ast.Compare(ops=[op]):
            node.ops = [_COMPARED[type(op)]()]
        case ast.BinOp(op=op):
            node.op = _COMPUTED[type(op)]()
        case ast.BoolOp(op=op):
            node.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp():
            node.op = ast.UAdd()  # +x is true where x is
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() | float() as value):
            node.value = _other_number(value)


def _other_number(value: float) -> float:
    return value + 1 if isinstance(value, int) else value * 1.5 + (value == 0)


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(part, ast.JoinedStr | ast.List | ast.Tuple) for part in (node.left, node.right))


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def tests_of(path: Path) -> list[str]:
    """The tests that mirror a file, or its folder if it is in one; and those of whole command lines."""
    below = path.relative_to(PACKAGE)
    own, room = ROOT / "tests" / below.with_name(f"test_{below.name}"), ROOT / "tests" / below.parent
    found = [own] if own.is_file() else []
    if len(below.parts) > 2 or below.parts[0] == "stats":
        found.append(room)
    return [*map(str, [ROOT / "tests/golden", ROOT / "tests/cli/test_interrupted_stages.py", *found])]


def fail(tests: list[str], changed: Mapping[Path, str]) -> bool:
    """Whether any of the tests fails, or never ends, with these contents of files."""
    with tempfile.TemporaryDirectory(prefix="steelyard-mutant-") as folder:
        package = Path(folder) / "steelyard"
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        for path, source in changed.items():
            (package / path.relative_to(PACKAGE)).write_text(source)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not real", *tests]
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            return True
    return done.returncode != 0


def main(places: list[Path], many: int, seed: int) -> None:
    """Draw mutants, try each, and print the survivors as they are found."""
    files = [file for place in places for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]
    found = [mutant for file in files for mutant in mutants_of(file.resolve())]
    drawn = random.Random(seed).sample(found, min(many, len(found)))
    print(f"{len(drawn)} of {len(found)} mutants of {len(files)} files", flush=True)
    survivors = 0
    whole = {mutant.path: ast.unparse(ast.parse(mutant.path.read_text())) for mutant in drawn}
    if fail(sorted({test for path in whole for test in tests_of(path)}), whole):
        raise SystemExit("tests fail with nothing broken: mend them first")
    for mutant in drawn:
        if not fail(tests_of(mutant.path), {mutant.path: mutant.source}):
            survivors += 1
            print(f"survives: {mutant.path.relative_to(ROOT)}:{mutant.line}: {mutant.what}", flush=True)
    print(f"{survivors} of {len(drawn)} survive")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("places", nargs="*", type=Path, default=[PACKAGE / "stats", PACKAGE / "design"])
    parser.add_argument("--many", type=int, default=40, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    options = parser.parse_args()
    main(options.places, options.many, options.seed)
