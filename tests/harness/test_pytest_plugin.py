"""pytest as a harness."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

import steelyard
from steelyard.harness import pytest_plugin
from tests.harness.driving import LIST, VERSION, Called, call, each_arguments, parts_of, run_arguments

PLAIN = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
# Without the other plugins that are installed here, which take half of the time of a start.
PYTEST = ["env", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1", *PLAIN, "-p", "steelyard"]

SUITE = """
    import asyncio
    import pytest

    def test_sort(weigh):
        assert weigh(sorted, [3, 1, 2]) == [1, 2, 3]

    @pytest.mark.slow
    @pytest.mark.parametrize(("n", "kind"), [(1, "a b"), (2, "it's \\"ü\\""), (3, [0])])
    def test_params(weigh, n, kind):
        weigh(lambda: n)

    class TestClass:
        def test_method(self, weigh):
            assert weigh(max, 1, 2, key=lambda x: -x) == 1

    @pytest.fixture
    def thing():
        print("set up")
        yield 5
        print("torn down")

    def test_fixture(thing, weigh):
        weigh(print, "body", thing)

    def test_awaited(weigh):
        async def body(x):
            await asyncio.sleep(0)
            return x
        assert weigh(body, 4) == 4

    def test_awaited_behind_a_decorator(weigh):
        import functools
        async def body(x):
            return x
        assert weigh(functools.wraps(body)(lambda x: body(x)), 4) == 4

    def test_random(weigh):
        assert weigh.random.random() != weigh.random.random()
        weigh(print, weigh.random.getrandbits(64))

    def test_of_something_else():
        assert True

    @pytest.mark.skip
    def test_skipped_always(weigh): ...

    @pytest.mark.skipif(True, reason="so")
    def test_skipped_here(weigh): ...
"""
NAMES = [
    f"test_suite.py::{name}"
    for name in (
        "test_sort",
        "test_params[1-a b]",
        'test_params[2-it\'s "\\xfc"]',
        "test_params[3-kind2]",
        "TestClass::test_method",
        "test_fixture",
        "test_awaited",
        "test_awaited_behind_a_decorator",
        "test_random",
    )
]

TROUBLE = """
    import pytest

    def test_assertion(weigh):
        assert weigh(len, "abc") == 4

    def test_raises(weigh):
        weigh(int, "x")

    def test_skips(weigh):
        pytest.skip("because")

    @pytest.mark.xfail
    def test_expected(weigh):
        assert weigh(len, "abc") == 4

    @pytest.mark.xfail(strict=True)
    def test_unexpected(weigh):
        weigh(len, "abc")

    def test_idle(weigh): ...

    def test_raises_as_expected(weigh):
        with pytest.raises(ValueError):
            weigh(int, "x")

    def test_returns_a_coroutine(weigh):
        async def body(): ...
        weigh(lambda: body())

    import functools

    def numbers():
        yield 1

    @functools.wraps(numbers)
    def decorated():
        return numbers()

    def test_is_a_generator(weigh):
        weigh(numbers)

    def test_is_a_decorated_generator(weigh):
        weigh(decorated)

    def test_returns_a_generator(weigh):
        assert list(weigh(lambda: numbers())) == [1]

    def test_twice(weigh):
        weigh(len, "")
        weigh(len, "")

    @pytest.fixture
    def bad_teardown():
        yield
        raise OSError("no")

    def test_teardown(weigh, bad_teardown):
        weigh(len, "")

    def test_exits(weigh):
        pytest.exit("enough")
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out this environment's other plugins, some of which take longer to load than all else; and colours."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PY_COLORS", "0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    write(tmp_path, "test_suite.py", SUITE)
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(dedent(text), encoding="utf-8")


def ran(folder: Path, name: str, loops: int = 3, samples: int = 2, seed: int = 1) -> Called:
    return call(PYTEST, run_arguments(name, loops, samples, seed), cwd=folder)


