from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard import __version__
from steelyard.model.derived import Derived, Verdict
from steelyard.model.documents import load_document
from steelyard.model.errors import UsageError
from steelyard.model.files import load, save, with_derived
from steelyard.model.records import Run, Weighing
from tests.model.samples import pairs, row, run, subject, weighing

# The byte 0xff, as Python's file system encoding shows it.
NOT_UTF_8 = "\udcff"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "record.json"


def verdict(change: float | None) -> Verdict:
    return Verdict(
        benchmark="one",
        metric="active",
        verdict="slower",
        change=change,
        interval=(0.01, 0.03),
        p_value=0.001,
        pairs=12,
        looks=1,
        seconds=1.0,
        resolution=0.01,
    )


def saved(file: Path, record: Weighing | Run | None = None) -> dict[str, Any]:
    save(record or weighing(), file)
    fields: dict[str, Any] = json.loads(file.read_bytes())
    return fields


@pytest.mark.parametrize("name", ["record.json", "record.json.gz", "record"])
@pytest.mark.parametrize(
    "record",
    [
        weighing(),
        run(),
        weighing([]),
        weighing([row(0, 0, cpu_ns=None, signal=9, exit_code=None)]),
        weighing(subjects=(subject(f"\x1b[31m{NOT_UTF_8}"), subject("ünï\u2028 \U0001f600\0"))),
        with_derived(weighing(), Derived(verdicts=[verdict(0.02)])),
    ],
    ids=["weighing", "run", "empty", "untold", "names", "derived"],
)
def test_what_is_saved_is_loaded_again(tmp_path: Path, name: str, record: Weighing | Run) -> None:
    save(record, tmp_path / name)
    assert load(tmp_path / name) == record


def test_a_name_that_ends_in_gz_is_compressed(tmp_path: Path) -> None:
    record = weighing(pairs(100))
    save(record, tmp_path / "a.json")
    save(record, tmp_path / "a.json.gz")
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()
    assert (tmp_path / "a.json.gz").stat().st_size < (tmp_path / "a.json").stat().st_size / 3


