"""The request and its settings that a command line makes, without measuring anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.api.settings import settings_of
from steelyard.api.untimed import WHY_NOT_FOR_COUNTS
from steelyard.cli.app import run
from steelyard.cli.check_options import CheckOptions
from steelyard.cli.compare_options import CompareOptions
from steelyard.cli.count import CountOptions
from steelyard.cli.options import JudgingOptions
from steelyard.cli.run import RunOptions
from steelyard.cli.settings import CountingOptions, MeasuringOptions
from steelyard.cli.timeit import TimeitOptions
from steelyard.history.calibrations import store
from steelyard.model.counting import Caches, CountSettings, Weights
from steelyard.model.settings import Settings
from steelyard.stats.looks import RESERVE
from tests.calibrations import calibration
from tests.cli.command_line import ENVIRONMENT, HERE, NAMES, TWO, Asked, CommandLine, command_line
from tests.world import SEED


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return command_line(monkeypatch, capsys)


# --- defaults


def usual(**others: Any) -> Settings:
    """Return the default settings, with the values here for what has no default."""
    return Settings(**{"environment": NAMES, "directory": HERE, "seed": SEED, **others})


@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        (("compare", *TWO), {"longest_time_s": 600.0, "reserve": RESERVE, "addresses": "shared", "pairing": "auto"}),
        (("run", "true"), {}),
        (("timeit", "pass"), {"harness": "protocol"}),
        (("count", "true"), {"metrics": ["instructions"], "counting": CountSettings(), "warm_up": 0, "seed": 0}),
    ],
)
def test_what_is_not_asked_for_is_as_settings_have_it(
    asked: CommandLine, arguments: Sequence[str], others: dict[str, Any]
) -> None:
    assert asked.settings(*arguments) == usual(**others)


def test_a_check_warms_nothing_up_and_does_not_wait_for_ever(asked: CommandLine) -> None:
    settings = settings_of(CheckOptions(command="true"), asked.world)
    assert settings == usual(warm_up=0, timeout_s=60.0)


def test_a_group_without_a_command_is_as_settings_have_it(asked: CommandLine) -> None:
    assert settings_of(MeasuringOptions(), asked.world) == usual()


def test_the_default_of_how_to_count(asked: CommandLine) -> None:
    assert asked.settings("compare", *TWO, "--metric", "instructions").counting == CountSettings()
    assert (CountingOptions.caches, CountingOptions.weights) == (Caches().name, Weights().name)


@pytest.mark.parametrize(
    ("options", "lacks"),
    [
        (RunOptions(command="true"), ["--wait-quiet", "--margin", "--family", "--control", "--caches"]),
        (CountOptions(command="true"), ["--warmup", "--seed", "--cpu", "--repeat", "--margin", "--max-time"]),
        (TimeitOptions(statements=["pass"]), ["--harness", "--warmup", "--stdin", "--family", "--heap"]),
        (CheckOptions(command="true"), ["--tag", "--cpu", "--alpha", "--metric", "--heap-shuffle"]),
    ],
)
def test_what_a_command_does_not_show_cannot_be_given(
    asked: CommandLine, options: MeasuringOptions, lacks: list[str]
) -> None:
    name = type(options).__name__.removesuffix("Options").lower()
    for option in lacks:
        is_explained = name == "count" and option in WHY_NOT_FOR_COUNTS
        expected = (
            f"there is no {option} here: {WHY_NOT_FOR_COUNTS[option]}" if is_explained else f"no such option: {option}"
        )
        assert expected in asked.refused(name, "true", option, "1")


# --- from options to settings


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ("--margin 2%", {"margin": 0.02}),
        ("--margin 2", {"margin": 0.02}),
        ("--alpha 0.05", {"alpha": 0.05}),
        ("--family fdr", {"family": "fdr"}),
        ("--metric wall,cpu --metric max_rss", {"metrics": ["wall", "cpu", "max_rss"]}),
        ("--metric wall,wall", {"metrics": ["wall"]}),
        ("--pairs 30", {"pairs": 30, "max_time_s": None, "longest_time_s": None}),
        ("--max-time 5", {"max_time_s": 5.0, "longest_time_s": None}),
        ("--pairs 30 --max-time 5", {"pairs": 30, "max_time_s": 5.0, "longest_time_s": None}),
        ("--reference-output", {"reference_output": True}),
        ("--repeat 3", {"repeat": 3}),
        ("--output out", {"output": f"{HERE}/out"}),
        ("--wait-quiet 2.5", {"wait_quiet_s": 2.5}),
        ("--warmup 0", {"warm_up": 0}),
        ("--prepare a --prepare b", {"prepare": ["a", "b"]}),
        ("--cleanup a", {"cleanup": ["a"]}),
        ("--setup a", {"setup": ["a"]}),
        ("--conclude a --conclude b", {"conclude": ["a", "b"]}),
        ("--stdin /dev/null", {"stdin": "/dev/null"}),
        ("-i", {"ignore_failure": True}),
        ("--timeout 2", {"timeout_s": 2.0}),
        ("--cpu 3", {"cpu": 3}),
        ("--cpu auto --isolate", {"cpu": 3, "cpu_choice": "0 % busy over half a second", "isolate": True}),
        ("--env OURS", {"environment": [*NAMES[:1], "OURS", *NAMES[1:]]}),
        ("--env A=b", {"variables": {"A": "b"}}),
        ("--inherit-env", {"environment": sorted(ENVIRONMENT)}),
        ("--seed 5", {"seed": 5}),
        ("--heap", {"heap": 3}),
        ("--heap-shuffle", {"heap_shuffle": True}),
        ("--no-watch", {"watch": False}),
        ("--harness protocol", {"harness": "protocol", "pairing": "adjacent"}),
        ("--pairing adjacent", {"pairing": "adjacent"}),
        ("--harness protocol --heap", {"harness": "protocol", "heap": 1, "pairing": "adjacent"}),
        ("--metric cost", {"metrics": ["cost"], "counting": CountSettings(cache_simulation=True)}),
    ],
)
def test_an_option_changes_its_setting_and_no_other(asked: CommandLine, options: str, changes: dict[str, Any]) -> None:
    usual = asked.settings("compare", *TWO)
    assert asked.settings("compare", *TWO, *options.split()) == usual.model_copy(update=changes)


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ("--caches small", {"caches": "small"}),
        ("--caches host", {"caches": "host"}),
        ("--weights article", {"weights": Weights(name="article", ram=30)}),
        ("--weights 1,2,3", {"weights": Weights(name="own", l1=1, ll=2, ram=3)}),
        ("--call-graph", {"call_graph": True, "tool": "callgrind"}),
        ("--body", {"body": True, "tool": "callgrind"}),
        ("--after-start", {"after_start": True, "tool": "callgrind"}),
        ("--loops 7", {"loops": 7}),
        ("--harness protocol", {"body": True, "tool": "callgrind"}),
    ],
)
@pytest.mark.parametrize("command", ["compare", "count"])
def test_an_option_changes_how_is_counted(
    asked: CommandLine, command: str, options: str, changes: dict[str, Any]
) -> None:
    words = [f"true{' {loops}' if '--loops' in options else ''}"] * (2 if command == "compare" else 1)
    counting = asked.settings(command, *words, "--metric", "instructions", *options.split()).counting
    assert counting is not None
    assert {name: getattr(counting, name) for name in changes} | {"caches": counting.caches.name} == {
        "caches": "article",
        **changes,
    }


def test_the_host_s_caches_are_those_of_the_world(asked: CommandLine) -> None:
    counting = asked.settings("count", "true", "--caches", "host").counting
    assert counting is not None
    assert counting.caches.ll[0] == 8 << 20


def test_a_run_is_limited_by_launches(asked: CommandLine) -> None:
    settings = asked.settings("run", "true", "--launches", "3", "--metric", "wall")
    assert (settings.pairs, settings.max_time_s, settings.metrics) == (3, None, ["wall"])
    assert "--launches 0 is out of range: 1 to 1,000,000" in asked.refused("run", "true", "--launches", "0")


def test_verdicts_need_pairs_enough(asked: CommandLine) -> None:
    for arguments in (("compare", *TWO), ("timeit", "1", "2")):
        assert "--pairs 7 can never show anything at alpha 0.01: at least 8" in asked.refused(
            *arguments, "--pairs", "7"
        )
        assert asked.settings(*arguments, "--pairs", "8").pairs == 8
    assert "at least 18" in asked.refused("compare", *TWO, "--pairs", "17", "--alpha", "1e-5")
    assert asked.settings("timeit", "1", "--pairs", "3").pairs == 3


def test_a_processor_has_to_be_one_of_the_world(asked: CommandLine) -> None:
    assert "--cpu 1 is not a processor that may be used here: choose from 0, 3" in asked.refused(
        "compare", *TWO, "--cpu", "1"
    )


# --- the rest of the request


def test_the_benchmarks_of_commands(asked: CommandLine) -> None:
    options = ("-L", "n", "1,2", "--parameter-scan", "m", "1", "3", "2", "--control", "--names", "old,new")
    request = asked("compare", "echo {m}", "echo {n}", *options)
    assert [(one.params, one.control) for one in request.benchmarks] == [
        ({"n": "1", "m": "1"}, False),
        ({"n": "1", "m": "3"}, False),
        ({"n": "2", "m": "1"}, False),
        ({"n": "2", "m": "3"}, False),
        ({"n": "1", "m": "1"}, True),
    ]
    assert [subject.name for subject in request.subjects] == ["old", "new"]


def test_the_selection_of_a_harness(asked: CommandLine) -> None:
    options = ("--harness", "protocol", "-b", "a*", "--benchmark", "b", "--tag", "fast", "--control")
    request = asked("compare", *TWO, *options)
    assert request.benchmarks == ()
    selection = request.selection
    assert (selection.only, selection.tags, selection.control) == (["a*", "b"], ["fast"], True)


@pytest.mark.parametrize(
    ("limit", "seconds_each"), [((), 3.0), (("--max-time", "9"), None), (("--launches", "9"), None)]
)
def test_how_long_each_of_a_harness_may_take(
    asked: CommandLine, limit: Sequence[str], seconds_each: float | None
) -> None:
    assert asked("run", "true", "--harness", "protocol", *limit).selection.seconds_each == seconds_each


def test_jobs(asked: CommandLine) -> None:
    assert asked("count", "true", "--jobs", "5").jobs == 5
    assert "--jobs 0 is out of range" in asked.refused("count", "true", "--jobs", "0")


# --- what was given


def test_the_options_know_which_were_given(asked: CommandLine, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    for arguments, what in (
        (("true", "true"), "other commands"),
        (("--warmup", "1"), "--warmup"),  # though 1 is the default
        (("--margin", "0.5%"), "--margin"),
        (("-i",), "--ignore-failure"),
        (("-L", "n", "1"), "--parameter-list"),
        (("--timeout", "1", "--alpha", "0.01"), "--alpha"),  # the first in the order of `--help`
    ):
        assert asked.refused("compare", "--resume", str(journal), *arguments) == (
            f"steelyard: --resume takes its commands and options from the journal: leave {what} out\n"
        )


def test_what_may_be_given_with_resume(asked: CommandLine, tmp_path: Path) -> None:
    names = ("-o", "--markdown", "--csv", "--html")
    files = [word for place, name in enumerate(names) for word in (name, f"{tmp_path}/{place}")]
    with pytest.raises(Asked) as caught:
        run(["compare", "--resume", "journal", "--trust-journal", "--strict", "--functions", "3", *files], asked.world)
    assert caught.value.what == Path("journal")


def test_caches_beside_calibrated_weights(asked: CommandLine, tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "XDG_STATE_HOME": str(tmp_path)}
    world = replace(asked.world, environment=environment)
    counting = CountingOptions(weights="calibrated")
    options = CompareOptions(judging=JudgingOptions(metric=["cost"]), counting=counting)
    line = CommandLine(world, asked.printed)
    calibrated = ("count", "true", "--metric", "cost", "--weights", "calibrated")
    assert "this machine was not calibrated" in line.refused(*calibrated)
    kept = calibration().model_copy(update={"caches": Caches(name="host", ll=(4 << 20, 16, 64))})
    store(kept, environment)
    # The default of --caches gives way to the calibration's caches; the same value on the command line does not.
    for settings in (settings_of(options, world), line.settings(*calibrated)):
        assert settings.counting is not None
        assert (settings.counting.weights, settings.counting.caches) == (kept.weights, kept.caches)
    assert "were fitted with the caches" in line.refused(*calibrated, "--caches", "article")


def test_each_group_knows_its_own(asked: CommandLine) -> None:
    options = MeasuringOptions(given={"caches": "--caches"})
    assert options == MeasuringOptions()
    assert options.counting.given == {}
    assert asked.settings("count", "true", "--caches", "article").counting == CountSettings()
