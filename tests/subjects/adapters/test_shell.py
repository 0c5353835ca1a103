"""Commands that print a time that they measured themselves."""

from __future__ import annotations

import pytest

from steelyard.model.errors import LaunchError
from steelyard.subjects.adapters.shell import Shell, printed_ns
from tests.in_process import InProcess
from tests.subjects.adapters.driven import spec
from tests.tool import rows, sh


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("12 ns", 12),
        ("0.3ns", 0.3),
        ("1.5 us\n", 1500),
        ("1.5 µs", 1500),
        ("1.5 \u03bcs", 1500),
        ("2ms", 2e6),
        ("3 s", 3e9),
        ("3", 3e9),
        ("3.", 3e9),
        (".25", 0.25e9),
        ("1e-3", 1e6),
        ("1.5E+2 ms", 1.5e8),
        ("at 50 %\rat 100 %\r12.3 ms\r\n", 12.3e6),
        ("warming up\n99 problems\n\t7 ms \r\n\n \n", 7e6),
    ],
)
def test_times(text: str, ns: float) -> None:
    assert printed_ns(text) == pytest.approx(ns)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "printed nothing: the last line has to be one number above 0"),
        (" \n\n", "printed nothing"),
        ("time: 3 s", "printed 'time: 3 s' as its last line"),
        ("3 s\ndone", "printed 'done' as its last line"),
        ("rps=0.0 \r  \rGET: 3 rps\n\n", "printed 'GET: 3 rps' as its last line"),
        ("1,5 s", "printed '1,5 s'"),
        ("1 min", "printed '1 min'"),
        ("3 MS", "printed '3 MS'"),
        ("1 2", "printed '1 2'"),
        ("-1 s", "printed '-1 s'"),
        ("nan", "printed 'nan'"),
        ("inf s", "printed 'inf s'"),
        ("\x1b[32m3 s\x1b[0m", "printed '\\x1b[32m3 s"),
        ("٣ s", "printed '٣ s'"),
        ("9" * 100_000 + "x", "printed '9999"),
    ],
)
def test_what_is_no_time(text: str, says: str) -> None:
    with pytest.raises(LaunchError) as caught:
        printed_ns(text)
    assert str(caught.value).startswith(says)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["0", "0.000 ns", "1e999"])
def test_a_number_that_is_no_time(here: InProcess, text: str) -> None:
    sentence = here.refuses("run", "--harness", "shell", f"echo {text}", "--name", "old", status=3)
    assert "old (result) gave a sample that took " in sentence


def test_it_recognises_nothing() -> None:
    assert not Shell().recognises(spec("/bin/sh"))


def test_a_short_time_keeps_its_decimals(here: InProcess) -> None:
    words = ("run", "--harness", "shell", "echo 0.3125 ns", "--launches", "2", "--json", "record.json")
    assert here(*words).status == 0
    assert {sample[0][1] / sample[0][0] for (sample,) in rows(here.json(), "samples")} == {0.3125}


def test_two_commands_are_weighed(here: InProcess) -> None:
    # The printed time counts, not that of the command, which runs once as a trial, and once in each launch.
    old, new = (sh(f'echo run >> log; echo talk; echo "1{number}0.$$ us"') for number in (0, 9))
    files = ("--names", "old,new", "--json", "record.json", "--pairs", "8", "--warmup", "0")
    done = here("compare", "--harness", "shell", old, new, *files)
    assert (done.status, done.err) == (1, b"")
    record = here.json()
    (verdict,) = record["derived"]["verdicts"]
    assert (verdict["benchmark"], verdict["verdict"]) == ("result", "slower")
    assert record["benchmarks"][0]["loops"] is None
    assert all(len(samples) == 1 for (samples,) in rows(record, "samples"))
    assert len(here.lines()) == 2 + len(record["launches"]["pair"])


def test_a_command_that_fails(here: InProcess) -> None:
    sentence = here.refuses("run", "--harness", "shell", sh("echo 3 s; exit 4"), "--name", "old", status=3)
    assert sentence.startswith("old (result) failed with exit status 4")


def test_a_launch_that_prints_none_in_the_middle(here: InProcess) -> None:
    script = sh("echo run >> log; test $(wc -l < log) -eq 5 || echo 1 ms")
    done = here("run", "--harness", "shell", script, "--name", "old", "--launches", "9", "--json", "record.json")
    assert (done.status, done.out) == (3, b"")
    assert "old (result) printed nothing" in done.err.decode()
    # The first launch was the trial; the three after it are kept.
    assert (here.json()["stop"], len(here.json()["launches"]["pair"]), len(here.lines())) == (["failed"], 3, 5)


def test_much_output_before_the_time_is_no_matter(here: InProcess) -> None:
    command = sh("head -c 9000000 /dev/zero; echo; echo 5 us")
    assert here("run", "--harness", "shell", command, "--launches", "2").status == 0
