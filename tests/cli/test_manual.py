from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.cli.manual import manual

SHIPPED = Path(__file__).resolve().parent.parent.parent / "docs" / "steelyard.1"


def test_the_shipped_man_page_is_the_one_of_this_command_line() -> None:
    assert SHIPPED.read_text() == manual(), "run `make generated`"


@pytest.mark.parametrize("word", ["compare", "run", "show", "--margin", "--parameter-list", "--resume", "130"])
def test_it_names_commands_options_and_statuses(word: str) -> None:
    assert word.replace("-", "\\-") in manual()


@pytest.mark.parametrize(
    "said", ["slow. [default: HEAD]", "50%. [default: 0.5%]", "not judged. [default: 1]", "still fast. [required]"]
)
def test_it_says_what_holds_where_an_option_is_not_given_as_help_does(said: str) -> None:
    assert said in manual()


@pytest.mark.real
def test_its_examples_can_be_pasted() -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed: the man page was not formatted")
    done = subprocess.run([groff, "-man", "-Tutf8"], input=manual(), text=True, capture_output=True, check=True)
    shown = re.sub(r"\x1b\[[0-9]*m", "", done.stdout)
    assert "steelyard timeit 'sorted(x)' 'x.sort()' -s 'x = list(range(1000))'" in shown


@pytest.mark.real
def test_groff_has_nothing_to_complain_of() -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed: the man page was not formatted")
    done = subprocess.run(
        [groff, "-man", "-Tutf8", "-ww", "-z"], input=manual(), text=True, capture_output=True, check=True
    )
    assert done.stderr == ""
