from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from steelyard.model.errors import UsageError
from steelyard.model.files import load
from steelyard.model.typed import command_in_quotes, command_line, in_quotes, typed


@pytest.mark.parametrize("name", ["a.json", "a b.json", "it's.json", "-o.json", "-- a.json", "ü\n.json", "$HOME.json"])
def test_a_shell_reads_the_path_again_and_no_program_an_option(name: str) -> None:
    (word,) = shlex.split(typed(Path(name)))
    assert not word.startswith("-")
    assert Path(word) == Path(name)


@pytest.mark.parametrize(
    ("holds", "says"),
    [
        ("[]", "steelyard import 'a b.json' -o ours.json"),
        ('{"format": "steelyard-bisection"}', "steelyard report 'a b.json' makes a page of it"),
        ('{"format": "steelyard-calibration"}', "steelyard report 'a b.json' makes a page of it"),
        ('{"format": "steelyard-interrupted-calibration"}', "steelyard report 'a b.json' makes a page of it"),
    ],
)
def test_a_hint_about_a_file_can_be_typed_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holds: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a b.json").write_text(holds)
    with pytest.raises(UsageError, match=says):
        load(Path("a b.json"))


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (["./spin", "3"], "'./spin 3'"),
        (["./spin", "{n}"], "'./spin {n}'"),
        (["my prog", "-n"], """"'my prog' -n\""""),
        (["echo", "it's", "x"], None),
        (["awk", "{print $1}", "a b", ""], None),
        (["a\\b", '"', "!"], None),
        (["sh", "-c", 'echo a\necho "it\'s"'], None),
    ],
)
def test_words_that_stood_apart_are_one_command_in_quotes(words: list[str], written: str | None) -> None:
    text = command_in_quotes(words)
    assert text.isprintable()
    # What bash makes of the characters between $' and '.
    command = text[2:-1].encode().decode("unicode_escape") if text[0] == "$" else shlex.split(text)[0]
    assert shlex.split(command) == words
    assert written is None or text == written


def test_a_command_of_several_lines_can_be_typed_in_one() -> None:
    assert in_quotes("make\ncp 'a\\b' c") == r"$'make\ncp \'a\\b\' c'"
    assert command_line(["--build", "a\tb"]) == r"--build $'a\tb'"
