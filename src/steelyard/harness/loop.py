"""The function that takes samples: generated for each benchmark, so that the loop contains the body and nothing else.

The body is compiled into the loop, and uses only local variables. In CPython 3.11 one turn of a loop takes 6 ns; with
eight copies of the body in it, less than 1 ns of that falls to each (benchmarks/sdk_python_overhead.py).
"""

from __future__ import annotations

# Only the parser, without the module ast and its imports.
from _ast import PyCF_ONLY_AST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# More copies gain nothing, and each has to warm up: CPython specialises every instruction separately.
COPIES = 8
# Beside the time of a longer text, that of its loop is negligible.
_LONGEST_COPIED = 2_000

# Begins names that no user's statement contains.
PREFIX = "_steelyard_"

# `$` stands for the prefix. Lines that end with `# if X` are used only if X is wanted.
# Schedstat, unlike the clock, is read outside of what is counted: the number of its digits would change the count. It
# is read next to the clock: when the kernel computes a thread's processor time, it also checks whether others wait for
# the processor, and the wait that follows would be in schedstat but not in the time.
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
    """Python code as a user wrote it, or a call of a user's function.

    An iteration executes `body`; `setup` is executed once before. `names` are local variables of both, whose values are
    given when samples are taken. In tracebacks it is called `file`, and lines are counted from the set-up on. A body
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
    """Takes samples of a body, with what is `wanted` of `counting`, `inputs`, `partner` and `schedstat` around them.

    Raises SyntaxError for what is not Python, or is not allowed in a loop in a function.
    """

    def __init__(self, text: Text, wanted: set[str], global_names: dict[str, Any]) -> None:
        # With copies, counts of N and 2 N iterations would not be on one line if N is no multiple of the copies.
        copied = len(text.body) <= _LONGEST_COPIED and "counting" not in wanted
        try:
            self._take = _compiled(text, wanted | {"copies"} if copied else wanted, global_names)
        except SyntaxError:
            # The only text that is allowed in a loop once but not eight times begins with `global`.
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
    """Return whether the body is only a comment, or nothing at all."""
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
    """Return statements with the names of parts replaced by the parts."""
    filled: list[Any] = []
    for node in nodes:
        name = str(getattr(getattr(node, "value", None), "id", ""))
        if hasattr(node, "body"):
            node.body = _filled(node.body, parts)
        filled += parts.get(name, [node])
    return filled
