from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.subjects.shell_words import sets_variable, shell_words


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("gzip -c f | wc", ["|"]),
        ("make || true", ["||"]),
        ("sort f > out", [">"]),
        ("sort <in >>out", ["<", ">>"]),
        ("sort f>out 2>&1", [">", ">&1"]),
        ("cd x && make; make test", ["&&", ";"]),
        ("server & client", ["&"]),
        ("ls $HOME/x ${HOME} $(pwd) `pwd`", ["$HOME/x", "${HOME}", "$(pwd)", "`pwd`"]),
        ("wc *.txt src/*.c", ["*.txt", "src/*.c"]),
        ("ls ~ ~/x ~root", ["~", "~/x", "~root"]),
        ("a | b | c", ["|"]),
    ],
)
def test_what_only_a_shell_understands(command: str, found: list[str]) -> None:
    assert shell_words(command) == found


@pytest.mark.parametrize(
    "command",
    [
        "awk '/a|b/ {print $1 > \"x\"}' f",
        'grep "*" f',
        'grep "a\\"|b" f',
        "find . -name '*.py' -exec true {} \\;",
        "echo \\$HOME \\* a\\|b \\~",
        "echo '$HOME' '`'",
        "sort {n} {file}",
        "awk {print$1} f",
        "curl http://host/?a=b&c=d",
        "gcc -O2 a~ x~y --name=~x",
        "python -m pytest -k 'a and b'",
        "tool a-b_c=d,e:f/g.h@i%j+k^l!",
        "echo it\\'s",
    ],
)
def test_what_is_quoted_or_harmless_is_meant_as_it_stands(command: str) -> None:
    assert shell_words(command) == []


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_quoted_words_are_never_a_shell_s(words: list[str]) -> None:
    assert shell_words(shlex.join(words)) == []


@given(st.text(max_size=30))
def test_any_text_can_be_asked_about(text: str) -> None:
    for word in shell_words(text):
        assert word in text


def test_a_variable_set_before_a_command() -> None:
    assert sets_variable("NAME=value")
    assert not sets_variable("./a=b")
    assert not sets_variable("1=2")
