from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.model.errors import UsageError
from steelyard.model.launch_spec import MAPPING_PAGES, Draw
from steelyard.model.settings import Settings
from steelyard.model.subject import Subject
from steelyard.subjects.command import (
    PADDING_NAME,
    PASSED_ON,
    command_subject,
    environment_names,
    launch_spec,
    shared_environment,
)
from steelyard.subjects.programs import digest

DRAW = Draw(hash_seed=255, padding_bytes=3)
Program = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    def make(name: str = "tool", folder: str = "bin", mode: int = 0o755) -> Path:
        file = tmp_path / folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n# {folder}\n")
        file.chmod(mode)
        return file

    return make


def subject(command: str, *, shell: bool = False, search_path: str | None = None) -> Subject:
    return command_subject(command, "name", "baseline", shell=shell, search_path=search_path)


def refusal(command: str, *, shell: bool = False, search_path: str | None = None) -> str:
    with pytest.raises(UsageError) as error:
        subject(command, shell=shell, search_path=search_path)
    message = str(error.value)
    assert message.startswith("the baseline command")
    assert "\n" not in message
    return message


# --- words


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("true", ["true"]),
        ("  true   a\tb\n", ["true", "a", "b"]),
        ("true 'a b' \"c d\" e\\ f", ["true", "a b", "c d", "e f"]),
        ("true '' \"\"", ["true", "", ""]),
        ("true '$HOME' \"$HOME\" *", ["true", "$HOME", "$HOME", "*"]),
        ("true a#b # c", ["true", "a#b", "#", "c"]),
        ("true | cat > x && y; z", ["true", "|", "cat", ">", "x", "&&", "y;", "z"]),
        ('true "a\\"b" \'a"b\'', ["true", 'a"b', 'a"b']),
        ("true \udcff ünï", ["true", "\udcff", "ünï"]),
    ],
)
def test_a_command_is_split_as_a_shell_would_but_nothing_is_expanded(command: str, words: list[str]) -> None:
    found = subject(command)
    assert (found.argv, found.command, found.name, found.shell) == (words, command, "name", False)


@pytest.mark.parametrize("command", ["", "   ", "\n\t"])
@pytest.mark.parametrize("shell", [False, True])
def test_an_empty_command_is_refused(command: str, shell: bool) -> None:
    assert "is empty" in refusal(command, shell=shell)


@pytest.mark.parametrize("command", ["true 'a", 'true "a', "true a\\"])
def test_quotes_that_do_not_end_are_refused(command: str) -> None:
    assert "check its quotes" in refusal(command)


def test_a_shell_takes_the_command_as_it_is() -> None:
    found = subject("echo 'a | cat", shell=True)
    assert (found.argv, found.program, found.shell) == (["/bin/sh", "-c", "echo 'a | cat"], "/bin/sh", True)
    assert found.digest is None


# --- the program


def test_a_bare_name_is_searched_on_the_path_in_its_order(program: Program) -> None:
    second, first = program(folder="second"), program(folder="first")
    program(folder="zeroth", mode=0o644)
    (first.parent.parent / "third" / "tool").mkdir(parents=True)
    path = ":".join(str(first.parent.parent / folder) for folder in ("none", "zeroth", "third", "first", "second"))
    assert subject("tool --fast", search_path=path).program == str(first)
    first.unlink()
    assert subject("tool --fast", search_path=path).program == str(second)
    assert subject("tool --fast", search_path=path).argv[0] == "tool"


