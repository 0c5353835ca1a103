"""A project's file: what it may say, and the sentence, with a line number, if it says anything else."""

from __future__ import annotations

import json
import os
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from steelyard.model.errors import UsageError
from steelyard.model.limits import Accepted
from steelyard.model.project import ProjectFile, schema
from steelyard.model.project_file import Project, accepted_in, load_project

SHIPPED = json.loads((resources.files("steelyard.model") / "project.schema.json").read_text())
TARGET = '[[target]]\nname = "a"\ncommand = "./a"\n'
# A slowdown that is accepted, but for its reason; then also for its change.
ACCEPTED = "[[gate.accepted]]\nbenchmark = 'a'\nchange = '12%'\n"
CHANGED = "[[gate.accepted]]\nbenchmark = 'a'\nreason = 'b'\n"


def said(folder: Path, text: str, name: str = "steelyard.toml") -> Project:
    (folder / name).write_text(text)
    project = load_project(folder)
    assert project is not None
    return project


def refused(folder: Path, text: str, name: str = "steelyard.toml") -> str:
    (folder / name).write_text(text)
    with pytest.raises(UsageError) as caught:
        load_project(folder)
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_units_are_those_of_the_command_line(tmp_path: Path) -> None:
    project = said(
        tmp_path,
        """
[build]
command = "make"
timeout = "30m"
layouts = 5
[compare]
margin = "1%"
alpha = "0.1%"
max-time = "1.5h"
pairs = 1e3
metrics = ["active", "max_rss", "active"]
prepare = "./one"
cpu = "auto"
isolate = true
[compare.margins]
"a:max_rss" = "2"
[[target]]
name = "a"
command = "./a"
timeout = 500
prepare = ["./one", "./two"]
cpu = 2
[gate]
max-slower = "5%"
""",
    )
    assert (project.build.timeout, project.build.layouts) == (1800, 5)
    compare, (target,) = project.compare, project.targets
    assert (compare.margin, compare.alpha, compare.max_time, compare.pairs) == (0.01, 0.001, 5400, 1000)
    assert (compare.metrics, compare.prepare) == (["active", "max_rss"], ["./one"])
    assert compare.margins == {"a:max_rss": 0.02}
    assert (target.timeout, target.prepare) == (500, ["./one", "./two"])
    assert (compare.cpu, compare.isolate, target.cpu, target.isolate) == ("auto", True, 2, None)
    assert project.gate.max_slower == ["5%"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[compare]\nmargn = '1%'\n", "2: [compare] has no 'margn': did you mean 'margin'?"),
        ("[compare]\nmax_time = 3\n", "2: [compare] has no 'max_time': did you mean 'max-time'?"),
        ("[bild]\n", "1: the file has no 'bild': did you mean 'build'?"),
        (f"{TARGET}hrness = 'go'\n", "4: [[target]] has no 'hrness': did you mean 'harness'?"),
        ("[build]\nharness = 'go'\n", "2: [build] has no 'harness': it belongs in [[target]]"),
        (
            "[gate]\nxyz = 1\n",
            "2: [gate] has no 'xyz': it may have max-slower, strict, require, accepted; see steelyard docs config",
        ),
        ("[compare]\n\nmargin = 0.01\n", '3: margin 0.01 has to say its unit: write for example "1%"'),
        ("[compare]\nmargin = '99%'\n", "2: margin 99 is out of range: 0.001% to 50%"),
        ("[compare]\nmargin = 'x'\n", "2: margin 'x' is not a percentage: write for example margin = \"0.5%\""),
        (
            "[compare.margins]\na = '1%'\nb = 'c'\n",
            "3: [compare.margins] b 'c' is not a percentage: write for example b = \"0.5%\"",
        ),
        (
            "[compare.margins]\n'BM_a*' = '3x'\n",
            '2: [compare.margins] "BM_a*" \'3x\' is not a percentage: write for example "BM_a*" = "0.5%"',
        ),
        ("[compare.margins]\na = 3\n", '2: [compare.margins] a 3 has to say its unit: write for example "1%"'),
        ("[compare.margins]\n-a = '60'\n", '2: [compare.margins] "-a" 60 is out of range: 0.001% to 50%'),
        ("[compare]\nmargins = 3\n", "2: margins has to be a table"),
        (
            "[compare]\nmax-time = '3 days'\n",
            "2: max-time '3 days' is not a time: write seconds or a unit, as in 500ms",
        ),
        ("[compare]\npairs = 'many'\n", "2: pairs 'many' is not a whole number: write for example pairs = 2"),
        ("[compare]\ncpu = 'fast'\n", "2: cpu 'fast' is not a processor: write its number, or cpu = \"auto\""),
        ("[compare]\npairs = true\n", "2: pairs has to be a number, or a text with its unit"),
        ("[compare]\nalpha = 0.5\n", "2: alpha 0.5 is out of range: 0.00001 to 0.2"),
        ("[compare]\nmetrics = ['speed']\n", "2: metrics 'speed' is not known: choose from active, wall"),
        ("[compare]\nmetrics = 3\n", '2: metrics has to be a list of names, as in ["active", "max_rss"]'),
        ("[compare]\npairing = 'both'\n", '2: pairing has to be "adjacent", "tandem" or "auto"'),
        ("[compare]\nshell = 'yes please'\n", "2: shell has to be true or false"),
        ("[compare]\nshell = 1\n", "2: shell has to be true or false"),
        ("[compare]\nwatch = 'no'\n", "2: watch has to be true or false"),
        ("[gate]\nmax-slower = 5\n", '2: max-slower 5 has to say its unit: write for example "5%"'),
        (
            "[gate]\nmax-slower = 0.05\n",
            '2: max-slower 0.05 has to say its unit: write "5%" if it is a part of 1, else "0.05%"',
        ),
        ('[gate]\nfail-above = "5%"\n', "2: [gate] has no 'fail-above': did you mean 'max-slower'?"),
        ("[compare]\nenv = []\n", "2: [compare] has no 'env': did you mean 'environment'?"),
        (f"{TARGET}parameters = {{ n = [] }}\n", '4: n has to be a list of numbers and texts, as in [1, "two"]'),
        ("[compare]\nprepare = 3\n", '2: prepare has to be a list, as in ["one", "other"]'),
        ("[compare]\nprepare = ['a', 3]\n", "2: prepare has to be a text in quotes"),
        ("compare = 3\n", "1: compare has to be a table"),
        ("[target]\nname = 'a'\n", "1: each target is a table of its own: write [[target]] above it"),
        ("[[target]]\nname = 'a'\n", '1: [[target]] lacks its command: add command = "..."'),
        (f"{TARGET}\n{TARGET}", "6: there are two targets 'a': rename one"),
        (f"{TARGET}tags = ['x']\n", '4: tags chooses from those of a harness: add harness = "auto", or leave it out'),
        *(
            (
                f"{TARGET}parameters = {{ n = {wrong} }}\n",
                '4: n has to be a list of numbers and texts, as in [1, "two"]',
            )
            for wrong in ("[true]", "[[1]]", "[1979-05-27]", "3", "[{ a = 1 }]")
        ),
        (f"{TARGET}harness = 'go'\nparameters = {{ n = [1] }}\n", "5: parameters are of plain commands"),
        ("[[target]]\nname = ' '\ncommand = 'a'\n", "2: name has to be a text that can be seen"),
        ("[[target]]\nname = 'a'\ncommand = ''\n", "3: command has to be a text that can be seen"),
        (f'{TARGET}prepare = ["b", """c\\u0000"""]\n', "4: prepare has a NUL character, which no command and no path"),
        ('[build]\ncommand = "make\\u0000"\n', "2: command has a NUL character"),
        ("[compare.margins]\nwall = '1%'\n\"\" = '2%'\n", "3: [compare.margins] has a margin of nothing: write a"),
        ("[build]\nenvironment = ['=x']\n", "2: environment '=x' names no variable"),
        (f"{TARGET}environment = ['GITHUB_TOKEN']\n", "4: GITHUB_TOKEN looks like a secret"),
        ("[build]\nenvironment = ['A', 'NPM_AUTH']\n", "2: NPM_AUTH looks like a secret"),
        (ACCEPTED, '1: [[gate.accepted]] lacks its reason: add reason = "..."'),
        (CHANGED, '1: [[gate.accepted]] lacks its change: add change = "..."'),
        (f"{ACCEPTED}reason = ' '\n", "4: reason has to be a text that can be seen"),
        (f"{ACCEPTED}reason = 3\n", "4: reason has to be a text in quotes"),
        (f'{ACCEPTED}reason = "a\\nb"\n', "4: reason has to be one line of at most 200 characters"),
        (f"{ACCEPTED}reason = '{'a' * 201}'\n", "4: reason has to be one line of at most 200 characters"),
        (f"{ACCEPTED}resaon = 'b'\n", "4: [[gate.accepted]] has no 'resaon': did you mean 'reason'?"),
        (f"{ACCEPTED}reason = 'b'\nxyz = 1\n", "5: [[gate.accepted]] has no 'xyz': it may have benchmark, change, "),
        (f"{ACCEPTED}reason = 'b'\nmargins = 1\n", "5: [[gate.accepted]] has no 'margins': it belongs in [compare]"),
        (f"{ACCEPTED}reason = 'b'\nmetric = 'speed'\n", "5: metric 'speed' is not known: choose from active, wall"),
        *(
            (f"{CHANGED}change = {wrong}\n", f"4: change{shown} has to be a text with its unit: write for example ")
            for wrong, shown in (("12", " 12"), ("0.12", " 0.12"), ("'12'", " '12'"), ("true", ""), ("[1]", ""))
        ),
        (f"{CHANGED}change = 'x%'\n", "4: change 'x%' is not a percentage"),
        (f"{CHANGED}change = '0%'\n", "4: change 0 is out of range: 0.001% to 1,000%"),
        ("[gate.accepted]\nbenchmark = 'a'\n", "1: each accepted slowdown is a table of its own: write [[gate.accep"),
        ("[gate]\naccepted = ['a']\n", "2: each accepted slowdown is a table of its own: write [[gate.accepted]] abo"),
        ("[gate]\nreason = 'a'\n", "2: [gate] has no 'reason': it belongs in [[gate.accepted]]"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    assert refused(tmp_path, text).startswith(f"steelyard.toml:{sentence}")


def test_slowdowns_that_are_accepted(tmp_path: Path) -> None:
    text = f"{ACCEPTED}reason = ' validates its input '\n{CHANGED}change = '0.5 %'\nmetric = 'instructions'\n"
    both = [
        Accepted(above=0.12, benchmark="a", reason="validates its input"),
        Accepted(above=0.005, benchmark="a", reason="b", metric="instructions"),
    ]
    assert [one.limit() for one in said(tmp_path, text).gate.accepted] == both
    assert accepted_in(tmp_path) == both
    for damaged in (f"{text}x", f"{text}[bild]\n", ""):
        (tmp_path / "steelyard.toml").write_text(damaged)
        assert accepted_in(tmp_path) == []


def test_the_first_of_several_mistakes_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path, "[build]\nx = 1\n[compare]\ny = 1\n").startswith("steelyard.toml:2:")
    assert refused(tmp_path, "[compare]\ny = 1\n[build]\nx = 1\n").startswith("steelyard.toml:2:")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[compare]\nmargin = \n", "steelyard.toml:2:10 is no TOML (invalid value): fix that line"),
        ("a = 1\na = 2\n", "steelyard.toml:2:6 is no TOML (cannot overwrite a value): fix that line"),
        ("[compare", "steelyard.toml:1 is no TOML"),
        ("a = '\u202e", "steelyard.toml:1"),
        ("a = " + "[" * 5000, "steelyard.toml"),
        ("a = " + "1" * 5000, "steelyard.toml"),
    ],
)
def test_what_is_no_toml_is_told_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    whole = refused(tmp_path, text)
    assert whole.startswith(sentence)
    assert "is no TOML" in whole


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "steelyard.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="no UTF-8 text"):
        load_project(tmp_path)
    (tmp_path / "steelyard.toml").unlink()
    (tmp_path / "steelyard.toml").mkdir()
    with pytest.raises(UsageError, match="has to be a file"):
        load_project(tmp_path)


