from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.errors import LaunchError, UsageError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.report import figures
from steelyard.subjects.harness import Listed, Work, harness_named
from steelyard.subjects.protocol import VERSION, ProtocolHarness
from tests.design.scripted import PLAIN

HELLO, END = {"steelyard": VERSION, "harness": "made up"}, {"end": True}
WORK = Work("sort", loops=10, samples=2, seed=7)
GOOD = [{"loops": 10, "ns": 15_000, "cpu_ns": 14_000, "delay_ns": 100}, {"ns": 16_000.4}]
HARNESS = ProtocolHarness()
LARGEST = 4 << 20


def wrote(*lines: Any, **changes: Any) -> Measured:
    """Return a launch that wrote these lines: text as it is, anything else as JSON."""
    return raw(*(line if isinstance(line, str) else json.dumps(line) for line in lines), **changes)


def raw(*lines: str, **changes: Any) -> Measured:
    results = "".join(f"{line}\n" for line in lines).encode()
    return replace(PLAIN, results=results, results_bytes=len(results), **changes)


def listed(*names: Any, **fields: Any) -> list[Listed]:
    return HARNESS.listed(wrote(HELLO, *({"benchmark": name, **fields} for name in names), END))


def samples(*lines: Any) -> tuple[Sample, ...]:
    return HARNESS.samples(wrote(HELLO, *lines, END), Work("sort", 10, len(lines)))


def refusal(measured: Measured, work: Work | None = None) -> str:
    """Return the refusal of an answer that is no list, or no samples: one line of a sensible length."""
    with pytest.raises(LaunchError) as refused:
        HARNESS.listed(measured) if work is None else HARNESS.samples(measured, work)
    sentence = str(refused.value)
    assert len(sentence) < 600
    assert "\n" not in sentence
    return sentence


# --- the words


def test_our_words_follow_the_user_s() -> None:
    launch = LaunchSpec(b"/bin/suite", (b"suite", b"--fast"), (b"A=1",))
    assert HARNESS.listing(launch) == replace(
        launch,
        argv=(b"suite", b"--fast", b"--steelyard-protocol=1", b"--steelyard-fd=3", b"--steelyard-list"),
        results=LARGEST,
    )
    words = HARNESS.running(launch, WORK).argv[2:]
    assert words == (
        b"--steelyard-protocol=1",
        b"--steelyard-fd=3",
        b"--steelyard-run=sort",
        b"--steelyard-loops=10",
        b"--steelyard-samples=2",
        b"--steelyard-seed=7",
    )


def test_others_run_before_where_the_harness_says_that_it_can() -> None:
    harness = ProtocolHarness()
    for hello, can in ((HELLO, False), ({**HELLO, "before": 1}, False), ({**HELLO, "before": True}, True)):
        harness.listed(wrote(hello, {"benchmark": "a"}, END))
        assert harness.runs_before is can
    launch = harness.running(LaunchSpec(b"/bin/suite", (), ()), replace(WORK, before=(("a:b", 3), ("c", 1))))
    assert launch.argv[-2:] == (b"--steelyard-before=3:a:b", b"--steelyard-before=1:c")


def test_a_launch_beside_another_is_told_whose_turn_it_is() -> None:
    launch = LaunchSpec(b"/bin/suite", (), ())
    asked = HARNESS.running(launch, replace(WORK, orders="01"))
    assert asked.argv[-1] == b"--steelyard-lockstep=4:01"
    assert (asked.lockstep, HARNESS.running(launch, WORK).lockstep) == (True, False)


@pytest.mark.parametrize(
    "name", ["a b", "--steelyard-list", "x=y=z", "größe/日本", "'\"`$(x)", "*[?]\\", "e\u0301\u200d"]
)
def test_a_name_is_one_word_whatever_is_in_it(name: str) -> None:
    words = HARNESS.running(LaunchSpec(b"p", (b"p",), ()), Work(name, 1, 1)).argv
    assert f"--steelyard-run={name}".encode() in words
    assert len(words) == 7


# --- the list


def test_the_list_keeps_its_order_tags_and_params() -> None:
    fields = {"tags": ["slow", 5], "params": {"n": 10}, "source": "a.c:3", "colour": None}
    assert listed("b", "a", **fields) == [
        Listed("b", ("slow", "5"), {"n": "10"}),
        Listed("a", ("slow", "5"), {"n": "10"}),
    ]
    assert listed("b", tags=None, params=None) == [Listed("b")]


