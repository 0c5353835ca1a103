"""Make changes and undo them. The earlier state is completely on disk before the first change is made."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from steelyard.machine.readings import whole
from steelyard.machine.tuning.hand import Hand
from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.tuning import Change, Tuning
from steelyard.model.writing import write_atomically

# Not in /run, which a reboot empties: the effect of an operation may last longer than that.
_STATE_FILE = "var/lib/steelyard/tuning.json"


@dataclass(frozen=True)
class Refused:
    """A change that the system did not take."""

    change: Change
    reason: str


@dataclass(frozen=True)
class Done:
    """The outcome of tuning or restoring."""

    changes: Sequence[Change]
    """The changes that were made, or undone."""
    refused: Sequence[Refused] = ()


@dataclass(frozen=True)
class Tuner:
    """Tunes the machine that its hand reaches."""

    hand: Hand = field(default_factory=Hand)

    @property
    def kept(self) -> Path:
        """The file with the earlier state, which exists for as long as the machine is tuned."""
        return self.hand.tree.root / _STATE_FILE

    def plan(self, processor: int | None) -> list[Change]:
        """Return what would be changed now."""
        # Not needed by those who only ask what is in force.
        from steelyard.machine.tuning.operations import planned_changes

        return planned_changes(self.hand, processor)

    def tune(self, processor: int | None, *, tool: str, created: str) -> Done:
        """Change what can be changed; what the system refuses stays as it is.

        If an error or an interrupt ends it early, the changes made until then are undone. Raises UsageError if the
        machine is tuned already, and MeasurementError if the earlier state cannot be written to disk.
        """
        with self._exclusively():
            self.check_untuned()
            changes = self.plan(processor)
            if not changes:
                return Done([])
            self._keep(Tuning(tool=tool, created=created, changes=changes))
            try:
                done = _done([(change, self._set(change.setting, change.after)) for change in changes])
            except BaseException:
                self._undo(changes)
                raise
            if not done.changes:
                self._undo(changes)  # all were refused: the machine is not tuned, so this removes the file
            return done

    def check_untuned(self) -> None:
        """Raise UsageError if the machine is tuned already."""
        if (before := self.state()) is not None:
            raise UsageError(
                f"this machine is tuned, since {before.created}: steelyard tune --restore undoes that first"
            )

    def restore(self) -> Done:
        """Restore the earlier state. What the system refuses stays in the file, so that a later call can undo it.

        Raises UsageError if the machine is not tuned, or if the file of its earlier state is damaged.
        """
        self._tuned_state()  # first, as this needs neither rights nor the folder
        with self._exclusively():
            return self._undo(self._tuned_state().changes)

    def _tuned_state(self) -> Tuning:
        state = self.state()
        if state is None:
            raise UsageError("this machine is not tuned: there is nothing to restore")
        return state

    def state(self) -> Tuning | None:
        """Return the earlier state if the machine is tuned, else None; raises UsageError if the file is damaged."""
        try:
            return Tuning.model_validate_json(self.kept.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(
                f"cannot read {self.kept}: {error.strerror}; it holds what was before: "
                f"{_remedy(error, 'read it as root', 'look what is in its place')}"
            ) from error
        except ValidationError as error:
            raise UsageError(
                f"{self.kept}, which holds what was before, is damaged: look into it, set what it names by hand or "
                "boot again, and remove it"
            ) from error

    def in_force(self) -> list[Change]:
        """Return the changes in force, as far as this user may know: those in the file that the system has taken."""
        try:
            state = self.state()
        except UsageError:
            return []
        return [change for change in (state.changes if state else []) if self._is_in_force(change)]

    def _is_in_force(self, change: Change) -> bool:
        actual = self.hand.read(change.setting)
        before, now, after = (whole(text) or 0 for text in (change.before, actual, change.after))
        # Without turbo intel_pstate holds the lowest rate, too, down to the nominal one.
        return actual == change.after or before < now < after

    def _undo(self, changes: Sequence[Change]) -> Done:
        tried = list[tuple[Change, str | None]]()
        for change in reversed(changes):
            if not self._is_there(change.setting):
                tried.append((change, "it is not there any more"))
            elif self.hand.read(change.setting) != change.before:
                tried.append((change, self._set(change.setting, change.before)))
        done = _done(tried)
        remaining = [refusal.change for refusal in done.refused if self._is_there(refusal.change.setting)]
        if remaining and (state := self.state()):
            self._keep(state.model_copy(update={"changes": remaining[::-1]}))
        else:
            self.kept.unlink(missing_ok=True)
        return done

    def _set(self, setting: str, value: str) -> str | None:
        """Set a setting and check that it is so; return why not if it is not."""
        try:
            self.hand.set(setting, value)
        except OSError as error:
            return error.strerror or str(error)
        actual = self.hand.read(setting)
        return None if actual == value else f"it is {actual or 'empty'} now"

    def _is_there(self, setting: str) -> bool:
        # A file that a crash has left empty exists all the same and can be written.
        return self.hand.read(setting) is not None or self.hand.tree.is_there(setting)

    def _keep(self, state: Tuning) -> None:
        try:
            write_atomically(self.kept, state.model_dump_json(indent=1).encode(), private=True)
        except MeasurementError as error:
            raise self._cannot_keep(error.__cause__) from error
        folder = os.open(self.kept.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)  # so that the file's name, too, survives a crash of the machine
        finally:
            os.close(folder)

    def _cannot_keep(self, error: BaseException | None) -> MeasurementError:
        reason = error.strerror if isinstance(error, OSError) else error
        way_out = _remedy(
            error, "tuning needs root", "it is not tuned without a folder that can be written, and has room"
        )
        return MeasurementError(f"cannot keep what was before in {self.kept.parent}: {reason}; {way_out}")

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """Keep others from tuning or restoring meanwhile; raises UsageError if one does, MeasurementError."""
        try:
            self.kept.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            handle = os.open(self.kept.with_name("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise self._cannot_keep(error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError("another steelyard tunes or restores this machine right now: wait for its end") from None
        else:
            yield
        finally:
            os.close(handle)


def _done(tried: Sequence[tuple[Change, str | None]]) -> Done:
    """Return the outcome of changes that were tried, each with why it was refused, if it was."""
    made = [change for change, reason in tried if reason is None]
    return Done(made, [Refused(change, reason) for change, reason in tried if reason is not None])


def _remedy(error: BaseException | None, as_root: str, others: str) -> str:
    """Return what helps against an error of the kept file: root's rights do not help against a full disk."""
    return as_root if isinstance(error, PermissionError) else others
