"""The function that takes the samples: generated for each benchmark, so that the loop holds the body and nothing else.

The body is compiled into the loop, and all that it uses are local variables. In CPython 3.11 going once around a loop
takes 6 ns; with eight copies of the body in it less than 1 ns of that is left to each
(benchmarks/sdk_python_overhead.py).
"""

from __future__ import annotations

# The parser alone, without the module ast and what that imports.
from _ast import PyCF_ONLY_AST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# More gain nothing, and each copy has to warm up: CPython specialises instructions where they stand.
COPIES = 8
# The time that a longer text takes hides that of its loop.
_LONGEST_COPIED = 2_000

# Begins the names that no statement of a user has.
PREFIX = "_steelyard_"

# `$` stands for the prefix. Lines that end with `# if X` are there only if X is wanted.
# Schedstat is read outside of what is counted, unlike the clock: how many digits it has would move the count. It is
# read next to the clock: where the kernel reckons a thread's time it also looks whether others wait for the processor,
# and that wait would be in schedstat, and not in the time.
_TEMPLATE = """
{define} $take($samples, $blocks, $rest, $tools{arguments}):
    $repeat, $clock, $thread_time, $pread, $fd, $begin, $end, $draw, $append, $await_turn, $hand_over = $tools
    $waited = $waited_then = None
    SETUP
    for $sample in $repeat(None, $samples):
        $await_turn()  # if partner
        $input = None  # if inputs
        $input = $draw()  # if inputs
        $whole_blocks = $repeat(None, $blocks)  # if copies
        $iterations = $repeat(None, $rest)
        $worked_then = $thread_time()
        $waited_then = $pread($fd, 64, 0)  # if schedstat
        $begin()  # if counting
        $start = $clock()
        for $i in $whole_blocks:  # if copies
            BLOCK  # if copies
        for $i in $iterations:
            BODY
        $stop = $clock()
        $end()  # if counting
        $waited = $pread($fd, 64, 0)  # if schedstat
        $worked = $thread_time()
        $append(($stop - $start, $worked - $worked_then, $waited, $waited_then))
        $hand_over()  # if partner
"""


class Text:
    """Python as a user wrote it, or a call of a function of the user's.

    An iteration executes `body`, and `setup` is executed before, once. `names` are local variables of both, whose
    values are given when samples are taken. Tracebacks call it `file`, and count lines through the set-up first. A body
    that awaits is `asynchronous`.
    """

    __slots__ = ("asynchronous", "body", "file", "names", "setup")

    def __init__(
        self,
        body: str,
        setup: str = "",
        names: Iterable[str] = (),
        file: str = "<steelyard>",
        *,
        asynchronous: bool = False,
    ) -> None:
        self.body, self.setup, self.names, self.file = body, setup, tuple(names), file
        self.asynchronous = asynchronous


class Loop:
    """Takes samples of a body, with these of `counting`, `inputs`, `partner` and `schedstat` around them.

    Raises SyntaxError for what is no Python, or cannot stand in a loop in a function.
    """

    def __init__(self, text: Text, wanted: set[str], global_names: dict[str, Any]) -> None:
        # Copies would bend the line through counts of N and 2 N iterations where N is no multiple of them.
        copied = len(text.body) <= _LONGEST_COPIED and "counting" not in wanted
        try:
            self._take = _compiled(text, wanted | {"copies"} if copied else wanted, global_names)
        except SyntaxError:
            # The only text that may stand in a loop once and not eight times begins with `global`.
            self._take = _compiled(text, wanted, global_names)
            copied = False
        self._copies = COPIES if copied else None

    def take(self, samples: int, loops: int, tools: tuple[Any, ...], values: Iterable[Any]) -> Any:
        """Take `samples` samples of `loops` iterations, with the tools that the template names, in its order.

        Returns a coroutine if the body awaits.
        """
        blocks, rest = divmod(loops, self._copies) if self._copies else (0, loops)
        return self._take(samples, blocks, rest, tools, *values)


def is_empty(text: Text) -> bool:
    """Whether the body is a comment, or nothing at all."""
    return not _tree(text.body, text.file).body


def _compiled(text: Text, wanted: set[str], global_names: dict[str, Any]) -> Callable[..., Any]:
    offset = text.setup.count("\n") + 1 if text.setup else 0
    body = _tree("\n" * offset + text.body, text.file).body
    parts = {"SETUP": _tree(text.setup, text.file).body, "BODY": body, "BLOCK": body * COPIES}
    tree = _tree(_source(text, wanted), text.file)
    tree.body = _filled(tree.body, parts)
    exec(compile(tree, text.file, "exec", dont_inherit=True), global_names)
    take: Callable[..., Any] = global_names.pop(f"{PREFIX}take")
    return take


def _source(text: Text, wanted: set[str]) -> str:
    lines = []
    for line in _TEMPLATE.splitlines():
        code, _, condition = line.partition("  # if ")
        if not condition or condition in wanted:
            lines.append(code)
    arguments = "".join(f", {name}" for name in text.names)
    define = "async def" if text.asynchronous else "def"
    return "\n".join(lines).replace("$", PREFIX).format(define=define, arguments=arguments)


def _tree(text: str, file: str) -> Any:
    return compile(text, file, "exec", PyCF_ONLY_AST, dont_inherit=True)


def _filled(nodes: list[Any], parts: dict[str, list[Any]]) -> list[Any]:
    """Statements with the parts in the places of their names."""
    filled: list[Any] = []
    for node in nodes:
        name = str(getattr(getattr(node, "value", None), "id", ""))
        if hasattr(node, "body"):
            node.body = _filled(node.body, parts)
        filled += parts.get(name, [node])
    return filled
