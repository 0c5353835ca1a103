from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.design.counting.functions import as_columns
from steelyard.measure.count.profile import FunctionCost, Profile, Profiles, read_profile
from steelyard.model.errors import MeasurementError
from steelyard.stats.attribution import Function, attribute, first_rows
from tests import builds
from tests.c_programs import need_valgrind

DATA = Path(__file__).parents[1] / "data" / "profiles"
Read = Callable[[str], Profile]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def write_and_read(text: str) -> Profile:
        path = tmp_path / "profile.out"
        path.write_text(text)
        return read_profile(path)

    return write_and_read


def by_name(profile: Profile) -> dict[str, FunctionCost]:
    assert len({(part.name, part.object) for part in profile.functions}) == len(profile.functions)
    for event, total in profile.events.items():
        assert sum(part.events[event] for part in profile.functions) == total
    return {part.name: part for part in profile.functions}


# --- Cachegrind


def test_cachegrind_3_19_with_its_caches() -> None:
    profile = read_profile(DATA / "cachegrind-3.19-caches.out")
    assert profile.command == "./prog --fast"
    assert list(profile.events) == ["Ir", "I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw"]
    assert profile.events["Ir"] == 165
    assert profile.events["DLmw"] == 1
    parts = by_name(profile)
    # Code of inline.h that was inlined into parse counts as parse's.
    assert parts["parse(char const*)"] == FunctionCost(
        "parse(char const*)",
        "/src/parse.c",
        "",
        12,
        dict(zip(profile.events, [130, 3, 2, 40, 4, 1, 20, 2, 1], strict=True)),
        None,
    )
    assert (parts["???"].file, parts["???"].line) == ("???", 0)
    assert [part.events["Ir"] for part in profile.functions] == [130, 20, 15]


def test_cachegrind_3_22_counts_instructions_alone() -> None:
    profile = read_profile(DATA / "cachegrind-3.22.out")
    assert profile.events == {"Ir": 41}
    parts = by_name(profile)
    assert (parts["(below main)"].line, parts["main"].events["Ir"]) == (2, 30)
    assert all(part.inclusive is None for part in profile.functions)


def test_columns_go_by_the_header_and_short_lines_end_in_zeros(read: Read) -> None:
    profile = read("desc: x\ncmd: a\nevents: Dr Ir Dw\nfl=a.c\nfn=f\n3 1 2 3\n4 5 6\n5 7\n6\nsummary: 13 8 3\n")
    (part,) = profile.functions
    assert part.events == {"Dr": 13, "Ir": 8, "Dw": 3}
    assert part.line == 4


def test_header_lines_that_are_not_known_are_skipped(read: Read) -> None:
    head = "invention: 1 2\ncmd: a\nnew-key: fn=x\nevents: Ir\n# remark\n"
    profile = read(head + "fl=a:b.c\nfn=x::f: g=h\n3 1\nlater: 3\nsummary: 1\n")
    assert (profile.command, [(part.name, part.file) for part in profile.functions]) == ("a", [("x::f: g=h", "a:b.c")])


def test_a_command_may_have_several_lines(read: Read) -> None:
    profile = read("cmd: python -c import x\nfn=3\n\n12 5\nprint(x)\nevents: Ir\nfl=a.c\nfn=f\n3 1\nsummary: 1\n")
    assert profile.command == "python -c import x\nfn=3\n12 5\nprint(x)"
    assert profile.events == {"Ir": 1}


def test_names_that_are_no_utf_8_can_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "profile.out"
    path.write_bytes(b"cmd: a\nevents: Ir\nfl=\xff.c\nfn=f\x0c\x85\n3 1\nsummary: 1\n")
    found = as_columns(read_profile(path).functions, (0, 1))
    assert (found.file, found.name) == (["\\xff.c"], ["f\x0c\\x85"])
    assert type(found).model_validate_json(found.model_dump_json()) == found


# --- Callgrind


def test_callgrind_3_19_with_compressed_names_and_positions() -> None:
    profile = read_profile(DATA / "callgrind-3.19.out")
    assert (profile.command, profile.events) == ("./prog", {"Ir": 400})
    parts = by_name(profile)
    main, fib = parts["main"], parts["fib"]
    assert (main.file, main.line, main.object) == ("/src/main.c", 12, "/bin/prog")
    assert (main.events["Ir"], main.inclusive) == (30, 400)
    # The inclusive cost of the first activation contains the deeper ones.
    assert (fib.events["Ir"], fib.inclusive, fib.line) == (270, 370, 3)
    assert (parts["memcpy"].object, parts["memcpy"].file) == ("/lib/libc.so.6", "???")
    assert "fib'2" not in parts