def test_by_itself_pytest_runs_each_test_once_and_loads_the_plugin_and_nothing_else(folder: Path) -> None:
    write(folder, "test_first.py", "import sys\ndef test(weigh): weigh(len, ''); print('LOADED', *sys.modules)")
    found = subprocess.run([*PYTEST, "-q", "-s"], cwd=folder, capture_output=True, text=True, check=False)
    assert "11 passed, 2 skipped" in found.stdout
    assert found.stdout.count("body 5") == 1
    line = next(line for line in found.stdout.splitlines() if "LOADED" in line)
    assert {name for name in line.split() if name.startswith("steelyard")} == {
        "steelyard",
        "steelyard.harness",
        "steelyard.harness.declare",
        "steelyard.harness.pytest_plugin",
        "steelyard.harness.signature",
    }


def test_a_generator_is_refused_by_itself_too_and_one_that_a_function_returns_is_not(folder: Path) -> None:
    write(folder, "test_trouble.py", TROUBLE)
    # Without -rN, pytest repeats what is refused in its summary where CI is set or the terminal is wide.
    command = [*PYTEST, "-q", "-rN", "-k", "generator"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert found.stdout.count("BodyError: numbers() is a generator: a call of it runs nothing") == 2
    assert "2 failed, 1 passed" in found.stdout


def test_pytest_finds_the_plugin_by_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    assert call(PLAIN, LIST, cwd=folder).names == NAMES


def test_an_older_pluggy_knows_how_its_hooks_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """If not, every run of pytest would fail where this is installed beside it, as beside that of Debian 12."""

    def hookimpl(*, hookwrapper: bool = False, tryfirst: bool = False) -> Callable[[object], object]:
        assert (hookwrapper, tryfirst) == (True, True)
        return lambda function: function

    monkeypatch.setattr(pytest, "hookimpl", hookimpl)
    runpy.run_path(pytest_plugin.__file__)


@pytest.mark.parametrize("word", ["-v", "--help"])
def test_where_nothing_uses_it_nothing_shows_it(folder: Path, word: str) -> None:
    write(folder, "test_other.py", "def test_other(): assert True")

    def said(*words: str) -> list[str]:
        command = [*PLAIN, *words, word, "test_other.py"]
        found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        # The number of digits of a time also changes the line around it.
        lines = re.sub(r"=* (.*) in [\d.]+s.* =*", r"\1 in a time", found.stdout + found.stderr).splitlines()
        return [line for line in lines if not line.startswith("plugins: ")]  # pytest's list of what is installed

    assert said("-p", "steelyard") == said()


def test_the_list(folder: Path) -> None:
    called = call(PYTEST, [*LIST, "--steelyard-of-a-later-version=1"], cwd=folder)
    assert called.names == NAMES
    assert called.lines[0]["harness"] == f"steelyard.harness {steelyard.__version__} in pytest {pytest.__version__}"
    assert called.body[0] == {"benchmark": "test_suite.py::test_sort", "source": "test_suite.py:5"}
    assert called.body[2]["params"] == {"n": "2", "kind": 'it\'s "ü"'}
    assert called.body[3]["params"] == {"n": "3", "kind": "kind2"}
    assert called.body[3]["tags"] == ["slow"]
    assert "set up" not in called.stdout


def test_what_is_skipped_whatever_happens_is_not_listed(folder: Path) -> None:
    marks = {"named": "condition=[pytest]", "true": "1", "false": "0", "none": "condition=None", "code": "'not pytest'"}
    tests = (f"@pytest.mark.skipif({mark}, reason='so')\ndef test_{name}(weigh): ...\n" for name, mark in marks.items())
    write(folder, "test_suite.py", "import pytest\n" + "".join(tests))
    assert call(PYTEST, LIST, cwd=folder).names == [f"test_suite.py::test_{name}" for name in ("false", "none", "code")]


def test_the_list_is_the_same_where_tests_are_shuffled(folder: Path) -> None:
    write(folder, "conftest.py", "def pytest_collection_modifyitems(items): items.reverse()")
    assert call(PYTEST, LIST, cwd=folder).names == NAMES


def test_it_runs_so_often_and_once_more_for_the_result_and_loads_no_other_file(folder: Path) -> None:
    write(folder, "test_other.py", "raise SystemExit")
    called = call([*PYTEST, "-s"], run_arguments("test_suite.py::test_fixture", 2, 2), cwd=folder)
    assert (called.status, [line["loops"] for line in called.body]) == (0, [2, 2])
    assert all(line["ns"] > 0 and line["delay_ns"] >= 0 for line in called.body)
    assert called.stdout.count("body 5") == 2 * 2 + 1
    assert called.stdout.index("set up") < called.stdout.index("body") < called.stdout.index("torn down")


def test_random_numbers_depend_on_the_seed(folder: Path) -> None:
    name = "test_suite.py::test_random"
    arguments = [VERSION, *(f"--steelyard-each=1:1:{seed}::{name}" for seed in (5, 5, 6))]
    printed = [line for line in call([*PYTEST, "-s"], arguments, cwd=folder).stdout.splitlines() if line.isdigit()]
    # Of its two lines, for the sample and for the result, the first stands behind what pytest prints.
    assert len(printed) == 3
    assert printed[0] == printed[1] != printed[2]


def test_the_user_s_own_arguments_choose(folder: Path) -> None:
    assert call([*PYTEST, "-k", "sort"], LIST, cwd=folder).names == ["test_suite.py::test_sort"]
    assert call([*PYTEST, "-m", "slow"], run_arguments("test_suite.py::test_sort"), cwd=folder).status != 0


def test_a_folder_s_tests_have_its_name(folder: Path) -> None:
    (folder / "inner").mkdir()
    write(folder / "inner", "test_suite.py", "def test(weigh): weigh(len, '')")
    (folder / "inner" / "__init__.py").touch()
    assert call([*PYTEST, "inner"], run_arguments("inner/test_suite.py::test"), cwd=folder).status == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("test_skips", "the test was skipped: because"),
        ("test_unexpected", "the test failed: see what pytest printed"),
        ("test_idle", "the test never called weigh()"),
        ("test_exits", "interrupted: _pytest.outcomes.Exit: enough"),
        ("test_nothing", "no test that uses weigh() is called 'test_trouble.py::test_nothing'"),
    ],
)
def test_trouble(folder: Path, name: str, said: str) -> None:
    write(folder, "test_trouble.py", TROUBLE)
    answer = ran(folder, f"test_trouble.py::{name}")
    assert said in answer.error
    is_skipped = [line.get("skipped") for line in answer.body if "error" in line] == [True]
    assert is_skipped == (name == "test_skips")