def test_a_link_to_nothing_is_no_missing_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.steelyard]\n")
    (tmp_path / "steelyard.toml").symlink_to("gone.toml")
    with pytest.raises(UsageError, match=r"^steelyard.toml is a link to a file that is not there"):
        load_project(tmp_path)


def test_lines_in_pyproject_are_those_of_the_whole_file(tmp_path: Path) -> None:
    text = "[project]\nname = 'x'\n[tool.steelyard.compare]\npairs = 'x'\n"
    assert refused(tmp_path, text, "pyproject.toml").startswith("pyproject.toml:4: pairs 'x'")
    text = "[[tool.steelyard.target]]\nnme = 'x'\n"
    assert "2: [[tool.steelyard.target]] has no 'nme': did you mean 'name'?" in refused(
        tmp_path, text, "pyproject.toml"
    )
    assert "has to be a table" in refused(tmp_path, "[tool]\nsteelyard = 1\n", "pyproject.toml")


def test_a_file_of_its_own_goes_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[[tool.steelyard.target]]\nname = 'b'\ncommand = 'b'\n")
    assert [target.name for target in said(tmp_path, TARGET).targets] == ["a"]


def test_a_pyproject_of_others_is_none_of_ours(tmp_path: Path) -> None:
    for text in ("", "[tool.other]\n", "tool = 3\n"):
        (tmp_path / "pyproject.toml").write_text(text)
        assert load_project(tmp_path) is None


