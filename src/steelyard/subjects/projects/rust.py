"""Cargo: bench targets of criterion and Divan, else the program."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steelyard.subjects.projects.found import Found, FoundTarget, text_of

_HARNESSES = ("criterion", "divan")
# Cargo puts a hash behind the name of each executable: it says which one it made.
_BUILD = r"""mkdir -p target/steelyard
built=target/steelyard/built.json
cargo bench --no-run {chosen} --message-format=json > $built
for bench in {names}; do
    is_it='"kind":\["bench"\].*"name":"'$bench'"'
    cp "$(sed -n "s|.*$is_it.*\"executable\":\"\([^\"]*\)\".*|\1|p" $built)" "target/steelyard/$bench"
done"""


def cargo(folder: Path) -> Found | None:
    """What Cargo builds in a folder; None without a Cargo.toml."""
    manifest = _manifest(folder)
    if manifest is None:
        return None
    benches = [*_benches(folder, manifest, None)]
    for member in _members(folder, manifest):
        benches += _benches(member, _manifest(member) or {}, _package(_manifest(member) or {}))
    if benches:
        names = [name for name, _, _ in benches]
        packages = [f"-p {shlex.quote(package)}" for package in dict.fromkeys(one for _, _, one in benches) if package]
        chosen = " ".join([*packages, *(f"--bench {shlex.quote(name)}" for name in names)])
        return Found(
            f"Cargo with {' and '.join(dict.fromkeys(harness for _, harness, _ in benches))}",
            _BUILD.format(chosen=chosen, names=" ".join(map(shlex.quote, names))),
            [FoundTarget(name, f"./target/steelyard/{shlex.quote(name)}", harness) for name, harness, _ in benches],
        )
    programs = _programs(folder, manifest)
    return Found(
        "Cargo",
        "cargo build --release",
        [FoundTarget(name, f"./target/release/{shlex.quote(name)}") for name in programs],
    )


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _package(manifest: dict[str, Any]) -> str | None:
    package = manifest.get("package")
    return str(package.get("name")) if isinstance(package, dict) and package.get("name") else None


def _members(folder: Path, manifest: dict[str, Any]) -> Iterator[Path]:
    workspace = manifest.get("workspace")
    patterns = workspace.get("members", []) if isinstance(workspace, dict) else []
    for pattern in patterns if isinstance(patterns, list) else []:
        if isinstance(pattern, str) and not pattern.startswith(("/", "..")):
            yield from sorted(one for one in folder.glob(pattern) if one.is_dir() and one != folder)


def _benches(folder: Path, manifest: dict[str, Any], package: str | None) -> Iterator[tuple[str, str, str | None]]:
    """(name, harness, package) of each bench target that one of the known harnesses drives."""
    declared = manifest.get("bench", [])
    for bench in declared if isinstance(declared, list) else []:
        if not isinstance(bench, dict) or bench.get("harness") is not False or not bench.get("name"):
            continue
        name = str(bench["name"])
        ways = [bench["path"]] if bench.get("path") else [f"benches/{name}.rs", f"benches/{name}/main.rs"]
        source = "".join(text_of(folder / str(way)) for way in ways)
        harness = next((one for one in _HARNESSES if one in source), None)
        if harness is not None:
            yield name, harness, package


def _programs(folder: Path, manifest: dict[str, Any]) -> list[str]:
    declared = manifest.get("bin", [])
    names = [str(one["name"]) for one in declared if isinstance(one, dict) and one.get("name")]
    if not names and (folder / "src/main.rs").is_file() and (package := _package(manifest)):
        names = [package]
    return names
