"""Read from a Makefile the programs that its rules build."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.subjects.projects.discovery import FoundProject, FoundTarget, text_of

_LONGEST, _LONGEST_VALUE = 200_000, 10_000
_ASSIGNED = re.compile(r"^ *(?:export +|override +)?([\w.-]+)[ \t]*(\+|::?|\?)?=(.*)$")
_RULE = re.compile(r"^([^\s:=#][^:=#]*?)[ \t]*::?(?![:=])([^=;]*)(;.*)?$")
_USED = re.compile(r"\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})")
_NAME = re.compile(r"[\w./+-]+")
# A prerequisite with an ending is a file, one without may be another program; a `$` stands for what make would find.
_MADE_OF_FILES = re.compile(r"[.$]")
# Make refuses a program for which an older revision has no rule yet. Its ending may be a variable, `$(EXE)`.
_CHOSEN = r"""set --
for one in {names}; do
    rule="^\([^:=]*[[:blank:]]\)*$one\([$]([A-Z_]*)\)*\([[:blank:]][^:=]*\)*:"
    if grep -q "$rule" {makefile}; then set -- "$@" "$one"; fi
done
if [ $# != 0 ]; then make "$@"; fi"""
_NO_PROGRAMS = frozenset(
    {"all", "clean", "install", "uninstall", "test", "check", "bench", "benchmark", "dist", "distclean", "help", "lint"}
)


@dataclass(frozen=True)
class _Rule:
    names: Sequence[str]
    needs: Sequence[str]
    recipe: str


def make(folder: Path) -> FoundProject | None:
    """Return the programs that a Makefile builds; None without one."""
    path = next((folder / name for name in ("GNUmakefile", "makefile", "Makefile") if (folder / name).is_file()), None)
    if path is None:
        return None
    names = _programs(_rules(text_of(path)[:_LONGEST]))
    targets = [FoundTarget(Path(name).name, f"./{name}") for name in names]
    build = f"make {' '.join(names)}".rstrip()
    if len(names) > 1:
        build = _CHOSEN.format(names=" ".join(names), makefile=path.name)
    return FoundProject("a Makefile", build, targets)


def _rules(makefile: str) -> list[_Rule]:
    """Return the rules, with variables that the file sets replaced; all branches of conditions count."""
    variables = dict[str, str]()
    rules = list[_Rule]()
    for line in makefile.replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            if rules:
                rules[-1] = _Rule(rules[-1].names, rules[-1].needs, f"{rules[-1].recipe}{line}\n")
        elif assigned := _ASSIGNED.match(line):
            name, how, value = assigned[1], assigned[2], assigned[3].partition("#")[0].strip()
            before = f"{variables.get(name, '')} " if how == "+" else ""
            variables[name] = f"{before}{_known(value, variables)}"[:_LONGEST_VALUE]
        elif rule := _RULE.match(line.partition("#")[0].rstrip()):
            names, needs = (_known(text, variables).split() for text in rule.group(1, 2))
            rules.append(_Rule(names, needs, rule[3] or ""))
    return rules


def _known(text: str, variables: dict[str, str]) -> str:
    """Return a text with its variables replaced, except those that the file does not set."""
    if len(text) > _LONGEST_VALUE:
        return text
    return _USED.sub(lambda used: variables.get(used[1] or used[2], used[0]), text)


def _programs(rules: Sequence[_Rule]) -> list[str]:
    """Return the programs that the first goal needs, if it is a name for several; else all."""
    phony = {name for rule in rules if ".PHONY" in rule.names for name in rule.needs}
    found = [name for rule in rules for name in rule.names if _is_program(name, rule, is_phony=name in phony)]
    names = [*dict.fromkeys(found)]
    # A rule may have no name left once its variables are replaced.
    goals = (name for rule in rules for name in rule.names[:1])
    goal = next((name for name in goals if not name.startswith(".") and "%" not in name), "")
    if goal in names:
        return names
    needed = _needed(goal, rules)
    return [name for name in names if name in needed] or names


def _is_program(name: str, rule: _Rule, *, is_phony: bool) -> bool:
    """Return whether a rule makes a file without an ending from something: by its recipe, or by a built-in one."""
    if name in _NO_PROGRAMS or (is_phony and (not rule.recipe or "$(MAKE)" in rule.recipe)):
        return False  # other phony names may be programs, marked so to always run their rules
    if _NAME.fullmatch(name) is None or name.startswith((".", "/")) or "." in Path(name).name or not rule.needs:
        return False
    if rule.recipe:
        return re.search(rf"\$@|\$\(@\)|-o\s*\S*{re.escape(name)}\b", rule.recipe) is not None
    return any(_MADE_OF_FILES.search(need) for need in rule.needs)


def _needed(goal: str, rules: Sequence[_Rule]) -> set[str]:
    """Return all that a goal needs, directly or through others."""
    needs = defaultdict[str, list[str]](list)
    for rule in rules:
        for name in rule.names:
            needs[name] += rule.needs
    needed, open_ = set[str](), [goal]
    while open_:
        one = open_.pop()
        if one not in needed:
            needed.add(one)
            open_ += needs[one]
    return needed
