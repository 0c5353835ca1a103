"""One benchmark, as it is listed and looked up by name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from steelyard.harness.declare import Declaration


class Entry:
    """One benchmark: a declaration with one value of each parameter."""

    __slots__ = ("declaration", "name", "params", "source", "tags", "values")

    def __init__(
        self,
        name: str,
        source: str,
        params: dict[str, str] | None = None,
        tags: tuple[str, ...] = (),
        *,
        declaration: Declaration | None = None,
        values: dict[str, Any] | None = None,
    ) -> None:
        self.name, self.source, self.params, self.tags = name, source, params or {}, tags
        self.declaration, self.values = declaration, values or {}
