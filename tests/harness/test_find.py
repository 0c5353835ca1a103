"""Files of benchmarks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.harness.declare import bench_files, declarations
from steelyard.harness.find import FindError, entries_of, files_of, find_entry, surround
from steelyard.harness.names import BadNameError
from tests.harness.conftest import Write


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Unload at the end of a test what it has loaded."""
    modules, path = dict(sys.modules), list(sys.path)
    declarations.clear()
    bench_files.clear()
    yield
    declarations.clear()
    bench_files.clear()
    sys.path[:] = path
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]


def names(*paths: Path) -> list[str]:
    return [entry.name for entry in entries_of(files_of([str(path) for path in paths]))]


def test_an_entry(write: Write) -> None:
    path = write(
        """
        @bench(n=[1, "a b"], tags=["t"])
        def work(n): ...
        """
    )
    first, second = entries_of(files_of([str(path)]))
    assert (first.name, first.params, first.source) == ("bench_x.py::work[n=1]", {"n": "1"}, "bench_x.py:3")
    assert (second.name, second.values, second.tags) == ("bench_x.py::work[n=a b]", {"n": "a b"}, ("t",))


def test_a_folder_is_searched(write: Write, tmp_path: Path) -> None:
    text = "@bench\ndef work(): ..."
    for name in (
        "bench_b.py",
        "a/bench_c.py",
        "other.py",
        "bench_no.txt",
        ".hidden/bench_d.py",
        "env/bench_e.py",
        "node_modules/bench_f.py",
        "__pycache__/bench_g.py",
    ):
        write(text, name)
    write("", "env/pyvenv.cfg")
    assert names(tmp_path) == ["a/bench_c.py::work", "bench_b.py::work"]


def test_names_begin_where_all_paths_meet(write: Write, tmp_path: Path) -> None:
    one, two = write("bench(len)", "a/bench_x.py"), write("bench(len)", "b/bench_x.py")
    assert names(one) == ["bench_x.py::len"]
    assert names(one, two) == ["a/bench_x.py::len", "b/bench_x.py::len"]
    assert names(one, tmp_path, one) == ["a/bench_x.py::len", "b/bench_x.py::len"]


