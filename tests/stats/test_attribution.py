from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.attribution import NO_SYMBOL, Function, Rest, Row, attribute, first_rows, normalised


def function(name: str, own: int, of_object: str = "", file: str = "a.c", inclusive: int | None = None) -> Function:
    return Function(name, file, of_object, 7, own, inclusive)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("parse", "parse"),
        ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
        ("core::fmt::write::h0123456789abcdef.llvm.4711", "core::fmt::write"),
        ("core::fmt::write::hello", "core::fmt::write::hello"),
        ("parse.constprop.0", "parse"),
        ("parse.isra.0.constprop.12.cold", "parse"),
        ("parse.part.0.lto_priv.3", "parse"),
        ("parse.cold.5", "parse"),
        ("parse(int) [clone .constprop.0] [clone .cold]", "parse(int)"),
        ("fib'2", "fib"),
        ("fib.part.0'2", "fib"),
        ("memcpy@plt", "memcpy"),
        ("memcpy@plt.sec", "memcpy"),
        ("memcpy@GLIBC_2.14@plt", "memcpy"),
        ("memcpy@@GLIBC_2.14", "memcpy"),
        ("_dl_x@@GLIBC_PRIVATE", "_dl_x"),
        ("std::ios::failure[abi:cxx11]::what[abi:cxx11](int)", "std::ios::failure::what(int)"),
        ("0x00000000000a57f0", NO_SYMBOL),
        ("0x00000000000a57f0'2", NO_SYMBOL),
        ("*ABS*+0xa0720@plt", NO_SYMBOL),
        ("???", NO_SYMBOL),
        ("(below main)", "(below main)"),
        ("<alloc::vec::Vec<T,A> as Drop>::drop", "<alloc::vec::Vec<T,A> as Drop>::drop"),
        ("std::map<int, char const*>::operator[](int const&)", "std::map<int, char const*>::operator[](int const&)"),
        ("main::{{closure}}", "main::{{closure}}"),
        ("f(int)::{lambda(char)#1}::operator()(char) const", "f(int)::{lambda(char)#1}::operator()(char) const"),
        ("example.com/m@v1.2.3/p.(*T).F", "example.com/m@v1.2.3/p.(*T).F"),
        ("@plt", "@plt"),
    ],
)
def test_a_name_loses_what_the_build_left_on_it_and_nothing_else(name: str, expected: str) -> None:
    assert normalised(name) == expected


def test_only_what_changed_is_a_row_and_the_largest_comes_first() -> None:
    old = [function("a", 100), function("b", 50), function("c", 10), function("gone", 5, file="b.c")]
    new = [function("a", 90), function("b", 50), function("c", 30), function("fresh", 400)]
    rows = attribute(old, new)
    assert [(row.name, row.status, row.change) for row in rows] == [
        ("fresh", "new", 400),
        ("c", "changed", 20),
        ("a", "changed", -10),
        ("gone", "vanished", -5),
    ]


def test_clones_of_one_function_are_summed_under_the_place_of_the_largest() -> None:
    old = [function("f", 10, file="x.c"), Function("f.part.0", "y.c", "", 9, 30, 30)]
    (row,) = attribute(old, [function("f", 60, file="z.c", inclusive=80)])
    assert row == Row("f", "z.c", 7, "", 20, None, "changed")
    (row,) = attribute([function("f", 60)], old)
    assert (row.file, row.line, row.change) == ("y.c", 9, -20)


def test_the_same_name_in_two_objects_is_two_functions() -> None:
    old = [function("f", 10, "/a/libx.so"), function("f", 20, "/a/liby.so")]
    new = [function("f", 20, "/b/libx.so"), function("f", 20, "/b/liby.so")]
    (row,) = attribute(old, new)
    assert (row.object, row.change) == ("/b/libx.so", 10)


def test_an_empty_object_matches_any_the_largest_first() -> None:
    old = [function("f", 10, "/a/libx.so"), function("f", 20, "/a/liby.so")]
    rows = attribute(old, [function("f", 25)])
    assert [(row.change, row.status) for row in rows] == [(-10, "vanished"), (5, "changed")]
    rows = attribute([function("f", 25, "???")], old)
    assert [(row.change, row.status) for row in rows] == [(10, "new"), (-5, "changed")]


