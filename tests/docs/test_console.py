"""What a page shows of a command is what it prints, apart from numbers."""

from __future__ import annotations

import random
import re
import sys

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.c_programs import compiled, need_valgrind
from tests.docs.pages import DOCS, ROOT, Console, consoles, labelled
from tests.tool import Tool
from tests.world import ScriptedWorld, measured

SHOWN = [console for page in (ROOT / "README.md", *DOCS.rglob("*.md")) for console in consoles(page)]
WEIGHINGS = [console for console in SHOWN if console.words[0] == "compare"]
COUNTED = [console for console in WEIGHINGS if "instructions" in console.words]
TIMED = [console for console in WEIGHINGS if console not in COUNTED]
# Labels that only a quiet, or only a busy, machine prints; and those of charts, which depend on the numbers.
BY_CHANCE = {"noise", "disturbed", "resolution"}
DRAWN = {"pairs", "own"}
# The change of each function of the counted program, which depends on the C library, too.
_OF_A_FUNCTION = re.compile(r"[+-]\d.*")
# How long the programs of the pages take, by a part of their command.
TAKES_MS = {"old": 40.0, "new": 50.0, "-1": 15.0, "-9": 35.0}
ASKS_FOR_THE_TIME = f"#!{sys.executable}\nimport time\nprint(time.perf_counter())\n"
WORK = ROOT / "examples/demo/work.c"


def test_there_is_something_to_try() -> None:
    assert len(SHOWN) == 6
    assert len(WEIGHINGS) == 5


@pytest.mark.parametrize("console", TIMED, ids=lambda console: console.page)
def test_a_console_shows_what_the_command_prints(scripted: ScriptedWorld, console: Console) -> None:
    drawn = random.Random(1)

    def takes(spec: LaunchSpec, _: int) -> Measured:
        (ms,) = (ms for part, ms in TAKES_MS.items() if any(part.encode() in word for word in spec.argv))
        return measured(ms * drawn.lognormvariate(0, 0.01))

    scripted.script = takes
    for name in ("parse", "sort-old", "sort-new"):
        scripted.executable(name)
    check_shown(console, scripted(*console.words).text)


def test_a_console_shows_what_the_installed_command_prints_of_counts(tool: Tool) -> None:
    need_valgrind()
    (console,) = COUNTED
    for name, rounds in (("work-old", 280), ("work-new", 283)):
        compiled(tool.folder, name, WORK.read_text(), f"-DROUNDS={rounds}")
    check_shown(console, tool(*console.words).text)


def check_shown(console: Console, text: str) -> None:
    shown, printed = of_any_program(console.printed), of_any_program(text)
    assert printed.keys() - BY_CHANCE - {"exit"} == shown.keys() - BY_CHANCE, printed.get("note")
    for label in shown.keys() - BY_CHANCE - DRAWN:
        assert printed[label] == shown[label]


def of_any_program(printed: str) -> dict[str, str]:
    """Return the paragraphs without lines of functions, and without "times as long" beside large changes."""
    paragraphs = {label: text for label, text in labelled(printed).items() if not _OF_A_FUNCTION.fullmatch(label)}
    return {label: text.removesuffix(": # times as long") for label, text in paragraphs.items()}


def test_what_a_still_clock_left_out_is_told_at_the_end(tool: Tool) -> None:
    (console,) = (console for console in SHOWN if console.words[0] == "still")
    tool.write("bench", ASKS_FOR_THE_TIME)
    done = tool(*console.words)
    assert labelled(console.printed.removeprefix("...\n")) == labelled(done.err.decode())


def test_what_is_said_where_nothing_is_decided(scripted: ScriptedWorld) -> None:
    """The page's block has no command, because its end is chance; here that is drawn."""
    (block,) = re.findall(r"^```text\n(.*?)^```$", (DOCS / "undecided.md").read_text(), re.MULTILINE | re.DOTALL)
    drawn = random.Random(3)
    scripted.script = lambda *_: measured(50 * drawn.lognormvariate(0, 0.03))
    # Where a command is continued in the next line depends on the width.
    printed, shown = (
        labelled(text.replace("\\\n", "\n")) for text in (scripted("compare", "./old", "./new").text, block)
    )
    del shown["..."]
    assert shown == {label: printed[label] for label in ("undecided", "go")}
