"""`steelyard check`: each rule of the protocol, and the soundness of benchmarks and of commands."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests import builds
from tests.c_programs import NOTHING, compiled
from tests.cli.answering import Answering, answer
from tests.in_process import InProcess
from tests.in_process import suite as well
from tests.tool import Done, Tool, ended, sh, wait_until
from tests.world import ScriptedWorld, measured, program_of

ROOT = Path(__file__).parents[2]

IMPORTS = "import json, sys, time\n"
WELL = """
words = dict(word[12:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--steelyard-"))
out = open(int(words["fd"]), "w")
def say(**line):
    print(json.dumps(line), file=out)
def fail(text):
    say(error=text); out.close(); sys.exit(1)
say(steelyard=1)
if words["protocol"] != "1":
    fail("only version 1 is spoken")
if "list" in words:
    say(benchmark="one"); say(benchmark="two")
else:
    if words["run"] not in ("one", "two"):
        fail("no such benchmark")
    for _ in range(int(words["samples"])):
        loops = int(words["loops"])
        begun = time.perf_counter_ns()
        end = begun + 1000 * loops
        time.sleep(max(0, loops / 1e6 - 0.005))
        while time.perf_counter_ns() < end: pass
        say(ns=time.perf_counter_ns() - begun, loops=loops)
say(end=True)
"""

BREACHES = [
    ('say(benchmark="one"); say(benchmark="two")', "pass", "it lists its benchmarks"),
    ('say(benchmark="two")', "say(benchmark=str(time.time_ns()))", "it lists the same benchmarks again"),
    ('range(int(words["samples"]))', "range(2)", "it takes as many samples as it is asked for"),
    ("loops=loops)", "loops=1000)", "a sample runs the loops that it is asked for"),
    ("ns=time.perf_counter_ns() - begun", "ns=5", "its times grow with the loops"),
    ('if words["run"] not in ("one", "two"):', "if False:", "it says where a benchmark is not known, and fails"),
    ('if words["protocol"] != "1":', "if False:", "it does not answer in another version of the protocol"),
    ('say(benchmark="one")', 'say(benchmark="one", bytes=-1)', "what an iteration processes is a number above 0"),
    ("say(steelyard=1)", 'say(steelyard=1)\nif len(words) > 3 and "list" in words: fail("?")', "it ignores words"),
    ("say(steelyard=1)", "say(steelyard=1, before=True)", "it runs others before a benchmark, as it says that it can"),
    ("say(steelyard=1)", "say(steelyard=1, lockstep=True)", "it takes its samples in turn with another's"),
]


class Written(io.StringIO):
    """What a program has written to a file that it may close."""

    def close(self) -> None:
        pass


class Speaking:
    """Runs the text of a harness in this process: a script of launches with a clock that each look at it moves."""

    def __init__(self, text: str) -> None:
        self._code, self._ns = compile(text, "harness.py", "exec"), 0

    def __call__(self, spec: LaunchSpec, _: int) -> Measured:
        written, begun_ns, status = Written(), self._ns, 0
        clock = SimpleNamespace(sleep=self._sleep, perf_counter_ns=self._look, time_ns=self._look)
        own = SimpleNamespace(argv=[os.fsdecode(word) for word in spec.argv], exit=sys.exit)
        try:
            exec(self._code, {"json": json, "sys": own, "time": clock, "open": lambda *_: written})
        except SystemExit as end:
            status = int(str(end.code))
        results = written.getvalue().encode()
        took_ms = 1 + (self._ns - begun_ns) / 1e6
        return measured(took_ms, results=results, results_bytes=len(results), exit_code=status)

    def _sleep(self, seconds: float) -> None:
        self._ns += round(seconds * 1e9)

    def _look(self) -> int:
        self._ns += 1000
        return self._ns


def harness(tool: Tool, text: str) -> str:
    (tool.folder / "harness.py").write_text(IMPORTS + text)
    return f"{sys.executable} -S harness.py"


def test_a_program_that_speaks_it(here: InProcess) -> None:
    done = here("check", "--protocol", harness(here, WELL))
    assert done.status == 0, done.text
    assert "all 10 rules hold" in done.text
    assert "broken" not in done.text


def test_a_program_that_takes_its_samples_in_turn(here: InProcess) -> None:
    done = here("check", "--protocol", f"{sys.executable} -m steelyard.harness --timeit sum(range(100))")
    assert done.status == 0, done.text
    assert "all 12 rules hold" in done.text


@pytest.mark.parametrize(("well", "ill", "rule"), BREACHES, ids=[rule for _, _, rule in BREACHES])
def test_a_breach_is_named(scripted: ScriptedWorld, well: str, ill: str, rule: str) -> None:
    assert WELL.count(well) == 1
    scripted.script = Speaking(WELL.replace(well, ill))
    # --timeout, because a time that never grows makes the loops grow without limit.
    done = scripted("check", "--protocol", "--timeout", "2", "./old")
    assert done.status == 1, done.text
    assert f"broken     {rule}" in done.text


def test_what_the_first_list_says_of_the_program_is_tried_whatever_later_ones_say(scripted: ScriptedWorld) -> None:
    usage = 'if "of-a-later-version" in words:\n    print("usage"); sys.exit(0)\nsay(steelyard=1, before=True)'
    scripted.script = Speaking(WELL.replace("say(steelyard=1)", usage))
    done = scripted("check", "--protocol", "--timeout", "2", "./old")
    assert done.status == 1, done.text
    assert "broken     it ignores words of later versions" in done.text
    assert "broken     it runs others before a benchmark, as it says that it can" in done.text


@pytest.mark.parametrize(
    ("breach", "said"),
    [
        ('    fail("out of luck")', "out of luck"),
        ("    loops = 1", "two: asked for 7 loops, it ran 1"),
        ("    break", "two: "),
    ],
    ids=["fails", "loops", "samples"],
)
def test_a_breach_of_the_second_benchmark_is_named(scripted: ScriptedWorld, breach: str, said: str) -> None:
    sample = "        say(ns=time.perf_counter_ns() - begun, loops=loops)\n"
    assert WELL.count(sample) == 1
    ill = f"""        ns = time.perf_counter_ns() - begun
        if words["run"] == "two":
        {breach}
        say(ns=ns, loops=loops)
"""
    scripted.script = Speaking(WELL.replace(sample, ill))
    done = scripted("check", "--protocol", "./old")
    assert done.status == 1, done.text
    assert "1 of 10 rules broken" in done.text
    assert "broken     its other benchmarks answer as the first does" in done.text
    assert said in " ".join(done.text.split())


def test_a_plain_command(here: InProcess) -> None:
    done = here("check", "--protocol", "/bin/true")
    assert done.status == 1
    assert "does not speak the harness protocol" in " ".join(done.text.split())


def test_words_that_do_not_fit(asked: InProcess, tmp_path: Path) -> None:
    assert "looks at nothing else" in asked.refuses("check", "--protocol", "--harness", "auto", "true")
    assert "looks at nothing else" in asked.refuses("check", "--protocol", "--max-time", "9", "true")
    assert "--max-time" in asked.refuses("check", "true", "--max-time", "0")
    assert "--harness auto" in asked.refuses("check", "true", "-b", "x")
    assert "cannot be run" in asked.refuses("check", "--protocol", str(tmp_path / "absent"))
    assert "cannot write" in asked.refuses("check", "true", "--json", str(tmp_path / "absent/file"))


def test_a_program_that_hangs(here: InProcess) -> None:
    done = here("check", "--protocol", "--timeout", "0.3", "sh -c 'sleep 60'")
    assert done.status == 1
    assert "did not end within" in " ".join(done.text.split())


# --- soundness


SUITE = """
import os
from steelyard import bench

def work(times):
    for number in range(times):
        number ^ 1

@bench
def sound():
    work(1000)

"""


def suite(tool: Tool, text: str = SUITE) -> str:
    (tool.folder / "bench_x.py").write_text(text)
    return f"{sys.executable} -m steelyard.harness bench_x.py"


def test_a_sound_benchmark(tool: Tool) -> None:
    words = ("check", "--harness", "protocol", suite(tool), "-b", "*sound", "--max-time", "1", "--json", "found.json")
    done = tool(*words)
    assert done.status == 0, done.text
    # On a busy machine there is time for only a few of the rules.
    assert re.search(r"^(sound|untried) +bench_x.py::sound: \d+ rules hold", done.text, re.MULTILINE)
    assert "no trouble with 1 benchmark" in done.text
    found = tool.json("found.json")
    assert (found["format"], found["version"], found["harness"]) == ("steelyard-check", 1, "protocol")
    assert found["benchmarks"] == ["bench_x.py::sound"]
    assert {one["code"] for one in found["looked"]} >= {"name", "optimised-away", "modes", "order"}
    assert found["launches"] > 5


@pytest.fixture(scope="session")
def planted() -> Path:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++: no defect was planted in C++")
    source, header = ROOT / "tests/check/planted.cpp", ROOT / "sdk/cpp"

    def make(place: Path) -> None:
        options = ["-std=c++17", "-O2", f"-I{header}"]
        subprocess.run([compiler, *options, str(source), "-o", str(place / "planted")], check=True)

    return builds.built("planted", make, source, header) / "planted"


def leaking(spec: LaunchSpec, number: int) -> Measured:
    """Return what a call of the fake harness measures, of which each iteration leaves 32 bytes behind."""
    words = dict(os.fsdecode(word).partition("=")[::2] for word in spec.argv)
    iterations = int(words.get("--steelyard-loops", 0)) * int(words.get("--steelyard-samples", 0))
    return replace(answer(spec, number), max_rss_bytes=(8 << 20) + 32 * iterations)


def test_troubles_are_told_in_full(answers: Answering) -> None:
    answers.script = leaking
    done = answers(
        "check", "--harness", "protocol", well("well", "leak", "l[e]ak"), "-b", "l[[]e]ak", "--max-time", "4"
    )
    assert done.status == 1, done.text
    text = " ".join(done.text.split())
    assert "memory: " in text
    assert "32 bytes an iteration" in text
    assert "threshold 1.000 MiB: one arena" in text
    assert "remedy: free what" in text
    assert "with 1 of 1 benchmark " in text


def test_what_is_wrong_with_a_name_and_with_a_body_that_the_compiler_leaves_out(here: InProcess, planted: Path) -> None:
    words = ("check", "--harness", "protocol", planted, "-b", "optimised-away", "-b", "l[[]e]ak", "--max-time", "0.6")
    done = here(*words)
    assert done.status == 1, done.text
    text = " ".join(done.text.split())
    assert "name: --benchmark 'l[e]ak' is a pattern that also selects 'leak'" in text
    assert "optimised-away: an iteration takes 0." in text
    assert "of 2 benchmarks " in text


def test_a_block_that_is_lost(here: InProcess, planted: Path) -> None:
    words = ("check", "--harness", "protocol", planted, "-b", "leak", "-b", "too-short", "--max-time", "0.6")
    done = here(*words, "--heap", "--json", "found.json")
    assert done.status == 1, done.text
    text = " ".join(done.text.split())
    assert "leak: 1.00 of 1.00 blocks that an iteration allocates are never given back" in text
    assert "threshold 0.05 blocks" in text
    assert "heap: an iteration makes 1 allocation of 8 B in all" in text
    assert "heap: an iteration makes 0 allocations of 0 B in all" in text
    assert re.search(r"troubles? with [12] of 2 benchmarks ", text)
    found = here.json("found.json")
    assert [(one["benchmark"], one["kept"]) for one in found["allocating"]] == [("leak", 1.0), ("too-short", 0.0)]
    leaks = {one["benchmark"]: one["outcome"] for one in found["looked"] if one["code"] == "leak"}
    assert leaks == {"leak": "trouble", "too-short": "sound"}


def test_the_heap_of_a_command(here: InProcess) -> None:
    done = here("check", f"{sys.executable} -S -c pass", "--heap", "--max-time", "0.6", "--json", "found.json")
    found = here.json("found.json")
    assert done.status == int("trouble" in {looked["outcome"] for looked in found["looked"]}), done.text
    (one,) = found["allocating"]
    assert one["each"] == "launch"
    assert one["allocations"] > 100
    assert "PYTHONMALLOC" in one["note"]
    codes = {looked["code"] for looked in found["looked"]}
    assert "modes" in codes
    assert "leak" not in codes


def test_a_heap_that_cannot_be_watched(here: InProcess) -> None:
    compiled(here.folder, "nothing", NOTHING, "-static")
    assert "--heap cannot watch" in here.refuses("check", "./nothing", "--heap")


def test_a_command(here: InProcess) -> None:
    done = here("check", "true", "--max-time", "0.6")
    assert done.status == 1, done.text
    assert "is the start of a process" in " ".join(done.text.split())


def test_a_sound_command(scripted: ScriptedWorld) -> None:
    noise = np.random.default_rng(1)
    scripted.script = lambda spec, _: measured((12.0 if program_of(spec) == "old" else 0.5) * noise.lognormal(0, 0.01))
    done = scripted("check", "./old", "--json", "found.json")
    assert done.status == 0, done.text
    assert scripted.json("found.json")["harness"] is None


def test_what_cannot_be_tried(here: InProcess) -> None:
    assert "failed with exit status 1" in here.refuses("check", "false", status=3)
    (here.folder / "found.json").write_text("of yesterday")
    said = here("check", "false", "--json", "found.json").err.decode()
    assert said.startswith(
        "steelyard: found.json was removed: it came from an earlier check, and this one has no record\n"
    )
    assert not (here.folder / "found.json").exists()
    assert "does not speak" in here.refuses("check", "--harness", "protocol", "true", status=3)
    nothing = suite(here, "from steelyard import bench")
    assert "benchmark" in here.refuses("check", "--harness", "protocol", nothing, status=3)
    assert "none of its benchmarks" in here.refuses("check", "--harness", "protocol", suite(here), "-b", "absent")


def interrupted(tool: Tool, *words: str | Path) -> Done:
    """Press Ctrl-C while the target sleeps for 600 s; return how the command line ends."""
    with tool.started(*words) as process:
        wait_until(lambda: "sleep 600" in tool.processes(), "it sleeps")
        process.send_signal(signal.SIGINT)
        done = ended(process)
    assert done.status == 130, done
    done.check_is_tidy()
    assert not tool.processes()
    return done


def test_an_interrupt_before_the_first_launch_ended(tool: Tool) -> None:
    done = interrupted(tool, "check", "sleep 600", "--json", "found.json")
    assert done.sentence == "interrupted before the first rule was tried"
    assert not (tool.folder / "found.json").exists()


def test_an_interrupt_leaves_what_was_tried(tool: Tool) -> None:
    work = sh("echo x >> log; test $(wc -l < log) -lt 30 || exec sleep 600")
    done = interrupted(tool, "check", work, "--json", "found.json")
    assert done.err == b""
    text = " ".join(done.text.split())
    assert "interrupted: only what was launched until then is judged" in text
    assert "not tried: drift: interrupted before it was tried" in text
    found = tool.json("found.json")
    assert (found["interrupted"], found["launches"]) == (True, 60)  # each launch has an empty process beside it
    outcomes = {one["code"]: one["outcome"] for one in found["looked"]}
    assert outcomes["drift"] == "untried"
    assert outcomes["too-short"] in ("sound", "trouble")


def test_an_interrupt_leaves_the_rules_of_the_protocol_that_were_tried(tool: Tool) -> None:
    unknown = 'if words["run"] not in ("one", "two"):'
    asleep = f"{unknown}\n        import os; os.execvp('sleep', ['sleep', '600'])"
    assert WELL.count(unknown) == 1
    done = interrupted(tool, "check", "--protocol", harness(tool, WELL.replace(unknown, asleep)))
    assert done.err == b""
    assert done.text.count("holds") == 7
    assert "interrupted: 7 rules were tried until then, none of them broken" in " ".join(done.text.split())