def test_functions_that_call_each_other_are_counted_once(read: Read) -> None:
    profile = read(
        "version: 1\ncreator: callgrind-3.22.0\npositions: line\nevents: Ir\nsummary: 100\n\n"
        "fl=a.c\nfn=main\n1 10\ncfn=even\ncalls=1 5\n1 90\n\n"
        "fn=even\n5 20\ncfn=odd\ncalls=1 9\n5 70\n\nfn=even'2\n5 30\ncfn=odd'2\ncalls=4 9\n5 25\n\n"
        "fn=odd\n9 20\ncfn=even'2\ncalls=1 5\n9 50\n\nfn=odd'2\n9 20\ncfn=even'2\ncalls=4 5\n9 40\n\ntotals: 100\n"
    )
    assert {name: part.inclusive for name, part in by_name(profile).items()} == {"main": 100, "even": 90, "odd": 70}


BARE = "# callgrind format\nversion: 1\ncreator: callgrind\nevents: Ir\n\n"


def test_a_call_to_itself_is_within_it_already(read: Read) -> None:
    profile = read(
        BARE + "fl=a.c\nfn=main\n9 80\nfn=f\n1 10\ncfn=f\ncalls=3 1\n1 25\ncfn=g\ncalls=3 1\n1 5\n"
        "fn=g\n1 5\ntotals: 95\n"
    )
    assert {name: part.inclusive for name, part in by_name(profile).items()} == {"main": 80, "f": 15, "g": 5}


def test_the_line_of_a_function_is_that_of_its_own_instructions_and_the_one_with_the_most_is_first(read: Read) -> None:
    profile = read(
        BARE + "fl=a.c\nfn=f\n3 10\n4 5\ncfn=g\ncalls=1 9\n4 90\njfn=(1) h\njump=1 20\n4\n"
        "fn=g\n9 40\nfn=(1)\n20 35\ntotals: 90\n"
    )
    found = [(part.name, part.line, part.events["Ir"]) for part in profile.functions]
    assert found == [("g", 9, 40), ("h", 20, 35), ("f", 3, 15)]


def test_an_impossible_sum_stays_within_the_total(read: Read) -> None:
    profile = read(BARE + "fl=a.c\nfn=f\n1 10\ncfn=g\ncalls=3 1\n1 99\nfn=g\n1 5\ntotals: 15\n")
    assert {name: part.inclusive for name, part in by_name(profile).items()} == {"f": 15, "g": 5}


def test_a_callee_of_the_same_name_in_another_object_is_another_function(read: Read) -> None:
    profile = read(
        BARE + "ob=(1) /p\nfl=(1) a.c\nfn=(1) f\n1 10\ncob=(2) /q\ncfi=(2) b.c\ncfn=(2) f\ncalls=1 1\n* 5\n"
        "cfn=(1)\ncalls=1 1\n* 7\n\nob=(2)\nfl=(2)\nfn=(2)\n1 5\nfn=(3) g\n1 80\ntotals: 95\n"
    )
    found = {(part.name, part.object, part.file): part.inclusive for part in profile.functions}
    assert found == {("f", "/p", "a.c"): 15, ("f", "/q", "b.c"): 5, ("g", "/q", "b.c"): 80}


def test_instructions_jumps_and_relative_lines(read: Read) -> None:
    profile = read(
        "# callgrind format\nversion: 1\ncreator: callgrind-3.26.0\npid: 7\ncmd:  ./a\npart: 1\n\n\n"
        "desc: Trigger: Program termination\n\npositions: instr line\nevents: Ir\nsummary: 69\n\n\n"
        "ob=(8) ???\nfl=(1) a.c\nfn=(1) f\n0x1452 439 8\n+2 * 8\njfi=(2) b.h\njump=8 0x1628 137\n* *\n"
        "fi=(2)\n+17 +47 3\njcnd=127/127 +55 +6\n* *\nfe=(1)\n-3 -44 50\n\ntotals: 69\n"
    )
    (part,) = profile.functions
    assert (part.file, part.line, part.object, part.events) == ("a.c", 442, "", {"Ir": 69})


def test_without_lines_none_is_known_and_what_is_left_out_at_the_end_is_zero(read: Read) -> None:
    head = BARE.replace("events: Ir", "positions: instr\nevents: Ir Dr")
    profile = read(head + "fl=a.c\nfn=f\n0x10 4\n+2 3\ntotals: 7\n")
    assert (profile.events, profile.functions[0].line) == ({"Ir": 7, "Dr": 0}, 0)


