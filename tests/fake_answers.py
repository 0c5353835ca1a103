"""The answers of `fake_harness.py`: those of a good harness, and those that break the protocol (docs/protocol.md).

A way to behave is a function below. The times are made up: 1 us per iteration, with a little noise, drawn from the
seed of the launch and from whether it is the first of its pair. The program sleeps for as long as it says that they
took.

Next to nothing is imported, because most of a test's time goes into starting the program.
"""

# ruff: noqa: ARG001, ARG005 - every way takes the call

from __future__ import annotations

import os
import sys
import time
from _json import encode_basestring_ascii as _quoted
from _random import Random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST = 5 << 20
LONGEST_NS = 10**9


class Ends(Exception):  # noqa: N818 - an end is no error
    """Ends the program in the middle of its answer, with an exit status, or with a signal where that is negative."""

    def __init__(self, status: int, words: bytes = b"") -> None:
        super().__init__()
        self.status, self.words = status, words


class Call:
    """One call by the driver: its arguments, and the answer, which the ways change before it is written."""

    def __init__(self, arguments: list[str]) -> None:
        plain = [word for word in arguments if not word.startswith("--steelyard-")]
        ours = (word.removeprefix("--steelyard-").partition("=") for word in arguments if word not in plain)
        self.words = {key: value for key, _, value in ours}
        self.ways, self.names = plain[0].split(","), plain[1:] or ["a", "b", "c"]
        self.hello: dict[str, Any] = {"steelyard": 1, "harness": "fake"}
        self.lines: list[Any] = []
        self.end: list[Any] = [{"end": True}]
        self.status = 0
        self.sleeps_s = 0.0
        self.random = Random(2 * int(self.words.get("seed", "0")) + is_odd_call())
        self.fill()

    def fill(self) -> None:
        """Answer as a good harness does."""
        if "list" in self.words:
            self.lines = [{"benchmark": name, "tags": ["fake"]} for name in self.names]
        elif self.words.get("run") in self.names:
            self.lines = [self.sample(1000.0) for _ in range(int(self.words["samples"]))]
        else:
            self.lines = [{"error": f"no benchmark is called {self.words.get('run')!r}"}]
            self.status = 1

    def sample(self, each_ns: float) -> dict[str, Any]:
        """Return a sample whose iterations take `each_ns`, give or take 0.2 %."""
        loops = int(self.words["loops"])
        noise = 1 + 0.002 * (2 * self.random.random() - 1)
        ns = max(1, round(each_ns * loops * noise))
        return {"loops": loops, "ns": ns, "cpu_ns": ns, "delay_ns": 0}

    def taken_ns(self) -> int:
        """Return the time that the answer tells in all; the tool compares it with how long the launch took."""
        told = (line.get("ns") for line in self.lines if isinstance(line, dict))
        return sum(ns for ns in told if type(ns) is int and 0 < ns < LONGEST_NS)

    def concerns(self, place: str) -> bool:
        """Return whether a way for `place` (`list`, `run` or a benchmark's name) is meant for this call."""
        return place in self.words or place == self.words.get("run")

    def answer(self) -> bytes:
        """Return the bytes to write."""
        answer = "".join(f"{_text(line)}\n" for line in (self.hello, *self.lines, *self.end) if line is not None)
        return answer.encode(errors="surrogateescape")


def is_odd_call() -> bool:
    """Return whether this is the 1st, 3rd, ... call in this folder: the calls of a pair follow each other."""
    with open(".calls", "ab") as file:  # noqa: PTH123
        file.write(b".")
        return file.tell() % 2 == 1


def _text(line: Any) -> str:
    return line if isinstance(line, str) else _json(line)


