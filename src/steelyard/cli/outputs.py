"""Whether the files that a command is to write can be written, looked at before anything is measured."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from steelyard.cli.options import FileOptions
from steelyard.model.errors import UsageError


def check_files(files: FileOptions, *others: Path | None) -> None:
    """As `check_writable`, for the files of most commands."""
    check_writable(files.json, files.markdown, files.csv, *others)


def check_writable(*paths: Path | None) -> None:
    """Before anything is measured: raise UsageError for an output file that could not be written afterwards."""
    wanted = [path for path in paths if path is not None]
    for path in wanted:
        if refusal := _refusal(path):
            raise UsageError(f"cannot write {path}: {refusal}")
    files = [os.path.realpath(path) for path in wanted if path.is_file() or not path.exists()]
    if len(set(files)) < len(files):
        raise UsageError(f"two outputs would go to the same file, {files[0]}: give each its own")


def _refusal(path: Path) -> str | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return _folder_refusal(Path(os.path.realpath(path)).parent)
    except OSError as error:
        return f"{error.strerror}; give another place"
    if stat.S_ISDIR(found.st_mode):
        return "it is a folder; give a file's name"
    if not stat.S_ISCHR(found.st_mode) and os.path.samestat(found, os.fstat(1)):
        return "the verdict is printed there; give a file's name"
    if not os.access(path, os.W_OK):
        return "it is not writable; give another place"
    return _folder_refusal(Path(os.path.realpath(path)).parent) if stat.S_ISREG(found.st_mode) else None


def _folder_refusal(folder: Path) -> str | None:
    if not folder.is_dir():
        return f"there is no folder {folder}; make it first"
    try:
        # Only the attempt tells: permissions say nothing of quotas, of read-only disks or of /proc.
        with tempfile.NamedTemporaryFile(prefix=".steelyard-", dir=folder):
            return None
    except OSError as error:
        return f"the folder {folder} is not writable ({error.strerror}); give another place"
