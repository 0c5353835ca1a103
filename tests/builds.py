"""What tests compile: built once for all workers and all runs in this checkout, and again if its inputs change."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILDS = ROOT / "build/tests"


def built(name: str, make: Callable[[Path], None], *made_of: str | Path) -> Path:
    """Return the folder that `make` fills, anew if one of the texts, files or folders in `made_of` has changed.

    What `make` raises, a skip too, is passed on and leaves nothing behind.
    """
    folder = BUILDS / f"{name}-{_digest(made_of)}"
    if folder.is_dir():
        return folder
    BUILDS.mkdir(parents=True, exist_ok=True)
    with locked(BUILDS / f"{folder.name}.lock"):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=BUILDS, ignore_cleanup_errors=True) as place:
                make(Path(place))
                Path(place).rename(folder)
    return folder


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Wait until no other worker holds the lock `file`, and hold it within the context."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest(made_of: tuple[str | Path, ...]) -> str:
    found = blake2b(digest_size=8)
    for part in made_of:
        files = [Path()]
        if isinstance(part, Path):
            files = sorted(file for file in part.rglob("*") if file.is_file()) if part.is_dir() else [part]
        for file in files:
            text = file.read_bytes() if isinstance(part, Path) else part.encode()
            found.update(b"%d:%s" % (len(text), text))
    return found.hexdigest()


def compiled(compiler: str, folder: Path, name: str, source: str, *words: str) -> Path:
    """Compile a program from one source file, `name` with the language's suffix, and copy it into `folder`."""
    ending = {"cc": "c", "c++": "cpp"}[compiler]
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"not tested without a compiler: there is no {compiler}")

    def make(place: Path) -> None:
        (place / f"{name}.{ending}").write_text(source)
        done = subprocess.run(
            [found, *words, "-o", name, f"{name}.{ending}"], cwd=place, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    made = built(name, make, _identity(found), source, *words)
    return Path(shutil.copy2(made / name, folder / name))


def _identity(program: str) -> str:
    facts = Path(program).resolve().stat()
    return f"{program} {facts.st_size} {facts.st_mtime_ns}"
