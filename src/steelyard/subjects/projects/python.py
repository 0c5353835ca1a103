"""Python: benchmarks of @bench, tests with the fixture `weigh` or pytest-benchmark's, and scripts of pyperf."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from steelyard.subjects.projects.discovery import FoundProject, FoundTarget, files_named, text_of

# A file has to match all patterns of a tuple, at the beginning of a line, so that another file's text within a string
# is not taken for its own.
_FIXTURE = r"^\s*(?:async )?def test\w*\([^)]*\b{}\b"
_BENCH = (r"^\s*(?:import|from) steelyard\b", r"^\s*@(?:[\w.]+\.)?bench\b")
_IMPORTED = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)
_PYPERF = (r"^\s*(?:import|from) pyperf\b", r"^[^#'\"\n]*\bRunner\(")


def python(folder: Path, search_path: str | None) -> list[FoundProject]:
    """Return what Python's harnesses measure in a folder, one entry for each; nothing without benchmarks."""
    files = [*files_named(folder, ".py")]
    tests = [path for path in files if path.name.startswith(("test_", "bench"))]
    suites = [path for path in files if path.name.startswith("bench_")]
    scripts = [path for path in files if not path.name.startswith("test_")]
    run = "python" if shutil.which("python", path=search_path) else "python3"

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
    comments = _comments([*dict.fromkeys(package for _, needed, _ in kinds for package in needed.split())])
    return [
        FoundProject(name_of_kind, None, targets, () if index else comments)
        for index, (name_of_kind, _, targets) in enumerate(kinds)
    ]


def not_driven_in_python(folder: Path) -> str:
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


def _comments(packages: Sequence[str]) -> Sequence[str]:
    return (
        "Each revision's modules are imported from its own folder, by the python on PATH, which needs",
        f"{' and '.join(packages)}. A package that has compiled parts, or other requirements in each revision, has to",
        f"be built: for example by 'python3 -m venv .venv && .venv/bin/pip install -e . {' '.join(packages)}',",
        "to weigh with .venv/bin/python; -e puts the compiled parts beside the sources, which are imported first.",
    )


def _files_matching(paths: Sequence[Path], *patterns: str) -> list[Path]:
    return [path for path in paths if _has(text_of(path), patterns)]


def _has(text: str, patterns: Sequence[str]) -> bool:
    return all(re.search(pattern, text, re.MULTILINE) for pattern in patterns)


def _common_folder(files: Sequence[Path], suites: Sequence[Path], folder: Path) -> Sequence[Path]:
    """Return the folder that contains these files and no other suites; else the files themselves."""
    common_folder = Path(os.path.commonpath([path.parent for path in files]))
    has_no_others = {path for path in suites if path.is_relative_to(common_folder)} == {*files}
    return [common_folder] if has_no_others and common_folder != folder else files