def test_lines_that_are_no_benchmark_are_for_later_versions() -> None:
    assert HARNESS.listed(wrote(HELLO, {"group": "x"}, {"benchmark": "a"}, "", END)) == [Listed("a")]


def test_an_empty_list_is_one() -> None:
    assert listed() == []


NAMES = [
    "a b",
    " a ",
    "'",
    '"',
    "a/b\\c",
    ".*[x]^$",
    "größe",
    "日本語",
    "🦀",
    "e\u0301",
    "👩\u200d🚀",
    "a\u00a0b",
    "\u202e",
    "x" * 500,
]


def test_any_text_is_a_name() -> None:
    assert [benchmark.name for benchmark in listed(*NAMES)] == NAMES


@given(st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=100))
def test_any_text_at_all_is_a_name(name: str) -> None:
    assert listed(name) == [Listed(name)]


@pytest.mark.parametrize(
    "name",
    ["", "a\nb", "a\0b", "\x1b[31m", "a\x7f", "\x85", "\ud800", "x" * 501, "é" * 251, 5, None, ["a"], "x\t" * 10_000],
)
def test_what_is_no_name(name: Any) -> None:
    sentence = refusal(wrote(HELLO, {"benchmark": name}, END))
    assert "a name is 1 to 500 bytes of text without control characters" in sentence


def test_two_of_one_name_are_refused_and_cases_are_not_alike() -> None:
    assert 'lists "b" twice' in refusal(wrote(HELLO, *({"benchmark": name} for name in "abcb"), END))
    assert len(listed("a", "A", "a ")) == 3


def test_a_long_list_is_read_at_once() -> None:
    names = [f"benchmark {number}" for number in range(50_000)]
    assert [benchmark.name for benchmark in listed(*names)] == names


def test_tags_and_params_that_are_no_text_are_as_json_writes_them() -> None:
    params = {"a": None, "b": True, "c": False, "d": 1.5, "e": ["é", None], "f": "None"}
    (found,) = listed("a", tags=[True, None], params=params)
    assert found.tags == ("true", "null")
    assert found.params == {"a": "null", "b": "true", "c": "false", "d": "1.5", "e": '["é", null]', "f": "None"}


@pytest.mark.parametrize("fields", [{"tags": "slow"}, {"tags": {"a": 1}}, {"params": ["n"]}, {"params": "n"}], ids=str)
def test_tags_and_params_of_another_kind_are_refused(fields: dict[str, Any]) -> None:
    assert "with tags that are no list, or params that are no object" in refusal(
        wrote(HELLO, {"benchmark": "a", **fields}, END)
    )


# --- the samples


def test_samples_come_in_their_order() -> None:
    assert HARNESS.samples(wrote(HELLO, *GOOD, END), WORK) == (
        Sample(10, 15_000, 14_000, 100),
        Sample(10, 16_000, None, None),
    )


def test_samples_in_turn_have_an_order_and_one_that_was_taken_alone_has_none() -> None:
    taken = wrote(HELLO, {"ns": 5, "order": 1}, {"ns": 6}, END)
    in_turn = HARNESS.samples(taken, replace(WORK, orders="10"))
    assert [sample.order for sample in in_turn] == [1, None]
    assert [sample.order for sample in HARNESS.samples(taken, WORK)] == [None, None], "it was not asked for"


@pytest.mark.parametrize("order", [2, -1, True, "0", 1.0, []])
def test_another_order_is_refused(order: object) -> None:
    taken = wrote(HELLO, *[{"ns": 5, "order": order}] * 2, END)
    with pytest.raises(LaunchError, match="whose order is"):
        HARNESS.samples(taken, replace(WORK, orders="01"))


def test_a_turn_that_was_another_s_is_refused() -> None:
    taken = wrote(HELLO, {"ns": 5, "order": 0}, {"ns": 6, "order": 0}, END)
    assert "the order 0 of sample 2, where 1 was asked for" in refusal(taken, replace(WORK, orders="01"))


@pytest.mark.parametrize(("ns", "kept"), [(1, 1), (0.2, 1), (1.5, 2), (2**63 - 1, 2**63 - 1), (1e3, 1000), (5e-324, 1)])
def test_times_are_whole_and_at_least_one(ns: float, kept: int) -> None:
    assert samples({"ns": ns})[0].ns == kept


