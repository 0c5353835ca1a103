"""Findings, the codes of those that are looked for, and the names of verdicts: records of all kinds have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from steelyard.model.structs import Kept

# The constants below are codes of findings. Both sides are one program.
IDENTICAL: Final = "identical"
# The baseline has none of the candidate's benchmarks yet, so nothing was compared.
NEW_SUITE: Final = "new-suite"
SKIPPED: Final = "skipped"
# Revisions share something that each should have for itself.
SHARED: Final = "shared"
# Cargo chose other versions of crates for each revision.
UNLIKE_CRATES: Final = "unlike-crates"
# A command has words that only a shell understands, but no shell read it.
SHELL_WORDS: Final = "shell-words"
# Scripts, input files and the like changed during the measuring.
CHANGED_FILES: Final = "changed-files"
# A program does less because its output goes nowhere.
UNREAD_OUTPUT: Final = "unread-output"
# A variable of the user's, which a program reads, is not passed on to launches.
HIDDEN_VARIABLE: Final = "hidden-variable"
# Commands that ended well wrote to standard error: what failing commands write, or only one of the two did.
SAID_FAILURE, SAID_BY_ONE = SAID = ("stderr-failure", "stderr")
# --setup ended well, but wrote what failing commands write.
SAID_BY_SET_UP: Final = "set-up-stderr"
# With these, a verdict may not be about what was asked for.
NOT_AS_ASKED: Final = frozenset(
    {SHARED, UNLIKE_CRATES, SHELL_WORDS, CHANGED_FILES, UNREAD_OUTPUT, HIDDEN_VARIABLE, SAID_FAILURE, SAID_BY_SET_UP}
)
# Pairs that ran one after the other are noisy, and fewer may do in tandem: which `auto` would try, or would not try as
# the program writes to files.
NOISY_ALONE: Final = "adjacent-noise"
WRITING_ALONE: Final = "adjacent-files"
# No single change describes the pairs: it came midway, or shows only in the noisy pairs, or only in some launches.
MIDWAY: Final = "midway"
STORMS_DIFFER: Final = "storms-differ"
SOME_LAUNCHES: Final = "some-launches"
# These are about the values of one metric, and need not hold in another metric of the same launches.
OF_ITS_METRIC: Final = frozenset(
    {"between-looks", "coarse-clock", "medians-differ", "order", "shared-alpha", MIDWAY, SOME_LAUNCHES, STORMS_DIFFER}
)
# A verdict is withheld, as the control found the baseline different from itself.
CONTROL_ALARM: Final = "control-alarm"

VerdictName = Literal["slower", "faster", "same", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Finding(Kept):
    """Something the user should know: a stable code, what was seen, and the remedy if there is one."""

    code: str
    message: str
    remedy: str | None = None
