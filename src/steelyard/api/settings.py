"""Checks of what is asked of a weighing or run, and the settings and request made of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from steelyard.api.counting import count_settings, counted_metrics, jobs_checked
from steelyard.api.hooks import check_variables, hooks_checked, with_values_around
from steelyard.api.layouts import layouts_checked
from steelyard.api.options import Judging, Launching, Options, Throughput
from steelyard.api.parameters import arguments_of, split_parameter
from steelyard.api.streams import check_apart, launched_files
from steelyard.api.suggestions import suggest_revisions
from steelyard.api.suites import harness_checked, heap_launches, selection_of
from steelyard.api.untimed import refuse_timed_options
from steelyard.model.errors import UsageError
from steelyard.model.placeholders import LAYOUT, with_values
from steelyard.model.values import (
    AUTO,
    LONGEST_WAIT_S,
    alpha_checked,
    in_range,
    metric_names,
    one_of,
    quantity_of_items,
    relative_margin,
    seconds_in_range,
    size_in_bytes,
)

if TYPE_CHECKING:
    from steelyard.design.request import Request
    from steelyard.design.world import World
    from steelyard.model.settings import Settings
    from steelyard.model.subject import Subject
    from steelyard.model.throughput import Processed
    from steelyard.subjects.revisions.recipe import Recipe


def weighing_of_commands(commands: Sequence[str], names: Sequence[str], options: Options, world: World) -> Request:
    """Return what to measure of named commands, weighed against the first of them; raise UsageError."""
    from steelyard.subjects.command import command_subject

    settings = settings_of(options, world, commands=commands, judged=True)
    roles = ["baseline"] + ["candidate"] * (len(commands) - 1)
    search_path = world.search_path
    subjects: list[Subject] = []
    for command, name, role in zip(commands, names, roles, strict=True):
        try:
            subjects.append(command_subject(command, name, role, shell=options.shell, search_path=search_path))
        except UsageError as error:
            if suggestion := suggest_revisions(commands, command, world.environment):
                raise UsageError(suggestion) from error
            raise
    return request_of(options, subjects, settings)


def run_of_command(command: str, name: str | None, options: Options, world: World) -> Request:
    """Return what to measure of one command alone; raise UsageError."""
    from steelyard.subjects.command import command_subject

    settings = settings_of(options, world, commands=[command] if command else [])
    search_path = world.search_path
    subject = command_subject(command, name or command, "command", shell=options.shell, search_path=search_path)
    return request_of(options, [subject], settings)


def count_of_command(command: str, name: str | None, options: Options, world: World) -> Request:
    """Return what to count of one command; raise UsageError."""
    judging = replace(options.judging, metric=counted_metrics(options.judging.metric))
    return run_of_command(command, name, replace(options, judging=judging), world)


def request_of(options: Options, subjects: Sequence[Subject], settings: Settings) -> Request:
    """Return what to measure of some subjects."""
    return whole_request_of(options, subjects, settings).own_part()


def whole_request_of(options: Options, subjects: Sequence[Subject], settings: Settings) -> Request:
    """Return the same with all benchmarks of the suite, whichever part of it is asked for."""
    from steelyard.design.request import Request
    from steelyard.subjects.suite import benchmarks_of

    weighing, output = options.weighing, options.launch.output
    if output is not None:
        check_apart([output], launched_files(subjects, settings), option="--output ")
    selection = selection_of(options.suite, options.judging, weighing)
    if settings.harness is not None:
        selection = replace(selection, processed=_processed_amounts(options.throughput))
        return Request(subjects, settings, (), selection, jobs_checked(options.counting.jobs))
    parameters = parameters_of(options, [subject.command for subject in subjects])
    commands_around = _commands_around_launches(options)
    benchmarks = benchmarks_of(list(subjects), parameters, control=weighing.control, around=commands_around)
    benchmarks = [
        benchmark.model_copy(update={"processed": _processed_amounts(options.throughput, benchmark.params)})
        for benchmark in benchmarks
    ]
    return Request(subjects, settings, benchmarks, selection, jobs_checked(options.counting.jobs))


def parameters_of(options: Options, commands: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the names and values of parameters; raise UsageError for a wrong one, whether or not there is a build."""
    from steelyard.subjects.suite import check_names, parameter_list, parameter_scan, parameter_values

    weighing, parameters = options.weighing, list[tuple[str, list[str]]]()
    for argument in weighing.parameter_list or []:
        listed = split_parameter(argument)
        parameters.append(
            parameter_values(*listed) if listed else parameter_list(*arguments_of("--parameter-list", argument))
        )
    parameters += [
        parameter_scan(*arguments_of("--parameter-scan", argument)) for argument in weighing.parameter_scan or []
    ]
    check_names([name for name, _ in parameters], [*commands, *_commands_around_launches(options)])
    return parameters