def test_the_path_is_that_of_the_environment(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    file = program("a-tool-of-this-test")
    monkeypatch.setenv("PATH", str(file.parent))
    assert subject("a-tool-of-this-test").program == str(file)


@pytest.mark.parametrize("command", ["no-such-tool", "''", "tool", "~tool"])
def test_a_name_that_is_not_on_the_path_is_refused(command: str, program: Program) -> None:
    folder = program(mode=0o644).parent
    message = refusal(command, search_path=str(folder))
    assert "was not found on PATH" in message
    assert "--shell" in message


@pytest.mark.parametrize(
    ("name", "mode", "says"),
    [
        ("old.py", 0o644, "so name its interpreter first, in quotes: 'python3 old.py'"),
        ("old.py", 0o755, "so give its path, ./old.py"),
        ("old.json", 0o644, "and if it holds what was measured, steelyard diff A B compares two such files"),
        ("old.pl", 0o644, "so name its interpreter first, in quotes: 'perl old.pl'"),
        ("old.c", 0o644, "so compile it, and give the program that this makes"),
        ("old.xy", 0o644, "so name its interpreter first, in quotes, or make it executable and give ./old.xy"),
    ],
)
def test_of_a_file_that_is_here_it_is_said_how_to_start_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: int, says: str
) -> None:
    (tmp_path / name).touch(mode)
    assert "--shell" in refusal(name, search_path="/nowhere")
    monkeypatch.chdir(tmp_path)
    assert refusal(name, search_path="/nowhere").endswith(f"was not found on PATH: a file of that name is here, {says}")


@pytest.mark.parametrize(
    ("name", "words", "typed"),
    [
        ("my prog.sh", "", """"'./my prog.sh'\""""),
        ("my prog.sh", " -n 3", """"'./my prog.sh' -n 3\""""),
        ("sub dir/it's", " -x", None),
        ("it's", "", None),
        ('"a" b', " 'c d'", None),
    ],
)
def test_a_path_that_was_split_is_told_in_quotes_that_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str, typed: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).touch(0o755)
    told = refusal(f"./{name}{words}").partition("stands in quotes of its own: ")[2]
    assert typed is None or told == typed
    (command,) = shlex.split(told)
    assert subject(command).argv == [f"./{name}", *shlex.split(words)]
    assert "of its own" not in refusal("./another prog")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("—max-time 3", "; an option begins with two hyphens: --max-time"),
        ("\N{EN DASH}m", "; an option begins with two hyphens: --m"),
        ("“./tool”", "; “ is no quote to a shell: ' and \" are"),
    ],
)
def test_what_an_editor_made_of_hyphens_and_quotes_is_told(command: str, says: str) -> None:
    assert refusal(command).endswith(says)


@pytest.mark.parametrize("role", ["checked", "--prepare", "--python"])
def test_a_shell_is_offered_where_one_may_be_asked_for(role: str) -> None:
    with pytest.raises(UsageError, match=r"not found on PATH: check the spelling, or give its path$"):
        command_subject("no-such-tool", "it", role, shell=False, search_path="/nowhere")


def test_a_path_is_taken_as_it_is(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    file = program()
    monkeypatch.chdir(file.parent)
    for word in ("./tool", str(file), "../bin/tool"):
        assert subject(f"{word} --fast").program == word


def test_a_link_is_followed(program: Program, tmp_path: Path) -> None:
    file = program()
    (tmp_path / "link").symlink_to(file)
    assert subject(f"{tmp_path}/link").digest == subject(str(file)).digest


def test_the_digest_is_that_of_the_file(program: Program) -> None:
    file = program()
    assert subject(str(file)).digest == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(f"{tmp_path}/tool")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert "No such file" in refusal(f"{tmp_path}/dangling")


def test_a_path_through_a_file_is_refused(program: Program) -> None:
    assert "Not a directory" in refusal(f"{program()}/tool")


def test_a_name_that_is_too_long_is_refused() -> None:
    assert "too long" in refusal("./" + "x" * 300)
    assert "not found" in refusal("x" * 300)


def test_a_name_with_a_nul_is_refused() -> None:
    assert "no path has a NUL in it" in refusal("'./a\0b'")
    assert "not found" in refusal("'a\0b'")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is no program" in refusal(str(tmp_path))


def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o755)
    assert "is no program" in refusal(f"{tmp_path}/pipe")


def test_a_file_that_may_not_be_executed_is_refused(program: Program) -> None:
    assert "chmod +x" in refusal(str(program(mode=0o644)))