@pytest.mark.parametrize(
    "ns",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "-1e999",
        "null",
        "-5",
        "0",
        "0.0",
        '"1000"',
        "true",
        "[]",
        "{}",
        str(2**63),
        "1e300",
        "9" * 4000,
        f'"{"9" * 10_000}"',
    ],
)
def test_what_is_no_time(ns: str) -> None:
    sentence = refusal(wrote(HELLO, f'{{"ns": {ns}}}', END), Work("sort", 1, 1))
    shown = "Infinity" if ns == "1e999" else "-Infinity" if ns == "-1e999" else ns
    assert f"that took {shown[:80].replace('1e300', '1e+300')} ns: a time has to be a number above 0" in sentence


def test_a_sample_without_its_time() -> None:
    assert "that took null ns" in refusal(wrote(HELLO, {"loops": 5}, END), Work("sort", 1, 1))


@pytest.mark.parametrize("loops", [0, -1, 1.0, True, "5", None, 2**63], ids=str)
def test_what_is_no_number_of_loops(loops: Any) -> None:
    assert f"with {json.dumps(loops)} loops: they have to be an integer above 0" in refusal(
        wrote(HELLO, {"ns": 5, "loops": loops}, END), Work("sort", 1, 1)
    )


@pytest.mark.parametrize("field", ["cpu_ns", "delay_ns"])
@pytest.mark.parametrize("value", [-1, 0.5, True, "0", [], 2**63], ids=str)
def test_what_is_no_time_of_the_kernel(field: str, value: Any) -> None:
    sentence = refusal(wrote(HELLO, {"ns": 5, field: value}, END), Work("sort", 1, 1))
    assert f"whose {field} is {json.dumps(value)}: it has to be an integer from 0" in sentence


@pytest.mark.parametrize("field", ["cpu_ns", "delay_ns"])
def test_times_of_the_kernel_may_be_zero_or_not_known(field: str) -> None:
    assert getattr(samples({"ns": 5, field: 0})[0], field) == 0
    assert getattr(samples({"ns": 5, field: None})[0], field) is None


def test_a_wait_that_was_read_beside_the_sample_was_not_in_it() -> None:
    assert [samples({"ns": 100, "delay_ns": delay})[0].delay_ns for delay in (99, 100, 1000)] == [99, 0, 0]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_samples_than_was_asked_for(count: int) -> None:
    sentence = refusal(wrote(HELLO, *GOOD[:1] * count, END), WORK)
    assert sentence.startswith(f"gave {figures.count(count, 'sample')} where 2 were asked for")


@pytest.mark.parametrize(
    ("line", "work"),
    [
        ('{"loops": 1, "ns": "5"}', WORK),
        ('{"loops": "1", "ns": 5}', WORK),
        ('{"ns": 5, "cpu_ns": -1}', WORK),
        ('{"ns": 5, "order": 2}', replace(WORK, orders="01")),
        ('{"benchmark": "a", "tags": "x"}', None),
        ('{"benchmark": ""}', None),
    ],
)
def test_what_is_refused_of_a_line_names_and_shows_the_line(line: str, work: Work | None) -> None:
    good = {"benchmark": "b"} if work is None else {"ns": 5}
    assert refusal(wrote(HELLO, good, "", line, END), work).endswith(f"; line 4 reads {line!r}")


@pytest.mark.parametrize(
    ("stderr", "says"),
    [
        (b"ERROR: file or directory not found: x.py\n\n", "file or directory not found: x.py"),
        (
            b"ERROR: usage: python -m pytest [options]\npython -m pytest: error: unrecognized arguments: --cov\n"
            b"  inifile: None\n  rootdir: /tmp\n\n",
            "unrecognized arguments: --cov",
        ),
        (b"", "see what it printed"),
    ],
)
def test_what_pytest_printed_is_said_where_our_plugin_points_to_it(stderr: bytes, says: str) -> None:
    told = {"error": "pytest ended before it came to this: see what it printed"}
    complaint = HARNESS.complaint(wrote(HELLO, told, END, exit_code=4, stderr=stderr))
    assert complaint == f"says: pytest ended before it came to this: {says}"


@pytest.mark.parametrize("error", [None, False])
def test_a_field_of_no_error_is_none(error: object) -> None:
    assert len(samples({"ns": 5, "error": error})) == 1


