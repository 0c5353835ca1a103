"""Read from a Makefile the programs that its rules build."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.subjects.projects.discovery import FoundProject, FoundTarget, text_of

_FILES = ("GNUmakefile", "makefile", "Makefile")
_LONGEST, _LONGEST_VALUE = 200_000, 10_000
_ASSIGNED = re.compile(r"^ *(?:export +|override +)?([\w.-]+)[ \t]*(\+|::?|\?)?=(.*)$")
_RULE = re.compile(r"^([^\s:=#][^:=#]*?)[ \t]*::?(?![:=])([^=;]*)(;.*)?$")
_USED = re.compile(r"\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})")
# What a configure script knows of programs' names: nothing, where launches are measured.
_ENDING = re.compile(r"\$[({]EXEEXT[)}]|@EXEEXT@")
_NAME = re.compile(r"[\w./+-]+")
_OUTPUT = re.compile(r"(?:^|\s)-o\s*(\S+)")
# A prerequisite with an ending is a file, one without may be another program, and a hidden one without is the mark of a
# chore that was done (`.install`); a `$` stands for what make would find.
_MADE_OF_FILES = re.compile(r"\$|[^/]\.")
_NO_PROGRAMS = frozenset(
    {"all", "clean", "install", "uninstall", "test", "check", "bench", "benchmark", "dist", "distclean", "help", "lint"}
)


@dataclass(frozen=True)
class Rule:
    """What makes some files of others."""

    names: Sequence[str]
    needs: Sequence[str]
    recipe: str


@dataclass(frozen=True)
class Makefile:
    """What is known of a Makefile, or of what one is made of, without running make."""

    rules: Sequence[Rule]
    variables: Mapping[str, str]


def make(folder: Path) -> FoundProject | None:
    """Return the programs that a Makefile builds; None without one."""
    path = next((folder / name for name in _FILES if (folder / name).is_file()), None)
    if path is None:
        return None
    found = read_makefile(path)
    names = programs_of_rules(found.rules)
    if not names:
        return FoundProject("a Makefile", "make", [_target(name) for name in _programs_of_recipes(found)])
    if len(names) == 1:
        return FoundProject("a Makefile", f"make {names[0]}", [_target(names[0])])
    return FoundProject("a Makefile", None, [_target(name, build=f"make {name}") for name in names])


def _target(name: str, build: str | None = None) -> FoundTarget:
    return FoundTarget(Path(name).name, f"./{name}", build=build)


def read_makefile(path: Path) -> Makefile:
    """Return rules and variables, with the variables replaced that the file sets; all branches of conditions count."""
    variables = dict[str, str]()
    rules = list[Rule]()
    text = _ENDING.sub("", text_of(path)[:_LONGEST])
    for line in text.replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            if rules:
                rules[-1] = replace(rules[-1], recipe=f"{rules[-1].recipe}{line}\n")
        elif assigned := _ASSIGNED.match(line):
            name, how, value = assigned[1], assigned[2], assigned[3].partition("#")[0].strip()
            before = f"{variables.get(name, '')} " if how == "+" else ""
            variables[name] = f"{before}{_known(value, variables)}"[:_LONGEST_VALUE]
        elif rule := _RULE.match(line.partition("#")[0].rstrip()):
            names, needs = (_known(text, variables).split() for text in rule.group(1, 2))
            rules.append(Rule(names, needs, rule[3] or ""))
    return Makefile(rules, variables)


def _known(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with its variables replaced, except those that the file does not set."""
    if len(text) > _LONGEST_VALUE:
        return text
    return _USED.sub(lambda used: variables.get(used[1] or used[2], used[0]), text)


def programs_of_rules(rules: Sequence[Rule]) -> list[str]:
    """Return the programs that the first goal needs, if it is a name for several; else all."""
    phony = {name for rule in rules if ".PHONY" in rule.names for name in rule.needs}
    found = [name for rule in rules for name in rule.names if _is_program(name, rule, is_phony=name in phony)]
    names = [*dict.fromkeys(found)]
    goal = _goal(rules)
    if goal in names:
        return names
    needed = _needed(goal, rules)
    return [name for name in names if name in needed] or names


def _programs_of_recipes(makefile: Makefile) -> list[str]:
    """Return the programs that `make` alone writes by recipes of rules that are named otherwise."""
    needed = _needed(_goal(makefile.rules), makefile.rules)
    recipes = (rule.recipe for rule in makefile.rules if needed.intersection(rule.names))
    outputs = [name for recipe in recipes for name in _OUTPUT.findall(_known(recipe, makefile.variables))]
    return [name for name in dict.fromkeys(outputs) if _may_be_program(name)]


def _goal(rules: Sequence[Rule]) -> str:
    """Return what `make` alone makes."""
    # A rule may have no name left once its variables are replaced.
    goals = (name for rule in rules for name in rule.names[:1])
    return next((name for name in goals if not name.startswith(".") and "%" not in name), "")


def _is_program(name: str, rule: Rule, *, is_phony: bool) -> bool:
    """Return whether a rule makes a file without an ending from something: by its recipe, or by a built-in one."""
    if name in _NO_PROGRAMS or (is_phony and (not rule.recipe or "$(MAKE)" in rule.recipe)):
        return False  # other phony names may be programs, marked so to always run their rules
    if not _may_be_program(name) or not rule.needs:
        return False
    if rule.recipe:
        return re.search(rf"\$@|\$\(@\)|-o\s*\S*{re.escape(name)}\b", rule.recipe) is not None
    return any(_MADE_OF_FILES.search(need) for need in rule.needs)


def _may_be_program(name: str) -> bool:
    """Return whether a name is of a file without an ending in the project's folder."""
    return _NAME.fullmatch(name) is not None and not name.startswith((".", "/")) and "." not in Path(name).name


def _needed(goal: str, rules: Sequence[Rule]) -> set[str]:
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