def test_a_program_behind_env_is_looked_for_in_the_folder_that_it_enters(program: Program, tmp_path: Path) -> None:
    file = program()
    subject = command_subject("env -C bin ./tool -x", "x", "baseline", shell=False, directory=str(tmp_path))
    assert subject.argv == ["env", "-C", "bin", "./tool", "-x"]
    assert subject.digest == digest(str(file))
    file.unlink()
    for command in ("env -C bin ./tool", "env -C gone ./tool"):
        with pytest.raises(UsageError, match="/tool' cannot be run: No such file or directory"):
            command_subject(command, "x", "baseline", shell=False, directory=str(tmp_path))


@pytest.mark.parametrize("words", ["-C bin tool", "-C bin A=./x tool", "-C {n} ./tool", "-C bin ./{n}", "-C bin"])
def test_what_env_finds_by_itself_is_not_looked_for(words: str, tmp_path: Path) -> None:
    assert command_subject(f"env {words}", "x", "baseline", shell=False, directory=str(tmp_path)).argv[0] == "env"


def test_an_executable_of_cargo_without_its_hash_is_told_of_it(tmp_path: Path) -> None:
    made = tmp_path / "target/release/deps/fold-0123456789abcdef"
    assert "; check the path" in refusal(str(made.with_name("fold")))
    made.parent.mkdir(parents=True)
    made.touch()
    for name in ("fold", "fold-*"):
        assert "cargo puts a hash behind that name: have the build copy" in refusal(str(made.with_name(name)))
    assert "; check the path" in refusal(str(made.with_name("old")))


@pytest.fixture
def java(tmp_path: Path) -> Path:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    return java


def test_a_jar_that_java_is_to_run_is_looked_for(java: Path, tmp_path: Path) -> None:
    command = f"{java} -Xmx1g -jar b.jar -f 1"
    with pytest.raises(UsageError, match=r"the baseline command has java run 'b\.jar', and no such file is there"):
        command_subject(command, "x", "baseline", shell=False, directory=str(tmp_path))
    (tmp_path / "b.jar").touch()
    assert command_subject(command, "x", "baseline", shell=False, directory=str(tmp_path)).argv[3] == "b.jar"


@pytest.mark.parametrize("words", ["-jar", "-jar {n}.jar", "-cp a Main -jar b.jar", "Main"])
def test_other_words_of_java_are_not(java: Path, words: str, tmp_path: Path) -> None:
    assert command_subject(f"{java} {words}", "x", "baseline", shell=False, directory=str(tmp_path)).program == str(
        java
    )


# --- the environment


def test_only_what_programs_need_is_passed_on() -> None:
    source = {name: name.lower() for name in (*PASSED_ON, "SECRET", "PYTHONPATH")}
    names, values = environment_names([], source, inherit=False)
    assert names == sorted(PASSED_ON)
    assert values == {}
    assert {"PATH", "HOME", "LANG", "TZ", "TMPDIR"} <= set(names)


def test_what_is_not_set_is_not_passed_on() -> None:
    assert environment_names([], {"HOME": "/"}, inherit=False) == (["HOME"], {})
    assert environment_names([], {}, inherit=False) == ([], {})


def test_everything_is_passed_on_if_asked_for() -> None:
    assert environment_names([], {"SECRET": "x", "HOME": "/"}, inherit=True) == (["HOME", "SECRET"], {})


@pytest.mark.parametrize(
    ("word", "names", "values"),
    [
        ("SECRET", ["HOME", "SECRET"], {}),
        ("HOME", ["HOME"], {}),
        ("NEW=", ["HOME"], {"NEW": ""}),
        ("NEW=a=b", ["HOME"], {"NEW": "a=b"}),
        ("HOME=/tmp", ["HOME"], {"HOME": "/tmp"}),
        ("odd name=x", ["HOME"], {"odd name": "x"}),
    ],
)
def test_the_forms_of_env(word: str, names: list[str], values: dict[str, str]) -> None:
    assert environment_names([word], {"SECRET": "x", "HOME": "/"}, inherit=False) == (names, values)


def test_env_may_be_repeated_and_the_last_one_counts() -> None:
    wanted = ["A=1", "SECRET", "A=2", "SECRET"]
    assert environment_names(wanted, {"SECRET": "x"}, inherit=False) == (["SECRET"], {"A": "2"})