def test_a_name_does_not_depend_on_where_it_is_called(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("bench(len)", "a/bench_x.py")
    monkeypatch.chdir(tmp_path)
    assert names(Path("a/bench_x.py")) == ["bench_x.py::len"]
    monkeypatch.chdir(tmp_path / "a")
    assert names(Path("bench_x.py")) == ["bench_x.py::len"]


def test_a_file_that_is_named_may_be_called_as_it_likes(write: Write) -> None:
    assert names(write("bench(len)", "speed.py")) == ["speed.py::len"]


def test_a_bench_file_may_import_another(write: Write, tmp_path: Path) -> None:
    write("@bench\ndef work(): ...\nprint('loaded')", "bench_b.py")
    write("import bench_b\nbench(name='again')(bench_b.work)", "bench_a.py")
    assert names(tmp_path) == ["bench_a.py::again", "bench_b.py::work"]


def test_a_bench_file_may_import_another_from_a_package(write: Write, tmp_path: Path) -> None:
    write("@bench\ndef work(): ...", "speed_of_all/bench_b.py")
    write("from speed_of_all import bench_b\nbench(name='again')(bench_b.work)", "speed_of_all/bench_a.py")
    sys.path.insert(0, str(tmp_path))
    assert names(tmp_path / "speed_of_all") == ["bench_a.py::again", "bench_b.py::work"]


def test_each_bench_file_finds_its_own_neighbours(write: Write, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(f"BODY = {folder!r}", f"{folder}/common_of_two.py")
        write("import common_of_two\nbench(name=common_of_two.BODY)(len)", f"{folder}/bench_y.py")
    assert names(tmp_path) == ["a/bench_y.py::a", "b/bench_y.py::b"]


def test_what_a_body_imports_when_it_runs_is_its_own_neighbour(write: Write, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write(f"BODY = {folder!r}", f"{folder}/later_of_two.py")
        write(f"BODY = {folder!r}", f"{folder}/package_of_two/later.py")
        write(
            """
            import pickle
            import package_of_two.later

            class Kept: ...

            @bench
            def work():
                import later_of_two
                pickle.loads(pickle.dumps(Kept()))
                from package_of_two import later
                assert later is package_of_two.later
                return later_of_two.BODY + later.BODY
            """,
            f"{folder}/bench_z.py",
        )
    found = []
    for entry in entries_of(files_of([str(tmp_path)])) * 2:
        assert entry.declaration is not None
        surround(entry.declaration.file)
        found.append(entry.declaration.function())
    assert found == ["aa", "bb", "aa", "bb"]


def test_a_file_called_as_a_module_of_python_s(write: Write) -> None:
    json = sys.modules["json"]
    assert names(write("import json\njson.dumps\nbench(len)", "json.py")) == ["json.py::len"]
    assert sys.modules["json"] is json


def test_one_name_loads_its_file_only(write: Write, tmp_path: Path) -> None:
    write("bench(len)", "bench_a.py")
    write("raise SystemExit", "bench_b.py")
    assert find_entry("bench_a.py::len", files_of([str(tmp_path)])).name == "bench_a.py::len"


def test_what_a_file_declares_is_found_once(write: Write, tmp_path: Path) -> None:
    write("@bench(n=[1, 2])\ndef work(n): ...", "speed_of_each/bench_b.py")
    write("from speed_of_each.bench_b import work\nbench(len)", "speed_of_each/bench_a.py")
    sys.path.insert(0, str(tmp_path))
    files = files_of([str(tmp_path / "speed_of_each")])
    entry = find_entry("bench_b.py::work[n=1]", files)
    find_entry("bench_a.py::len", files)  # loads the other file again, by the name that it has in the package
    assert find_entry("bench_b.py::work[n=1]", files) is entry


@pytest.mark.parametrize("name", ["bench_a.py::lens", "bench_a.py::len ", "bench_a.py", "len", "", "bench_c.py::len"])
def test_no_such_name(write: Write, name: str) -> None:
    files = files_of([str(write("bench(len)", "bench_a.py"))])
    with pytest.raises(FindError, match="no benchmark is called"):
        find_entry(name, files)


def test_two_of_one_name(write: Write) -> None:
    files = files_of([str(write("bench(len)\nbench(len)"))])
    with pytest.raises(BadNameError, match=r"two benchmarks are called 'bench_x\.py::len'"):
        entries_of(files)


def test_two_of_one_name_when_it_is_to_run(write: Write) -> None:
    files = files_of([str(write("bench(len)\nbench(len)"))])
    with pytest.raises(BadNameError, match="two benchmarks are called"):
        find_entry("bench_x.py::len", files)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nx = (", "bench_x.py cannot be loaded: bench_x.py:3: SyntaxError: '(' was never closed"),
        ("import nothing_of_this_name", "bench_x.py:2: ModuleNotFoundError: No module named"),
        ("def f():\n  1 / 0\nf()", "bench_x.py:3: ZeroDivisionError"),
        ("raise SystemExit(3)", "bench_x.py:2: SystemExit: 3"),
        ("bench(n=[1])(lambda: 0)", "bench_x.py:2: TypeError"),
    ],
)
def test_files_that_cannot_be_loaded(write: Write, text: str, said: str) -> None:
    files = files_of([str(write(text))])
    with pytest.raises(FindError) as raised:
        entries_of(files)
    assert said in str(raised.value)


def test_no_such_path(tmp_path: Path) -> None:
    with pytest.raises(FindError, match="no file or folder"):
        files_of([str(tmp_path / "bench_x.py")])
    with pytest.raises(FindError, match=r"holds no file called bench_\*\.py"):
        files_of([str(tmp_path)])
