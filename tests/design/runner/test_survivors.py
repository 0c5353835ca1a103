"""The findings on processes that outlived what started them."""

from __future__ import annotations

from steelyard.design.runner.survivors import survivor_findings


def test_more_processes_than_fit_are_counted() -> None:
    processes = [f"{number} worker{number:02}" for number in range(1, 13)]
    killed, not_killed = (finding.message.rpartition(": ")[2] for finding in survivor_findings(processes, processes))
    assert killed == f"{', '.join(name.split()[1] for name in processes[:10])} and 2 more"
    assert not_killed == f"{', '.join(processes[:10])} and 2 more"