def test_a_file_further_up_is_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "steelyard.toml").write_text("[x]\n")
    with pytest.raises(UsageError, match=str(tmp_path / "steelyard.toml:1")):
        load_project(tmp_path / "sub")


@pytest.mark.parametrize(("mode", "is_read"), [(0o1777, False), (0o777, True)])
def test_what_a_stranger_puts_into_a_folder_of_everybody_s_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, *, is_read: bool
) -> None:
    shared = tmp_path / "shared"
    (shared / "ours").mkdir(parents=True)
    (shared / ".git").mkdir()
    (shared / "steelyard.toml").write_text("[gate]\nmax-slower = ['*=never']\n")
    shared.chmod(mode)
    lstat = Path.lstat
    monkeypatch.setattr(Path, "lstat", lambda path: os.stat_result((*lstat(path)[:4], os.geteuid() + 1, *[0] * 5)))
    assert (load_project(shared / "ours") is not None) == is_read


def test_the_shipped_schema_is_that_of_the_file() -> None:
    assert schema() == SHIPPED, "run `make generated`"
    jsonschema.Draft202012Validator.check_schema(SHIPPED)


def test_the_schema_and_the_reader_agree() -> None:
    for value, is_valid in (
        ({"compare": {"margin": "1%", "max-time": "30s", "pairs": 20}}, True),
        ({"target": [{"name": "a", "command": "b", "prepare": "c"}]}, True),
        ({"target": [{"name": "a"}]}, False),
        ({"compare": {"margin": 0.01}}, False),
        ({"compare": {"metrics": ["speed"]}}, False),
        ({"compare": {"metrics": "wall"}}, True),
        ({"compare": {"wait-quiet": "10s"}, "target": [{"name": "a", "command": "b", "wait-quiet": 0}]}, True),
        ({"build": {"layouts": 0}}, False),
    ):
        assert jsonschema.Draft202012Validator(SHIPPED).is_valid(value) is is_valid
        try:
            ProjectFile.model_validate(value)
        except ValueError:
            assert not is_valid
        else:
            assert is_valid


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "steelyard.toml").write_bytes(b"\xef\xbb\xbf[compare]\npairs = 7\n")
    project = load_project(tmp_path)
    assert project is not None
    assert project.compare.pairs == 7