def _commands_around_launches(options: Options) -> list[str]:
    """Return the commands before and after each launch, which may contain its parameters, too."""
    return [*(options.launch.prepare or []), *(options.launch.conclude or [])]


_PAIRINGS = ("adjacent", "tandem", "auto")


def settings_of(
    options: Options,
    world: World,
    *,
    commands: Sequence[str] = (),
    judged: bool = False,
    recipe: Recipe | None = None,
) -> Settings:
    """Check what is asked, and return it as settings; raise UsageError naming the option.

    `judged` says whether there will be verdicts, for which a number of pairs may be too small. `recipe` is how the
    commands' programs are built, if they are.
    """
    from steelyard.model.settings import Settings

    _check_numbers(options.judging, options.launch, judged=judged)
    check_variables(options, commands)
    metrics = metric_names(options.judging.metric)
    refuse_timed_options(options, metrics)
    judging, weighing, suite = options.judging, options.weighing, options.suite
    is_harness = suite.harness is not None
    if weighing.own_starts and not is_harness:
        raise UsageError("--own-starts is for the benchmarks of a harness: say of which with --harness auto")
    usual_pairing = "auto" if judged and not is_harness else "adjacent"
    settings = Settings(
        **_launch_fields(options.launch, world),
        **hooks_checked(options, is_alone=not judged),
        **_judging_fields(judging, judged=judged),
        metrics=metrics,
        reference_output=weighing.reference_output,
        pairing=one_of("--pairing", usual_pairing if weighing.pairing is None else weighing.pairing, _PAIRINGS),
        counting=count_settings(options.counting, metrics, commands, world, harness=is_harness),
        harness=harness_checked(suite, metrics, _options_for_commands(options)),
        heap=heap_launches(options.heap, harness=suite.harness),
        heap_shuffle=options.heap.heap_shuffle,
        layouts=layouts_checked(weighing, commands, recipe),
        addresses="shared" if judged and not weighing.own_addresses else None,
    )
    _check_pairing(settings)
    is_one_build = recipe is not None and recipe.has_layouts and not settings.layouts
    return with_values_around(settings, {LAYOUT: "1"}) if is_one_build else settings


def _judging_fields(judging: Judging, *, judged: bool) -> dict[str, Any]:
    """Return the fields of the settings that say how surely to judge, and for how long to measure."""
    from steelyard.model.settings import Settings
    from steelyard.stats.looks import RESERVE

    is_unlimited = judging.max_time is None and judging.pairs is None
    return {
        "margin": relative_margin(judging.margin),
        "alpha": judging.alpha,
        "reserve": RESERVE if judged else 0.0,
        "family": one_of("--family", judging.family, ("holm", "fdr")),
        "pairs": judging.pairs,
        "max_time_s": Settings.model_fields["max_time_s"].default if is_unlimited else judging.max_time,
        "longest_time_s": _LONGEST_DEFAULT_S if judged and is_unlimited else None,
    }


def _launch_fields(launch: Launching, world: World) -> dict[str, Any]:
    """Return the fields of the settings that say what a launch is, and what goes before and after it."""
    from steelyard.subjects.command import environment_names

    processor, chosen = processor_of(launch.cpu, world)
    names, values = environment_names(launch.env or [], world.environment, inherit=launch.inherit_env)
    return {
        "warm_up": launch.warm_up,
        "seed": world.new_seed() if launch.seed is None else in_range("--seed", launch.seed, 0, 2**63 - 1),
        "timeout_s": launch.timeout,
        "cpu": processor,
        "cpu_choice": chosen,
        "isolate": launch.isolate,
        "ignore_failure": launch.ignore_failure,
        "environment": names,
        "variables": values,
        "directory": current_folder(),
        "stdin": _readable_input(launch.stdin),
        "output": _writable_output(launch.output),
        "repeat": launch.repeat,
        "wait_quiet_s": launch.wait_quiet,
        "watch": launch.watch,
    }


# More than anybody waits for, but still few enough to keep and judge.
_MOST_LAUNCHES = 1_000_000
_TIME_RANGE_S = 1e-3, 1e6


