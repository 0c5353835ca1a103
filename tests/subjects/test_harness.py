"""Which harness drives a program: chosen by name, or recognised."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from steelyard.model.errors import UsageError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.subjects import harness
from steelyard.subjects.harness import GROUP, Harness, harness_named, harness_names, recognised_harness
from steelyard.subjects.protocol import ProtocolHarness


class Picky(Harness):
    """Recognises programs that are called picky."""

    def recognises(self, launch: LaunchSpec) -> bool:
        return b"picky" in launch.program


class Greedy(Harness):
    """Recognises everything."""

    def recognises(self, launch: LaunchSpec) -> bool:  # noqa: ARG002
        return True


def broken() -> Harness:
    raise RuntimeError("it was never finished")


def launch(program: str) -> LaunchSpec:
    return LaunchSpec(program=program.encode(), argv=(program.encode(),), env=())


def offer(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have only these harnesses of this module, each under its name in lower case."""
    points = {name.lower(): EntryPoint(name.lower(), f"{__name__}:{name}", GROUP) for name in names}
    monkeypatch.setattr(harness, "_known", lambda: points)


def test_all_that_the_package_names_can_be_loaded() -> None:
    assert {"protocol", "google-benchmark", "criterion", "go", "jmh", "pytest-benchmark"} <= set(harness_names())
    for name in harness_names():
        assert not harness_named(name).recognises(launch("/bin/true")), name


def test_a_program_that_knows_our_words_speaks_the_protocol(tmp_path: Path) -> None:
    program = tmp_path / "bench"
    program.write_bytes(b"\0--steelyard-loops=\0")
    assert recognised_harness([launch(str(program))]) == "protocol"
    script = tmp_path / "bench.py"
    script.write_text("import steelyard\n")
    for words in (["-m", "steelyard.harness", "bench"], [str(script)]):
        argv = tuple(word.encode() for word in ("python", *words))
        assert ProtocolHarness().recognises(replace(launch("/usr/bin/env"), argv=argv))
    assert not ProtocolHarness().recognises(launch(str(tmp_path / "missing")))


def test_a_program_that_env_starts_in_another_folder_is_looked_at_there(tmp_path: Path) -> None:
    def of(*words: str) -> LaunchSpec:
        return replace(launch("/usr/bin/env"), argv=tuple(map(str.encode, words)), cwd=str(tmp_path).encode())

    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/bench").write_bytes(b"\0--steelyard-loops=\0")
    (tmp_path / "suite/test_theirs.py").write_text("def test_it(benchmark):\n    pass\n")
    assert recognised_harness([of("env", "-C", "suite", "./bench")]) == "protocol"
    assert recognised_harness([of("env", "-C", "suite", "pytest", "test_theirs.py")]) == "pytest-benchmark"
    with pytest.raises(UsageError, match="`go` would build again in each launch"):
        recognised_harness([of("env", "-C", "suite", "go", "test", "-bench", ".")])


@pytest.mark.parametrize(("tool", "builds"), [("cargo", "cargo bench --no-run"), ("go", "go test -c")])
def test_what_builds_benchmarks_is_no_program_that_has_some(tool: str, builds: str) -> None:
    with pytest.raises(UsageError, match=f"`{tool}` would build again in each launch: give the .* that {builds} makes"):
        recognised_harness([launch("/bin/true"), launch(f"/usr/bin/{tool}")])


def test_tests_of_pytest_are_ours_by_the_fixture_that_they_take(tmp_path: Path) -> None:
    for name, fixture in (("test_ours.py", "weigh"), ("test_theirs.py", "benchmark"), ("test_plain.py", "tmp_path")):
        (tmp_path / name).write_text(f"import steelyard\n\ndef test_it({fixture}):\n    pass\n")

    def of(*words: str) -> LaunchSpec:
        argv = tuple(word.encode() for word in ("python", "-m", "pytest", *words))
        return replace(launch("/usr/bin/env"), argv=argv, cwd=str(tmp_path).encode())

    assert (
        recognised_harness([of("test_ours.py"), of("test_plain.py", "test_ours.py::test_it", "-k", "it")]) == "protocol"
    )
    assert recognised_harness([of("test_theirs.py")]) == "pytest-benchmark"
    with pytest.raises(
        UsageError, match=r"such programs \(protocol, pytest-benchmark\): say which with --harness NAME"
    ):
        recognised_harness([of()])
    with pytest.raises(UsageError, match="no harness recognises"):
        recognised_harness([of("test_plain.py")])


def test_exactly_one_harness_has_to_recognise_all_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "Picky")
    assert recognised_harness([launch("picky-old"), launch("picky-new")]) == "picky"
    with pytest.raises(
        UsageError, match=r"recognises these .* \(there are picky\): say which with .*NAME, or time whole"
    ):
        recognised_harness([launch("picky-old"), launch("other")])
    offer(monkeypatch, "Picky", "Greedy")
    with pytest.raises(UsageError, match=r"more than one harness drives such programs \(greedy, picky\)"):
        recognised_harness([launch("picky")])


def test_a_harness_that_cannot_be_loaded_is_an_error_only_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offer(monkeypatch, "broken", "Picky")
    assert recognised_harness([launch("picky")]) == "picky"
    with pytest.raises(UsageError, match=r"--harness broken cannot be loaded \(it was never finished\): repair"):
        harness_named("broken")
