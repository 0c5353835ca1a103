"""What is recorded of a scenario: its command lines, and what they printed, launched and left in the folder."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import steelyard.native
from steelyard.model.launch_spec import LaunchSpec
from tests.golden.world import Done, World
from tests.world import MACHINE, OFFERS

_WIDTH, _SMALL, _MOST_KINDS = 110, 40, 60
# SHA-256 of libraries, which differ from machine to machine.
_OF_THE_MACHINE = ("fingerprint",)
_USUAL = ("HOME", "LANG", "PATH")
_DRAWN = ("PERL_HASH_SEED", "PYTHONHASHSEED", "STEELYARD_PADDING")
_SCRIPTED = MACHINE.model_copy(update={"offers": OFFERS}).model_dump(mode="json")
_NATIVE = str(Path(steelyard.native.__file__).parent)
_PLAIN = LaunchSpec(b"", (), ())


def transcript(scenario: Callable[[World], None]) -> str:
    """Run a scenario in an empty folder; return the text of all that came of it."""
    # Its path always has the same length, because that affects where lines are wrapped.
    with tempfile.TemporaryDirectory(prefix="golden-", dir="/tmp") as folder, World.opened(Path(folder)) as world:
        scenario(world)
    known: dict[tuple[str, ...], str] = {}
    lines = [line for done in world.done for line in _command(done, known, folder)]
    return "\n".join(lines)


def _command(done: Done, known: dict[tuple[str, ...], str], here: str) -> Iterator[str]:
    def lines_of(text: str) -> list[str]:
        return text.replace(here, "<here>").replace(_NATIVE, "<native>").splitlines()

    yield f"$ steelyard {shlex.join(done.words)}"
    yield "killed" if done.status is None else f"status {done.status}"
    yield from _section("stdout", lines_of(done.out))
    yield from _section("stderr", lines_of(done.err))
    yield from _section("launched", lines_of("\n".join(_launched(done))))
    for name, data in done.files.items():
        lines = _content(name, data, here)
        before = known.setdefault(tuple(lines), name)
        yield from _section(name, lines if before == name else [f"the same as {before}"])
    yield from _section("removed", done.removed)
    yield ""


def _section(name: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"--- {name}"
        yield from (f"  {line}".rstrip() for line in lines)


# --- what was launched


def _launched(done: Done) -> Iterator[str]:
    kinds = Counter(map(_launch, done.launched))
    if done.at_once > 1:
        yield f"up to {done.at_once} at once:"
    yield from (f"{many} x {line}" for line, many in list(kinds.items())[:_MOST_KINDS])
    if len(kinds) > _MOST_KINDS:
        yield f"... {len(kinds)} kinds and {len(done.launched)} launches in all"


def _launch(spec: LaunchSpec) -> str:
    """Return the arguments of a launch and what is unusual about it, without what is drawn anew for each."""
    words = [_undrawn(os.fsdecode(word)) for word in spec.argv]
    if words[0].endswith("/valgrind"):  # without Valgrind's flags, which are in the record
        words = [Path(words[0]).name, words[1], *words[words.index("--") :]]
    options = ("stdin", "timeout_ns", "cpus", "repeat", "fixed_layout", "results")
    unusual = {name: getattr(spec, name) for name in options if getattr(spec, name) != getattr(_PLAIN, name)}
    if spec.stdout is not None:
        unusual["stdout"] = "a file"
    variables = dict(os.fsdecode(entry).partition("=")[::2] for entry in spec.env)
    hidden = {*_USUAL, *(_DRAWN if variables.keys() >= set(_DRAWN) else ())}
    shown = [_variable(name, variables[name]) for name in sorted(variables.keys() - hidden)]
    line = " ".join([shlex.join(words), *(f"{name}={value!r}" for name, value in unusual.items()), *shown])
    return line.replace(" --steelyard-protocol=1 --steelyard-fd=3", "").replace("--steelyard-", "--")


def _variable(name: str, value: str) -> str:
    return _undrawn(f"{name}={Path(value).name.partition('.')[0]}")


def _undrawn(word: str) -> str:
    word = re.sub(r"^(--steelyard-seed|STEELYARD_HEAP|STEELYARD_HEAP_SEED|STEELYARD_PADDING_\d)=.*", r"\1=...", word)
    return re.sub(r"^//+", "/", word)


# --- what was left in the folder


def _content(name: str, data: bytes, here: str) -> list[str]:
    data = gzip.decompress(data) if name.endswith(".gz") else data
    data = data.replace(here.encode(), b"<here>")
    if name.endswith((".json", ".json.gz")):
        return list(_fields(_normal(json.loads(data)), ""))
    if name.endswith(".journal"):
        return [json.dumps(_normal(json.loads(line))) for line in data.splitlines()]
    return data.decode().splitlines()


def _normal(value: Any) -> Any:
    """Return the value without what differs between machines: their libraries, and the last digits of a logarithm."""
    if value == _SCRIPTED:
        return "the scripted one"
    if isinstance(value, dict):
        return {name: "..." if name in _OF_THE_MACHINE else _normal(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_normal(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _fields(value: dict[str, Any], indent: str) -> Iterator[str]:
    """Yield JSON in readable lines: small fields side by side; equal neighbours in a list, and equal lists, once."""
    small: list[str] = []
    columns: dict[str, str] = {}
    for name, each in value.items():
        text = _short(each)
        if len(text) > _WIDTH and columns.setdefault(text, name) != name:
            text = f"as {columns[text]}"
        if len(text) <= _SMALL and indent:
            small.append(f"{name}: {text}")
            continue
        yield from _wrapped(", ".join(small), indent)
        small.clear()
        yield from _field(name, each, text, indent)
    yield from _wrapped(", ".join(small), indent)


def _field(name: str, value: Any, text: str, indent: str) -> Iterator[str]:
    if len(text) <= _WIDTH:
        yield f"{indent}{name}: {text}"
        return
    yield f"{indent}{name}:"
    if _is_flat(value):
        yield from _wrapped(text, f"{indent}  ")
    elif isinstance(value, dict):
        yield from _fields(value, f"{indent}  ")
    else:
        yield from _elements(value, f"{indent}  ")


def _elements(values: list[Any], indent: str) -> Iterator[str]:
    for one in values:
        lines = list(_wrapped(_short(one), "") if _is_flat(one) else _fields(one, " "))
        yield from (f"{indent}{'  ' if place else '- '}{line.removeprefix(' ')}" for place, line in enumerate(lines))


def _is_flat(value: Any) -> bool:
    """Return whether a list or an object holds nothing long, and so fits into a few lines."""
    inner = value.values() if isinstance(value, dict) else value
    return not isinstance(value, dict | list) or all(
        isinstance(each, int | float) or len(json.dumps(each)) <= _WIDTH // 2 for each in inner
    )


def _short(value: Any) -> str:
    text = json.dumps(value)
    if isinstance(value, dict) and len(value) > 1 and not any(value.values()) and len(text) > _WIDTH:
        return "all empty"
    if not isinstance(value, list) or any(isinstance(one, dict) for one in value):
        return text
    are_numbers = all(isinstance(one, int | float | None) for one in value)
    texts = text[1:-1].split(", ") if are_numbers else map(json.dumps, value)
    runs = [(len(list(run)), one) for one, run in groupby(texts)]
    joined = ", ".join(one if many == 1 else f"{many} x {one}" for many, one in runs)
    return min(text, f"[{joined}]", key=len)


def _wrapped(text: str, indent: str) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        if line and len(line) + len(word) > _WIDTH:
            yield indent + line.rstrip()
            line = ""
        line += f"{word} "
    if line.strip():
        yield indent + line.rstrip()