def test_several_run_in_processes_of_their_own(folder: Path) -> None:
    text = "import gc\ndef test_shared(weigh):\n    assert gc.get_freeze_count()\n    weigh(int)\n"
    write(folder, "test_shared.py", text)
    names = [*NAMES, "test_shared.py::test_shared"]
    parts = parts_of(call(PYTEST, each_arguments(*names), cwd=folder))
    assert [[line["loops"] for line in part.body] for part in parts] == [[3, 3]] * len(names)
    assert {part.status for part in parts} == {0}
    assert all(line["ns"] > 0 and line["delay_ns"] >= 0 for part in parts for line in part.body)


def test_what_is_wrong_with_one_of_several_is_told_of_it(folder: Path) -> None:
    write(folder, "test_trouble.py", TROUBLE)
    told = {
        "test_assertion": "test_trouble.py:5: AssertionError: assert 3 == 4\n +  where 3 = weigh(len, 'abc')",
        "test_raises": "test_trouble.py:8: ValueError: invalid literal",
        "test_skips": "the test was skipped: because",
        "test_expected": "the test fails, as it was expected to",
        "test_unexpected": "the test failed: see what pytest printed",
        "test_idle": "the test never called weigh()",
        "test_raises_as_expected": "what weigh() calls raises ValueError: invalid literal for int() with base 10: 'x'",
        "test_returns_a_coroutine": "TypeError: what weigh() calls returns a coroutine",
        "test_is_a_decorated_generator": "BodyError: numbers() is a generator",
        "test_twice": "RuntimeError: weigh() is called twice",
        "test_teardown": "OSError: no",
        "test_exits": "Exit: enough",
    }
    names = [*(f"test_trouble.py::{name}" for name in told), "test_suite.py::test_sort"]
    *bad, good = parts_of(call(PYTEST, each_arguments(*names), cwd=folder))
    for part, said in zip(bad, told.values(), strict=True):
        assert (part.status, said in part.error) == (1, True), part.error
    is_skipped = [[line.get("skipped") for line in part.body if "error" in line] == [True] for part in bad]
    assert is_skipped == [name in ("test_skips", "test_expected") for name in told]
    assert good.status == 0


