"""What an sdist and a wheel contain, which machines the wheel is for, and its metadata."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import steelyard
from tests.builds import ROOT

# Files that are useful in a checkout only.
_NOT_SHIPPED = (".ci/", ".github/", ".gitignore")
_MADE_BY_SETUPTOOLS = {"PKG-INFO", "setup.cfg"}
_NATIVE = {
    "steelyard-launch",
    "steelyard-probes",
    "steelyard-read",
    *(f"steelyard-{name}.abi3.so" for name in ("clock", "heap", "preload", "scatter", "signs")),
}


@pytest.fixture
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read("steelyard-0.1.0.dist-info/METADATA"))


def test_the_sdist_has_what_is_checked_in_and_nothing_else(sdist: Path, checked_in: list[str]) -> None:
    with tarfile.open(sdist) as archive:
        shipped = {member.name.partition("/")[2] for member in archive if member.isfile()}
    made = {name for name in shipped if "egg-info/" in name} | _MADE_BY_SETUPTOOLS
    assert sorted(shipped - made) == [name for name in checked_in if not name.startswith(_NOT_SHIPPED)]


def test_the_wheel_is_for_every_python(wheel: Path) -> None:
    assert re.fullmatch(r"steelyard-0\.1\.0-py3-none-linux_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        tags = email.message_from_bytes(archive.read("steelyard-0.1.0.dist-info/WHEEL"))
    assert tags["Tag"] == wheel.stem.partition("-0.1.0-")[2]


def test_the_package_has_its_sources_and_native_parts_and_nothing_left_over(
    names: set[str], checked_in: list[str]
) -> None:
    sources = {name.removeprefix("src/") for name in checked_in if name.startswith("src/")}
    package = {name for name in names if name.startswith("steelyard/")}
    assert package == sources | {f"steelyard/native/{name}" for name in _NATIVE}
    assert {"steelyard/py.typed", "steelyard/model/record.schema.json"} <= package


def test_programs_may_be_executed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in ("launch", "probes"):
            assert archive.getinfo(f"steelyard/native/steelyard-{name}").external_attr >> 16 & 0o111 == 0o111


def test_manual_documents_completion_and_licence_come_with_it(names: set[str], checked_in: list[str]) -> None:
    share = "steelyard-0.1.0.data/data/share"
    documents = {name for name in checked_in if re.fullmatch(r"docs/.*\.md", name)}
    assert {name for name in names if name.startswith(share)} == {
        f"{share}/man/man1/steelyard.1",
        f"{share}/bash-completion/completions/steelyard",
        f"{share}/zsh/site-functions/_steelyard",
        f"{share}/fish/vendor_completions.d/steelyard.fish",
        *(f"{share}/doc/steelyard/{name.removeprefix('docs/')}" for name in documents),
    }
    licences = "steelyard-0.1.0.dist-info/licenses/"
    assert {name.removeprefix(licences) for name in names if name.startswith(licences)} == {
        "LICENSE",
        "native/LICENSES.txt",
        "src/steelyard/report/page/vendor/LICENSE",
    }


def test_each_crate_in_the_native_parts_has_its_licence_told() -> None:
    # Crates that work only while the parts are built, and are not in them.
    builders = {"proc-macro2", "quote", "serde_derive", "syn", "unicode-ident", "version_check"}
    locks = [tomllib.loads(path.read_text()) for path in (ROOT / "native").glob("*/Cargo.lock")]
    crates = [each for lock in locks for each in lock["package"] if "source" in each]
    needed = {f"{each['name']} {each['version']}" for each in crates if each["name"] not in builders}
    told = (ROOT / "native/LICENSES.txt").read_text(encoding="utf-8")
    assert needed == set(re.findall(r"^[\w-]+ \d+\.\d+\.\d+$", told, re.MULTILINE))


def test_the_description_links_to_nothing_that_the_index_lacks(metadata: Message) -> None:
    description = metadata.get_payload()
    assert isinstance(description, str)
    assert "How a verdict is reached" in description
    assert [link for link in re.findall(r"\]\(([^)]*)\)", description) if not link.startswith("https://")] == []


def test_it_says_who_made_it_and_for_which_pythons(metadata: Message) -> None:
    assert metadata["Author"] == "Steelyard's developers"
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("Apache-2.0 AND MIT", ">=3.11")
    versions = {name for name in metadata.get_all("Classifier", []) if "Python :: 3." in name}
    built = (ROOT / "pyproject.toml").read_text().partition("[tool.cibuildwheel]")[2].partition("\n\n")[0]
    assert versions == {f"Programming Language :: Python :: 3.{minor}" for minor in re.findall(r"cp3(\d+)-", built)}


def test_it_needs_the_c_library_and_its_kin_only(wheel: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert re.search(r'consistent with the following platform tag: "(manylinux|musllinux)_\w+"', said), said
    assert set(re.findall(r"(lib\w+)\.so", said)) <= {"libc", "libgcc_s", "libpthread", "libdl", "libm", "librt"}


def test_all_parts_have_one_version() -> None:
    manifests = [*(ROOT / "native").glob("*/Cargo.toml"), ROOT / "sdk/rust/Cargo.toml"]
    told = {str(path): tomllib.loads(path.read_text())["package"]["version"] for path in manifests}
    told["pyproject.toml"] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for name, line in (
        ("CMakeLists.txt", r"project\(steelyard VERSION (\S+)"),
        ("steelyard.hpp", r' version = "(.+)";'),
    ):
        found = re.search(line, (ROOT / "sdk/cpp" / name).read_text())
        told[name] = found[1] if found else None
    assert told == dict.fromkeys(told, steelyard.__version__)
