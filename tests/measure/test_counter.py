"""One launch under the real Valgrind: what is counted, what is not, and what Valgrind cannot do."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.pins import environment
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.launch import Launcher
from steelyard.model.counting import CountSettings
from steelyard.model.errors import MeasurementError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests import c_programs
from tests.c_programs import compiled, need_callgrind_header, need_valgrind
from tests.design.scripted import PLAIN
from tests.measure.counting import Counting


@pytest.fixture
def counter(launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    need_valgrind()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield Counting(launcher.launch, Counter(Valgrind.found(), CountSettings()))
    assert not list((tmp_path / "temporary").iterdir())


def launch(program: Path | str, *words: str, **options: object) -> LaunchSpec:
    pinned = environment(os.environ, [], {}, preload=True, start=False)
    spec = LaunchSpec(
        program=os.fsencode(program),
        argv=tuple(os.fsencode(word) for word in (program, *words)),
        env=tuple(os.fsencode(f"{name}={value}") for name, value in pinned.items()),
    )
    return replace(spec, **options)  # type: ignore[arg-type]


def own(counted: Counted, function: str) -> int:
    return sum(one.events["Ir"] for one in counted.functions if one.name == function)


def test_as_many_more_instructions_as_there_are_more_rounds(counter: Counting, tmp_path: Path) -> None:
    program = compiled(tmp_path, "loop", c_programs.LOOP)
    counts = [counter.count(launch(program, str(rounds))) for rounds in (10_000, 10_000, 20_000)]
    assert counts[0].events == counts[1].events
    assert own(counts[2], "hot") - own(counts[0], "hot") == pytest.approx(own(counts[0], "hot"), rel=1e-3)
    assert sum(one.events["Ir"] for one in counts[0].functions) == counts[0].events["Ir"]
    assert (counts[0].forked, counts[0].lost, counts[0].replaced_by, counts[0].went_around) == (0, 0, None, None)


def test_cachegrind_with_caches_and_callgrind_count_about_the_same(counter: Counting, tmp_path: Path) -> None:
    program = compiled(tmp_path, "loop", c_programs.LOOP)
    plain = counter.count(launch(program))
    simulated = counter.with_settings(CountSettings(cache_simulation=True)).count(launch(program))
    graph = counter.with_settings(CountSettings(tool="callgrind", call_graph=True)).count(launch(program))
    assert simulated.events["Ir"] == plain.events["Ir"]
    assert simulated.events["D1mr"] > 0
    assert graph.events["Ir"] == pytest.approx(plain.events["Ir"], rel=0.01)
    assert [*graph.events] == [*plain.events] == ["Ir"], "no caches where none are asked for"
    (main,) = (one for one in graph.functions if one.name == "main")
    assert (main.inclusive or 0) >= own(graph, "hot") > main.events["Ir"]


def test_counts_that_a_target_has_written_in_between_are_its_own(counter: Counting, tmp_path: Path) -> None:
    need_callgrind_header()
    program = compiled(tmp_path, "dumps", c_programs.DUMPS)
    counted = counter.with_settings(CountSettings(tool="callgrind")).count(launch(program))
    assert own(counted, "hot") > 5 * 60_000
    assert sum(one.events["Ir"] for one in counted.functions) == counted.events["Ir"]
    assert (counted.forked, len(counted.processes), counted.lost) == (0, 1, 0)


def test_children_that_only_fork_are_named_and_not_counted(counter: Counting, tmp_path: Path) -> None:
    counted = counter.count(launch(compiled(tmp_path, "forks", c_programs.FORKS)))
    assert (counted.forked, len(counted.processes), counted.lost) == (3, 1, 0)
    assert counted.events["Ir"] < 300_000


def test_programs_that_children_execute_are_counted_and_listed(counter: Counting, tmp_path: Path) -> None:
    parent = compiled(tmp_path, "parent", c_programs.FORKS_AND_EXECUTES)
    child = compiled(tmp_path, "child", c_programs.LOOP)
    counted = counter.count(launch(parent, str(child), "10000"))
    assert [process.command.split("/")[-1] for process in counted.processes] == ["child 10000", "child 10000"]
    assert counted.processes[0].command.startswith(str(parent))
    assert counted.processes[1].command == f"{child} 10000"
    assert counted.events["Ir"] == sum(process.events["Ir"] for process in counted.processes)
    assert counted.forked == 0


def test_a_child_that_executes_its_parents_own_command_is_counted(counter: Counting, tmp_path: Path) -> None:
    # By its command alone, it looks like a child that merely forked.
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\n[ "$DEPTH" ] && exit 0\nDEPTH=1 "$0"\nexit 0\n')
    script.chmod(0o755)
    counted = counter.count(launch(script))
    assert (len(counted.processes), counted.forked) == (2, 0)


def test_a_target_that_executes_itself_anew(counter: Counting, tmp_path: Path) -> None:
    counted = counter.count(launch(compiled(tmp_path, "again", c_programs.AGAIN)))
    assert (counted.measured.exit_code, len(counted.processes), counted.lost) == (0, 1, 0)


def test_what_a_target_did_before_it_executed_another_program_is_said_to_be_missing(counter: Counting) -> None:
    counted = counter.count(launch("/usr/bin/env", "LC_ALL=C", "/bin/true"))
    assert counted.replaced_by == "/bin/true"


def test_what_outlives_the_target_is_lost_and_said(counter: Counting, tmp_path: Path) -> None:
    counted = counter.count(launch(compiled(tmp_path, "daemon", c_programs.DAEMON)))
    assert counted.lost == 1
    # It is named by its own name, and not by that of Valgrind, which executes it.
    (left,) = counted.measured.left_behind
    assert left.partition(" ")[2] == "daemon"


def test_an_instruction_that_valgrind_does_not_know(counter: Counting, tmp_path: Path) -> None:
    program = compiled(tmp_path, "wide", c_programs.AVX512)
    with pytest.raises(MeasurementError) as caught:
        counter.count(launch(program))
    said = str(caught.value)
    assert f"instruction of {program} (AVX-512, 0x62 0xF1" in said
    assert "in main (wide.c:2)" in said
    assert "-march=native" in said
    assert "-mno-avx512f" in said


def test_what_leaves_avx512_out_is_no_remedy_for_other_instructions(counter: Counting, tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"-march=x86-64-v3$"):
        counter.count(launch(compiled(tmp_path, "field", c_programs.GFNI)))


def test_a_program_that_tries_such_an_instruction_and_goes_on(counter: Counting, tmp_path: Path) -> None:
    counted = counter.count(launch(compiled(tmp_path, "tries", c_programs.TRIES_AVX512)))
    assert counted.measured.exit_code == 0
    assert "AVX-512" in (counted.went_around or "")


@pytest.mark.parametrize(
    ("source", "number"), [(c_programs.UNDEFINED_INSTRUCTION, signal.SIGILL), (c_programs.SEGFAULT, signal.SIGSEGV)]
)
def test_a_targets_own_failure_is_its_own(counter: Counting, tmp_path: Path, source: str, number: int) -> None:
    assert counter.count(launch(compiled(tmp_path, "fails", source))).measured.signal == number


def test_what_a_target_says_of_valgrind_is_no_trouble_of_ours(counter: Counting) -> None:
    counted = counter.count(launch("/bin/sh", "-c", "echo 'valgrind: the best tool' >&2"))
    assert counted.measured.exit_code == 0


def test_a_target_that_executes_what_the_kernel_says_it_is(counter: Counting, tmp_path: Path) -> None:
    program = compiled(tmp_path, "self", c_programs.SELF)
    with pytest.raises(MeasurementError, match="executes /proc/self/exe executes valgrind there"):
        counter.count(launch(program))


def test_a_setuid_target(counter: Counting, tmp_path: Path) -> None:
    shutil.copy("/bin/true", tmp_path / "owned")
    (tmp_path / "owned").chmod(0o4755)
    with pytest.raises(MeasurementError, match=r"cannot run .*owned.*setuid program cannot be counted: count a copy"):
        counter.count(launch(tmp_path / "owned"))


def test_a_target_that_executes_a_setuid_program(counter: Counting, tmp_path: Path) -> None:
    shutil.copy("/bin/true", tmp_path / "owned")
    (tmp_path / "owned").chmod(0o4755)
    counted = counter.count(launch("/bin/sh", "-c", f"{tmp_path}/owned; true"))
    assert (counted.measured.exit_code, counted.not_executed) == (0, f"{tmp_path}/owned")
    with pytest.raises(MeasurementError, match=r"cannot run .*owned, which the target executes: a setuid program"):
        counter.count(launch("/bin/sh", "-c", f"exec {tmp_path}/owned"))


def test_a_target_that_is_gone(counter: Counting, tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"absent: No such file or directory; it was there before.*--prepare"):
        counter.count(launch(tmp_path / "absent"))


def test_a_time_limit_is_no_count(counter: Counting, tmp_path: Path) -> None:
    program = compiled(tmp_path, "deaf", c_programs.DEAF)
    counted = counter.count(launch(program, timeout_ns=200_000_000))
    assert (counted.measured.timed_out, counted.events) == (True, {})


def test_any_folder_for_temporary_files_will_do(
    counter: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "a b, 50%, %p, 100%%n"
    (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
    assert counter.count(launch("/bin/true")).events["Ir"] > 10_000
    assert not list((tmp_path / name).iterdir())


def test_no_folder_for_temporary_files(counter: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(MeasurementError, match=r"temporary files cannot be used \(No such file.*TMPDIR"):
        counter.count(launch("/bin/true"))


def test_a_file_for_output_holds_that_of_the_last_launch(counter: Counting, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("what was there before, and is longer")
    for said in ("one and more", "two"):
        spec = launch("/bin/sh", "-c", f"echo {said}; test -f /proc/self/fd/1", stdout=os.fsencode(tmp_path / "out"))
        assert counter.count(spec).measured.exit_code == 0
        assert (tmp_path / "out").read_text() == f"{said}\n"


def test_a_file_for_output_that_cannot_be_written(counter: Counting, tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"cannot write .*absent/out: No such file.*--output"):
        counter.count(launch("/bin/echo", "more", stdout=os.fsencode(tmp_path / "absent" / "out")))


def test_a_target_speaks_of_itself_by_the_path_that_the_user_knows(counter: Counting, tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    counted = counter.count(launch("./sh", "-c", "no-such-command; exit 3", cwd=os.fsencode(tmp_path)))
    said = counted.measured.stderr
    assert said is not None
    assert said.startswith(b"./sh: 1: ")
    assert (b"//" in said, counted.measured.exit_code) == (False, 3)


def test_a_path_that_was_cut_has_no_slashes_left_of_it(counter: Counting) -> None:
    spec = launch("/bin/sh", "-c", "no-such-command", stderr=100)
    assert (counter.count(spec).measured.stderr or b"").startswith(b"/bin/sh: 1: no-such-command")


def test_a_device_is_written_to_as_it_is(counter: Counting) -> None:
    full = counter.count(launch("/bin/sh", "-c", "echo more", stdout=b"/dev/full"))
    assert full.measured.exit_code != 0


def test_no_count_is_an_error_and_no_number(tmp_path: Path) -> None:
    counter = Counting(lambda _: PLAIN, Counter(Valgrind(tmp_path, "3.19.0"), CountSettings()))
    with pytest.raises(MeasurementError, match=r"wrote no counts of /bin/true: was it killed.*TMPDIR"):
        counter.count(launch("/bin/true"))


def test_debug_information_that_valgrind_cannot_read_is_named(tmp_path: Path) -> None:
    said = (
        "==7== Valgrind: debuginfo reader: ensure_valid failed:\n"
        "==7== Valgrind:   during call to ML_(img_get)\n"
        '==7== Valgrind:   "/lib/built by clang.so"\n'
        "==7== \n"
        "==7== Valgrind: debuginfo reader: Possibly corrupted debuginfo file.\n"
    )

    def launched(spec: LaunchSpec) -> Measured:
        (flag,) = (word for word in spec.argv if word.startswith(b"--log-file="))
        Path(os.fsdecode(flag.partition(b"=")[2].replace(b"%p", b"7"))).write_text(said)
        return replace(PLAIN, exit_code=1)

    counter = Counting(launched, Counter(Valgrind(tmp_path, "3.19.0"), CountSettings()))
    with pytest.raises(
        MeasurementError, match=r"the debug information of /lib/built by clang.so: .*-gdwarf-4.*strip -g"
    ):
        counter.count(launch("/bin/true"))


def test_the_same_count_in_any_folder_and_environment(counter: Counting, tmp_path: Path) -> None:
    program = compiled(tmp_path, "loop", c_programs.LOOP)
    far = tmp_path / ("deep/" * 20)
    far.mkdir(parents=True)
    for name in ("loop", "a-longer-name"):
        shutil.copy(program, far / name)
    counter = counter.with_settings(CountSettings(cache_simulation=True))

    def count(program: Path, path: str) -> dict[str, int]:
        source = {"PATH": path, "USER": path}
        pinned = environment(source, [], {}, preload=True, start=False)
        env = tuple(os.fsencode(f"{name}={value}") for name, value in pinned.items())
        return counter.count(launch(program, cwd=os.fsencode(program.parent), env=env)).events

    # A fixed PATH, because the user's may have any length.
    usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    here = count(program, usual)
    assert count(far / "loop", usual) == here
    assert count(program, f"{usual}:/x{'y' * 1000}")["Ir"] == here["Ir"]
    # The C library reads names a vector at a time: a few instructions more or less.
    assert abs(count(far / "a-longer-name", usual)["Ir"] - here["Ir"]) < 30