# --- answers that are none


NO_ANSWERS: dict[str, tuple[Measured, str]] = {
    "no hello": (wrote({"benchmark": "a"}, END), "something else than the hello"),
    "a hello of words": (wrote({"steelyard": "1"}, END), "something else than the hello"),
    "a hello of truth": (wrote({"steelyard": True}, END), "something else than the hello"),
    "newer": (
        wrote({"steelyard": 2}, END),
        "speaks version 2 of the harness protocol, and this steelyard version 1: upgrade steelyard",
    ),
    "much newer": (raw(f'{{"steelyard": {"9" * 4000}}}'), "upgrade steelyard"),
    "older": (wrote({"steelyard": 0}, END), "upgrade its harness library"),
    "no end": (wrote(HELLO, *GOOD), "cut its results off"),
    "a hello alone": (wrote(HELLO), "cut its results off"),
    "an end that is none": (wrote(HELLO, *GOOD, {"end": False}), "cut its results off"),
    "lines after the end": (wrote(HELLO, END, *GOOD), "wrote more after its end, as if it had answered twice; line 3"),
    "an end within": (wrote(HELLO, END, *GOOD, END), "wrote more after its end, as if it had answered twice; line 3"),
    "two ends": (wrote(HELLO, *GOOD, END, END), "wrote more after its end"),
    "an error without a word": (
        wrote(HELLO, *GOOD, {"error": ""}, END),
        'told of an error without a word of it; line 4 reads \'{"error": ""}\'',
    ),
    "half a line": (raw(json.dumps(HELLO), '{"end": tr'), "no JSON, in line 2: '{\"end\": tr'"),
    "words": (raw("Running 3 benchmarks"), "no JSON, in line 1: 'Running 3 benchmarks'"),
    "colours": (raw("\x1b[31mred\x1b[0m"), "no JSON, in line 1: '\\x1b[31mred\\x1b[0m'"),
    "another encoding": (replace(PLAIN, results=b'{"steelyard": 1, "x": "\xff"}\n'), "no JSON, in line 1"),
    "a mark of the byte order": (raw("\ufeff{}"), "no JSON, in line 1"),
    "a number": (raw("5"), "no JSON object, in line 1: '5'"),
    "deeply nested": (raw("[" * 1_000_000), "no JSON, in line 1: '[[["),
    "deeply nested objects": (raw('{"a":' * 200_000), "no JSON, in line 1"),
    "a number without end": (raw(f'{{"steelyard": {"9" * 1_000_000}}}'), "no JSON, in line 1"),
    "megabytes": (replace(wrote(HELLO, END), results_bytes=LARGEST + 1), "wrote 4,194,305 bytes of results"),
}


@pytest.mark.parametrize(
    ("work", "says"),
    [(None, "it does not speak the harness protocol"), (WORK, "does what it measures end the process?")],
    ids=["list", "run"],
)
@pytest.mark.parametrize("measured", [wrote(), replace(PLAIN, results=None), raw("", "  ")])
def test_no_answer_at_all(measured: Measured, says: str, work: Work | None) -> None:
    assert says in refusal(measured, work)


