"""The cache of builds: bounded; the least recently used go first, and nothing that is in use."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.locks import lock
from steelyard.subjects.revisions.cache import USUAL_BYTES, Cache, Facts, in_use

SIZE = 1000
FACTS = Facts(
    repository="/r", revision="main", commit=None, tree="t", command=None, made_s=0, size_bytes=SIZE, notes=[]
)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    made = Cache(tmp_path / "builds")
    made.open()
    return made


def entry(cache: Cache, key: str, used_s: int, size: int = SIZE) -> Path:
    """Make a complete entry that was last used at that time."""
    facts = FACTS.model_copy(update={"size_bytes": size})
    with cache.held(key, exclusive=True) as made:
        made.files.mkdir()
        (made.files / ".git").touch()
        made.complete(facts)
    os.utime(cache.folder / key / "lock", (used_s, used_s))
    return made.files


def keys(cache: Cache) -> list[str]:
    return [one.key for one in cache.kept()]


def test_a_folder_of_another_user_s_is_not_used(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    found = (*cache.folder.stat()[:4], os.geteuid() + 1, *[0] * 5)
    # Later versions of pathlib ask for it in more ways.
    monkeypatch.setattr(Path, "stat", lambda *_, **__: os.stat_result(found))
    with pytest.raises(MeasurementError, match="another user's, whose programs would run as yours; set XDG_CACHE_HOME"):
        cache.open()
    Cache(cache.folder, [os.geteuid() + 1]).open()


def test_the_least_recently_used_go_first(cache: Cache) -> None:
    for key, used_s in (("a", 30), ("b", 10), ("c", 20)):
        entry(cache, key, used_s)
    assert keys(cache) == ["b", "c", "a"]
    assert [one.key for one in cache.bound(2 * SIZE)] == ["b"]
    assert [one.key for one in cache.bound(2 * SIZE - 1)] == ["c"]
    assert cache.bound(SIZE) == []
    assert sorted(path.name for path in cache.folder.iterdir()) == [".gitignore", "CACHEDIR.TAG", "a"]


def test_what_is_in_use_stays_and_the_next_goes_for_it(cache: Cache) -> None:
    entry(cache, "a", 10)
    entry(cache, "b", 20)
    with cache.held("a", exclusive=False):
        assert [one.is_in_use for one in cache.kept()] == [True, False]
        assert [one.key for one in cache.bound(SIZE)] == ["b"]
        assert cache.clear() == []
    assert keys(cache) == ["a"]


def test_use_is_noted(cache: Cache) -> None:
    entry(cache, "a", 10)
    entry(cache, "b", 20)
    with cache.held("a", exclusive=False) as held:
        held.note_use()
    assert keys(cache) == ["b", "a"]


def test_a_limit_is_kept(cache: Cache) -> None:
    assert cache.limit_bytes() == USUAL_BYTES
    cache.set_limit(SIZE)
    for key in "ab":
        entry(cache, key, 10)
    assert [one.key for one in Cache(cache.folder).bound()] == ["a"]
    (cache.folder / "max-size").write_text("nonsense")
    assert cache.limit_bytes() == USUAL_BYTES


def test_a_folder_that_may_not_be_written_to_goes_too(cache: Cache) -> None:
    inner = entry(cache, "a", 10) / "module"
    inner.mkdir()
    (inner / "file").touch()
    inner.chmod(0o500)
    assert len(cache.clear()) == 1
    assert sorted(path.name for path in cache.folder.iterdir()) == [".gitignore", "CACHEDIR.TAG"]


def test_what_a_killed_process_was_removing_is_removed(cache: Cache) -> None:
    left = cache.folder / ".gone-a-1-2"
    left.mkdir()
    cache.open()
    assert not left.exists()


def test_one_that_was_cut_short_is_listed_and_cleared(cache: Cache) -> None:
    with cache.held("a", exclusive=True) as held:
        held.files.mkdir()
        assert cache.kept()[0].is_in_use
    assert cache.kept()[0].facts is None
    assert len(cache.clear()) == 1


def test_paths_need_not_be_utf_8(cache: Cache) -> None:
    entry(cache, "a", 1)
    with cache.held("a", exclusive=True) as made:
        facts = FACTS.model_copy(update={"repository": "/caf\udce9", "command": "make caf\udce9"})
        made.complete(facts)
        assert made.facts() == facts


def test_whoever_waited_for_one_that_was_removed_has_a_new_one(cache: Cache) -> None:
    entry(cache, "a", 10)
    with ExitStack() as other:
        other.enter_context(cache.held("a", exclusive=True))

        def remove_it() -> None:
            (cache.folder / "a").rename(cache.folder / "moved")
            other.close()

        with cache.held("a", exclusive=True, waiting=remove_it) as held:
            assert held.facts() is None
            assert held.folder.is_dir()


def test_folders_within_one_keep_it(cache: Cache, tmp_path: Path) -> None:
    below = entry(cache, "a", 10) / "below"
    below.mkdir()
    with in_use([str(below), str(tmp_path), "/"]):
        assert cache.clear() == []
    assert len(cache.clear()) == 1


def test_a_stranger_s_lock_is_left_alone(tmp_path: Path) -> None:
    below = tmp_path / "tree/below"
    below.mkdir(parents=True)
    for folder in (tmp_path, below.parent, below):
        (folder / "lock").touch()
    with in_use([str(below), str(below / "missing")]):
        for folder in (tmp_path, below.parent, below):
            with (folder / "lock").open() as file:
                assert lock(file.fileno())


def test_where_it_is() -> None:
    assert Cache.of_user({"XDG_CACHE_HOME": "/c", "HOME": "/h"}).folder == Path("/c/steelyard/builds")
    assert Cache.of_user({"XDG_CACHE_HOME": "relative", "HOME": "/h"}).folder == Path("/h/.cache/steelyard/builds")
    with pytest.raises(UsageError, match="set XDG_CACHE_HOME"):
        Cache.of_user({"HOME": ""})
