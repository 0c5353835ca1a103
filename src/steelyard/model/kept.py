"""What records of all kinds have in common: their format, verdicts by name, and findings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from steelyard.model.structs import Kept

FORMAT: Final = "steelyard"
VERSION: Final = 2
# What a record on the store is called, without its ending, or by its time alone.
KEPT_NAME: Final = re.compile(r"\d{8}T\d{6}(?:\.\d{6}(?:-[a-z]+-\d+)?)?")
# The code of the finding that both sides are one program.
IDENTICAL: Final = "identical"
# That of the finding that the baseline has none of the candidate's benchmarks yet, so that nothing was compared.
NEW_SUITE: Final = "new-suite"
# Of those that say what revisions share where each should have its own.
SHARED: Final = "shared"
# What only a shell would have understood, and no shell read.
SHELL_WORDS: Final = "shell-words"
# Scripts, input and the like, which were others in the middle.
CHANGED_FILES: Final = "changed-files"
# That a program does less, as what it prints goes nowhere.
UNREAD_OUTPUT: Final = "unread-output"
# What commands that ended well wrote to standard error: as those do that fail, or only one of two.
SAID_FAILURE, SAID_BY_ONE = SAID = ("stderr-failure", "stderr")
# That --setup did, as those do that fail.
SAID_BY_SET_UP: Final = "set-up-stderr"
# With which a verdict may not be of what was asked for.
NOT_AS_ASKED: Final = frozenset({SHARED, SHELL_WORDS, CHANGED_FILES, UNREAD_OUTPUT, SAID_FAILURE, SAID_BY_SET_UP})
# Those of noisy pairs that ran one after the other and may need fewer in tandem: by what `auto` tries, or by what it
# does not, as the program writes to files.
NOISY_ALONE: Final = "adjacent-noise"
WRITING_ALONE: Final = "adjacent-files"
# Of pairs that no single change describes: it came in the middle, shows in the noisy ones, or in some launches.
MIDWAY: Final = "midway"
STORMS_DIFFER: Final = "storms-differ"
SOME_LAUNCHES: Final = "some-launches"
# Of what is seen in the values of one metric, and may be otherwise in another of the same launches.
OF_ITS_METRIC: Final = frozenset(
    {"between-looks", "coarse-clock", "medians-differ", "order", "shared-alpha", MIDWAY, SOME_LAUNCHES, STORMS_DIFFER}
)
# That of a verdict that is withheld, as the control found the baseline different from itself.
CONTROL_ALARM: Final = "control-alarm"

VerdictName = Literal["slower", "faster", "same", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Finding(Kept):
    """Something the user should know: a stable code, what was seen, and the remedy if there is one."""

    code: str
    message: str
    remedy: str | None = None
