"""criterion.rs (docs/adapters/criterion.md): an executable of `cargo bench`, and the sample.json that it writes."""

from __future__ import annotations

import re
import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.model.errors import LaunchError, VanishedError
from steelyard.subjects.adapters.options import check_options
from steelyard.subjects.adapters.rust import check_built, complaint_of, lacking, listed_in
from steelyard.subjects.responses import (
    MOST_CHARACTERS,
    amounts,
    check_only,
    end_of_stderr,
    end_of_stdout,
    escaped,
    file_holds,
    file_written,
    files_below,
    is_number,
    json_of,
    printed_by,
    sample_of,
    shown,
    whole_loops,
    with_arguments,
    without_colours,
)
from steelyard.subjects.still_clock import StillHarness

if TYPE_CHECKING:
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.measured import Measured
    from steelyard.model.rows import Sample
    from steelyard.subjects.harness import Listed, Work

# It takes 10 or more. In linear mode they have 1, 2, ... 15 times as many iterations: 0.25 to 3.75 ms each. On a busy
# machine, 10 samples of 0.9 to 9 ms, longer than a scheduler's slice, gave intervals from -32 to +45 % in each of 3
# tries with equal programs; 20 samples of 0.2 to 3.8 ms gave ±3 % or less in 2 of 3. More would slow down slow bodies.
_SAMPLES = 15
_MEASUREMENT_S = 0.03
_AMOUNT = (
    f"--sample-size={_SAMPLES}",
    "--warm-up-time=0.01",
    # For its own statistics, which nobody reads here: 100,000 resamples take 40 ms a launch. One alone has no variance.
    "--nresamples=2",
)
# It lists titles: identifiers, which are cut and marked if they are longer than this.
_MOST_TITLE_BYTES = 100
_CUT = "..."
# What has a meaning in Rust's regular expressions; not all of their versions allow other characters to be escaped.
_META = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
_TIME = re.compile(r"^.*time: +\[[^ \]]+ ([^ \]]+) ", re.MULTILINE)
_UNITS = ("ps", "ns", "us", "µs", "ms", "s")
_ERROR = re.compile(r"Criterion\.rs ERROR: (.+)")
_VANISHED = "took zero time"
_BEGAN = "Benchmarking "
_ABOUT = "benchmark.json"
# It takes one filter; a second one is refused, by an old clap in the latter words.
_REFUSED = re.compile("unexpected argument|Found argument")
# With these it measures nothing, something else or without a file, or there is no earlier result to be found.
_CONTRADICTING = frozenset(
    {"--exact", "--list", "--test", "--profile-time", "--quick", "--ignored"}
    | {"--baseline", "--baseline-lenient", "--load-baseline", "--discard-baseline"}
)


class Criterion(StillHarness):
    """Drives executables with criterion's main, which choose themselves how many iterations they run."""

    fixes_loops = False
    tells = frozenset({"active"})
    most_amounts = 4
    samples_a_launch = _SAMPLES

    def recognises(self, launch: LaunchSpec) -> bool:
        """Return whether the program contains criterion's help and the variable for where its results go."""
        return file_holds(launch.program, b"This executable is a Criterion.rs benchmark", b"CRITERION_HOME")

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """Return the launch that lists the benchmarks.

        Raises UsageError for cargo itself, and for options that contradict ours.
        """
        check_built(launch)
        check_options(launch, _CONTRADICTING)
        return with_arguments(launch, *lacking(launch, "--bench", "--list"), stdout=True)

    def listed(self, measured: Measured) -> list[Listed]:
        """Return the listed benchmarks, in their order; raises LaunchError for anything else than a list."""
        return listed_in(printed_by(measured))

    def complaint(self, measured: Measured) -> str | None:
        """Return the panic that ended the launch, or the word that it refused."""
        message = complaint_of(measured)
        if message and _REFUSED.search(message):
            return f"{message} (is there a filter in the command? choose with --benchmark)"
        return message

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """Return the launch that does the work, and writes its results to an empty folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700)
        time = f"--measurement-time={work.loops * _MEASUREMENT_S:g}"
        arguments = lacking(launch, "--bench", "--noplot", "--color=never", *_AMOUNT, time)
        home = {"CRITERION_HOME": str(self._folder)}
        return self.with_still_clock(
            with_arguments(launch, *arguments, "--", _filter(work.name), env=home, stdout=True), work
        )

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """Return its samples; raises LaunchError if there are none, or another benchmark's, or they are no times."""
        folders = self._folders_by_title()
        printed = end_of_stdout(measured)
        if not folders:
            _check_began(printed, end_of_stderr(measured), work.name)
        check_only(folders, work.name)
        check_unit(printed)
        return self.without_waits(samples_in(_text(folders[work.name] / "sample.json")), work)

    def processed(self, measured: Measured, work: Work) -> dict[str, float]:
        """Return what the code says by `throughput`."""
        folder = self._folders_by_title().get(work.name)
        return {} if folder is None else processed_in(_text(folder / _ABOUT))

    def _folders_by_title(self) -> dict[str, Path]:
        """Return the folder of each benchmark's latest results, by its title."""
        try:
            return {title_in(_text(file)): file.parent for file in latest_in(self._folder, _ABOUT)}
        except OSError as error:
            raise LaunchError(f"left what cannot be read: {error}") from error

    @cached_property
    def _folder(self) -> Path:
        return self.scratch("criterion") / "results"


