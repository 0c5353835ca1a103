"""The calls for programs: they measure as the command line does, and raise its sentences as exceptions."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type, get_type_hints

import pytest

import steelyard
from steelyard.api import keywords
from steelyard.api.arguments import ARGUMENT_KINDS
from steelyard.api.keywords import Checking, Comparing, Counted, Running, options_of
from steelyard.api.options import Options
from steelyard.cli.check_options import CheckOptions
from steelyard.cli.compare_options import CompareOptions
from steelyard.cli.count import CountOptions
from steelyard.model.derived import Summary
from steelyard.model.errors import LaunchError
from steelyard.model.progress import Progress
from steelyard.model.records import Run, Weighing
from tests.golden.world import World
from tests.world import ScriptedWorld, ctrl_c, measured, steady

BOTH = ["./old", "./new"]


def test_a_weighing_is_that_of_the_command_line(scripted: ScriptedWorld, capsys: pytest.CaptureFixture[str]) -> None:
    found = steelyard.compare(BOTH, margin=0.02, pairs=14, metrics=["wall", "max_rss"], world=scripted.outside())
    assert capsys.readouterr() == ("", ""), "nothing is printed"
    assert (found.kind, found.verdict, found.benchmarks) == ("weighing", "slower", ["./new"])
    assert found.change == pytest.approx(0.5, abs=1e-4)
    assert found.interval is not None
    assert found.interval[0] < 0.5 < found.interval[1]
    assert [one.metric for one in found.verdicts] == ["wall", "max_rss"]
    scripted.seconds, scripted.launches = 1000.0, 0
    scripted("compare", *BOTH, "--margin", "2%", "--pairs", "14", "--metric", "wall,max_rss", "-o", "cli.json")
    theirs = steelyard.load("cli.json", world=scripted.outside())
    assert isinstance(theirs.data, Weighing)
    assert theirs.data.model_dump_json() == found.data.model_dump_json()
    assert found.path is not None
    assert steelyard.load(found.path, world=scripted.outside()).verdicts == found.verdicts
    assert repr(found) == "<weighing of 1 benchmark, slower +50.0 % [+50.0 %, +50.0 %]>"
    assert found.markdown() == scripted("show", "cli.json", "--markdown", "-").out.decode()


def test_a_run_has_figures_and_two_can_be_compared(scripted: ScriptedWorld) -> None:
    world = scripted.outside()
    first = steelyard.run("./old", launches=12, world=world)
    second = steelyard.run("./new", launches=12, name="new", world=world)
    assert (first.kind, first.verdict, first.change, first.interval) == ("run", None, None, None)
    (figure,) = first.figures
    assert_type(figure, Summary)
    assert figure.median == pytest.approx(12e6, rel=1e-4)
    assert repr(first) == "<run of 1 benchmark, median 12.00 ms>"
    found = steelyard.diff(first, second, margin="5%", world=world)
    assert found.change == pytest.approx(0.5, abs=1e-3)
    first.save("a.json")
    second.save("b.json.gz")
    again = steelyard.diff("a.json", Path("b.json.gz"), margin="5%", world=world)
    assert again.verdicts == found.verdicts
    done = scripted("diff", "a.json", "b.json.gz", "--margin", "5%", "--markdown", "-")
    assert found.markdown().encode() == done.out
    assert found._repr_markdown_() == found.markdown()
    with pytest.raises(steelyard.UsageError, match="is a weighing, which compares two sides by itself"):
        steelyard.diff("a.json", steelyard.compare(BOTH, pairs=12, world=world), world=world)


def test_what_is_asked_reaches_the_launches(scripted: ScriptedWorld) -> None:
    found = steelyard.run(
        "./old {n}",
        launches=3,
        parameters={"n": [1, "2,3"]},
        environment={"A": "b", "HOME": None},
        stdin="/dev/null",
        prepare="./new",
        max_time="1m",
        seed=7,
        world=scripted.outside(),
    )
    settings = found.data.settings
    assert [one.params for one in found.data.benchmarks] == [{"n": "1"}, {"n": "2,3"}]
    assert settings.variables == {"A": "b"}
    assert "HOME" in settings.environment
    assert (settings.stdin, settings.prepare, settings.max_time_s, settings.seed) == ("/dev/null", ["./new"], 60.0, 7)


def test_progress_is_told(scripted: ScriptedWorld) -> None:
    told: list[Progress] = []
    steelyard.compare(BOTH, pairs=12, progress=told.append, world=scripted.outside())
    assert all(now.benchmark for now in told)
    assert told
    assert {(one.benchmark, one.noun) for one in told} == {("./new", None)}


def test_progress_says_what_is_counted_where_these_are_no_pairs(scripted: ScriptedWorld) -> None:
    told: list[Progress] = []
    steelyard.run("./old", launches=4, progress=told.append, world=scripted.outside())
    assert {one.noun for one in told} == {"launch"}


@pytest.mark.parametrize(
    ("commands", "options", "said"),
    [
        (["./old"], {}, "two commands or more, in a list"),
        ("./old", {}, "two commands or more, in a list"),
        (["./old", "./gone"], {}, "'./gone' cannot be run"),
        (BOTH, {"margin": 1}, 'margin=1 is a part of 1, and the largest is 0.5: for 1 % write margin="1%", or 0.01'),
        (BOTH, {"margin": 3000}, "margin 300000 is out of range: 0.001% to 50%"),
        (BOTH, {"margin": "60%"}, "margin 60 is out of range: 0.001% to 50%"),
        (BOTH, {"pairs": 2}, "pairs 2 can never show anything"),
        (BOTH, {"metrics": "speed"}, "'speed' is not known"),
        (BOTH, {"max_time": "soon"}, "is not a time"),
        (BOTH, {"harness": "mine"}, "harness 'mine' is not known"),
        (BOTH, {"names": ["x"] * 2}, "names 'x' would be the name of two commands"),
        (BOTH, {"parameters": ["n"]}, "a dictionary"),
        (BOTH, {"pairs": 12.5}, "pairs takes a whole number, not 12.5"),
        (BOTH, {"control": True, "metrics": "cost"}, "control is for times"),
        (
            BOTH,
            {"base": "main"},
            "base, candidate and build weigh one command, in two revisions: steelyard compare --base main --build make",
        ),
        (BOTH, {"own_starts": True}, "own_starts is for the benchmarks of a harness: say of which with harness auto"),
        (
            [["./old"], "./new"],
            {},
            "not [['./old'], './new']: join the words of a command, as in shlex.join(['./old'])",
        ),
        (BOTH, {"stdin": "-"}, "stdin -: standard input cannot be read again"),
    ],
)
def test_wrong_usage_is_an_exception_with_one_sentence(
    scripted: ScriptedWorld, commands: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(steelyard.UsageError) as refused:
        steelyard.compare(commands, world=scripted.outside(), **options)
    assert f" {said}" in f" {refused.value}"
    assert str(refused.value).isprintable()
    assert not scripted.kept()


@pytest.mark.parametrize("name", ["./new", "input"])
def test_an_output_that_launches_read_or_execute_is_not_overwritten(scripted: ScriptedWorld, name: str) -> None:
    Path("input").write_text("x")
    before = Path(name).read_bytes()
    with pytest.raises(steelyard.UsageError, match=r"^output (\./)?[a-z]+ is read, and would be overwritten: give"):
        steelyard.compare(BOTH, pairs=12, stdin="input", output=name, world=scripted.outside())
    with pytest.raises(steelyard.UsageError, match="is read, and would be overwritten"):
        steelyard.run(BOTH[1], launches=2, stdin="input", output=Path(name), world=scripted.outside())
    assert Path(name).read_bytes() == before
    assert not scripted.launched


def test_commands_beside_each_other_belong_in_a_list(scripted: ScriptedWorld) -> None:
    with pytest.raises(TypeError, match=r"in a list: steelyard.compare\(\['./old', './new'\]\)"):
        steelyard.compare(*BOTH, world=scripted.outside())  # type: ignore[arg-type]


def test_what_is_wrong_with_a_run_names_its_own_options(scripted: ScriptedWorld) -> None:
    with pytest.raises(steelyard.UsageError, match=r"^launches 0 is out of range"):
        steelyard.run("./old", launches=0, world=scripted.outside())


def test_an_unknown_keyword_is_a_mistake_of_the_program(scripted: ScriptedWorld) -> None:
    options: dict[str, Any] = {"launches": 3}
    with pytest.raises(TypeError, match="unknown keyword 'launches': choose from after_start, alpha"):
        steelyard.compare(BOTH, world=scripted.outside(), **options)
    with pytest.raises(TypeError, match="unknown keyword 'pairs'"):
        steelyard.run("./old", world=scripted.outside(), pairs=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("mistaken", "meant"), [("metric", "metrics"), ("env", "environment"), ("maxtime", "max_time"), ("tag", "tags")]
)
def test_a_keyword_that_is_nearly_one_is_told_it(mistaken: str, meant: str) -> None:
    with pytest.raises(TypeError, match=f"^unknown keyword '{mistaken}': did you mean '{meant}'\\?$"):
        steelyard.compare(BOTH, **{mistaken: "1"})  # type: ignore[arg-type]


def test_a_launch_that_fails_is_an_exception(scripted: ScriptedWorld) -> None:
    scripted.script = lambda _, number: measured(10, exit_code=3 if number > 9 else 0)
    with pytest.raises(steelyard.MeasurementError, match="failed with exit status 3") as failed:
        steelyard.compare(BOTH, world=scripted.outside())
    assert isinstance(failed.value.__cause__, LaunchError)
    (kept,) = scripted.kept()
    found = steelyard.load(kept, world=scripted.outside())
    assert found.verdict is None
    assert "failed with exit status 3" in str(found.error)


def _interrupted(spec: Any, number: int) -> Any:
    if number == 9:
        ctrl_c()
    return steady({"old": 12.0, "new": 18.0})(spec, number)


def test_what_was_measured_until_ctrl_c_comes_with_the_exception(scripted: ScriptedWorld) -> None:
    before = signal.getsignal(signal.SIGINT)
    scripted.script = _interrupted
    with pytest.raises(steelyard.IncompleteError, match="interrupted; what was measured is kept in ") as ended:
        steelyard.compare(BOTH, world=scripted.outside())
    assert signal.getsignal(signal.SIGINT) is before
    assert ended.value.record.path is not None
    assert len(ended.value.record.data.launches) >= 6


def test_a_ctrl_c_behind_the_last_launch_is_not_lost(scripted: ScriptedWorld) -> None:
    """A program that measures several things one after the other would go on with the next."""

    def tell(now: Progress) -> None:
        if now.done == now.limit:
            ctrl_c()

    with pytest.raises(steelyard.IncompleteError, match="interrupted; what was measured is kept in ") as ended:
        steelyard.run(BOTH[0], launches=5, progress=tell, world=scripted.outside())
    assert ended.value.exit_status == 130
    (summary, *_) = ended.value.record.figures
    assert summary.launches == 5, "all of it is there"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_what_comes_from_another_process_is_whole(scripted: ScriptedWorld, copied: Any) -> None:
    scripted.script = _interrupted
    with pytest.raises(steelyard.IncompleteError) as stopped:
        steelyard.compare(BOTH, pairs=20, world=scripted.outside())
    error = stopped.value
    error.lines = ("below",)
    again = copied(error)
    assert (type(again), str(again)) == (steelyard.IncompleteError, str(error))
    assert (again.exit_status, again.lines, again.record.path) == (130, ("below",), error.record.path)
    assert again.record.data == error.record.data


@pytest.mark.parametrize("name", sorted({*steelyard.__all__} - {"bench"}))
def test_the_types_of_what_is_public_can_be_asked_for(name: str) -> None:
    """As tools do that check or document types; `bench` imports nothing into the measured program."""
    assert get_type_hints(getattr(steelyard, name)) is not None


def test_what_a_function_returns_has_a_public_name() -> None:
    assert get_type_hints(steelyard.check)["return"] == steelyard.Record[steelyard.Soundness]
    assert get_type_hints(steelyard.import_)["return"] == steelyard.Record[steelyard.ForeignResults]


def test_another_thread_takes_no_signals(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[steelyard.Record[Weighing]] = []
    taken: list[Any] = []
    monkeypatch.setattr(signal, "signal", lambda *what: taken.append(what))
    thread = threading.Thread(target=lambda: found.append(steelyard.compare(BOTH, pairs=12, world=scripted.outside())))
    thread.start()
    thread.join()
    assert found[0].verdict == "slower"
    assert not taken


def test_a_record_has_frames_and_files(scripted: ScriptedWorld) -> None:
    pytest.importorskip("pandas")
    found = steelyard.compare(BOTH, pairs=12, world=scripted.outside())
    frame = found.frame()
    assert frame[frame.metric == "wall"].value.tolist() == found.data.launches.metric("wall").tolist()
    assert found.export("hyperfine", "h.json") == Path("h.json").read_bytes()
    assert json.loads(found.export("hyperfine"))["results"][0]["command"] == "./old"
    with pytest.raises(steelyard.UsageError, match="choose from csv"):
        found.export("xls")
    with pytest.raises(steelyard.UsageError, match="parquet is compressed inside, and no reader opens it"):
        found.export("parquet", "h.parquet.gz")


def test_other_records_have_what_they_have(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 12.0, "true": 1.0})
    scripted("check", "./old", "--max-time", "1s", "-o", "check.json")
    found = steelyard.load("check.json", world=scripted.outside())
    assert (found.kind, found.benchmarks, found.verdicts, found.figures) == ("check", ["./old"], [], [])
    for wrong in (found.markdown, lambda: steelyard.diff(found, found)):
        with pytest.raises(steelyard.UsageError, match="check"):
            wrong()


def test_a_check_is_that_of_the_command_line(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 12.0, "true": 1.0})
    found = steelyard.check("./old", max_time="1s", world=scripted.outside())
    scripted.seconds, scripted.launches = 1000.0, 0
    scripted("check", "./old", "--max-time", "1s", "-o", "cli.json")
    found.save("mine.json")
    assert Path("mine.json").read_bytes() == Path("cli.json").read_bytes()
    assert steelyard.load("mine.json", world=scripted.outside()).data == found.data
    assert repr(found) == f"<check of 1 benchmark, {len(found.data.troubles())} troubles>"
    with pytest.raises(steelyard.UsageError, match=r"^max_time 0 is out of range"):
        steelyard.check("./old", max_time=0, world=scripted.outside())

    def script(_: Any, number: int) -> Any:
        if number == 60:
            ctrl_c()
        return measured(12)

    scripted.launches, scripted.script = 0, script
    with pytest.raises(steelyard.IncompleteError, match="interrupted") as ended:
        steelyard.check("./old", max_time="1s", world=scripted.outside())
    assert ended.value.record.data.interrupted


def test_a_count_is_that_of_the_command_line(tmp_path: Path) -> None:
    with World.opened(tmp_path) as world:
        world.program("old")
        told: list[Progress] = []
        found = steelyard.count(
            "./old", metrics=["instructions", "cost"], name="it", progress=told.append, world=world.outside()
        )
        assert {one.noun for one in told} == {"count"}
        assert [one.median for one in found.figures if isinstance(one, Summary)] == [10_000, 14_870]
        world.seconds = 940.0
        world.run("count", "./old", "--metric", "instructions,cost", "--name", "it", "-o", "cli.json")
        theirs = steelyard.load("cli.json", world=world.outside())
        assert isinstance(theirs.data, Run)
        assert theirs.data.settings == found.data.settings
        assert [one.median for one in theirs.figures if isinstance(one, Summary)] == [10_000, 14_870]
        with pytest.raises(steelyard.UsageError, match="count does not time: leave wall out"):
            steelyard.count("./old", metrics="wall", world=world.outside())


@pytest.fixture
def frozen_again() -> Iterator[None]:
    """Freeze again what collecting the tests has made: else each garbage collection in later tests would take 0.7 s."""
    yield
    gc.freeze()


@pytest.mark.usefixtures("frozen_again")
def test_the_garbage_collector_looks_at_what_was_read(scripted: ScriptedWorld) -> None:
    scripted("run", "./old", "--launches", "12", "-o", "a.json")
    gc.unfreeze()
    steelyard.load("a.json", world=scripted.outside()).export("pyperf", "theirs.json")
    assert gc.get_freeze_count() == 0
    steelyard.import_("theirs.json", world=scripted.outside())
    assert gc.get_freeze_count() == 0


# --- one place for each option


def fields() -> Iterator[tuple[str, str]]:
    for name, hint in get_type_hints(Options).items():
        if name != "given":
            yield from ((name, field) for field in get_type_hints(hint) if field not in ("given", "limit"))


def test_every_option_has_a_keyword_and_every_keyword_an_option() -> None:
    places = {key: keywords.group_and_field(key) for key in keywords.KEYWORDS}
    known = {*Comparing.__annotations__, *Running.__annotations__}
    assert known <= set(ARGUMENT_KINDS)
    assert known == set(places)
    assert {*Counted.__annotations__, *Checking.__annotations__} <= known
    assert set(places.values()) <= set(fields())
    # `parameters` takes any list of numbers, and shards are for several machines.
    assert set(fields()) - set(places.values()) == {("weighing", "parameter_scan"), ("suite", "shard")}


def test_the_defaults_are_those_of_the_command_line() -> None:
    asked, options = options_of({}, Comparing), CompareOptions()
    for group, field in fields():
        assert getattr(getattr(asked, group), field) == getattr(getattr(options, group), field), field
    assert vars(options_of({}, Counted).launch) == vars(CountOptions(command="x").launch)
    # The default seed of checks is 0, which `--help` does not show.
    assert vars(options_of({}, Checking).launch) == {**vars(CheckOptions(command="x").launch), "seed": 0}


def test_the_package_names_what_is_public() -> None:
    assert set(steelyard.__all__) <= set(dir(steelyard))
    for name in steelyard.__all__:
        assert getattr(steelyard, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'weigh'"):
        _ = steelyard.weigh


@pytest.mark.real
def test_importing_the_package_imports_nothing_else() -> None:
    program = (
        "import sys; before = set(sys.modules); import steelyard; dir(steelyard); print(set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "{'steelyard'}\n"
