"""Whose folders are trusted with what is kept for a user."""

from __future__ import annotations

import os
from collections.abc import Mapping


def trusted_owners(environment: Mapping[str, str]) -> tuple[int, ...]:
    """Root, this user, and who has become root by sudo, and so may bring along folders of their own."""
    before_sudo = environment.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    return (0, os.geteuid(), *([int(before_sudo)] if before_sudo.isdecimal() else ()))
