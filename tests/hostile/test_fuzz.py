"""A few seconds of what `benchmarks/fuzz.py` does for an hour, with the same tries each time.

New tries are left to that script: what they find seldom comes from the change that is being tested.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import fuzzing

SECONDS = 2.0


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_files_are_answered_in_a_sentence(tmp_path: Path, seed: int) -> None:
    found = [one for one in fuzzing.finds(tmp_path, seed, SECONDS) if one is not None]
    assert not found, f"{found[0]}\nthe file: {found[0].data[:2000]!r}"


def test_what_is_no_answer_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception of another kind, something unprintable, and a reading that takes too long."""
    sound = fuzzing.Seed("a record", b"{}", (("show", "FILE"),))

    def found() -> str:
        one = fuzzing.attempt(tmp_path, 1, 1, [sound])
        assert one is not None
        return str(one)

    def fail(words: list[str]) -> int:
        raise KeyError(words[0])

    def steer(words: list[str]) -> int:
        print(f"\x1b[2J{words}")
        return 0

    def hang(words: list[str]) -> int:
        while words:
            pass
        return 0

    monkeypatch.setattr(fuzzing, "run", fail)
    assert "KeyError: 'show'" in found()
    assert "--seed 1 --only 1" in found()
    monkeypatch.setattr(fuzzing, "run", steer)
    assert "printed" in found()
    monkeypatch.setattr(fuzzing, "run", hang)
    monkeypatch.setattr(fuzzing, "MOST_SECONDS", 0.05)
    assert "TooLongError" in found()