def _check_numbers(judging: Judging, launch: Launching, *, judged: bool) -> None:
    relative_margin(judging.margin)
    alpha_checked(judging.alpha)
    in_range("--warmup", launch.warm_up, 0, 1000)
    in_range("--repeat", launch.repeat, 1, 1_000_000)
    seconds_in_range("--wait-quiet", launch.wait_quiet, 0, LONGEST_WAIT_S)
    check_budget(judging)
    if judged and judging.pairs is not None:
        _check_enough_pairs(judging.limit, judging.pairs, judging.alpha)
    if launch.timeout is not None:
        seconds_in_range("--timeout", launch.timeout, *_TIME_RANGE_S)


def check_budget(judging: Judging) -> None:
    """Raise UsageError for a number of launches, or a time, that is out of range."""
    if judging.pairs is not None:
        in_range(judging.limit, judging.pairs, 1, _MOST_LAUNCHES)
    if judging.max_time is not None:
        seconds_in_range("--max-time", judging.max_time, *_TIME_RANGE_S)


def _check_enough_pairs(option: str, pairs: int, alpha: float) -> None:
    from steelyard.stats.signed_rank import fewest_differences

    fewest = fewest_differences(alpha)
    if pairs < fewest:
        raise UsageError(f"{option} {pairs} can never show anything at alpha {alpha:g}: at least {fewest}")


# The time that slow programs get by default, for the fewest pairs that can ever decide.
_LONGEST_DEFAULT_S = 600.0


def _options_for_commands(options: Options) -> dict[str, bool]:
    """Return whether each option is asked for that is for plain commands, or that would repeat what a harness says."""
    return {
        "--shell": options.launch.shell,
        "--repeat": options.launch.repeat != Launching.repeat,
        "--reference-output": options.weighing.reference_output,
        "--ignore-failure": options.launch.ignore_failure,
        "--parameter-list": bool(options.weighing.parameter_list),
        "--parameter-scan": bool(options.weighing.parameter_scan),
        "--loops": options.counting.loops is not None,
    }


def _check_pairing(settings: Settings) -> None:
    from steelyard.design.runner.tandem import tandem_obstacle

    if settings.pairing == "tandem" and (why := tandem_obstacle(settings)):
        raise UsageError(f"--pairing tandem runs both launches of a pair at the same time: {why}")


def processor_of(wanted: int | Literal["auto"] | None, world: World) -> tuple[int | None, str | None]:
    """Return the launches' processor, if they have one, and if it was chosen automatically, why; raise UsageError."""
    if wanted == AUTO:
        choice = world.quietest()
        return choice.processor, choice.why
    if wanted is not None and wanted not in world.processors() | world.kept_free():
        world.sweep()  # a killed weighing may have left a control group that owns it
    if wanted is not None and wanted not in (processors := world.processors() | world.kept_free()):
        allowed = ", ".join(str(cpu) for cpu in sorted(processors))
        raise UsageError(f"--cpu {wanted} is not a processor that may be used here: choose from {allowed}")
    return wanted, None


def current_folder() -> str:
    """Return the current folder; raise UsageError if it cannot be used."""
    try:
        return str(Path.cwd())
    except OSError as error:
        raise UsageError(f"the current directory cannot be used: {error.strerror}; change to another one") from error


def _readable_input(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"--stdin {path} cannot be read: {error.strerror}; check the path") from error
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        raise UsageError(f"--stdin {path} cannot be read again for each launch: give the path of a file")
    # Resolve it here: /dev/stdin would be another file in the process that opens it.
    file = os.path.realpath(path)
    if not os.access(file, os.R_OK):
        raise UsageError(f"--stdin {path} cannot be read: check its permissions")
    return file


def _writable_output(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        is_pipe = path.is_fifo()
    except OSError as error:
        raise UsageError(f"--output {path} cannot be written: {error.strerror}; check the path") from error
    if is_pipe:
        raise UsageError(f"--output {path} is a pipe, and each launch starts writing afresh: give the path of a file")
    return os.path.realpath(path)  # resolved here, like the input


def _processed_amounts(throughput: Throughput, params: Mapping[str, str] | None = None) -> list[Processed]:
    """Return the amounts given, with the values of {name} filled in; raise UsageError for what is no amount."""
    from steelyard.model.throughput import processed_of

    amounts = {}
    for unit, text, read in (
        ("bytes", throughput.processed_bytes, size_in_bytes),
        ("items", throughput.processed_items, quantity_of_items),
    ):
        if text is None:
            continue
        text = with_values(text, params or {})
        amount = read(f"--{unit}", text)
        if amount <= 0:
            raise UsageError(f"--{unit} {text} leaves nothing to be processed: say how many each run processes")
        amounts[unit] = float(amount)
    return processed_of(amounts)