def samples_in(text: str) -> tuple[Sample, ...]:
    """Return the samples in a sample.json: iterations and ns of each; raises LaunchError for anything else."""
    contents = _object_in(text, "sample.json")
    iterations, times = contents.get("iters"), contents.get("times")
    if not isinstance(iterations, list) or not isinstance(times, list) or len(iterations) != len(times) or not times:
        raise LaunchError("wrote a sample.json without as many times as iterations: was it written by criterion?")
    return tuple(sample_of(whole_loops(loops), ns) for loops, ns in zip(iterations, times, strict=True))


def processed_in(text: str) -> dict[str, float]:
    """Return what an iteration processes according to a benchmark.json: `"throughput": {"Bytes": 1024}`."""
    throughput = _object_in(text, "benchmark.json").get("throughput")
    if not isinstance(throughput, dict):
        return {}
    if isinstance(both := throughput.get("ElementsAndBytes"), dict):
        throughput = {**throughput, "Elements": both.get("elements"), "Bytes": both.get("bytes")}
    size, bits = throughput.get("Bytes", throughput.get("BytesDecimal")), throughput.get("Bits")
    if size is None and is_number(bits):
        size = bits / 8
    return amounts({"bytes": size, "items": throughput.get("Elements")})


def title_in(text: str) -> str:
    """Return the title in a benchmark.json, by which the list names the benchmark; raises LaunchError without one."""
    title = _object_in(text, "benchmark.json").get("title")
    if not isinstance(title, str):
        raise LaunchError("wrote a benchmark.json without a title: was it written by criterion, 0.3 or later?")
    return title


def _object_in(text: str, file: str) -> dict[str, Any]:
    """Return the object in a file, without any field if it has other JSON; raises LaunchError if it has none."""
    contents = json_of(text, file)
    return contents if isinstance(contents, dict) else {}


def check_unit(printed: str) -> None:
    """Raise LaunchError if it measures in, say, cycles: only its output tells a Measurement's unit, not its files."""
    for unit in _TIME.findall(without_colours(printed))[-1:]:
        if unit not in _UNITS:
            raise LaunchError(f"measures in {shown(unit)}, which is no time: only criterion's WallTime can be weighed")


def _check_began(printed: str, errors: str, name: str) -> None:
    """Raise LaunchError, with what is known, if a benchmark was chosen but left no results."""
    if panic := _ERROR.search(f"{printed}\n{errors}"):
        kind = VanishedError if _VANISHED in panic[1] else LaunchError
        raise kind(f"has no results and says: {panic[1][:MOST_CHARACTERS]}")
    if _BEGAN in errors:
        raise LaunchError(f"began {shown(name)} and ended before it wrote results: does the body end its process?")


def _filter(name: str) -> str:
    """Return the regular expression for one benchmark: its whole name, or the beginning that the list shows.

    --exact would need criterion 0.5.
    """
    cut = len(name.encode()) > _MOST_TITLE_BYTES and name.endswith(_CUT)
    return f"^{escaped(name.removesuffix(_CUT), _META)}" if cut else f"^{escaped(name, _META)}$"


def latest_in(folder: Path, name: str) -> list[Path]:
    """Return the files of that name in all latest results, in order; raises OSError if there are too many folders."""
    return sorted(file for file in files_below(folder) if file.name == name and file.parent.name == "new")


def _text(file: Path) -> str:
    return file_written(file).decode(errors="replace")