def test_parts_of_one_file_are_added_up(read: Read) -> None:
    part = (
        "version: 1\ncreator: callgrind-3.15.0\ncmd: a\npart: {}\npositions: line\nevents: Ir Dr\nsummary: {} 1\n\n"
        "fl=(1) a.c\nfn=(1) f\n4 {} 1\n\ntotals: {} 1\n\n"
    )
    profile = read(part.format(1, 10, 10, 10) + part.format(2, 7, 7, 7))
    assert profile.events == {"Ir": 17, "Dr": 2}
    assert profile.functions[0].inclusive == 17


# --- what cannot be read


@pytest.mark.parametrize("name", ["cachegrind-3.22.out", "callgrind-3.19.out"])
def test_a_file_that_was_cut_anywhere_is_an_error(name: str, tmp_path: Path) -> None:
    text = (DATA / name).read_text().rstrip("\n")
    path = tmp_path / "cut.out"
    for length in range(0, len(text), 3):
        path.write_text(text[:length])
        with pytest.raises(MeasurementError, match="count again") as caught:
            read_profile(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_cut_file_says_that_it_was_cut(read: Read) -> None:
    with pytest.raises(MeasurementError, match=r"profile\.out was cut short"):
        read("cmd: a\nevents: Ir\nfl=a.c\nfn=f\n3 1\n")
    with pytest.raises(MeasurementError, match=r"profile\.out was cut short"):
        read("version: 1\ncreator: callgrind\nevents: Ir\nsummary: 9\n\nfl=a.c\nfn=f\n3 1\n")
    with pytest.raises(MeasurementError, match="is no profile"):
        read("")


def test_a_sum_that_does_not_match_is_an_error(read: Read) -> None:
    with pytest.raises(MeasurementError, match=r"1,234 Ir and its summary says 1,235"):
        read("cmd: a\nevents: Ir\nfl=a.c\nfn=f\n3 1234\nsummary: 1235\n")


@pytest.mark.parametrize(
    "line",
    [
        "3 4 5",
        "3 x",
        "+ 1",
        "fn=(99)",
        "nonsense",
        "3 99999999999999x",
        "\x00\x01",
        "summary: 1 2",
        "events: Dr",
        "events: Ir Dr",
    ],
)
def test_a_line_that_nobody_writes_is_named(read: Read, line: str) -> None:
    with pytest.raises(MeasurementError, match=r"line 5 of .*profile"):
        read(f"cmd: a\nevents: Ir\nfl=a.c\nfn=f\n{line}\nsummary: 0\n")


def test_other_files_are_refused(read: Read, tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="line 1 of"):
        read("\x7fELF\x02\x01\n")
    with pytest.raises(MeasurementError, match="cannot read the profile"):
        read_profile(tmp_path / "missing")
    with pytest.raises(MeasurementError, match="cannot read the profile"):
        read_profile(tmp_path)
    with pytest.raises(MeasurementError, match="line 3 of"):
        read("cmd: a\nevents: Ir\n3 1\nsummary: 1\n")


def test_files_of_equal_contents_are_read_once(tmp_path: Path) -> None:
    profiles = Profiles()
    content = "cmd: a\nevents: Ir\nfl=a.c\nfn=f\n3 {0}\nsummary: {0}\n"
    for name, count in (("one", 1), ("again", 1), ("other", 2)):
        (tmp_path / name).write_text(content.format(count))
    one, again, other = (profiles.read(tmp_path / name) for name in ("one", "again", "other"))
    assert one is again
    assert (one.events, other.events) == ({"Ir": 1}, {"Ir": 2})
    for number in range(100):
        (tmp_path / "more").write_text(content.format(number))
        assert profiles.read(tmp_path / "more").events == {"Ir": number}
    with pytest.raises(MeasurementError, match="cannot read the profile"):
        profiles.read(tmp_path / "missing")


def test_a_profile_of_nothing_has_no_functions(read: Read) -> None:
    profile = read("cmd: a\nevents: Ir\nsummary: 0\n")
    assert (profile.events, profile.functions) == ({"Ir": 0}, [])
    assert as_columns(profile.functions, (0, 0)).inclusive is None


costs = st.dictionaries(st.integers(0, 50), st.integers(1, 10**12), min_size=1, max_size=5)


@given(st.dictionaries(st.tuples(st.sampled_from("abc"), st.sampled_from("fgh")), costs, max_size=9))
def test_whatever_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, written: dict[tuple[str, str], dict[int, int]]
) -> None:
    lines = ["cmd: a", "events: Ir"]
    for (file, name), places in written.items():
        lines += [f"fl={file}", f"fn={name}", *(f"{line} {count}" for line, count in places.items())]
    total = sum(sum(places.values()) for places in written.values())
    path = tmp_path_factory.getbasetemp() / "written.out"
    path.write_text("\n".join([*lines, f"summary: {total}", ""]))
    parts = by_name(read_profile(path))
    for name, part in parts.items():
        files = {file: places for (file, each), places in written.items() if each == name}
        assert part.events["Ir"] == sum(sum(places.values()) for places in files.values())
        assert sum(files[part.file].values()) == max(sum(places.values()) for places in files.values())
        assert files[part.file][part.line] == max(files[part.file].values())