def test_one_of_several_whose_threads_do_the_work_cannot_run_so(folder: Path) -> None:
    text = """
    from threading import Thread
    def test_threaded(weigh):
        def work():
            thread = Thread(target=sum, args=[range(300_000)])
            thread.start()
            thread.join()
        weigh(work)
    """
    write(folder, "test_threads.py", text)
    (part,) = parts_of(call(PYTEST, each_arguments("test_threads.py::test_threaded"), cwd=folder))
    assert part.error == "others do some of its work"


def test_one_of_several_that_is_not_there_is_no_run(folder: Path) -> None:
    called = call(PYTEST, each_arguments("test_suite.py::test_sort", "test_suite.py::test_none"), cwd=folder)
    assert "no test that uses weigh() is called 'test_suite.py::test_none'" in called.error


def test_a_file_that_cannot_be_loaded(folder: Path) -> None:
    write(folder, "test_bad.py", "x = (")
    assert ran(folder, "test_bad.py::test").error == "test_bad.py:1: SyntaxError: '(' was never closed"
    write(folder, "test_bad.py", "import nothing_of_this_name")
    assert "No module named 'nothing_of_this_name'" in call(PYTEST, LIST, cwd=folder).error


def test_a_conftest_that_cannot_be_loaded(folder: Path) -> None:
    write(folder, "conftest.py", "1 / 0")
    assert "pytest could not start: ZeroDivisionError" in call(PYTEST, LIST, cwd=folder).error


def test_wrong_usage_of_pytest(folder: Path) -> None:
    assert "see what it printed" in call([*PYTEST, "--no-such-option"], LIST, cwd=folder).error
    assert "see what it printed" in call([*PYTEST, "no_such_folder"], LIST, cwd=folder).error


def test_no_benchmarks_are_an_empty_list(folder: Path) -> None:
    write(folder, "test_suite.py", "")
    assert call(PYTEST, LIST, cwd=folder).names == []


def test_bad_arguments(folder: Path) -> None:
    assert "--steelyard-loops=0" in call(PYTEST, run_arguments(NAMES[0], loops=0), cwd=folder).error


def test_nowhere_to_respond(folder: Path) -> None:
    found = subprocess.run([*PYTEST, *LIST], cwd=folder, capture_output=True, text=True, check=False)
    assert found.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--steelyard-fd=NUMBER is missing" in found.stderr


def test_a_test_that_dies_leaves_no_response(folder: Path) -> None:
    write(folder, "test_suite.py", f"import os\ndef test(weigh): weigh(os._exit, {os.EX_SOFTWARE})")
    called = ran(folder, "test_suite.py::test")
    assert (called.written, called.status) == (b"", os.EX_SOFTWARE)
