"""The names by which processes are reported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from steelyard.machine.moments import Process, Processes
from steelyard.machine.readings import Tree

_KERNEL_THREADS = (2, "kthreadd")
INTERPRETER = re.compile(r"(python|perl|ruby|node|php|bash|dash|zsh|sh)[\d.]*")
_FILE = re.compile(r"[\w./+@][\w./+@-]*")
# Options followed by code instead of a file, as in `bash -lc`, `perl -ne`, `node --eval`, `php -r`; and a few others.
_CODE_OPTION = re.compile(r"-\w*[cepr]|--(eval|print|run|exec)")
# A script that is handed over without a file, as in `bash /dev/fd/3`, has no name of its own.
_NOT_SCRIPTS = ("/dev/", "/proc/")
_LONGEST = 40
# The kernel keeps this many characters of a name.
_KERNEL_NAME_LENGTH = 15


@dataclass(frozen=True)
class Names:
    """Names running processes."""

    tree: Tree
    has_kernel_threads: bool

    @classmethod
    def among(cls, tree: Tree, processes: Processes) -> Names:
        """Return what names `processes`; if number 2 is the kernel's `kthreadd`, its children are kernel threads."""
        number, name = _KERNEL_THREADS
        return cls(tree, any(key[0] == number and one.name == name for key, one in processes.items()))

    def of(self, number: int, process: Process) -> str:
        """Return the kernel's name of a process in full, with the script that an interpreter runs.

        A kernel thread is in brackets, without its processor and current work: `[kworker]` for `kworker/3:1-events`. No
        more than the names of program and script is taken from command lines, which may contain secrets.
        """
        if self.has_kernel_threads and process.parent == _KERNEL_THREADS[0]:
            return f"[{_printable(process.name.partition('/')[0])}]"
        if INTERPRETER.fullmatch(process.name):
            script = _script(self._words(number)[1:])
            if script is not None and script != process.name:
                return _printable(f"{process.name} {script}")
        return _printable(self._full_name(number, process.name))

    def _full_name(self, number: int, name: str) -> str:
        """Return a name that the kernel may have cut off in full, from the command line, unless that is a title."""
        program = PurePath(self._words(number)[0]).name if len(name) == _KERNEL_NAME_LENGTH else name
        return program if program.startswith(name) and _FILE.fullmatch(program) else name

    def _words(self, number: int) -> list[str]:
        return (self.tree.text(f"proc/{number}/cmdline") or "").split("\0")


def _script(words: Sequence[str]) -> str | None:
    """Return the script, or Python's module, in an interpreter's arguments; None if it runs code that is in no file."""
    for index, word in enumerate(words):
        if word == "-m":
            module = "".join(words[index + 1 : index + 2])
            return f"-m {module}" if _FILE.fullmatch(module) else None
        if _CODE_OPTION.match(word):
            return None
        # Not the value of an option before it, as in `-W ignore script.py`.
        if _FILE.fullmatch(word) and ("." in word or "/" in word):
            return None if word.startswith(_NOT_SCRIPTS) else PurePath(word).name
    return None


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name)[:_LONGEST]
