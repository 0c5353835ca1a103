"""Records that are dataclasses, validated by pydantic's core alone.

Importing pydantic and building its validators takes 70 ms, a quarter of a command that only reads imports. Pydantic
itself understands the same declarations, and generates the JSON Schema from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema, SchemaValidator, core_schema

Struct = TypeVar("Struct")

_PLAIN_SCHEMAS: Final[dict[Any, Any]] = {
    str: core_schema.str_schema,
    bool: core_schema.bool_schema,
    float: core_schema.float_schema,
}
_DESCRIPTION: Final = "description"


class Within:
    """Limits of a number, by pydantic's names for them, without its `Field`."""

    # This tells pydantic that the object stands for several of its own limits.
    __is_annotated_types_grouped_metadata__: ClassVar[Literal[True]] = True

    def __init__(self, **limits: Any) -> None:
        self.limits = limits

    def __iter__(self) -> Iterator[object]:
        from pydantic import Field

        return iter(Field(**self.limits).metadata)


class Kept:
    """The base class of dataclasses that are kept in files."""

    # Read by pydantic, like a model's `model_config`.
    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}


def struct_field(
    description: str | None = None, *, default: Any = MISSING, default_factory: Any = MISSING, **limits: Any
) -> Any:
    """Declare a field with a description and limits, like pydantic's `Field`."""
    metadata = limits if description is None else {_DESCRIPTION: description, **limits}
    return field(default=default, default_factory=default_factory, metadata=metadata)


def validated(kind: type[Struct], data: Any) -> Struct:
    """Make one of these dataclasses from a file's data; raises pydantic's ValidationError if the data do not fit."""
    struct: Struct = _validator(kind).validate_python(data)  # type: ignore[arg-type] # a class can be hashed
    return struct


@cache
def _validator(kind: Any) -> SchemaValidator:
    return SchemaValidator(_schema_of(kind))


def _schema_of(hint: Any) -> Any:
    """The schema that pydantic would make of a type, for the types that occur in these dataclasses."""
    if is_dataclass(hint):
        return _schema_of_struct(hint)
    origin, (first, *others) = get_origin(hint), get_args(hint) or (hint,)
    if origin is Annotated:
        annotation: Any = others[0]
        return (
            {**_schema_of(first), **annotation.limits} if isinstance(annotation, Within) else annotation.core_schema()
        )
    if origin in (Union, UnionType):
        return core_schema.nullable_schema(_schema_of(first))
    if origin is list:
        return core_schema.list_schema(_schema_of(first))
    if origin is dict:
        return core_schema.dict_schema(_schema_of(first), _schema_of(others[0]))
    if origin is Literal:
        return core_schema.literal_schema([first, *others])
    return _PLAIN_SCHEMAS[hint]()


def _schema_of_struct(kind: Any) -> CoreSchema:
    hints = get_type_hints(kind, include_extras=True)
    schemas = [_schema_of_field(one, hints[one.name]) for one in fields(kind)]
    arguments = core_schema.dataclass_args_schema(kind.__name__, schemas, extra_behavior="forbid")
    return core_schema.dataclass_schema(kind, arguments, [one["name"] for one in schemas])


def _schema_of_field(declaration: Any, hint: Any) -> core_schema.DataclassField:
    limits = {name: limit for name, limit in declaration.metadata.items() if name != _DESCRIPTION}
    schema: Any = {**_schema_of(hint), **limits}
    if declaration.default is not MISSING:
        schema = core_schema.with_default_schema(schema, default=declaration.default)
    elif declaration.default_factory is not MISSING:
        schema = core_schema.with_default_schema(schema, default_factory=declaration.default_factory)
    return core_schema.dataclass_field(declaration.name, schema)
