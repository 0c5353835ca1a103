"""`steelyard init`: the file that it writes for a project that it recognises is valid, and names what is there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from steelyard.model.project_file import Project, load_project
from tests.in_process import InProcess

# Taken before a test sets another: rustup finds its tools there.
_HOME = os.environ.get("HOME", "/")

CARGO = """
[package]
name = "x"
[[bench]]
name = "sort"
harness = false
[[bench]]
name = "parse"
harness = false
[[bench]]
name = "unknown"
harness = false
[workspace]
members = ["inner/*"]
"""
INNER = '[package]\nname = "one"\n[[bench]]\nname = "deep"\nharness = false\npath = "b.rs"\n'
MAKE = ".PHONY: run\nCC := cc\nall: w sub/v\nw: w.c\n\tcc -o w w.c\nsub/v: v.o\nv.o: v.c\nrun: w\nclean:\n"
CMAKE = """
find_package(benchmark REQUIRED) # add_executable(commented x.cpp)
add_executable(bench_sort sort.cpp)
target_link_libraries(bench_sort PRIVATE benchmark::benchmark_main)
add_executable(plain plain.cpp)
add_executable(tests tests.cpp)
target_link_libraries(tests Catch2::Catch2WithMain)
add_executable(unit unit.cpp)
target_link_libraries(unit Catch2::Catch2WithMain)
add_subdirectory(sub)
"""
CMAKE_LOOPS = """
project(tool LANGUAGES C)
add_executable(info info.c)
foreach(PROGRAM IN ITEMS pack unpack) # but not here: foreach(X a b)
    if(PROGRAM STREQUAL pack)
        foreach(KIND fast small)
            add_executable("pack-${KIND}" pack.c)
        endforeach()
    endif()
endforeach()
foreach(NAME unpack)
    add_executable(${NAME} unpack.c)
endforeach(NAME)
foreach(NAME ${OTHERS})
    add_executable("${NAME}" other.c)
