"""What a process is called where it is told of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from steelyard.machine.moments import Process, Processes
from steelyard.machine.readings import Tree

_KERNEL_THREADS = (2, "kthreadd")
_INTERPRETER = re.compile(r"(python|perl|ruby|node|php|bash|dash|zsh|sh)[\d.]*")
_FILE = re.compile(r"[\w./+@][\w./+@-]*")
# Options whose value is the program itself, as in `bash -lc`, `perl -ne`, `node --eval` and `php -r`; and a few others.
_CODE = re.compile(r"-\w*[cepr]|--(eval|print|run|exec)")
# What a shell is handed without a file, as in `bash /dev/fd/3`, has no name of its own.
_NO_FILE = ("/dev/", "/proc/")
_LONGEST = 40
# The kernel keeps so much of a name.
_CUT_AT = 15


@dataclass(frozen=True)
class Names:
    """Names of processes that are running."""

    tree: Tree
    has_kernel_threads: bool

    @classmethod
    def among(cls, tree: Tree, processes: Processes) -> Names:
        """Of processes, among which those below number 2 are the kernel's threads if they can be seen."""
        number, name = _KERNEL_THREADS
        return cls(tree, any(key[0] == number and one.name == name for key, one in processes.items()))

    def of(self, number: int, process: Process) -> str:
        """That of the kernel, whole and with the script that an interpreter runs; a thread of the kernel in brackets.

        Such a thread is told without its processor, or what it does just now: `kworker/3:1-events`. Of command lines
        no more than the program's and the script's name is taken: they may hold secrets.
        """
        if self.has_kernel_threads and process.parent == _KERNEL_THREADS[0]:
            return f"[{_plain(process.name.partition('/')[0])}]"
        if _INTERPRETER.fullmatch(process.name):
            script = _script(self._words(number)[1:])
            if script is not None and script != process.name:
                return _plain(f"{process.name} {script}")
        return _plain(self._whole(number, process.name))

    def _whole(self, number: int, name: str) -> str:
        """A name that the kernel may have cut off, as it stands in the command line; not a title, which says more."""
        program = PurePath(self._words(number)[0]).name if len(name) == _CUT_AT else name
        return program if program.startswith(name) and _FILE.fullmatch(program) else name

    def _words(self, number: int) -> list[str]:
        return (self.tree.text(f"proc/{number}/cmdline") or "").split("\0")


def _script(words: Sequence[str]) -> str | None:
    """The script among an interpreter's arguments, or Python's module; None where it runs what is not in a file."""
    for place, word in enumerate(words):
        if word == "-m":
            module = "".join(words[place + 1 : place + 2])
            return f"-m {module}" if _FILE.fullmatch(module) else None
        if _CODE.match(word):
            return None
        # Not the value of an option before it, as in `-W ignore script.py`.
        if _FILE.fullmatch(word) and ("." in word or "/" in word):
            return None if word.startswith(_NO_FILE) else PurePath(word).name
    return None


def _plain(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name)[:_LONGEST]
