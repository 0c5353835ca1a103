"""Cargo: bench targets of criterion, Divan and Steelyard's crate, else the program."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from steelyard.subjects.projects.discovery import FoundProject, FoundTarget, files_named, relative, text_of, where_there

# A crate of benchmarks, as a source that uses it names it, and the harness that drives it.
_HARNESSES = {"steelyard_bench": "protocol", "criterion": "criterion", "divan": "divan"}
_BUILD_PROGRAMS = "cargo build --release"
# Cargo appends a hash to the name of each executable; its messages tell the name of the one that it built.
_BUILD = r"""mkdir -p target/steelyard
built=target/steelyard/built.json
: > $built
set --
{chosen}
[ $# = 0 ] || cargo bench --no-run "$@" --message-format=json-render-diagnostics >> $built
{apart}copy() {{
    is_it='"kind":\["bench"\].*"name":"'$1'"'
    of="${{3:+\"manifest_path\":\"$3Cargo.toml\".*}}"
    cp "$(sed -n "s|.*$of$is_it.*\"executable\":\"\([^\"]*\)\".*|\1|p" $built)" "target/steelyard/$2"
}}
{copies}"""


@dataclass(frozen=True)
class _Bench:
    """A bench target that one of the known harnesses drives."""

    name: str
    crate: str
    """The crate that it uses, a key of `_HARNESSES`."""
    package: str | None
    folder: str
    """The folder of its package, relative to the root; empty for the root itself."""
    source: str
    """Its source file, relative to the root."""
    features: Sequence[str]
    """Features that are off by default, and without which cargo refuses to build it."""

    def called(self, others: Sequence[_Bench]) -> str:
        """Return its name, preceded by that of its package if others have the same name."""
        is_only = [one.name for one in others].count(self.name) == 1
        return self.name if is_only or self.package is None else f"{self.package}-{self.name}"

    def target(self, others: Sequence[_Bench]) -> FoundTarget:
        """Return the target for it."""
        called = self.called(others)
        return FoundTarget(called, f"./target/steelyard/{shlex.quote(called)}", _HARNESSES[self.crate])

    def chosen(self, *, by_package: bool) -> str:
        """Return the line of the build script that adds it to what cargo builds."""
        return where_there(self.source, f'set -- "$@" {self._words(by_package=by_package)}')

    def built_apart(self, *, by_package: bool) -> str:
        """Return the line of the build script that builds it with its features, which other benches shall not have."""
        words = f"{self._words(by_package=by_package)} --features {shlex.quote(','.join(self.features))}"
        line = f"cargo bench --no-run {words} --message-format=json-render-diagnostics >> $built"
        return where_there(self.source, line)

    def copied(self, others: Sequence[_Bench]) -> str:
        """Return the line of the build script that copies its executable to where the target expects it."""
        called = self.called(others)
        folder = "" if called == self.name else f' "$(pwd -P)/"{shlex.quote(self.folder)}'
        return where_there(self.source, f"copy {shlex.quote(self.name)} {shlex.quote(called)}{folder}")

    def _words(self, *, by_package: bool) -> str:
        package = f"-p {shlex.quote(self.package)} " if by_package and self.package else ""
        return f"{package}--bench {shlex.quote(self.name)}"


def cargo(folder: Path) -> FoundProject | None:
    """Return what Cargo builds in a folder; None without a readable Cargo.toml."""
    manifest = _manifest(folder)
    if manifest is None:
        return None
    benches, members = [*_benches(folder, folder, manifest)], _members(folder, manifest)
    for member in members:
        benches += _benches(folder, member, _manifest(member) or {})
    if benches:
        return FoundProject(
            f"Cargo with {' and '.join(dict.fromkeys(one.crate for one in benches))}",
            _build(benches),
            [one.target(benches) for one in benches],
        )
    # Else it builds a member of a workspace into a folder above, and all into what its own settings say.
    programs, build = _programs(folder, manifest), f"{_BUILD_PROGRAMS} --target-dir target"
    if not programs:
        # In a root with a package of its own, cargo builds only that one.
        is_whole = _package(manifest) is None or bool(_of_workspace(manifest, "default-members"))
        build += "" if is_whole else " --workspace"
        of_each = (_programs(one, _manifest(one) or {}) for one in _members(folder, manifest, usual=True))
        programs = [*dict.fromkeys(chain.from_iterable(of_each))]
    return FoundProject(
        "Cargo",
        build if programs else _BUILD_PROGRAMS,
        [FoundTarget(name, f"./target/release/{shlex.quote(name)}") for name in programs],
        not_driven=_built_elsewhere(folder, members) or _not_driven(folder, members),
    )


def _build(benches: Sequence[_Bench]) -> str:
    by_package = any(one.folder for one in benches)
    apart = [one.built_apart(by_package=by_package) for one in benches if one.features]
    return _BUILD.format(
        chosen="\n".join(one.chosen(by_package=by_package) for one in benches if not one.features),
        apart="".join(f"{line}\n" for line in apart),
        copies="\n".join(one.copied(benches) for one in benches),
    )


def _manifest(folder: Path) -> dict[str, Any] | None:
    path = folder / "Cargo.toml"
    if not path.is_file():
        return None
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _package(manifest: dict[str, Any]) -> str | None:
    package = manifest.get("package")
    return str(package.get("name")) if isinstance(package, dict) and package.get("name") else None


def _members(folder: Path, manifest: dict[str, Any], *, usual: bool = False) -> list[Path]:
    """Return the folders of a workspace's packages, except the root; with `usual` those that are built by default."""
    found = dict[Path, None]()
    for pattern in (usual and _of_workspace(manifest, "default-members")) or _of_workspace(manifest, "members"):
        if Path(pattern).parts and not pattern.startswith(("/", "..")):  # "." is the root
            with suppress(ValueError, OSError):
                found.update(dict.fromkeys(sorted(one for one in folder.glob(pattern) if one.is_dir())))
    left_out = [folder / one for one in _of_workspace(manifest, "exclude")]
    return [one for one in found if one != folder and not any(map(one.is_relative_to, left_out))]


