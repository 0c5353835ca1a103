from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.live_bisections import environment_of, planted

from tests.repositories import Repo


@pytest.mark.real
def test_a_patch_is_on_every_commit_of_a_project_from_one_of_them_on(tmp_path: Path) -> None:
    project = Repo.made(tmp_path / "project", work="quick\n")
    for number in range(1, 5):
        project.commit(f"Change {number}", other=f"{number}\n")
    project.write("work", "slow\n")
    patch = tmp_path / "slow.patch"
    patch.write_text(project.git("diff") + "\n")
    project.git("checkout", "work")
    (tmp_path / "made").mkdir()
    culprit = planted(tmp_path / "made", project.folder, patch, commits=3, slow=2)
    made = Repo(tmp_path / "made")
    assert [made.git("show", f"HEAD~{back}:work") for back in (3, 2, 1, 0)] == ["quick", "quick", "slow", "slow"]
    assert [made.git("show", f"HEAD~{back}:other") for back in (3, 2, 1, 0)] == ["1", "2", "3", "4"]
    assert culprit == made.git("rev-parse", "HEAD~1")
    assert made.git("log", "-1", "--format=%s", culprit) == "Change 3"
    assert project.git("status", "--short") == ""


def test_builds_of_a_history_of_its_own_are_not_kept_in_the_user_s_cache(tmp_path: Path) -> None:
    assert environment_of(tmp_path, None)["XDG_CACHE_HOME"] == str(tmp_path / "cache")
    assert environment_of(tmp_path, tmp_path).get("XDG_CACHE_HOME") == os.environ.get("XDG_CACHE_HOME")
