"""JMH, driven for real: a jar that Maven builds once."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import LaunchError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.rows import Sample
from steelyard.subjects.adapters.jmh import Jmh, benchmarks_of, results_in
from steelyard.subjects.adapters.pyperf import Pyperf
from steelyard.subjects.adapters.pytest_benchmark import PytestBenchmark
from steelyard.subjects.harness import Listed, Work
from tests.builds import built
from tests.in_process import InProcess
from tests.subjects.adapters.driven import FEW_PAIRS, SOURCES, Driver, offered, refused, spec, that_wrote

PROJECT = SOURCES / "jmh"
# Short, because the speed is not tested.
QUICK = ("-wi", "1", "-w", "5ms")
# No test here depends on what is measured, but the second compiler and a collector with many threads cost time. Its
# lock would have a launch fail while any other JMH runs on this machine.
LIGHT = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djmh.ignoreLock=true")
LENGTHS = [
    f"bench.Sums.length:times={times},word={word}"
    for times in (1, 2)
    for word in ("plain", "a.b* [c] größe/日本 http://x:y")
]


@pytest.fixture(scope="session")
def jar() -> Path:
    """The jar of the benchmarks; the tests are skipped if it cannot be built."""
    missing = [name for name in ("java", "mvn") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {' and no '.join(missing)}: install a JDK and Maven")

    def make(place: Path) -> None:
        words = ["mvn", "-q", "-B", "package", f"-Dbuilt={place}"]
        # Maven, too, takes half of the time with these options.
        environment = {**os.environ, "MAVEN_OPTS": " ".join([*LIGHT, os.environ.get("MAVEN_OPTS", "")])}
        done = subprocess.run(words, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=600)
        if done.returncode and re.search(
            "Could not (transfer|resolve)|Unknown host|could not be resolved", done.stdout
        ):
            pytest.skip("Maven cannot fetch JMH: it needs a network, or JMH in its local repository")
        assert done.returncode == 0, done.stdout + done.stderr

    return offered(built("jmh", make, PROJECT) / "benchmarks.jar", "jmh/benchmarks.jar")


def java(jar: Path, *words: str, jvm: tuple[str, ...] = ()) -> LaunchSpec:
    program = shutil.which("java") or "java"
    return spec(program, *LIGHT, *jvm, "-jar", str(jar), *words, env=("LANG=C.UTF-8", "PATH=/usr/bin:/bin"))


@pytest.fixture(scope="module")
def driver(jar: Path, launcher: Launcher) -> Driver:
    return Driver(Jmh(), java(jar, *QUICK), launcher)


def test_it_lists_each_product_of_the_parameters(driver: Driver) -> None:
    listed = driver.listed()
    assert [one.name for one in listed] == [
        "bench.Sums.fails",
        "bench.Sums.forked",
        *LENGTHS,
        "bench.Sums.sum:n=1000",
        "bench.Sums.sum:n=4000",
        "bench.Sums.sumOfAll",
    ]
    assert listed[3].params == {"times": "1", "word": "a.b* [c] größe/日本 http://x:y"}


@pytest.mark.parametrize("name", ["bench.Sums.forked", LENGTHS[1]])
def test_one_with_any_name_runs_as_often_as_asked(driver: Driver, name: str) -> None:
    samples = driver.run(name, samples=3)
    assert len(samples) == 3
    assert all(4_000_000 < sample.ns < 16_000_000 for sample in samples)


def test_the_value_is_what_jmh_says(driver: Driver) -> None:
    launch = driver.harness.running(driver.launch, work := Work("bench.Sums.sum:n=1000", 1, 5))
    measured = driver.launcher.launch(replace(launch, stdout=1 << 20))
    ours = statistics.fmean(one.ns / one.loops for one in driver.harness.samples(measured, work))
    (row,) = re.findall(r"Sums\.sum +1000 +avgt +5 +([\d.]+)", (measured.stdout or b"").decode())
    assert ours == pytest.approx(float(row), rel=1e-4)


def test_the_user_s_choice_is_listed_and_run(driver: Driver, jar: Path) -> None:
    apart = ("Sums.sum", "-p", "n=7,8", "-e", "All", *QUICK, "-r", "3ms")
    joined = ("-pn=7,8", "-p=word=x", "-f1", "-eAll", "-wi=2", "-w20ms", "-r3ms", "-t1", "Sums.sum")
    one, other = (Driver(Jmh(), java(jar, *words), driver.launcher) for words in (apart, joined))
    assert one.names() == ["bench.Sums.sum:n=7", "bench.Sums.sum:n=8"]
    assert len(other.run("bench.Sums.sum:n=8")) == 2


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("-f1 -p n=1 -wi 3 Foo", "-f1 -wi 3"),
        ("-bm thrpt -tu ms -bm=ss -tu=s -t 2", "-t 2"),
        ("-w100ms Foo -pn=1 -tmax -p=n=1 -prof=gc", "-w100ms -tmax -prof=gc"),
        ("-gc -p -si true -f Foo", "-gc -p -si true -f Foo"),
        (
            "-prof gc -rff x Foo -to 1m -opi=2 -wm BULK -jvmArgs -Dx=y -f",
            "-prof gc -rff x -to 1m -opi=2 -wm BULK -jvmArgs -Dx=y -f",
        ),
    ],
)
def test_all_but_the_choice_is_passed_on(words: str, kept: str) -> None:
    launch = Jmh().running(spec("java", "-jar", "b.jar", *words.split()), Work("a.B.c", 1, 2))
    passed = [os.fsdecode(word) for word in launch.argv]
    assert passed[3 : passed.index(r"^\Qa.B.c\E$")] == kept.split()


@pytest.mark.parametrize(
    ("words", "defaults"),
    [
        ("", "-f 1 -wi 5 -w 100ms -r 10ms"),
        ("-f2 -w1s", "-wi 5 -r 10ms"),
        ("-wi=3 -r1", "-f 1 -w 100ms"),
        ("-foe true -wf 1 -rf json", "-f 1 -wi 5 -w 100ms -r 10ms"),
    ],
)
def test_what_is_given_is_not_given_twice(words: str, defaults: str) -> None:
    launch = Jmh().running(spec("java", "-jar", "b.jar", *words.split()), Work("a.B.c", 1, 2))
    passed = [os.fsdecode(word) for word in launch.argv]
    assert passed[passed.index(r"^\Qa.B.c\E$") + 1 : passed.index("-i")] == defaults.split()


def test_what_is_only_the_beginning_of_a_name_runs_nothing(driver: Driver) -> None:
    measured = driver.launcher.launch(driver.harness.running(driver.launch, Work("bench.Sums", 1, 2)))
    assert measured.has_failed()
    assert driver.harness.complaint(measured) == "says: No matching benchmarks"


def test_words_that_contradict_are_told_of(driver: Driver, jar: Path) -> None:
    launch = driver.harness.running(java(jar, "-i", "3"), Work("bench.Sums.sumOfAll", 1, 2))
    measured = driver.launcher.launch(launch)
    assert (
        driver.harness.complaint(measured) == "says: Found multiple arguments for option i, but you asked for only one"
    )


def test_a_weighing_of_a_slower_one_beside_one_that_fails(here: InProcess, jar: Path) -> None:
    sides = [
        shlex.join(["java", *LIGHT, f"-Dbench.factor={factor}", "-jar", str(jar), *QUICK, "-f", "0"])
        for factor in (1, 8)
    ]
    words = ("--harness", "jmh", *sides, "-b", "*sum:n=1000", "-b", "*fails", *FEW_PAIRS)
    done = here("compare", *words, "--names", "old,new", "--json", "record.json")
    assert done.status == 3, done
    record = here.json()
    (failure,) = [one["message"] for one in record["findings"] if one["code"] == "failed"]
    said = "(bench.Sums.fails) failed with exit status 1 and says: java.lang.IllegalStateException: planted failure"
    assert said in failure
    (verdict,) = record["derived"]["verdicts"]
    assert (verdict["benchmark"], verdict["verdict"]) == ("bench.Sums.sum:n=1000", "slower")


# --- recognised


def test_it_is_recognised_by_its_jar(jar: Path, tmp_path: Path) -> None:
    (tmp_path / "other.jar").write_bytes(b"PK\3\4 META-INF/MANIFEST.MF")
    assert Jmh().recognises(java(jar, "-f", "1"))
    assert Jmh().recognises(replace(java(Path(jar.name)), cwd=str(jar.parent).encode()))
    assert Jmh().recognises(spec("java", "-cp", "classes:jmh.jar", "org.openjdk.jmh.Main"))
    for words in (("java", "-jar", str(tmp_path / "other.jar")), ("java", "-jar"), ("java", "Main"), ("cat", str(jar))):
        assert not Jmh().recognises(spec(*words))
    assert not PytestBenchmark().recognises(java(jar))
    assert not Pyperf().recognises(java(jar))


# --- the formats


def test_a_list_after_what_a_jvm_prints() -> None:
    text = 'Picked up JAVA_OPTS\nBenchmarks: \na.B.c\n  param "s" = {, x}\n  param "n" = {1}\na.B.d\n'
    assert benchmarks_of(text) == [
        Listed("a.B.c:n=1,s=", params={"s": "", "n": "1"}),
        Listed("a.B.c:n=1,s=x", params={"s": "x", "n": "1"}),
        Listed("a.B.d"),
    ]
    assert benchmarks_of("Benchmarks: \n") == []


def test_one_of_several_modes_is_listed_once_for_each_of_them_and_is_one() -> None:
    text = 'Benchmarks: \na.B.c\n  param "n" = {1, 2}\na.B.d\na.B.c\n  param "n" = {1, 2}\na.B.d\n'
    assert [one.name for one in benchmarks_of(text)] == ["a.B.c:n=1", "a.B.c:n=2", "a.B.d"]


@pytest.mark.parametrize("text", ["", "a.B.c\n", "Benchmarks:\n  param \n", "Benchmarks:\na.B.c\n  param cut", "x"])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(LaunchError):
        benchmarks_of(text)


def test_a_list_that_an_option_hides() -> None:
    with pytest.raises(LaunchError, match="does -v in the command hide its list"):
        benchmarks_of("")


def result(raw: Any = ((0.25, 2e9),), *, mode: str = "avgt", unit: str = "ns/op", **changes: Any) -> str:
    metric = {"score": "NaN", "scoreUnit": unit, "rawData": raw}
    one = {"benchmark": "a.B.c", "mode": mode, "params": {"n": "1", "k": "x"}, "primaryMetric": metric, **changes}
    return json.dumps([one])


def test_times_of_an_operation_keep_their_precision() -> None:
    (one,) = results_in(result())
    assert one.name == "a.B.c:k=x,n=1"
    assert one.samples() == (Sample(40_000_000, 10_000_000), Sample(1, 2_000_000_000))
    (tiny,) = results_in(result([[0.312345678]]))[0].samples()
    assert tiny.ns / tiny.loops == pytest.approx(0.312345678, rel=1e-7)


def test_each_of_several_forks_has_as_many_samples() -> None:
    text = result([[1.0, 2.0], [3.0, 4.0]])
    samples = Jmh().samples(that_wrote(text), Work("a.B.c:k=x,n=1", 1, 2))
    assert [one.ns / one.loops for one in samples] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "wrote no file of JMH's results"),
        ("garbage", "is no JSON"),
        (result()[:-5], "is no JSON, or was cut"),
        ("{}", "is no file of JMH's results"),
        ("null", "is no file of JMH's results"),
        ("[1]", "is no file of JMH's results"),
        ("[{}]", "is no file of JMH's results"),
        ('[{"primaryMetric": {}}]', "is no file of JMH's results"),
        (result(None), "is no file of JMH's results"),
        (result([1.0]), "is no file of JMH's results"),
        (result(mode="thrpt"), 'measured "thrpt" in "ns/op"'),
        (result(unit="us/op"), 'measured "avgt" in "us/op"'),
        (result([["NaN"]]), 'took "NaN" ns'),
        (result([[math.nan]]), "took NaN ns"),
        (result([[math.inf]]), "took Infinity ns"),
        (result([[0.0]]), "took 0.0 ns"),
        (result([[-1]]), "a number above 0"),
        (result([[True]]), "took true ns"),
        (result([[]]), "gave 0 samples where 2 were asked for"),
        (result([]), "gave 0 samples where 2 were asked for"),
        (result([[1.0, 2.0], [3.0]]), "gave 3 samples where 4 were asked for"),
        (result(benchmark="a.B.d"), 'ran "a.B.d:k=x,n=1" where only "a.B.c:k=x,n=1"'),
        ("[]", "ran no benchmark"),
        (json.dumps(json.loads(result()) * 2), "2 times: JMH takes a comma"),
    ],
)
def test_what_is_no_result(text: str, said: str) -> None:
    with refused(said):
        Jmh().samples(that_wrote(text), Work("a.B.c:k=x,n=1", 1, 2))
