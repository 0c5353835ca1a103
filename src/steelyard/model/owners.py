"""Whose folders may hold what is kept for a user."""

from __future__ import annotations

import os
from collections.abc import Mapping


def trusted_owners(environment: Mapping[str, str]) -> tuple[int, ...]:
    """The trusted users: root, this user, and the one who became root by sudo and may bring along their own folders."""
    before_sudo = environment.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    return (0, os.geteuid(), *([int(before_sudo)] if before_sudo.isdecimal() else ()))
