from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from steelyard.report import printable
from steelyard.report.plain import one_line

ANYTHING = st.text(st.characters())  # surrogates and controls too


@given(ANYTHING)
def test_nothing_that_steers_a_terminal_survives(text: str) -> None:
    shown = printable.plain(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown


@given(ANYTHING)
def test_plain_says_only_what_the_encoding_can(text: str) -> None:
    assert printable.plain(text, "ascii").isascii()


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_plain_leaves_what_prints_alone(text: str) -> None:
    assert printable.plain(text) == text


def test_a_command_of_several_lines_stays_one_that_a_shell_reads() -> None:
    lines = "set -e\nfor one in a b; do\n    echo $one |\n    cat\ndone\n\nexit\n"
    assert one_line(lines) == "set -e; for one in a b; do echo $one | cat; done; exit"
    assert one_line(" \n") == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x9b2J", r"\x9b2J"),
        ("\x7f\x00", r"\x7f\x00"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), r"caf\xe9"),
        ("\ud800", r"\ud800"),
        ("grep 'naïve' 名前", "grep 'naïve' 名前"),
    ],
)
def test_what_is_escaped_stays_readable(text: str, shown: str) -> None:
    assert printable.plain(text) == shown


def test_names_that_are_cut_are_still_told_apart() -> None:
    names = [f"./a-folder/sort-{which}-version --input data/words.txt" for which in ("new", "newer", "old")]
    assert len({printable.shorten(name, 24) for name in names}) == 1
    assert printable.shorten_apart([*names, "./other"], 24) == [
        "…/sort-new-version --in…",
        "…/sort-newer-version --…",
        "…/sort-old-version --in…",
        "./other",
    ]
    assert printable.shorten_apart([names[0], names[0]], 24) == [printable.shorten(names[0], 24)] * 2


def test_names_that_differ_in_several_places_are_told_apart() -> None:
    names = [
        f"bench/test_collections.py::test_{what}_{kind}[Strategy.AS_{way}-{who}]"
        for what in ("structure_attrs", "unstructure_attrs")
        for kind in ("lists", "mappings")
        for way in ("DICT", "TUPLE")
        for who in ("BaseConverter", "Converter")
    ]
    for width in (24, 30, 40, 60):
        shown = printable.shorten_apart(names, width)
        assert len(set(shown)) == len(names), shown
        assert max(map(len, shown)) <= width
    assert printable.shorten_apart(names, 40)[0] == "…st_structure…rs_lists[Str…AS_DICT-Base…"


@given(st.lists(ANYTHING, max_size=4), st.integers(0, 30))
def test_what_is_told_apart_is_not_too_wide(texts: list[str], width: int) -> None:
    plain = [printable.plain(text) for text in texts]
    assert all(cell_len(text) <= width for text in printable.shorten_apart(plain, width))
    assert all(text.isprintable() for text in printable.shorten_apart(plain, width))


@given(ANYTHING, ANYTHING, ANYTHING)
def test_a_style_stays_on_what_it_was_given_to(before: str, text: str, after: str) -> None:
    start = len(Text(before))  # Text removes some control characters itself
    whole = Text(before + text + after)
    whole.stylize("bold", start, start + len(Text(text)))
    shown = printable.styled(whole)
    assert shown.plain == printable.plain(whole.plain)
    bold = [shown.plain[span.start : span.end] for span in shown.spans]
    assert "".join(bold) == printable.plain(Text(text).plain)


def test_lines_that_are_meant_are_kept() -> None:
    assert printable.lines("first\n\tsecond\x1b[0m\n") == ["first", "    second\x1b[0m"]


@given(ANYTHING.map(printable.plain), st.integers(-2, 40))
def test_a_shortened_text_is_never_wider_than_asked(text: str, width: int) -> None:
    assert cell_len(printable.shorten(text, width)) <= max(0, width)


@given(st.text("abc名", max_size=20))
def test_what_fits_is_not_shortened(text: str) -> None:
    assert printable.shorten(text, cell_len(text)) == text


@given(st.lists(st.sampled_from(["a", "名", "\x1b", "\n", "\u200d", "\U000e0001"]), max_size=20), st.integers(1, 60))
def test_what_was_escaped_is_shown_whole_or_not_at_all(characters: list[str], width: int) -> None:
    shown = printable.shorten(printable.plain("".join(characters)), width)
    assert "\\" not in re.sub(r"\\(?:x1b|n|u200d|U000e0001)", "", shown)
    assert not re.search(r"[0-9bdexu]", re.sub(r"\\(?:x1b|n|u200d|U000e0001)", "", shown))


def test_shortening_keeps_both_ends() -> None:
    assert printable.shorten("./build/main/bin/sort --input huge.bin", 21) == "./build/ma…t huge.bin"


def test_symbols_keep_their_width_in_ascii() -> None:
    text = "12 µs ▁█ ┊ a…z"
    shown = printable.symbols(text, "ascii")
    assert shown.isascii()
    assert len(shown) == len(text)
    assert printable.symbols(text, "utf-8") == text
