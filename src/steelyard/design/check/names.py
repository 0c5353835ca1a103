"""The rule about names: each listed benchmark can be asked for, and nothing else answers to its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from steelyard.design.check.evidence import Amount
from steelyard.design.check.gather import Checked
from steelyard.design.check.judged import Judged, Rule, untried
from steelyard.model.errors import LaunchError
from steelyard.model.launches import Draw


@dataclass(frozen=True)
class Selecting:
    """Asks for benchmarks by their names."""

    all_names: Sequence[str]
    checked: Callable[[str], Checked]

    def judged(self, name: str) -> Judged:
        """Whether this name selects this benchmark, and no other name does."""
        also = [other for other in self.all_names if other != name and fnmatchcase(other, name)]
        if also:
            return Judged("trouble", f"--benchmark {name!r} is a pattern that also selects {also[0]!r}", len(also))
        if complaint := self._complaint(name):
            return Judged("trouble", f"asked for alone, it does not run: {complaint}")
        almost = name[:-1]
        if almost and almost not in self.all_names and self._complaint(almost) is None:
            return Judged("trouble", f"asked for {almost!r}, which it does not list, the program runs some benchmark")
        return Judged("sound", "")

    def _complaint(self, name: str) -> str | None:
        try:
            self.checked(name).run(Draw(1, 0), Amount(1, 1))
        except LaunchError as error:
            return str(error)
        return None


RULE = Rule(
    "name",
    "its name selects it, and nothing else",
    0.0,
    "",
    "none: every listed name is asked for, and the name without its last letter must be refused",
    "give it another name; a harness has to compare whole names, not parts or patterns of them",
    lambda evidence: untried("it is asked for by name"),  # noqa: ARG005 - launches of its own tell
)