# --- the tools themselves

FUNCTIONS = 50
PLANTED = 37


def rounds() -> list[str]:
    """Return how often each function loops; one of them `planted` times, as the argument says."""
    return ["planted" if number == PLANTED else str(5 + number % 7) for number in range(FUNCTIONS)]


def c_source() -> str:
    """Return a program of 50 functions, each with a loop."""
    bodies = [
        f"__attribute__((noinline)) unsigned work_{number}(unsigned x) {{\n"
        f"    for (int i = 0; i < {times}; i++) x = x * {2 * number + 3}u + (x >> 3);\n"
        "    return x;\n}"
        for number, times in enumerate(rounds())
    ]
    calls = "\n".join(f"    x = work_{number}(x);" for number in range(FUNCTIONS))
    main = "int main(int argc, char **argv) {\n    unsigned x = 1;\n    planted = atoi(argv[argc - 1]);"
    return "\n".join(["#include <stdlib.h>\nint planted;", *bodies, f"{main}\n{calls}\n    return x == 7;\n}}", ""])


def rust_source() -> str:
    bodies = [
        f"#[inline(never)]\nfn work_{number}(mut x: u32, planted: u32) -> u32 {{\n"
        f"    for _ in 0..std::hint::black_box({times}) {{ x = x.wrapping_mul({2 * number + 3}) ^ (x >> 3); }}\n"
        "    x + planted\n}"
        for number, times in enumerate(rounds())
    ]
    calls = "\n".join(f"    x = work_{number}(x, planted);" for number in range(FUNCTIONS))
    planted = "let planted: u32 = std::env::args().nth(1).unwrap().parse().unwrap();"
    main = f"fn main() {{\n    let mut x = 1u32;\n    {planted}\n{calls}\n    std::process::exit((x == 7) as i32);\n}}"
    return "\n".join([*bodies, main, ""])


COMPILERS: dict[str, tuple[list[str], str, Callable[[], str]]] = {
    "C": (["cc", "-O1", "-g", "-o"], "prog.c", c_source),
    "C++": (["c++", "-O1", "-g", "-o"], "prog.cc", c_source),
    "Rust": (["rustc", "-Copt-level=1", "-g", "-o"], "prog.rs", rust_source),
}


def built(language: str, folder: Path) -> Path:
    """Return a program in a folder of its own, where its counts are put, too."""
    command, name, source = COMPILERS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")

    def make(place: Path) -> None:
        (place / name).write_text(source())
        subprocess.run([*command, "prog", name], cwd=place, check=True, capture_output=True, timeout=60)

    made = builds.built(f"profiled-{language}", make, *command, name, source())
    return Path(shutil.copytree(made, folder)) / "prog"


def counted(program: Path, tool: str, planted: str) -> Profile:
    out = program.parent / f"{tool}-{planted}.out"
    flags = [f"--tool={tool}", "--cache-sim=no", f"--{tool}-out-file={out}"]
    # The same environment and length of the argument on both sides, because the start-up code is counted, too.
    subprocess.run(
        ["valgrind", *flags, "./prog", planted],
        cwd=program.parent,
        check=True,
        capture_output=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin"},
    )
    return read_profile(out)


def functions(profile: Profile) -> list[Function]:
    return [
        Function(part.name, part.file, part.object, part.line, part.events["Ir"], part.inclusive)
        for part in profile.functions
    ]


@pytest.fixture(scope="module", params=COMPILERS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_valgrind()
    return built(request.param, tmp_path_factory.mktemp("programs") / "built")


@pytest.mark.parametrize("tool", ["cachegrind", "callgrind"])
def test_a_planted_change_is_the_first_row_and_all_of_it(program: Path, tool: str) -> None:
    old, new = (counted(program, tool, planted) for planted in ("0040", "2000"))
    rows = attribute(functions(old), functions(new))
    change = new.events["Ir"] - old.events["Ir"]
    first = rows[0]
    assert f"work_{PLANTED}" in first.name
    assert first.status == "changed"
    assert Path(first.file).name.startswith("prog.")
    assert first.line > 0
    assert first.change > 0
    assert sum(row.change for row in rows) == change
    some, rest = first_rows(rows, 1)
    assert some[0].change + rest.change == change
    if tool == "callgrind":
        main = next(part for part in new.functions if part.name.removeprefix("prog::") in ("main", "main()"))
        assert first.inclusive_change == first.change
        assert main.inclusive is not None
        assert main.inclusive > FUNCTIONS * 5 > main.events["Ir"] / 5