def _json(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(name)}: {_json(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_json, value))}]"
    if isinstance(value, str):
        return str(_quoted(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


if TYPE_CHECKING:
    Way = Callable[[Call], None]


def each(**changes: Any) -> Way:
    """Return a way that changes every line between the hello and the end."""

    def way(call: Call) -> None:
        for line in call.lines:
            line.update(changes)

    return way


def instead(*lines: Any) -> Way:
    """Return a way that answers with these lines alone, and ends well."""

    def way(call: Call) -> None:
        call.hello, call.lines, call.end = lines[0], list(lines[1:]), []

    return way


def refuse(call: Call) -> None:
    """Answer as a harness that speaks only a later version of the protocol."""
    call.hello, call.lines, call.end, call.status = {"steelyard": 2}, [], [], 2


def hang(call: Call) -> None:
    call.sleeps_s = 600.0


def error(call: Call) -> None:
    call.lines, call.status = [{"error": "the input is missing,\nsee \x1b[31mits manual"}], 1


def exit_9(call: Call) -> None:
    raise Ends(9, b"one line\nand its last words\n")


def segfault(call: Call) -> None:
    raise Ends(-11)


def cut_off(call: Call) -> None:
    call.end = []


def half_a_line(call: Call) -> None:
    call.end = ['{"end": tr']


def missing(call: Call) -> None:
    call.lines.pop()


def extra(call: Call) -> None:
    call.lines.append(dict(call.lines[0]))


def slower(call: Call) -> None:
    call.lines = [call.sample(1500) for _ in call.lines]


def long(call: Call) -> None:
    call.lines = [call.sample(0.5e9) for _ in call.lines]


def never_longer(call: Call) -> None:
    call.lines = [{**line, "ns": 50, "cpu_ns": 50} for line in call.lines]


def no_time(call: Call) -> None:
    for line in call.lines:
        del line["ns"]


def no_times_of_the_kernel(call: Call) -> None:
    for line in call.lines:
        del line["cpu_ns"], line["delay_ns"]


def flood(descriptor: int) -> Way:
    """Return a way that writes megabytes of noise to a descriptor before the answer."""

    def way(call: Call) -> None:
        left = MOST
        while left > 0:
            left -= os.write(descriptor, b"x" * 1000 + b"\n")

    return way


def leave_a_child(call: Call) -> None:
    """Leave a process behind that keeps every descriptor open, that of the results too."""
    if os.fork() == 0:
        with open("/proc/self/comm", "w") as file:  # noqa: PTH123
            file.write("left-over")
        time.sleep(600)


def need(call: Call) -> None:
    """Remove a file that has to be prepared for each launch."""
    os.unlink("prepared")  # noqa: PTH108


def log(call: Call) -> None:
    """Append the arguments of each call to a file."""
    with open("log", "a") as file:  # noqa: PTH123
        file.write(f"{_json(call.words)}\n")


def stuck_at(count: int) -> Way:
    """Return a way that hangs in launch `count`, as the log counts them, unless the file `go` exists."""

    def way(call: Call) -> None:
        log(call)
        with open("log") as file:  # noqa: PTH123
            if len(file.readlines()) == count and not os.path.exists("go"):  # noqa: PTH110
                time.sleep(600)

    return way


# JSON that Python would not write.
def lines(text: str) -> Way:
    """Return a way whose lines are this text."""

    def way(call: Call) -> None:
        call.lines = [text for _ in call.lines]

    return way


WAYS: dict[str, Way] = {
    "well": lambda call: None,
    "hang": hang,
    "error": error,
    "exit-9": exit_9,
    "segfault": segfault,
    "newer": lambda call: call.hello.update(steelyard=2),
    "older": lambda call: call.hello.update(steelyard=0),
    "refuse": refuse,
    "no-hello": instead({"benchmark": "a"}, {"end": True}),
    "cut-off": cut_off,
    "half-a-line": half_a_line,
    "silent": instead(None),
    "no-json": instead("Running 3 benchmarks ..."),
    "no-object": instead("[1, 2]"),
    "no-utf-8": instead('{"steelyard": 1, "harness": "\udcff"}'),
    "deep": instead("[" * 100_000),
    "nothing": lambda call: call.lines.clear(),
    "nan": lines('{"ns": NaN}'),
    "infinity": lines('{"ns": 1e999}'),
    "null": each(ns=None),
    "negative": each(ns=-5),
    "zero": each(ns=0),
    "string": each(ns="1000"),
    "boolean": each(ns=True),
    "huge": each(ns=10**300),
    "long-text": each(ns="9" * 10_000),
    "no-time": no_time,
    "bad-loops": each(loops=0),
    "bad-cpu": each(cpu_ns=-1),
    "bad-delay": each(delay_ns=0.5),
    "missing": missing,
    "extra": extra,
    "slower": slower,
    "long": long,
    "never-longer": never_longer,
    "wall-only": no_times_of_the_kernel,
    "idle": each(cpu_ns=0),
    "flood-out": flood(1),
    "flood-err": flood(2),
    "flood-results": flood(3),
    "leave": leave_a_child,
    "need": need,
    "log": log,
    **{f"stuck-{count}": stuck_at(count) for count in range(1, 200)},
}


# These change samples, and leave the answer to `list` as it is.
OF_SAMPLES = {
    *("nan", "infinity", "null", "negative", "zero", "string", "boolean", "huge", "long-text", "no-time", "bad-loops"),
    *("bad-cpu", "bad-delay", "missing", "extra", "slower", "long", "never-longer", "wall-only", "idle"),
}


def answered(arguments: list[str]) -> Call:
    """Return a call whose ways have changed its answer; raises Ends."""
    call = Call(arguments)
    for way in call.ways:
        word, at, place = way.partition("@")
        if (not at or call.concerns(place)) and not (word in OF_SAMPLES and "list" in call.words):
            WAYS[word](call)
    return call


def main() -> None:
    """Answer one call, and end."""
    try:
        call = answered(sys.argv[1:])
    except Ends as end:
        os.write(2, end.words)
        if end.status < 0:
            os.kill(os.getpid(), -end.status)
        os._exit(end.status)
    time.sleep(call.sleeps_s + call.taken_ns() / 1e9)
    data = call.answer()
    while data:
        data = data[os.write(int(call.words["fd"]), data) :]
    sys.exit(call.status)