def _of_workspace(manifest: dict[str, Any], name: str) -> list[str]:
    workspace = manifest.get("workspace")
    texts = workspace.get(name) if isinstance(workspace, dict) else None
    return [one for one in texts if isinstance(one, str)] if isinstance(texts, list) else []


def _benches(root: Path, folder: Path, manifest: dict[str, Any]) -> Iterator[_Bench]:
    """Yield the bench targets of a package that one of the known harnesses drives."""
    for bench in _starting_by_themselves(manifest):
        if not bench.get("name"):
            continue
        name = str(bench["name"])
        ways = [bench["path"]] if bench.get("path") else [f"benches/{name}.rs", f"benches/{name}/main.rs"]
        texts = {str(way): text_of(folder / str(way)) for way in ways}
        source = next((way for way, text in texts.items() if text), ways[0])
        crate = next((one for one in _HARNESSES if one in "".join(texts.values())), None)
        if crate is not None:
            within = "" if folder == root else f"{folder.relative_to(root).as_posix()}/"
            features = _features_beyond_default(bench, manifest)
            yield _Bench(name, crate, _package(manifest), within, f"{within}{source}", features)


def _starting_by_themselves(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the bench targets that are declared to have a main function of their own, as those of a harness do."""
    declared = manifest.get("bench")
    benches = declared if isinstance(declared, list) else []
    return [bench for bench in benches if isinstance(bench, dict) and bench.get("harness") is False]


def _of_rust_itself(folder: Path) -> Iterator[Path]:
    """Yield the bench files of a package that are written for the harness that comes with Rust."""
    for path in (*sorted(folder.glob("benches/*.rs")), *sorted(folder.glob("benches/*/main.rs"))):
        if "#[bench]" in text_of(path):
            yield path


def _built_elsewhere(folder: Path, members: Sequence[Path]) -> str | None:
    """Say where benchmarks are that cargo does not build from here, as their package belongs to no workspace of it."""
    for path in files_named(folder, "Cargo.toml"):
        apart = path.parent
        if apart not in (folder, *members) and any(_benches(apart, apart, _manifest(apart) or {})):
            return f"its benchmarks are a package of their own (run steelyard init in {relative(apart, folder)})"
    return None


def _of_other_crates(folder: Path) -> Iterator[Path]:
    """Yield the bench files of a package, none of a known harness, that are declared to start by themselves."""
    for bench in _starting_by_themselves(_manifest(folder) or {}):
        path = folder / str(bench.get("path") or f"benches/{bench.get('name')}.rs")
        if path.is_file():
            yield path


def _not_driven(folder: Path, members: Sequence[Path]) -> str | None:
    for benches_of, harness in ((_of_rust_itself, "#[bench], which"), (_of_other_crates, "a harness that")):
        paths = chain.from_iterable(benches_of(one) for one in (folder, *members))
        benches = [one.relative_to(folder).as_posix() for one in paths]
        if benches:
            which = benches[0] if len(benches) == 1 else f"{benches[0]} and {len(benches) - 1} more"
            return f"its benchmarks ({which}) are of {harness} cannot be driven: those of criterion and Divan can"
    return None


def _features_beyond_default(bench: dict[str, Any], manifest: dict[str, Any]) -> list[str]:
    required = bench.get("required-features")
    usual = _default_features(manifest)
    return [str(one) for one in required if one not in usual] if isinstance(required, list) else []


def _default_features(manifest: dict[str, Any]) -> set[str]:
    """Return the default features, with all that these turn on."""
    known = manifest.get("features")
    found, left = set[str](), ["default"]
    while isinstance(known, dict) and left:
        more = known.get(left.pop())
        new = {str(one) for one in more} - found if isinstance(more, list) else set[str]()
        found |= new
        left += new
    return found


def _programs(folder: Path, manifest: dict[str, Any]) -> list[str]:
    declared = manifest.get("bin", [])
    names = [str(one["name"]) for one in declared if isinstance(one, dict) and one.get("name")]
    if not names and (folder / "src/main.rs").is_file() and (package := _package(manifest)):
        names = [package]
    others = (path.stem for path in sorted((folder / "src/bin").glob("*.rs")))
    return [*dict.fromkeys((*names, *others))]