@pytest.mark.parametrize("work", [None, WORK], ids=["list", "run"])
@pytest.mark.parametrize(("measured", "says"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_an_answer_that_is_none(measured: Measured, says: str, work: Work | None) -> None:
    assert says in refusal(measured, work)


@given(
    st.binary(max_size=200)
    | st.lists(
        st.sampled_from(
            [
                b'{"steelyard": 1}',
                b'{"ns": 5}',
                b'{"benchmark": "a"}',
                b"{}",
                b"[]",
                b'{"end": true}',
                b'{"error": []}',
                b'{"error": 5}',
            ]
        ),
        max_size=6,
    ).map(b"\n".join)
)
def test_whatever_is_written_is_read_or_refused(results: bytes) -> None:
    measured = replace(PLAIN, results=results, results_bytes=len(results))
    HARNESS.complaint(measured)
    for read in (HARNESS.listed, lambda given: HARNESS.samples(given, WORK)):
        with suppress(LaunchError):
            read(measured)


# --- what it says of itself


def test_an_error_is_what_counts() -> None:
    error = {"error": "no benchmark is called 'x'"}
    for measured in (
        wrote(HELLO, error, END),
        wrote(HELLO, *GOOD, error),
        wrote({"steelyard": 2}, error),
        wrote(error),
    ):
        assert HARNESS.complaint(measured) == "says: no benchmark is called 'x'"
        assert refusal(measured) == refusal(measured, WORK) == "says: no benchmark is called 'x'"


def test_an_error_among_what_is_no_answer_is_found_once_the_launch_failed() -> None:
    assert HARNESS.complaint(raw("Starting ...", '{"error": "no memory"}', '{"loo')) == "says: no memory"


@pytest.mark.parametrize(
    ("error", "said"),
    [("x" * 10_000, "x" * 300), ({"a": [1, "\n"]}, '{"a": [1, "\\n"]}'), (5, "5")],
    ids=["long", "object", "number"],
)
def test_an_error_of_any_kind_is_short_text(error: Any, said: str) -> None:
    assert HARNESS.complaint(wrote(HELLO, {"error": error})) == f"says: {said}"


def test_a_harness_that_leaves_because_of_our_version_says_so() -> None:
    assert HARNESS.complaint(wrote({"steelyard": 2}, exit_code=2)) == (
        "speaks version 2 of the harness protocol, and this steelyard version 1: upgrade steelyard"
    )


@pytest.mark.parametrize("missing", ["steelyard", "steelyard.harness"])
@pytest.mark.parametrize("bracket", ["", ")"])
def test_a_python_that_lacks_our_harness_is_named(missing: str, bracket: str) -> None:
    stderr = f"Traceback ...\nModuleNotFoundError: No module named '{missing}'{bracket}\n".encode()
    said = HARNESS.complaint(replace(PLAIN, exit_code=1, stderr=stderr))
    assert said is not None
    assert said.startswith("says that its Python has no module steelyard: install steelyard for that Python, ")
    assert said.endswith("which has to be 3.11 or later")
    for other in (stderr.replace(b"steelyard", b"steelyards"), stderr + b"and more\n"):
        assert HARNESS.complaint(replace(PLAIN, exit_code=1, stderr=other)) is None


def test_a_pytest_that_lacks_our_plugin_is_told_of() -> None:
    stderr = (
        b"ERROR: usage: python -m pytest [options] [file_or_dir] [file_or_dir] [...]\n"
        b"python -m pytest: error: unrecognized arguments: --steelyard-protocol=1 --steelyard-fd=3 --steelyard-list\n"
        b"  inifile: None\n  rootdir: /project\n\n"
    )
    said = HARNESS.complaint(replace(PLAIN, exit_code=4, stderr=stderr)) or ""
    assert said.startswith("says that its pytest does not know steelyard: install steelyard for that Python")
    other = stderr.replace(b"  rootdir: /project\n", b"")  # from a script that reads its arguments itself
    assert HARNESS.complaint(replace(PLAIN, exit_code=2, stderr=other)) is None


@pytest.mark.parametrize(
    "measured", [wrote(), wrote(HELLO, END), raw("{"), raw("[]"), wrote({"error": ""}), wrote({"error": None})]
)
def test_no_complaint(measured: Measured) -> None:
    assert HARNESS.complaint(measured) is None


# --- which harness


def test_a_script_that_only_declares_benchmarks_is_told_how_they_run(tmp_path: Path) -> None:
    (tmp_path / "bench_sort.py").write_text("from steelyard import bench\n\n@bench\ndef one(): ...\n")
    spec = LaunchSpec(
        program=b"/usr/bin/python", argv=(b"python", b"bench_sort.py"), env=(), cwd=str(tmp_path).encode()
    )
    harness = ProtocolHarness()
    assert harness.recognises(spec), "wherever this process is"
    harness.listing(spec)
    with pytest.raises(LaunchError, match=r"wrote no results: .* is run by python -m steelyard.harness bench_sort.py"):
        harness.listed(wrote())
    harness.listing(replace(spec, argv=(b"python", b"-m", b"steelyard.harness", b"bench_sort.py")))
    with pytest.raises(LaunchError, match="it does not speak the harness protocol"):
        harness.listed(wrote())


def test_harnesses_go_by_name() -> None:
    assert isinstance(harness_named("protocol"), ProtocolHarness)
    with pytest.raises(UsageError, match=r"--harness .abacus. is not known: choose from auto, .*protocol"):
        harness_named("abacus")