@pytest.mark.parametrize("name", ["{}.json", "{}.json.gz"])
def test_the_same_record_gives_the_same_bytes(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / name.format("a"), tmp_path / name.format("b")
    save(weighing(), first)
    monkeypatch.setattr("time.time", lambda: 2e9)
    save(weighing(), second)
    assert first.read_bytes() == second.read_bytes()


def test_the_format_comes_first_and_the_verdict_is_at_the_top_level(file: Path) -> None:
    fields = saved(file, with_derived(weighing(), Derived(verdicts=[verdict(0.02), verdict(0.5)])))
    assert list(fields)[:2] == ["format", "version"]
    assert (fields["format"], fields["version"], fields["kind"]) == ("steelyard", 2, "weighing")
    assert (fields["verdict"], fields["change"], fields["interval"], fields["pairs"]) == (
        "slower",
        0.02,
        [0.01, 0.03],
        12,
    )
    assert [each["change"] for each in fields["derived"]["verdicts"]] == [0.02, 0.5]


def test_what_was_derived_before_is_replaced() -> None:
    old = with_derived(weighing(), Derived(verdicts=[verdict(0.02)]))
    new = with_derived(old, Derived(verdicts=[verdict(-0.02)]))
    assert isinstance(new, Weighing)
    assert new.change == -0.02
    assert new.derived == Derived(verdicts=[verdict(-0.02).model_copy(update={"ratio": 0.98})])
    assert new.ratio == 0.98
    assert with_derived(run(), Derived()).derived == Derived()


def test_no_other_program_would_read_nan(file: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        save(with_derived(weighing(), Derived(verdicts=[verdict(float("nan"))])), file)
    assert not file.exists()


# --- reading what is no record


def refused(file: Path) -> str:
    with pytest.raises(UsageError) as error:
        load(file)
    message = str(error.value)
    assert str(file) in message
    assert "\n" not in message
    return message


def test_a_missing_file_is_refused(file: Path) -> None:
    assert "No such file" in refused(file)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path).endswith(f"Is a directory; name the files in it, as {tmp_path}/*.json.gz")


def test_a_device_that_never_ends_is_refused() -> None:
    assert "no file" in refused(Path("/dev/zero"))


def test_a_pipe_is_read(file: Path) -> None:
    save(weighing(), file)
    with subprocess.Popen(["/bin/cat", file], stdout=subprocess.PIPE) as cat:
        assert cat.stdout is not None
        assert load(Path(f"/proc/self/fd/{cat.stdout.fileno()}")) == weighing()


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    assert "too long" in refused(tmp_path / ("x" * 256))


NO_RECORDS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "blank": lambda _: b"\n \n",
    "truncated": lambda data: data[:-1],
    "half": lambda data: data[: len(data) // 2],
    "one byte": lambda data: data[:1],
    "two records": lambda data: data + data,
    "two lines": lambda data: data + b"\n" + data,
    "truncated gzip": lambda data: gzip.compress(data)[:-10],
    "gzip without its checksum": lambda data: gzip.compress(data)[:-4],
    "gzip of nothing": lambda _: gzip.compress(b""),
    "gzip's magic alone": lambda _: b"\x1f\x8b",
    "corrupt gzip": lambda data: gzip.compress(data)[:100] + b"\xff" * 50 + gzip.compress(data)[150:],
    "gzip with a wrong checksum": lambda data: gzip.compress(data)[:-8] + b"\0" * 8,
    "gzip with a tail": lambda data: gzip.compress(data) + b"tail",
    "gzip twice": lambda data: gzip.compress(gzip.compress(data)),
    "random": lambda _: bytes(range(255, -1, -1)) * 10,
    "zeros": lambda _: b"\0" * 1000,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "words": lambda _: b"No such file\n",
    "foreign object": lambda _: b'{"results": []}',
    "foreign objects": lambda _: b'{"results": []}\n{"more": 1}\n',
    "foreign lists": lambda _: b'{"results": []}\n[1]\n',
    "list": lambda _: b"[]",
    "string": lambda _: b'"steelyard"',
    "number": lambda _: b"1",
    "null": lambda _: b"null",
    "deep list": lambda _: b"[" * 100_000,
    "deep object": lambda _: b'{"a":' * 100_000,
    "deep and whole": lambda _: b"[" * 100_000 + b"]" * 100_000,
    "deep second line": lambda _: b'{"format": "steelyard"}\n' + b"[" * 100_000 + b"]" * 100_000,
    "a number of 5,000 digits": lambda data: data.replace(b"10000000", b"1" * 5000),
    "lone surrogate as bytes": lambda data: data.replace(b'"old"', b'"\xed\xb0\x80"'),
}


@pytest.mark.parametrize("damage", NO_RECORDS.values(), ids=NO_RECORDS)
def test_what_is_no_record_is_refused_in_one_sentence(file: Path, damage: Callable[[bytes], bytes]) -> None:
    save(weighing(), file)
    assert load(file) == weighing()
    file.write_bytes(damage(file.read_bytes()))
    assert len(refused(file)) < 400


def test_a_file_is_not_read_whole_to_find_out_that_it_is_too_large(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.model.file_bytes.LARGEST_BYTES", 1000)
    file.write_bytes(b" " * 1001)
    assert "larger than any weighing" in refused(file)
    file.write_bytes(gzip.compress(b" " * 1001))
    refused(file)


# --- reading a record that somebody changed

DAMAGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a newer version": (lambda record: record.update(version=3), "upgrade steelyard"),
    "version 0": (lambda record: record.update(version=0), "version"),
    "a version of words": (lambda record: record.update(version="1"), "version"),
    "a version that is true": (lambda record: record.update(version=True), "version"),
    "no version": (lambda record: record.update(version=None), "version"),
    "another format": (lambda record: record.update(format="balance"), "'steelyard'"),
    "a format that is a list": (lambda record: record.update(format=["steelyard"]), "'steelyard'"),
    "another kind": (lambda record: record.update(kind="hyperfine"), "kind"),
    "no kind": (lambda record: record.pop("kind"), "kind"),
    "NaN": (lambda record: record.update(seconds=float("nan")), "NaN"),
    "infinity": (lambda record: record["settings"].update(max_time_s=float("inf")), "Infinity"),
    "no settings": (lambda record: record.pop("settings"), "settings"),
    "settings of another kind": (lambda record: record.update(settings=[]), "settings"),
    "an unknown field": (lambda record: record.update(colour="red"), "colour"),
    "an unknown metric": (lambda record: record["settings"].update(metrics=["speed"]), "speed"),
    "alpha 0": (lambda record: record["settings"].update(alpha=0), "alpha"),
    "one subject": (lambda record: record["subjects"].pop(), "subjects"),
    "launches as rows": (lambda record: record.update(launches=[[0] * 25]), "launches"),
    "a short column": (lambda record: record["launches"]["cpu_ns"].pop(), "differ in length"),
    "a missing column": (lambda record: record["launches"].pop("cpu_ns"), "differ in length"),
    "a column that is no list": (lambda record: record["launches"].update(cpu_ns=5), "cpu_ns"),
    "a third side": (lambda record: record["launches"].update(side=[2] * 6), "side"),
    "a fifth role": (lambda record: record["launches"].update(role=[4] * 6), "role"),
    "a negative time": (lambda record: record["launches"].update(wall_ns=[-1] * 6), "wall_ns"),
    "a huge time": (lambda record: record["launches"].update(wall_ns=[10**400] * 6), "wall_ns"),
    "a benchmark that is not there": (lambda record: record["launches"].update(benchmark=[1] * 6), "benchmark"),
    "a negative benchmark": (lambda record: record["launches"].update(benchmark=[-1] * 6), "benchmark"),
    "no benchmarks": (lambda record: record.update(benchmarks=[], stop=[]), "benchmark"),
    "no reason to stop": (lambda record: record.update(stop=[]), "stop"),
    "two reasons to stop": (lambda record: record.update(stop=["time", "time"]), "stop"),
    "an unknown reason to stop": (lambda record: record.update(stop=["tired"]), "stop"),
    "the same pair twice": (lambda record: record["launches"].update(pair=[0, 0, 0, 0, 1, 1]), "place of one"),
}


@pytest.mark.parametrize(("damage", "about"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_record_is_refused_with_what_is_wrong_in_it(
    file: Path, damage: Callable[[dict[str, Any]], object], about: str
) -> None:
    record = saved(file)
    damage(record)
    file.write_text(json.dumps(record))
    assert about in (sentence := refused(file))
    assert "Value error" not in sentence


@pytest.mark.parametrize(
    ("tool", "about"),
    [
        ("99.0.1rc1", "was written by steelyard 99.0.1, and this is "),
        ("1000", "upgrade steelyard to read it (weighing.settings.novel: "),
        (__version__, "is damaged: weighing.settings.novel: "),
        ("0", "is damaged: "),
        ("new", "is damaged: "),
        (99, "is damaged: "),
    ],
)
def test_what_a_later_version_added_is_no_damage(file: Path, tool: object, about: str) -> None:
    record = saved(file)
    file.write_text(json.dumps({**record, "tool": tool, "settings": {**record["settings"], "novel": 1}}))
    assert about in refused(file)


def test_a_check_of_a_later_version_is_no_damage(file: Path) -> None:
    file.write_text(json.dumps({"format": "steelyard-check", "version": 1, "tool": "99.0.0"}))
    with pytest.raises(UsageError, match=r"was written by steelyard 99\.0\.0"):
        load_document(file)


def test_a_run_with_a_candidate_is_refused(file: Path) -> None:
    record = saved(file, run())
    record["launches"]["side"][1] = 1
    file.write_text(json.dumps(record))
    assert "second side" in refused(file)


def test_a_number_too_large_for_a_float_is_refused(file: Path) -> None:
    save(weighing(), file)
    file.write_text(file.read_text().replace('"seconds": 1.5', '"seconds": 1e999'))
    assert "1e999" in refused(file)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_record_that_was_laid_out_anew_is_read(file: Path, indent: int | None) -> None:
    record = saved(file)
    file.write_text(json.dumps(dict(reversed(record.items())), indent=indent) + "\n")
    assert load(file) == weighing()


def test_what_is_derived_need_not_be_there(file: Path) -> None:
    record = saved(file, with_derived(weighing(), Derived(verdicts=[verdict(0.02)])))
    for name in ("verdict", "change", "ratio", "interval", "pairs", "derived"):
        del record[name]
    file.write_text(json.dumps(record))
    assert load(file) == weighing()
