"""The completion files, each in its shell: they ask the command what could follow."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.builds import ROOT
from tests.tool import STEELYARD, Tool

_FILES = ROOT / "docs/completion"
# Each loads the file as the shell itself does, completes `steelyard ca`, and prints what is offered.
_ASKED = {
    "bash": """source "$0"; COMP_WORDS=(steelyard ca); COMP_CWORD=1
        complete -p steelyard >/dev/null && _steelyard_completion steelyard && echo "${COMPREPLY[@]}" """,
    # Prints what zle would be given: compadd exists within zle only.
    "zsh": """_arguments() { :; }; _describe() { :; }; compadd() { :; }
        words=(steelyard ca); CURRENT=2; eval() { print -r -- "$@"; }; source "$0" """,
    "fish": """source $argv[1]; complete --do-complete 'steelyard ca'""",
}
_FILE = {"bash": "steelyard", "zsh": "_steelyard", "fish": "steelyard.fish"}


@pytest.mark.parametrize("shell", _ASKED)
def test_commands_are_offered(shell: str, tool: Tool) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed: its completion was not tried")
    environment = tool.environment | {"PATH": f"{STEELYARD.parent}:{tool.environment['PATH']}"}
    done = subprocess.run(
        [found, "-c", _ASKED[shell], str(_FILES / _FILE[shell])], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "calibrate" in done.stdout
    assert "compare" not in done.stdout