def test_the_program_itself_may_have_another_name() -> None:
    old = [function("main", 10, "./old"), function("f", 7, "./old", "old.c")]
    new = [function("main", 10, "./new"), function("f", 9, "./new", "new.c")]
    (row,) = attribute(old, new)
    assert (row.name, row.status, row.change, row.object) == ("f", "changed", 2, "./new")


def test_inclusive_changes_are_given_where_both_sides_are_known() -> None:
    old = [function("f", 1, inclusive=10), function("g", 1, inclusive=10), function("gone", 5, inclusive=6)]
    new = [function("f", 3, inclusive=15), function("g", 4), function("fresh", 90, inclusive=100)]
    rows = {row.name: row.inclusive_change for row in attribute(old, new)}
    assert rows == {"f": 5, "g": None, "gone": -6, "fresh": 100}


@pytest.mark.parametrize(("before", "after"), [(1000, 1010), (1000, 1020), (1020, 1000), (980, 1000), (1000, 980)])
def test_what_has_nearly_the_same_count_in_the_same_file_was_renamed(before: int, after: int) -> None:
    old = [function("parse", before, "./old", "/old/src/p.c"), function("other", 5)]
    new = [function("parse_text", after, "./new", "/new/src/p.c"), function("other", 5)]
    (row,) = attribute(old, new)
    assert (row.status, row.name, row.old_name, row.change) == ("renamed", "parse_text", "parse", after - before)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([function("a", 1000)], [function("b", 1021)]),  # too different
        ([function("a", 1000)], [function("b", 979)]),
        ([function("a", 1000, file="p.c")], [function("b", 1001, file="q.c")]),  # another file
        ([function("a", 1000, file="???")], [function("b", 1001, file="???")]),  # no file
        ([function("a", 1000)], [function("b", 1001), function("c", 999)]),  # it could be either
        ([function("b", 1001), function("c", 999)], [function("a", 1000)]),
    ],
)
def test_nothing_is_called_renamed_that_may_be_something_else(old: list[Function], new: list[Function]) -> None:
    assert {row.status for row in attribute(old, new)} == {"new", "vanished"}


def test_a_renamed_function_that_does_the_same_is_no_row() -> None:
    assert attribute([function("a", 1000)], [function("b", 1000)]) == []


def test_what_is_not_shown_is_summed() -> None:
    rows = attribute([], [function("a", 5), function("b", 4), function("c", 3)])
    some, rest = first_rows(rows, 1)
    assert ([row.name for row in some], rest) == (["a"], Rest(2, 7))
    assert first_rows(rows, 9) == (rows, Rest(0, 0))
    assert first_rows(rows, 0) == ([], Rest(3, 12))


names = st.sampled_from(["f", "f.cold", "f'2", "g", "h::h0123456789abcdef", "0x12", "???", "k@plt", "m", "n"])
functions = st.lists(
    st.builds(
        Function,
        names,
        st.sampled_from(["a.c", "/x/a.c", "b.c", "???", ""]),
        st.sampled_from(["", "???", "./old", "./new", "/lib/x.so", "/opt/x.so"]),
        st.integers(0, 9),
        st.integers(0, 60) | st.integers(0, 10**12),
        st.none() | st.integers(0, 10**12),
    ),
    max_size=14,
)


@given(functions, functions, st.integers(0, 6))
def test_the_changes_add_up_to_the_total_s(old: list[Function], new: list[Function], most: int) -> None:
    rows = attribute(old, new)
    total = sum(function.own for function in new) - sum(function.own for function in old)
    assert sum(row.change for row in rows) == total
    assert all(row.change for row in rows)
    assert [abs(row.change) for row in rows] == sorted((abs(row.change) for row in rows), reverse=True)
    some, rest = first_rows(rows, most)
    assert sum(row.change for row in some) + rest.change == total
    assert len(some) + rest.functions == len(rows)


@given(functions, functions)
def test_the_sides_swapped_mirror_the_rows(old: list[Function], new: list[Function]) -> None:
    there = sorted((row.old_name or row.name, row.change) for row in attribute(old, new))
    back = sorted((row.name, -row.change) for row in attribute(new, old))
    assert there == back


@given(functions)
def test_a_side_against_itself_has_no_rows(same: list[Function]) -> None:
    assert attribute(same, list(reversed(same))) == []