endforeach()
add_executable(tool tool.c)
"""
BENCH = "from steelyard import bench\n@bench(n=[1])\ndef small(n):\n    pass\n"
PYPERF = "import pyperf\nrunner = pyperf.Runner()\n"
JMH_IN_TESTS = "<artifactId>b</artifactId><version>1</version><groupId>org.openjdk.jmh</groupId>"
JMH = f"{JMH_IN_TESTS}<plugin><artifactId>maven-shade-plugin</artifactId></plugin>"

Files = dict[str, str]
PROJECTS: dict[str, tuple[Files, dict[str, str]]] = {
    "cargo": (
        {
            "Cargo.toml": CARGO,
            "benches/sort.rs": "use criterion::*;",
            "benches/parse.rs": "divan::main()",
            "benches/unknown.rs": "",
            "inner/one/Cargo.toml": INNER,
            "inner/one/b.rs": "use criterion::*;",
        },
        {
            "./target/steelyard/sort": "criterion",
            "./target/steelyard/parse": "divan",
            "./target/steelyard/deep": "criterion",
        },
    ),
    "cargo, with a member that is named twice and one that is left out": (
        {
            "Cargo.toml": '[workspace]\nmembers = ["in/*", "in/a"]\nexclude = ["in/b"]\n',
            "in/a/Cargo.toml": INNER,
            "in/a/b.rs": "use criterion::*;",
            "in/b/Cargo.toml": INNER.replace("deep", "other"),
            "in/b/b.rs": "use criterion::*;",
        },
        {"./target/steelyard/deep": "criterion"},
    ),
    "cargo, with Steelyard's crate": (
        {
            "Cargo.toml": '[package]\nname = "x"\n[[bench]]\nname = "suite"\nharness = false\n',
            "benches/suite/main.rs": "// as criterion's\nsteelyard_bench::main! {}",
        },
        {"./target/steelyard/suite": "protocol"},
    ),
    "cargo, without benches": (
        {"Cargo.toml": '[package]\nname = "prog"\n', "src/main.rs": ""},
        {"./target/release/prog": ""},
    ),
    "cargo, a workspace of programs": (
        {
            "Cargo.toml": '[workspace]\nmembers = ["app", "tools/*"]\n',
            "app/Cargo.toml": '[package]\nname = "app"\n',
            "app/src/main.rs": "",
            "app/src/bin/other.rs": "",
            "tools/helper/Cargo.toml": '[package]\nname = "helper"\n[[bin]]\nname = "help-it"\n',
            "tools/library/Cargo.toml": '[package]\nname = "library"\n',
        },
        {"./target/release/app": "", "./target/release/other": "", "./target/release/help-it": ""},
    ),
    "cmake": (
        {
            "CMakeLists.txt": CMAKE,
            "tests.cpp": 'BENCHMARK("x") {}',
            "unit.cpp": "",
            "sub/CMakeLists.txt": "add_executable(inner i.cpp)\ntarget_link_libraries(inner benchmark)\n",
            "build/CMakeLists.txt": "add_executable(built b.cpp)\ntarget_link_libraries(built benchmark)\n",
        },
        {
            "./build/bench_sort": "google-benchmark",
            "./build/tests '[!benchmark]'": "catch2",
            "./build/sub/inner": "google-benchmark",
        },
    ),
    "cmake, with programs in loops": (
        {"CMakeLists.txt": CMAKE_LOOPS},
        {
            "./build/tool": "",
            "./build/info": "",
            "./build/pack-fast": "",
            "./build/pack-small": "",
            "./build/unpack": "",
        },
    ),
    "go": (
        {
            "go.mod": "module x\n",
            "x_test.go": "func BenchmarkX(b *testing.B) {}\n",
            "with space/y_test.go": "package y\nfunc BenchmarkY(b *testing.B) {}\n",
            "z/z_test.go": "func TestZ(t *testing.T) {}\n",
        },
        {"./steelyard.test": "go", "env -C './with space' ./steelyard.test": "go"},
    ),
    "go, several modules": (
        {
            "go.work": "go 1.22\nuse ./a\nuse ./b\n",
            "a/go.mod": "module a\n",
            "a/x_test.go": "package a\nfunc BenchmarkX(b *testing.B) {}\n",
            "b/go.mod": "module b\n",
            "b/inner/y_test.go": "package y\nfunc BenchmarkY(b *testing.B) {}\n",
        },
        {"env -C ./a ./steelyard.test": "go", "env -C ./b/inner ./steelyard.test": "go"},
    ),
    "go, without benchmarks": (
        {
            "go.mod": "module x\n",
            "cmd/serve/main.go": "// Serve.\npackage main\n",
            "cmd/serve/more.go": "package main\n",
            "generate.go": "//go:build ignore\n\npackage main\n",
            "examples/one/main.go": "package main\n",
            "x.go": "package x\n",
        },
        {"./cmd/serve/steelyard.program": ""},
    ),
    "go, nothing but an example": (
        {"go.mod": "module x\n", "examples/one/main.go": "package main\n"},
        {"./examples/one/steelyard.program": ""},
    ),
    "meson": (
        {
            "meson.build": "project('x', 'c')\nbench = dependency('benchmark', required: true)\nsubdir('speed')\n",
            "speed/meson.build": "executable('fast', 'f.cc', dependencies: [bench])\nexecutable('no', 'n.c')\n",
        },
        {"./build/speed/fast": "google-benchmark"},
    ),
    "configure, by Automake, beside the Makefile that it made": (
        {
            "configure.ac": "AC_INIT([x],[1])\n",
            "Makefile.am": "bin_PROGRAMS = x$(EXEEXT)\n",
            "Makefile": "all: y\ny: y.c\n",
        },
        {"./x": ""},
    ),
    "pytest": (
        {"tests/test_a.py": "def test_a(benchmark):\n    pass\n", "tests/test_b.py": "def test_b():\n    pass\n"},
        {"python3 -m pytest tests/test_a.py": "pytest-benchmark"},
    ),
    "@bench": (
        {"benchmarks/bench_sort.py": BENCH, "benchmarks/deep/bench_x.py": BENCH, "other/bench_none.py": ""},
        {"python3 -m steelyard.harness benchmarks": "protocol"},
    ),
    "@bench, beside others": (
        {"benchmarks/bench_sort.py": BENCH, "benchmarks/bench_x.py": PYPERF},
        {
            "python3 -m steelyard.harness benchmarks/bench_sort.py": "protocol",
            "python3 benchmarks/bench_x.py": "pyperf",
        },
    ),
    "@bench, at the top": ({"bench_a b.py": BENCH}, {"python3 -m steelyard.harness 'bench_a b.py'": "protocol"}),
    "weigh": (
        {"tests/test_a.py": "def test_a(tmp_path, weigh):\n    pass\n", "tests/test_b.py": "def test_weigh(): ...\n"},
        {"python3 -m pytest tests/test_a.py": "protocol"},
    ),
    "pyperf": (
        {
            "tools/speed.py": PYPERF,
            "benchmarks/bench_b.py": "from pyperf import Runner\nif 1:\n    runner: Runner = Runner(processes=1)\n",
            "tools/none.py": "# import pyperf; pyperf.Runner()\n",
            "tests/test_speed.py": f'TEXT = """\\\n{PYPERF}"""\n',
        },
        {"python3 benchmarks/bench_b.py": "pyperf", "python3 tools/speed.py": "pyperf"},
    ),
    "programs of Python": (
        {
            "pyproject.toml": '[project.scripts]\nlook-up = "look_up.main:run"\nother = "look_up.cli:main"\n'
            '[tool.poetry.scripts]\nold = { reference = "x.sh", type = "file" }\n',
            "src/look_up/__main__.py": "",
            "Makefile": "lint:\n\truff check\n",
        },
        {
            "python3 -m look_up": "",
            "python3 -c 'import sys, look_up.cli; sys.exit(look_up.cli.main())'": "",
        },
    ),
    "several of Python": (
        {
            "benchmarks/bench_sort.py": BENCH,
            "tests/test_a.py": "def test_b(benchmark): ...\n",
            "tests/test_b.py": "def test_a(weigh): ...\n",
        },
        {
            "python3 -m pytest tests/test_a.py": "pytest-benchmark",
            "python3 -m steelyard.harness benchmarks": "protocol",
            "python3 -m pytest tests/test_b.py": "protocol",
        },
    ),
    "maven": ({"pom.xml": JMH}, {"java -jar target/b-1.jar": "jmh"}),
    "maven, by its archetype": (
        {"pom.xml": f"{JMH}<uberjar.name>benchmarks</uberjar.name>"},
        {"java -jar target/benchmarks.jar": "jmh"},
    ),
    "gradle": (
        {
            "gradlew": "",
            "build.gradle.kts": 'plugins { id("me.champeau.jmh") version "0.7.2" }\n',
            "inner/deep/build.gradle": "plugins { alias(libs.plugins.jmh) }\n",
            "other/build.gradle": "plugins { id 'java' }\n",
        },
        {
            "java -jar build/steelyard-jmh.jar": "jmh",
            "java -jar inner/deep/build/steelyard-jmh.jar": "jmh",
        },
    ),
    "package.json": (
        {"package.json": '{"name": "@a/b", "bin": "cli.js", "scripts": {"bench": "vitest bench"}}'},
        {"node cli.js": ""},
    ),
    "package.json, with scripts that measure": (
        {
            "package.json": '{"bin": {"b": "b.js"}, "scripts": {"bench:sort": "node --expose-gc bench/sort.js 5", '
            '"test": "node t.js", "benchmark": "node a.js && node b.js"}}',
            "Makefile": "lint:\n\teslint .\n",
        },
        {"node --expose-gc bench/sort.js 5": ""},
    ),
    "package.json, for tools alone": (
        {"package.json": '{"devDependencies": {"prettier": "3"}}', "Makefile": MAKE},
        {"./w": "", "./sub/v": ""},
    ),
    "make": (
        {"Makefile": MAKE},
        {"./w": "", "./sub/v": ""},
    ),
    "maven, in modules": (
        {
            "pom.xml": "<modules><module>one</module><module>inner</module></modules>",
            "one/pom.xml": JMH,
            "inner/pom.xml": JMH,
        },
        {"java -jar inner/target/b-1.jar": "jmh", "java -jar one/target/b-1.jar": "jmh"},
    ),
    "maven, in modules of modules": (
        {
            "pom.xml": "<modules><module>one</module><!-- <module>old</module> --></modules>",
            "one/pom.xml": "<modules><module> ../two/pom.xml </module></modules>",
            "old/pom.xml": JMH,
            "two/pom.xml": JMH,
        },
        {"java -jar two/target/b-1.jar": "jmh"},
    ),
    "maven, its parent making the jars": (
        {"pom.xml": "<modules><module>one</module>maven-shade-plugin", "one/pom.xml": JMH_IN_TESTS},
        {"java -jar one/target/b-1.jar": "jmh"},
    ),
    "several": (
        {
            "go.mod": "module x\n",
            "x_test.go": "func BenchmarkX(b *testing.B) {}\n",
            "pom.xml": JMH,
            "Makefile": "w: w.c\n",
        },
        {"./steelyard.test": "go", "java -jar target/b-1.jar": "jmh"},
    ),
    "nothing": ({}, {"./program input": ""}),
}


@pytest.fixture
def here_without_python(asked: InProcess) -> InProcess:
    asked.environment["PATH"] = "/nowhere"
    return asked


def put(folder: Path, files: Files) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def written(folder: Path) -> Project:
    project = load_project(folder)
    assert project is not None
    return project


@pytest.mark.parametrize("kind", PROJECTS)
def test_what_is_written_is_valid_and_has_the_benchmarks(here_without_python: InProcess, kind: str) -> None:
    files, targets = PROJECTS[kind]
    put(here_without_python.folder, files)
    done = here_without_python("init")
    assert (done.status, done.out) == (0, b"")
    assert done.err.decode().startswith("steelyard: steelyard.toml is written: ")
    project = written(here_without_python.folder)
    assert [(one.command, one.harness or "") for one in project.targets] == [*targets.items()]
    assert project.compare.margin == 0.01


@pytest.mark.parametrize(
    ("files", "build", "says"),
    [
        (
            {"Makefile": "all:\n\tcc -o w.o -c w.c\n"},
            "make",
            "a Makefile, but no program or benchmark in it; put a command",
        ),
        (
            {"Makefile": ".PHONY: clean\nclean:\n\trm -rf build\n", "setup.py": "", "src/x.py": ""},
            None,
            "Python, but no benchmark of pytest-benchmark, pyperf or @bench in it; put a command",
        ),
        (
            {"pyproject.toml": "", "benchmarks/asv.conf.json": "{}", "benchmarks/a.py": "def time_a(): ..."},
            None,
            "Python, but its benchmarks are of asv, which cannot be driven: those of pytest-benchmark, pyperf and "
            "@bench can; put a command",
        ),
        ({"go.mod": "module x\n"}, "go build ./...", "Go, but no program or benchmark in it; put a command"),
        (
            {"meson.build": "library('x', 'x.c')\n"},
            "set -e\nmeson setup build --buildtype=release\nmeson compile -C build\n",
            "Meson, but no program or benchmark in it; put a command",
        ),
        (
            {"configure": "#!/bin/sh\n"},
            "set -e\n./configure\nmake\n",
            "a configure script, but no program or benchmark in it; put a command",
        ),
        (
            {"package.json": '{"dependencies": {"a": "1"}, "scripts": {"build": "tsc"}}', "yarn.lock": ""},
            "set -e\nyarn install --frozen-lockfile\nnpm run build --if-present\n",
            "JavaScript, but package.json names no program, and no script bench, benchmark or perf that is one node "
            "command; put a command",
        ),
        (
            {"Cargo.toml": '[package]\nname = "a"\n', "benches/a.rs": "#[bench]\n", "benches/b/main.rs": "#[bench]\n"},
            "cargo build --release",
            "Cargo, but its benchmarks (benches/a.rs and 1 more) are of #[bench], which cannot be driven: those of "
            "criterion and Divan can; put a command",
        ),
        (
            {
                "Cargo.toml": '[package]\nname = "a"\n[[bench]]\nname = "b"\nharness = false\n',
                "benches/b.rs": "use bencher::Bencher;\n",
            },
            "cargo build --release",
            "Cargo, but its benchmarks (benches/b.rs) are of a harness that cannot be driven: those of criterion and "
            "Divan can; put a command",
        ),
        (
            {"Cargo.toml": '[workspace]\nmembers = ["in"]\n', "in/Cargo.toml": "", "in/benches/a.rs": "#[bench]\n"},
            "cargo build --release",
            "Cargo, but its benchmarks (in/benches/a.rs) are of #[bench], which cannot be driven: those of "
            "criterion and Divan can; put a command",
        ),
        (
            {
                "Cargo.toml": '[package]\nname = "a"\n',
                "speed/Cargo.toml": '[package]\nname = "b"\n[workspace]\n[[bench]]\nname = "c"\nharness = false\n',
                "speed/benches/c.rs": "use criterion;\n",
            },
            "cargo build --release",
            "Cargo, but its benchmarks are a package of their own (run steelyard init in ./speed); put a command",
        ),
        (
            {"pom.xml": JMH_IN_TESTS + "<plugin><artifactId>exec-maven-plugin</artifactId></plugin>"},
            "mvn -q -B package -DskipTests -Dmaven.javadoc.skip",
            "Maven with JMH, but no pom.xml makes a jar that runs its benchmarks, as the shade plugin does in JMH's "
            "archetype (steelyard docs adapters/jmh); put a command",
        ),
        (
            {"pom.xml": "<project></project>", "speed/pom.xml": JMH},
            None,
            "Maven with JMH, but its benchmarks (in ./speed) are no modules of pom.xml, so they are built with a "
            "library that was released, not with each revision's (name their folder in <modules>, and this version in "
            "<dependency>); put a command",
        ),
        ({}, None, "nothing was found here that it knows; put a command"),
        ({"package.json": "[" * 100_000}, None, "nothing was found here that it knows; put a command"),
    ],
)
def test_what_names_no_program_is_built_still(
    here_without_python: InProcess, files: Files, build: str | None, says: str
) -> None:
    put(here_without_python.folder, files)
    assert f"steelyard.toml is written: {says} of yours into it" in here_without_python("init").err.decode()
    assert written(here_without_python.folder).build.command == build


def test_of_many_benchmarks_some_are_named(here_without_python: InProcess) -> None:
    names = [f"b{number}" for number in range(12)]
    manifest = "".join(f'[[bench]]\nname = "{name}"\nharness = false\n' for name in names)
    sources = {f"benches/{name}.rs": "use criterion::*;" for name in names}
    put(here_without_python.folder, {"Cargo.toml": f'[package]\nname = "a"\n{manifest}', **sources})
    said = here_without_python("init").err.decode()
    assert f"Cargo with criterion ({', '.join(names[:10])} and 2 more); next: " in said
    assert [one.name for one in written(here_without_python.folder).targets] == names


def test_a_root_that_is_a_library_has_the_whole_workspace_built(here_without_python: InProcess) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "lib"\n[workspace]\nmembers = ["app"]\n',
        "app/Cargo.toml": '[package]\nname = "app"\n',
        "app/src/main.rs": "",
    }
    put(here_without_python.folder, files)
    assert "Cargo (app)" in here_without_python("init").err.decode()
    assert str(written(here_without_python.folder).build.command).endswith(" --workspace")


def test_a_package_of_go_is_built_where_its_module_is(here_without_python: InProcess) -> None:
    files = {
        "go.mod": "module x\n",
        "more/go.mod": "module y\n",
        "more/in/y_test.go": "func BenchmarkY(b *testing.B) {}\n",
    }
    put(here_without_python.folder, files)
    assert here_without_python("init").status == 0
    (target,) = written(here_without_python.folder).targets
    assert target.build == "(cd ./more && go test -c -trimpath -o ./in/steelyard.test ./in)"


def test_go_s_benchmarks_are_built_with_their_tag_and_not_of_other_systems(here_without_python: InProcess) -> None:
    benchmark = "package x\nfunc BenchmarkX(b *testing.B) {}\n"
    files = {
        "go.mod": "module x\n",
        "js_test.go": benchmark,
        "b_test.go": f"// Copyright\n\n//go:build bench\n\n{benchmark}",
        "c_test.go": f"//go:build slow\n// +build slow\n\n{benchmark}",
        "linux/x_linux_test.go": f"//go:build linux\n\n{benchmark}",
        "both/x_test.go": f"//go:build linux && bench && !race && go1.21 && goexperiment.simd\n\n{benchmark}",
        "old/x_test.go": f"// +build bench,!race\n// +build slow\n\n{benchmark}",
        "either/x_test.go": f"//go:build bench || amd64\n\n{benchmark}",
        "generated/x_test.go": f"//go:build ignore\n\n{benchmark}",
        "windows/x_windows_test.go": benchmark,
        "mac/x_test.go": f"//go:build darwin && bench\n\n{benchmark}",
    }
    put(here_without_python.folder, files)
    here_without_python("init")
    assert [one.build for one in written(here_without_python.folder).targets] == [
        "go test -c -tags bench,slow -trimpath -o ./steelyard.test .",
        "go test -c -tags bench -trimpath -o ./both/steelyard.test ./both",
        "go test -c -trimpath -o ./either/steelyard.test ./either",
        "go test -c -trimpath -o ./linux/steelyard.test ./linux",
        "go test -c -tags bench,slow -trimpath -o ./old/steelyard.test ./old",
    ]


def test_each_package_of_go_is_built_by_itself(here_without_python: InProcess) -> None:
    put(here_without_python.folder, PROJECTS["go"][0])
    here_without_python("init")
    project = written(here_without_python.folder)
    assert project.build.command is None
    assert [one.build for one in project.targets] == [
        "go test -c -trimpath -o ./steelyard.test .",
        "go test -c -trimpath -o './with space/steelyard.test' './with space'",
    ]


@pytest.mark.real
def test_a_build_of_gradle_leaves_one_jar_and_ends_where_it_fails(here: InProcess) -> None:
    put(here.folder, PROJECTS["gradle"][0])
    made = "for one in . inner/deep; do mkdir -p $one/build/libs; echo $1$2 > $one/build/libs/x-$$-jmh.jar; done\n"
    here.write("gradlew", f"#!/bin/sh\n{made}test ! -e fails\n")
    here("init")
    build = written(here.folder).build.command
    assert build is not None
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", build], cwd=here.folder, check=True)
    assert (here.folder / "build/steelyard-jmh.jar").read_text() == "-qjmhJar\n"
    assert (here.folder / "inner/deep/build/steelyard-jmh.jar").read_text() == "-q:inner:deep:jmhJar\n"
    here.write("fails", "")
    assert subprocess.run(["/bin/sh", "-c", build], cwd=here.folder, check=False).returncode


def test_targets_are_told_by_the_names_that_the_file_has(here_without_python: InProcess) -> None:
    put(here_without_python.folder, PROJECTS["several of Python"][0])
    said = here_without_python("init").err.decode()
    assert f"({', '.join(target.name for target in written(here_without_python.folder).targets)}); next: " in said


def test_the_build_of_several_ends_where_one_fails(here_without_python: InProcess) -> None:
    put(here_without_python.folder, {"pom.xml": JMH, **PROJECTS["gradle"][0]})
    assert here_without_python("init").status == 0
    build = written(here_without_python.folder).build.command or ""
    assert build.startswith("set -e\nmvn -q -B package -DskipTests -Dmaven.javadoc.skip\n")
    assert "jmhJar" in build


def test_the_packages_that_python_needs_are_named_once(here_without_python: InProcess) -> None:
    put(here_without_python.folder, PROJECTS["several of Python"][0])
    here_without_python("init")
    text = (here_without_python.folder / "steelyard.toml").read_text()
    assert text.count("by the python on PATH, which needs\n# pytest-benchmark and steelyard and pytest.") == 1
    assert "pip install -e . pytest-benchmark steelyard pytest'" in text
    assert [one.name for one in written(here_without_python.folder).targets] == [
        "benchmarks (pytest-benchmark)",
        "benchmarks (@bench)",
        "tests",
    ]


def test_modules_below_src_are_imported_from_each_side(here_without_python: InProcess) -> None:
    put(here_without_python.folder, {**PROJECTS["pytest"][0], "src/x.py": ""})
    here_without_python("init")
    (target,) = written(here_without_python.folder).targets
    assert target.environment == ["PYTHONPATH=src"]


def test_a_package_at_the_top_is_imported_by_scripts_below_it_from_each_side(here_without_python: InProcess) -> None:
    files = {
        "lib/__init__.py": "",
        "lib/speed/own.py": f"{PYPERF}from lib import it\n",
        "lib/speed/other.py": PYPERF,
        "top.py": f"{PYPERF}import lib\n",
        "tests/test_a.py": "import lib\ndef test_a(benchmark): ...\n",
    }
    put(here_without_python.folder, files)
    here_without_python("init")
    environments = {one.name: one.environment for one in written(here_without_python.folder).targets}
    assert environments.pop("own") == ["PYTHONPATH=."]
    assert environments == {"benchmarks": None, "other": None, "top": None}


def test_scripts_of_one_name_are_told_by_their_folders(here_without_python: InProcess) -> None:
    put(
        here_without_python.folder,
        {f"data/bm_{name}/run_benchmark.py": PYPERF for name in ("a", "b")} | {"c.py": PYPERF},
    )
    here_without_python("init")
    assert [one.name for one in written(here_without_python.folder).targets] == ["c", "bm_a", "bm_b"]


@pytest.mark.real
def test_the_executable_that_cargo_tells_of_is_the_one_that_is_copied(here: InProcess) -> None:
    put(here.folder, PROJECTS["cargo"][0])
    here("init")
    lines = [
        {"target": {"kind": ["lib"], "name": "sort"}, "executable": None},
        *(
            {"target": {"kind": ["bench"], "name": name}, "executable": f"{here.folder}/made {name}"}
            for name in ("sort", "parse", "deep")
        ),
    ]
    told = "\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
    here.write("cargo", f"#!/bin/sh\ncat <<'END'\n{told}\nEND\n")
    for name in ("sort", "parse", "deep"):
        here.write(f"made {name}", name)
    build = written(here.folder).build.command
    assert build is not None
    environment = {"PATH": f"{here.folder}:/usr/bin:/bin"}
    subprocess.run(["/bin/sh", "-c", build], cwd=here.folder, env=environment, check=True)
    assert (here.folder / "target/steelyard/deep").read_text() == "deep"
    (here.folder / "made deep").unlink()
    assert subprocess.run(["/bin/sh", "-c", build], cwd=here.folder, env=environment, capture_output=True).returncode


def environment_of_cargo() -> dict[str, str]:
    environment = {**os.environ, "HOME": _HOME, "CARGO_NET_OFFLINE": "true"}
    if shutil.which("cargo") is None or subprocess.run(["cargo", "--version"], env=environment, check=False).returncode:
        pytest.skip("not tested without cargo, and a toolchain of this user's")
    return environment


def test_a_bench_is_built_beside_the_others_where_what_it_requires_is_turned_on_by_default(here: InProcess) -> None:
    bench = '[[bench]]\nname = "{0}"\nharness = false\nrequired-features = ["{1}"]\n'
    manifest = (
        '[package]\nname = "a"\n[features]\ndefault = ["std"]\nstd = ["alloc", "a/std"]\nalloc = ["std"]\nfar = []\n'
    )
    put(here.folder, {"Cargo.toml": manifest + bench.format("m", "alloc") + bench.format("n", "far")})
    put(here.folder, {f"benches/{name}.rs": "use criterion;\n" for name in "mn"})
    assert here("init").status == 0
    build = written(here.folder).build.command or ""
    assert '[ ! -f benches/m.rs ] || set -- "$@" --bench m\n' in build
    assert re.findall("--features .*? ", build) == ["--features far "]


@pytest.mark.real
def test_a_bench_that_requires_a_feature_is_built_with_it_and_the_others_without(here: InProcess) -> None:
    environment = environment_of_cargo()
    bench = '[[bench]]\nname = "{0}"\nharness = false\n'
    manifest = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
    manifest += '[features]\ndefault = ["usual"]\nusual = []\nf = []\n'
    manifest += bench.format("m") + 'required-features = ["usual"]\n'
    manifest += bench.format("n") + 'required-features = ["usual", "f"]\n'
    printing = '// criterion\nfn main() { print!("{}", cfg!(feature = "f")); }\n'
    put(here.folder, {"Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["in/*"]\n', "in/a/Cargo.toml": manifest})
    put(here.folder, {"in/a/src/lib.rs": "", "in/a/benches/m.rs": printing, "in/a/benches/n.rs": printing})
    assert here("init").status == 0
    project = written(here.folder)
    assert project.build.command is not None
    subprocess.run(["/bin/sh", "-c", project.build.command], cwd=here.folder, env=environment, check=True)
    told = [subprocess.check_output([target.command], cwd=here.folder) for target in project.targets]
    assert told == [b"false", b"true"]


@pytest.mark.real
def test_a_program_of_a_workspace_s_member_is_built_where_the_target_expects_it(
    here: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, member = environment_of_cargo(), here.folder / "in"
    put(here.folder, {"Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["in"]\n'})
    put(member, {"Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\n', "src/main.rs": "fn main() {}\n"})
    monkeypatch.chdir(member)
    assert here("init").status == 0
    project = written(member)
    assert project.build.command is not None
    subprocess.run(["/bin/sh", "-c", project.build.command], cwd=member, env=environment, check=True)
    subprocess.run([project.targets[0].command], cwd=member, check=True)


@pytest.mark.real
def test_a_bench_that_does_not_compile_is_told_by_what_the_compiler_says(here: InProcess) -> None:
    environment = environment_of_cargo()
    bench = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[[bench]]\nname = "m"\nharness = false\n'
    put(
        here.folder, {"Cargo.toml": bench, "src/lib.rs": "", "benches/m.rs": "// criterion\nfn main() { missing(); }\n"}
    )
    assert here("init").status == 0
    build = written(here.folder).build.command
    assert build is not None
    told = subprocess.run(
        ["/bin/sh", "-c", build], cwd=here.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert told.returncode != 0
    assert "cannot find function `missing`" in told.stderr


@pytest.mark.real
def test_benches_of_one_name_in_several_packages_are_told_apart(here: InProcess) -> None:
    environment = environment_of_cargo()
    bench = '[package]\nname = "{0}"\nversion = "0.1.0"\nedition = "2021"\n[[bench]]\nname = "m"\nharness = false\n'
    printing = '// criterion\nfn main() {{ println!("{0}"); }}\n'
    put(here.folder, {"Cargo.toml": bench.format("top") + '[workspace]\nmembers = [".", "a"]\n'})
    put(here.folder, {"src/lib.rs": "", "benches/m.rs": printing.format("top")})
    put(here.folder, {"a/Cargo.toml": bench.format("a"), "a/src/lib.rs": "", "a/benches/m.rs": printing.format("a")})
    assert here("init").status == 0
    project = written(here.folder)
    assert project.build.command is not None
    subprocess.run(["/bin/sh", "-c", project.build.command], cwd=here.folder, env=environment, check=True)
    for target, name in zip(project.targets, ("top", "a"), strict=True):
        assert target.name == f"{name}-m"
        assert subprocess.check_output([target.command], cwd=here.folder) == f"{name}\n".encode()


@pytest.mark.real
@pytest.mark.parametrize(
    ("kind", "gone", "tool", "called", "without"),
    [
        (
            "cargo",
            "inner",
            "cargo",
            ["-p x --bench sort -p x --bench parse -p one --bench deep"],
            ["--no-run -p x --bench sort -p x --bench parse --message"],
        ),
        (
            "maven, in modules",
            "inner",
            "mvn",
            ["-Dmaven.javadoc.skip -pl inner,one -am"],
            ["-Dmaven.javadoc.skip -pl one -am"],
        ),
    ],
)
def test_what_an_older_revision_has_not_yet_is_left_out_of_its_build(
    here: InProcess, kind: str, gone: str, tool: str, called: list[str], without: list[str]
) -> None:
    put(here.folder, PROJECTS[kind][0])
    here("init")
    build = written(here.folder).build.command
    assert build is not None
    made = {"benches/sort.rs": "sort", "benches/parse.rs": "parse", "inner/one/b.rs": "deep"}
    line = '{"target":{"kind":["bench"],"name":"NAME"},"executable":"/bin/true"}'
    telling = [f"[ ! -f {source} ] || echo '{line.replace('NAME', name)}'" for source, name in made.items()]
    here.write(tool, "\n".join(["#!/bin/sh", 'echo "$*" >> calls', *telling]))
    environment = {"PATH": f"{here.folder}:/usr/bin:/bin"}
    for expected in (called, without):
        subprocess.run(["/bin/sh", "-c", build], cwd=here.folder, env=environment, check=True)
        calls = here.lines("calls")
        assert len(calls) == len(expected)
        assert all(words in call for words, call in zip(expected, calls, strict=True)), calls
        (here.folder / "calls").unlink()
        shutil.rmtree(here.folder / gone, ignore_errors=True)


@pytest.mark.parametrize(
    ("files", "command", "builds"),
    [
        ({"Makefile": "w: w.c\n"}, "make w", [None]),
        ({"Makefile": "w: w.c\nsub/a++ b: x.c\n"}, None, ["make w", "make sub/a++", "make b"]),
        (
            {"CMakeLists.txt": "project(x)\nadd_executable(a a.c)\nadd_executable(b b.c)\n"},
            "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release",
            [f"cmake --build build --target {name} --parallel $(nproc)" for name in ("a", "b")],
        ),
    ],
)
def test_each_of_several_programs_is_built_by_itself(
    here_without_python: InProcess, files: Files, command: str | None, builds: list[str | None]
) -> None:
    put(here_without_python.folder, files)
    here_without_python("init")
    project = written(here_without_python.folder)
    assert (project.build.command, [one.build for one in project.targets]) == (command, builds)
    text = (here_without_python.folder / "steelyard.toml").read_text()
    assert ("# What all targets need;" in text) == (command is not None and builds != [None])


def test_without_a_repository_it_says_that_one_is_needed(here_without_python: InProcess) -> None:
    put(here_without_python.folder, PROJECTS["make"][0])
    assert "git init, git add, git commit" in here_without_python("init").err.decode()
    (here_without_python.folder / ".git").mkdir()
    assert "git init" not in here_without_python("init", "--force").err.decode()


def test_programs_of_one_name_have_that_of_their_folder_too(here_without_python: InProcess) -> None:
    put(here_without_python.folder, {"Makefile": "a/prog: x.c\nb/prog: y.c\nc: z.c\n"})
    here_without_python("init")
    assert [one.name for one in written(here_without_python.folder).targets] == ["a/prog", "b/prog", "c"]


@pytest.mark.parametrize("name", ["bench_pipe.py", "Cargo.toml"])
def test_a_pipe_is_not_waited_for(here_without_python: InProcess, name: str) -> None:
    os.mkfifo(here_without_python.folder / name)
    assert here_without_python("init").status == 0


@pytest.mark.parametrize("name", ["pyproject.toml", "Cargo.toml"])
def test_a_file_that_no_reader_takes_is_passed_over(here_without_python: InProcess, name: str) -> None:
    put(here_without_python.folder, {name: "a = " + "[" * 5000})
    assert here_without_python("init").status == 0


def test_a_file_that_is_there_is_written_over_only_by_force(asked: InProcess) -> None:
    asked.write("steelyard.toml", "# mine\n")
    assert asked.refuses("init") == ("steelyard.toml is there already: change it, or write over it with --force")
    assert asked.lines("steelyard.toml") == ["# mine"]
    assert asked("init", "--force").status == 0
    assert written(asked.folder).targets


@pytest.mark.parametrize("words", [(), ("--force",)])
def test_what_is_no_file_is_not_written_to(asked: InProcess, words: tuple[str, ...]) -> None:
    place = asked.folder / "steelyard.toml"
    place.symlink_to("nowhere/file")
    assert asked.refuses("init", *words).endswith("is a link to a file that is not there: fix the link, or remove it")
    place.unlink()
    place.mkdir()
    assert asked.refuses("init", *words) == "steelyard.toml is there already, and is no file: remove it first"


def test_what_is_printed_needs_no_force(asked: InProcess) -> None:
    assert asked.refuses("init", "--schema", "--force") == "--schema writes no file: leave --force out"


def test_a_table_in_pyproject_is_not_hidden(asked: InProcess) -> None:
    asked.write("pyproject.toml", "[tool.steelyard]\n")
    assert "pyproject.toml has a [tool.steelyard]" in asked.refuses("init", "--force")
    assert not (asked.folder / "steelyard.toml").exists()


def test_the_schema_is_printed(asked: InProcess) -> None:
    done = asked("init", "--schema")
    jsonschema.Draft202012Validator.check_schema(json.loads(done.text))
    assert not (asked.folder / "steelyard.toml").exists()
