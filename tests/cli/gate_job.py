"""Gates in a CI job on a scripted machine: its kept records, and records that a stranger may have changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from steelyard.cli.app import run
from steelyard.model.files import load, save
from tests.forges.fake import Forge
from tests.tool import Done
from tests.world import ScriptedWorld


@dataclass
class Job(ScriptedWorld):
    """The machine of a job, with the variables in its environment."""

    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.variables}

    def status_of(self, arguments: list[str]) -> int:  # type: ignore[override]
        self.launched, self.at_once = [], 1
        return run(arguments, replace(self.outside(), environment=self.environment))

    def file(self, name: str) -> str:
        return (self.folder / name).read_text()


def changed(job: Job, name: str, **changes: object) -> str:
    record = load(job.folder / f"{name}.json")
    save(record.model_copy(update=changes), job.folder / "changed.json")
    return "changed.json"


def repeated(job: Job, name: str, many: int) -> list[str]:
    """Write `many` weighings with the same result, each with a duration of its own; return their names."""
    record = load(job.folder / f"{name}.json")
    names = [f"{name}-{number}.json" for number in range(many)]
    for number, one in enumerate(names):
        save(record.model_copy(update={"seconds": record.seconds + number}), job.folder / one)
    return names


def renamed(job: Job, name: str, source: str = "slower") -> str:
    """Write the record with another name of its benchmark, as a stranger may have done; return the file's name."""
    fields = job.json(f"{source}.json")
    fields["benchmarks"][0]["name"] = name
    for subject in fields["subjects"]:
        subject["name"] = name
    (job.folder / "renamed.json").write_text(json.dumps(fields))
    return "renamed.json"


def accepts(job: Job, change: str, reason: str = "validates its input") -> None:
    """Have the project's file accept that `./slower` is slower."""
    said = {"benchmark": "./slower", "change": change, "reason": reason}
    entry = "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())
    (job.folder / "steelyard.toml").write_text(f"[[gate.accepted]]\n{entry}")


def err(done: Done) -> str:
    """Return what was printed beside the report."""
    return done.err.decode()


def pull_request(job: Job, forge: Forge, event: object | None = None) -> None:
    path = job.folder / "event.json"
    path.write_text(json.dumps(event or {"pull_request": {"number": 5}}))
    job.variables = {
        **forge.github,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_STEP_SUMMARY": str(job.folder / "summary.md"),
        "GITHUB_OUTPUT": str(job.folder / "outputs"),
    }
