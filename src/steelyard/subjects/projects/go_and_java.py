"""Go, and JMH under Maven and Gradle."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from steelyard.subjects.projects.discovery import (
    FoundProject,
    FoundTarget,
    files_named,
    is_auxiliary,
    relative,
    text_of,
    where_there,
)

_GO_BENCHMARK = re.compile(r"^func Benchmark\w*\(", re.MULTILINE)
_GO_PROGRAM = re.compile(r"^package main\b", re.MULTILINE)
# How a file is marked that no build shall take, such as one that generates code.
_GO_LEFT_OUT = re.compile(r"^//(?:go:build|\s*\+build)\b.*\bignore\b", re.MULTILINE)
# A file that is built only by who names all of these tags; where there is a choice of tags, none is taken.
_GO_TAGS = re.compile(r"^//(?:go:build ([\w.!& ]+)|\s*\+build ([\w.!,]+))$", re.MULTILINE)
_GO_TAG = re.compile(r"(?<![\w.!])\w+(?![\w.])")  # Go's own have dots: go1.21, goexperiment.synctest
_GO_ELSEWHERE = frozenset(
    "aix android darwin dragonfly freebsd illumos ios js netbsd openbsd plan9 solaris wasip1 windows".split()  # noqa: SIM905
)
_GO_KNOWN_TAGS = frozenset(
    "linux unix 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm asan cgo gc "  # noqa: SIM905
    "gccgo msan race".split()
)
_UBERJAR = re.compile(r"<(uberjar\.name|finalName)>\s*([\w.-]+)\s*</\1>")
# What makes a jar that starts by itself. Without it JMH runs on a class path of Maven's, often from a profile.
_RUNNABLE_JAR = re.compile(r"maven-shade-plugin|jar-with-dependencies|spring-boot-maven-plugin|<mainClass>|uberjar")
_NO_RUNNABLE_JAR = (
    "no pom.xml makes a jar that runs its benchmarks, as the shade plugin does in JMH's archetype (steelyard docs "
    "adapters/jmh)"
)
_MODULE = re.compile(r"<module>\s*([^<>]+?)\s*</module>")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NO_MODULES = (
    "are no modules of pom.xml, so they are built with a library that was released, not with each revision's (name "
    "their folder in <modules>, and this version in <dependency>)"
)
# The plugin by its name, or by its alias in a version catalog.
_GRADLE_JMH = re.compile(r"me\.champeau\.(?:gradle\.)?jmh|plugins\.jmh\b")
# Documents take time, and fail where a JDK lacks javadoc.
_MAVEN = "mvn -q -B package -DskipTests -Dmaven.javadoc.skip"


def go(folder: Path) -> FoundProject | None:
    """Return the packages of a Go module or workspace that have benchmarks, or else its programs; None without one."""
    if not any((folder / name).is_file() for name in ("go.mod", "go.work")):
        return None
    tags_of_packages: dict[Path, list[str]] = {}
    for path in files_named(folder, "_test.go"):
        if not _GO_BENCHMARK.search(source := text_of(path)) or _GO_LEFT_OUT.search(source):
            continue
        tags = _GO_TAG.findall(" ".join(map("".join, _GO_TAGS.findall(source))))
        *_, suffix = path.stem.removesuffix("_test").partition("_")[2].split("_")
        if _GO_ELSEWHERE.isdisjoint([*tags, suffix]):
            tags_of_packages.setdefault(path.parent, []).extend(tags)
    if not tags_of_packages:
        programs = [*_go_programs(folder)]
        return FoundProject("Go", None if programs else "go build ./...", programs)
    return FoundProject("Go", None, [_go_benchmarks(*package, folder) for package in tags_of_packages.items()])


def _go_benchmarks(package: Path, tags: Sequence[str], folder: Path) -> FoundTarget:
    is_top = package == folder
    name = folder.name if is_top else package.relative_to(folder).as_posix()
    enter = "" if is_top else f"env -C {shlex.quote(relative(package, folder))} "
    own_tags = ",".join(tag for tag in dict.fromkeys(tags) if tag not in _GO_KNOWN_TAGS)
    build = _go_build(package, folder, f"test -c -tags {own_tags}" if own_tags else "test -c", "steelyard.test")
    return FoundTarget(name or "benchmarks", f"{enter}./steelyard.test", "go", build=build)


def _go_programs(folder: Path) -> Iterator[FoundTarget]:
    """Yield the programs of a module or workspace, without those that explain or test it if there are others."""
    files = [path for path in files_named(folder, ".go") if not path.name.endswith("_test.go")]
    packages = [*dict.fromkeys(path.parent for path in files if _is_go_program(text_of(path)))]
    for package in [one for one in packages if not is_auxiliary(relative(one, folder))] or packages:
        name = package.name or "program"
        program = shlex.quote(f"{relative(package, folder)}/steelyard.program")
        yield FoundTarget(name, program, build=_go_build(package, folder, "build", "steelyard.program"))


def _is_go_program(source: str) -> bool:
    return _GO_PROGRAM.search(source) is not None and _GO_LEFT_OUT.search(source) is None


def _go_build(package: Path, folder: Path, command: str, output: str) -> str:
    """Return the line that builds a package, in the folder of its module, as Go builds no other there."""
    folders = [package, *(candidate for candidate in package.parents if candidate.is_relative_to(folder))]
    module = next((candidate for candidate in folders if (candidate / "go.mod").is_file()), folder)
    path_of_package = relative(package, module)
    line = f"go {command} -trimpath -o {shlex.quote(f'{path_of_package}/{output}')} {shlex.quote(path_of_package)}"
    return line if module == folder else f"(cd {shlex.quote(relative(module, folder))} && {line})"


def maven(folder: Path) -> FoundProject | None:
    """Return the jars of benchmarks that Maven builds with JMH; None without any."""
    if not (folder / "pom.xml").is_file():
        return None
    poms = [path for path in files_named(folder, "pom.xml") if "org.openjdk.jmh" in text_of(path)]
    with_benchmarks = [path for path in poms if "<modules>" not in text_of(path)]
    if not with_benchmarks:
        return None
    jars = [path for path in with_benchmarks if _makes_runnable_jar(path, folder)]
    if not jars:
        return FoundProject("Maven with JMH", _MAVEN, [], not_driven=_NO_RUNNABLE_JAR)
    built = _built_by(folder / "pom.xml")
    apart = ", ".join(relative(path.parent, folder) for path in jars if path not in built)
    jars = [path for path in jars if path in built]
    if not jars:
        return FoundProject("Maven with JMH", None, [], not_driven=f"its benchmarks (in {apart}) {_NO_MODULES}")
    modules = [relative(path.parent, folder).removeprefix("./") for path in jars if path.parent != folder]
    targets = [
        FoundTarget(
            path.parent.name if path.parent != folder else "benchmarks",
            f"java -jar {shlex.quote((path.parent / 'target' / _jar(text_of(path))).relative_to(folder).as_posix())}",
            "jmh",
        )
        for path in jars
    ]
    return FoundProject("Maven with JMH", _maven_build_of_modules(modules) if modules else _MAVEN, targets)


def _built_by(top: Path) -> set[Path]:
    """Return the pom.xml files that one call of Maven builds: that of the top, its modules, and theirs."""
    built, open_ = set[Path](), [top]
    while open_:
        pom = open_.pop()
        if pom in built or not pom.is_file():
            continue
        built.add(pom)
        for name in _MODULE.findall(_COMMENT.sub("", text_of(pom))):
            module = Path(os.path.normpath(pom.parent / name))
            open_.append(module / "pom.xml" if module.is_dir() else module)
    return built


def _makes_runnable_jar(pom: Path, folder: Path) -> bool:
    """Return whether a module's own pom.xml, or one above it in the project, has a jar made that starts by itself."""
    above = [one / "pom.xml" for one in pom.parent.parents if one.is_relative_to(folder)]
    return any(_RUNNABLE_JAR.search(text_of(path)) for path in (pom, *above) if path.is_file())


