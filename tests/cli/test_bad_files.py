"""Mistakes of users with files (`test_bad_input` has those with words): named before anything is measured."""

from __future__ import annotations

import os

import pytest

from steelyard.model.files import save
from tests.cli.refusing import AWKWARD, LONG, Refuses
from tests.design.scripted import noisy, weigh
from tests.foreign import foreign_results, processes
from tests.in_process import InProcess
from tests.tool import Tool
from tests.world import ScriptedWorld, measured, steady


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("missing", "No such file"),
        ("folder", "the path of a file"),
        ("pipe", "the path of a file"),
        (LONG, "too long"),
        ("", "the path of a file"),
        (AWKWARD, "No such file"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_an_input_that_cannot_be_read_again_and_again(asked: InProcess, refuses: Refuses, file: str, says: str) -> None:
    (asked.folder / "folder").mkdir()
    os.mkfifo(asked.folder / "pipe")
    sentence = refuses("run", "cat", "--stdin", file)
    assert "--stdin" in sentence
    assert says in sentence


@pytest.mark.parametrize("words", [("show",), ("diff", "circle.json"), ("report",), ("export", "--format", "csv")])
def test_a_link_in_a_circle_is_no_record(asked: InProcess, words: tuple[str, ...]) -> None:
    (asked.folder / "circle.json").symlink_to("circle.json")
    assert "circle.json" in asked.refuses(*words, "circle.json")


def test_an_input_from_a_pipe_is_refused(tool: Tool) -> None:
    sentence = tool.refuses("run", "cat", "--stdin", "/dev/stdin", stdin=None, input=b"once")
    assert "cannot be read again for each launch" in sentence


@pytest.mark.parametrize("option", ["--json", "--markdown", "--csv", "--output"])
@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("missing/file", "there is no folder"),
        ("file/file", "Not a directory"),
        ("folder", "is a folder"),
        ("", "is a folder"),
        ("/proc/file", "not writable"),  # not even root can make a file there
        (LONG, "too long"),
        ("dangling", "there is no folder"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_measured(
    asked: InProcess, refuses: Refuses, option: str, file: str, says: str
) -> None:
    (asked.folder / "file").touch()
    (asked.folder / "folder").mkdir()
    (asked.folder / "dangling").symlink_to("missing/file")
    for words in (["run", "touch launched"], ["compare", "touch launched", "true"]):
        sentence = refuses(*words, option, file)
        assert sentence.startswith("cannot write")
        assert says in sentence
    assert not (asked.folder / "launched").exists()


@pytest.mark.parametrize(
    ("words", "lost"),
    [
        (["compare", "cat", "cat", "--stdin", "in", "--output", "in"], "in"),
        (["run", "cat", "--stdin", "in", "--csv", "in"], "in"),
        (["compare", "./prog", "./prog again", "-o", "prog"], "prog"),
        (["run", "./prog", "--markdown", "./prog"], "prog"),
        (["compare", "-o", "steelyard.toml"], "steelyard.toml"),
        (["check", "./prog", "-o", "prog"], "prog"),
        (["check", "sh prog", "-o", "prog"], "prog"),
        (["run", "sh ./prog", "--output", "prog"], "prog"),
        (["compare", "cat in", "cat ./prog --in=in", "-o", "in"], "in"),
        (["compare", "--shell", "cat <in", "true; cat < in|wc", "-o", "in"], "in"),
        (["run", "sh -c './prog && true'", "--csv", "prog"], "prog"),
        (["bisect", "--good", "HEAD~1", "sh prog", "-o", "prog"], "prog"),
        (["timeit", "1", "--python", "./prog", "--csv", "prog"], "prog"),
        (["bisect", "--good", "HEAD~1", "cat", "--stdin", "in", "-o", "in"], "in"),
    ],
)
def test_what_is_read_or_launched_is_not_written_over(asked: InProcess, words: list[str], lost: str) -> None:
    asked.write("in", "x")
    asked.write("prog", "#!/bin/sh\n")
    asked.write("steelyard.toml", '[[target]]\nname = "a"\ncommand = "true"\n')
    before = (asked.folder / lost).read_text()
    assert asked.refuses(*words).endswith(f"{lost} is read, and would be overwritten: give another file")
    assert (asked.folder / lost).read_text() == before


@pytest.mark.parametrize("option", ["-o", "--csv", "--markdown", "--html"])
def test_a_record_that_is_shown_is_not_written_over(asked: InProcess, option: str) -> None:
    save(weigh(noisy(), pairs=12)[0], asked.folder / "w.json")
    before = (asked.folder / "w.json").read_bytes()
    assert "w.json is read, and would be overwritten" in asked.refuses("show", "w.json", option, "w.json")
    assert (asked.folder / "w.json").read_bytes() == before


@pytest.mark.parametrize("option", ["--json", "--output"])
def test_an_output_that_would_mix_with_the_verdict(asked: InProcess, option: str) -> None:
    assert "the verdict is printed there" in asked.refuses("run", "true", option, "/dev/stdout")


def test_output_of_launches_into_a_pipe(asked: InProcess, refuses: Refuses) -> None:
    os.mkfifo(asked.folder / "pipe")
    assert "--output pipe" in refuses("run", "true", "--output", "pipe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_in_a_folder_without_permission(asked: InProcess, refuses: Refuses) -> None:
    (asked.folder / "folder").mkdir(mode=0o500)
    assert "not writable" in refuses("run", "true", "--json", "folder/file")


@pytest.mark.parametrize("option", ["--markdown", "--csv", "--output"])
def test_two_outputs_in_one_file(asked: InProcess, refuses: Refuses, option: str) -> None:
    (asked.folder / "link").symlink_to("record")
    for other in ("record", "./record", "link"):
        for words in (["run", "true"], ["compare", "true", "true"]):
            assert "same file" in refuses(*words, "--json", "record", option, other)
    assert not (asked.folder / "record").exists()


def test_an_output_that_fails_in_the_end_costs_neither_the_verdict_nor_the_record(here: InProcess) -> None:
    os.mkfifo(here.folder / "pipe")  # nobody reads it
    done = here.compare("--json", "pipe")
    assert done.status == 3
    assert "baseline" in done.text
    assert b"cannot write pipe" in done.err
    assert here("show").status == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"", "is empty, and no record"),
        (b"{", "truncated"),
        (b"#!/bin/sh\n", "not JSON"),
        (b'{"results": []}', "no weighing"),
        (b"[]", "no weighing"),
        (b"[" * 100_000, "not a weighing"),
        (b"\x1f\x8b\x08", "truncated gzip"),
        (b"\x1f\x8b" + b"x" * 100, "damaged gzip"),
        (b'{"format": "steelyard", "version": 1000}', "upgrade"),
        (b'{"format": "steelyard", "version": 1, "kind": "run", "launches": {}}', "damaged"),
        (b'{"format": "steelyard", "version": 1, "kind": "\\u001b[31m", "launches": {}}', "damaged"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_show_of_what_is_no_record(asked: InProcess, refuses: Refuses, content: bytes | None, says: str) -> None:
    if content is not None:
        (asked.folder / "record").write_bytes(content)
    for words in (["show", "record"], ["compare", "--resume", "record"]):
        sentence = refuses(*words)
        assert "record" in sentence
        assert says in sentence


@pytest.mark.parametrize("file", ["/dev/zero", "/", "", LONG, AWKWARD], ids=lambda value: ascii(value)[:20])
def test_show_of_what_is_no_file(refuses: Refuses, file: str) -> None:
    assert "cannot read" in refuses("show", file)
    assert "cannot read" in refuses("compare", "--resume", file)


def test_a_file_that_cannot_be_written_keeps_what_was_found_from_nobody(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 12.0, "true": 1.0})
    for words, said in (("check ./old --max-time 1s", "checked"), ("doctor", "load"), ("list", "none yet")):
        done = scripted(*words.split(), "--json", "/dev/full")
        assert (done.status, said in done.text) == (3, True), done
        assert done.err == b"steelyard: cannot write /dev/full: No space left on device; give another place\n"
    for name in ("a", "b"):
        scripted("run", "./old", "--launches", "20", "-o", f"{name}.json")
        save(foreign_results({"sort": processes(12, 1.0)}, name=name), scripted.folder / f"{name}-import.json")
    for words in ("diff a.json b.json", "diff a-import.json b-import.json", "show a-import.json"):
        done = scripted(*words.split(), "--markdown", "/dev/full", "--html", "page.html")
        assert (done.status, done.err.count(b"\n"), bool(done.out)) == (3, 1, True), done
        (scripted.folder / "page.html").unlink()


def test_one_file_that_cannot_be_written_keeps_no_other_from_being_written(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 12.0, "new": 12.0})
    done = scripted(
        *("compare", "./old", "./new", "--pairs", "12"),
        *("--json", "/dev/full", "--csv", "launches.csv", "--markdown", "/dev/full", "--html", "page.html"),
    )
    unwritten = b"steelyard: cannot write /dev/full: No space left on device; give another place\n"
    assert (done.status, done.err.count(unwritten), "baseline" in done.text) == (3, 2, True), done
    assert (scripted.folder / "launches.csv").stat().st_size > 0
    assert (scripted.folder / "page.html").stat().st_size > 0


def test_a_failure_hides_no_file_that_cannot_be_written(scripted: ScriptedWorld) -> None:
    scripted.script = lambda _, number: measured(12.0, exit_code=int(number > 9))
    done = scripted("compare", "./old", "./new", "--pairs", "12", "--json", "/dev/full")
    assert done.status == 3
    assert b"cannot write /dev/full" in done.err
    assert b"failed with exit status 1" in done.err
