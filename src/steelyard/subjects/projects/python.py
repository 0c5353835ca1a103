"""Python: benchmarks of @bench, tests with the fixture `weigh` or pytest-benchmark's, and scripts of pyperf."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from steelyard.subjects.projects.discovery import FoundProject, FoundTarget, files_named, text_of

# A file has to match all patterns of a tuple, at the beginning of a line, so that another file's text within a string
# is not taken for its own.
_FIXTURE = r"^\s*(?:async )?def test\w*\([^)]*\b{}\b"
_BENCH = (r"^\s*(?:import|from) steelyard\b", r"^\s*@(?:[\w.]+\.)?bench\b")
_IMPORTED = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)
_PROJECT_FILES = ("pyproject.toml", "setup.py")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_PYPERF = (r"^\s*(?:import|from) pyperf\b", r"^[^#'\"\n]*\bRunner\(")


def python(folder: Path, search_path: str | None) -> list[FoundProject]:
    """Return what Python's harnesses measure in a folder, one entry for each; nothing without benchmarks."""
    files = [*files_named(folder, ".py")]
    tests = [path for path in files if path.name.startswith(("test_", "bench"))]
    suites = [path for path in files if path.name.startswith("bench_")]
    scripts = [path for path in files if not path.name.startswith("test_")]
    run = _interpreter(search_path)

    def target(name: str, paths: Sequence[Path], module: str, harness: str) -> FoundTarget:
        words = " ".join(shlex.quote(path.relative_to(folder).as_posix()) for path in paths)
        return FoundTarget(name, f"{run} {module}{words}", harness, _sources(folder, [] if module else paths))

    kinds = list[tuple[str, str, list[FoundTarget]]]()  # its name, the packages that it needs, and what is weighed
    if matching := _files_matching(tests, _FIXTURE.format("benchmark")):
        targets = [target("benchmarks", matching, "-m pytest ", "pytest-benchmark")]
        kinds.append(("pytest-benchmark", "pytest-benchmark", targets))
    if matching := _files_matching(suites, *_BENCH):
        paths = _common_folder(matching, suites, folder)
        kinds.append(("@bench", "steelyard", [target("benchmarks", paths, "-m steelyard.harness ", "protocol")]))
    if matching := _files_matching(tests, _FIXTURE.format("weigh")):
        kinds.append(("pytest with weigh", "pytest steelyard", [target("tests", matching, "-m pytest ", "protocol")]))
    if matching := _files_matching(scripts, *_PYPERF):
        named = zip(matching, _names(matching), strict=True)
        kinds.append(("pyperf", "pyperf", [target(name, [path], "", "pyperf") for path, name in named]))
    packages = [*dict.fromkeys(package for _, needed, _ in kinds for package in needed.split())]
    comments = _comments(" and ".join(packages), " ".join([".", *packages]))
    return [
        FoundProject(name_of_kind, None, targets, () if index else comments)
        for index, (name_of_kind, _, targets) in enumerate(kinds)
    ]


def _interpreter(search_path: str | None) -> str:
    return "python" if shutil.which("python", path=search_path) else "python3"


def python_programs(folder: Path, search_path: str | None) -> FoundProject | None:
    """Return the programs that a Python project declares in pyproject.toml; None if it is no such project."""
    if not any((folder / name).is_file() for name in _PROJECT_FILES):
        return None
    python, sources = _interpreter(search_path), _sources(folder, [])
    targets = [
        FoundTarget(name, f"{python} {_words_for(name, reference, folder)}", environment=sources)
        for name, reference in _declared_programs(folder)
    ]
    if not targets:
        return FoundProject("Python", None, [], not_driven=_not_driven(folder))
    return FoundProject("Python", None, targets, _comments("what they import", "."))


def _declared_programs(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, function) of each program, the function as `module:name`."""
    try:
        project = tomllib.loads(text_of(folder / "pyproject.toml"))
    except (ValueError, RecursionError):
        return
    for path in (("project", "scripts"), ("tool", "poetry", "scripts")):
        table: Any = project
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        for name, reference in table.items() if isinstance(table, dict) else ():
            if isinstance(reference, str) and _FUNCTION.fullmatch(reference):
                yield name, reference


def _words_for(name: str, reference: str, folder: Path) -> str:
    """Return what python is called with to run a program as its installed script does."""
    module, function = reference.split(":")
    package = module.split(".")[0]
    can_run = any((folder / source / package / "__main__.py").is_file() for source in ("src", "."))
    # A package of several programs can be at most one of them.
    if can_run and package == name.replace("-", "_"):
        return f"-m {package}"
    return f"-c 'import sys, {module}; sys.exit({module}.{function}())'"


def _not_driven(folder: Path) -> str:
    """Say why nothing of a Python project without targets is weighed."""
    driven = "pytest-benchmark, pyperf and @bench"
    if any(files_named(folder, "asv.conf.json")):
        return f"its benchmarks are of asv, which cannot be driven: those of {driven} can"
    return f"no benchmark of {driven.replace(' and ', ' or ')} in it"


def _sources(folder: Path, scripts: Sequence[Path]) -> Sequence[str]:
    """Return what has each revision import its own modules; a script, unlike `-m`, looks in its own folder alone."""
    if (folder / "src").is_dir():
        return ["PYTHONPATH=src"]
    own = {name for script in scripts if script.parent != folder for name in _IMPORTED.findall(text_of(script))}
    is_here = any((folder / name / "__init__.py").is_file() or (folder / f"{name}.py").is_file() for name in own)
    return ["PYTHONPATH=."] if is_here else []


def _names(scripts: Sequence[Path]) -> Iterator[str]:
    """Yield a name for each script: its own, or that of its folder where scripts in many folders have the same."""
    own = Counter(path.stem for path in scripts)
    yield from (path.stem if own[path.stem] == 1 else path.parent.name for path in scripts)


def _comments(needed: str, installed: str) -> Sequence[str]:
    return (
        "Each revision's modules are imported from its own folder, by the python on PATH, which needs",
        f"{needed}. A package that has compiled parts, or other requirements in each revision, has to",
        f"be built: for example by 'python3 -m venv .venv && .venv/bin/pip install -e {installed}',",
        "to weigh with .venv/bin/python; -e puts the compiled parts beside the sources, which are imported first.",
    )


def _files_matching(paths: Sequence[Path], *patterns: str) -> list[Path]:
    texts = ((path, text_of(path)) for path in paths)
    return [path for path, text in texts if all(re.search(pattern, text, re.MULTILINE) for pattern in patterns)]


def _common_folder(files: Sequence[Path], suites: Sequence[Path], folder: Path) -> Sequence[Path]:
    """Return the folder that contains these files and no other suites; else the files themselves."""
    common_folder = Path(os.path.commonpath([path.parent for path in files]))
    has_no_others = {path for path in suites if path.is_relative_to(common_folder)} == {*files}
    return [common_folder] if has_no_others and common_folder != folder else files