@pytest.mark.parametrize("word", ["", "=", "=x"])
def test_env_without_a_name_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="names no variable"):
        environment_names([word], {}, inherit=True)


def test_env_of_an_unset_variable_is_refused() -> None:
    with pytest.raises(UsageError, match="--env NOPE=VALUE"):
        environment_names(["NOPE"], {"OTHER": "x"}, inherit=True)


def test_what_is_set_outright_goes_before_what_is_passed_on() -> None:
    settings = Settings(environment=["HOME", "GONE", "LANG"], variables={"HOME": "/tmp", "NEW": "1"})
    source = {"HOME": "/", "LANG": "C", "SECRET": "x"}
    assert shared_environment(settings, source) == {"HOME": "/tmp", "LANG": "C", "NEW": "1"}


# --- the launch


def environment(draw: Draw = DRAW, **shared: str) -> dict[bytes, bytes]:
    spec = launch_spec(subject("true"), Settings(), shared, draw)
    assert len(spec.env) == len({entry.partition(b"=")[0] for entry in spec.env})
    return {name: value for name, _, value in (entry.partition(b"=") for entry in spec.env)}


def test_a_launch_finds_the_shared_environment_and_its_draw() -> None:
    assert environment(HOME="/") == {
        b"HOME": b"/",
        b"PYTHONHASHSEED": b"255",
        b"PERL_HASH_SEED": b"0xff",
        os.fsencode(PADDING_NAME): b"xxx",
    }


def test_what_the_user_sets_goes_before_the_draw() -> None:
    assert environment(PYTHONHASHSEED="0")[b"PYTHONHASHSEED"] == b"0"


def test_the_same_draw_gives_the_same_launch_and_another_draw_another() -> None:
    def spec(draw: Draw) -> object:
        return launch_spec(subject("true a"), Settings(), {"HOME": "/"}, draw)

    assert spec(DRAW) == spec(Draw(255, 3))
    assert len({spec(DRAW), spec(Draw(256, 3)), spec(Draw(255, 4))}) == 3


def test_the_memory_of_launches_lies_where_the_draw_has_it() -> None:
    def pages(draw: Draw, settings: Settings) -> int | None:
        return launch_spec(subject("true"), settings, {}, draw).mapping_pages

    shared = Settings(addresses="shared")
    assert pages(DRAW, Settings()) is None
    assert pages(DRAW, shared) == pages(Draw(255, 4), shared)
    places = {pages(Draw(seed, 0), shared) for seed in (1, 2, 2**32 - 1)}
    assert len(places) == 3
    assert all(place is not None and 0 <= place < MAPPING_PAGES for place in places)


def test_both_sides_of_a_pair_differ_in_nothing_but_their_words() -> None:
    one, other = (launch_spec(subject(command), Settings(), {"HOME": "/"}, DRAW) for command in ("true", "false"))
    assert (one.env, one.cwd, one.stdin, one.timeout_ns, one.cpus) == (
        other.env,
        other.cwd,
        other.stdin,
        other.timeout_ns,
        other.cpus,
    )
    assert (one.program, one.argv) != (other.program, other.argv)


def test_a_launch_obeys_the_settings() -> None:
    settings = Settings(directory="/usr", stdin="/in\udcff", timeout_s=0.25, cpu=1)
    spec = launch_spec(subject("true '\udcff' ünï"), settings, {"N\udcff": "ü"}, DRAW)
    assert spec.argv == (b"true", b"\xff", "ünï".encode())
    assert (spec.cwd, spec.stdin, spec.timeout_ns, spec.cpus) == (b"/usr", b"/in\xff", 250_000_000, (1,))
    assert b"N" + b"\xff=" + "ü".encode() in spec.env


def test_a_launch_without_settings_has_no_input_no_limit_and_every_processor() -> None:
    spec = launch_spec(subject("true"), Settings(), {}, DRAW)
    assert (spec.stdin, spec.stdout, spec.timeout_ns, spec.cpus) == (None, None, None, None)
    assert spec.stderr == 4096