def _maven_build_of_modules(modules: Sequence[str]) -> str:
    """Return the lines that build those modules that exist: Maven refuses one that an older revision lacks."""
    chosen = [where_there(f"{module}/pom.xml", f"chosen=$chosen,{shlex.quote(module)}") for module in modules]
    return "\n".join(["chosen=", *chosen, f'[ -z "$chosen" ] || {_MAVEN} -pl "${{chosen#,}}" -am'])


def _jar(pom: str) -> str:
    """Return the name of the jar with everything in it, as in JMH's archetype, or that of the artefact."""
    uberjar = _UBERJAR.search(pom)
    if uberjar is not None:
        return f"{uberjar[2]}.jar"
    own_part = pom.partition("</parent>")[2] or pom
    artifact, version = (re.search(rf"<{tag}>\s*([\w.-]+)\s*</{tag}>", own_part) for tag in ("artifactId", "version"))
    return f"{artifact[1]}-{version[1]}.jar" if artifact and version else "benchmarks.jar"


def gradle(folder: Path) -> FoundProject | None:
    """Return the jars of benchmarks that Gradle builds with JMH's plugin; None without any."""
    files = [path for path in files_named(folder, "build.gradle", "build.gradle.kts") if _uses_jmh(path)]
    if not files:
        return None
    run = "./gradlew" if (folder / "gradlew").is_file() else "gradle"
    lines, targets = [], []
    for path in files:
        subfolder = path.parent.relative_to(folder)
        task = ":".join(["", *subfolder.parts, "jmhJar"]) if subfolder.parts else "jmhJar"
        libs, jar = (shlex.quote((subfolder / "build" / name).as_posix()) for name in ("libs", "steelyard-jmh.jar"))
        # The jar's name contains the folder's name and a version. An older revision may not have the project yet.
        lines.append(
            f"if [ -f {shlex.quote(path.relative_to(folder).as_posix())} ]; then rm -f {libs}/*-jmh.jar; "
            f"{run} -q {shlex.quote(task)}; cp {libs}/*-jmh.jar {jar}; fi"
        )
        targets.append(FoundTarget(subfolder.name or "benchmarks", f"java -jar {jar}", "jmh"))
    return FoundProject("Gradle with JMH", "\n".join(lines), targets)


def _uses_jmh(path: Path) -> bool:
    return _GRADLE_JMH.search(text_of(path)) is not None or (path.parent / "src/jmh").is_dir()
