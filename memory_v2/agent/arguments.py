"""The arguments of tools as models give them: checked by pydantic, and described to the models by JSON schemas.

Importing this is slow; the offline planner, whose arguments fit, does without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from functools import cache
from inspect import signature
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pydantic
from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, WithJsonSchema, field_validator
from pydantic_core import PydanticCustomError

from memory_v2.agent.argument import Argument, ToldAs
from memory_v2.errors import ToolProblem

LONGEST = 200_000
"""The longest string argument, in characters: a safety limit that the schema does not mention."""


class _Arguments(BaseModel):
    """The arguments of a tool. Arguments that are not in the schema are refused."""

    model_config = ConfigDict(extra="forbid", str_max_length=LONGEST)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth(cls, given: Any, info: ValidationInfo) -> Any:
        """Refuses `true` and `false` for a number, which pydantic takes for 1 and 0."""
        truths = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, bool)]
        if truths and _takes_numbers(cls.model_fields[str(info.field_name)].annotation):
            told = {"given": str(truths[0]).lower()}
            raise PydanticCustomError("no_number", "Input should be a number, not {given}", told)
        return given


def checked(tool: str, kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for a tool that takes a dataclass of this kind, or is this function, with the types that
    are declared. Raises
    `ToolProblem` if they do not fit."""
    try:
        return _model(kind).model_validate(given).model_dump()
    except ValidationError as error:
        raise ToolProblem(_in_words(tool, error)) from error


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON schema of a dataclass of arguments, or of a function that takes them after what it works with."""
    schema: dict[str, Any] = _plain(_model(kind).model_json_schema())
    return schema


@cache
def _model(kind: Any) -> type[BaseModel]:
    types = get_type_hints(kind, include_extras=True)
    if is_dataclass(kind):
        defaults = {field.name: _default(field) for field in fields(kind)}
    else:
        _, *parameters = signature(kind).parameters.values()
        defaults = {one.name: ... if one.default is one.empty else one.default for one in parameters}
    given: dict[str, Any] = {name: (_type(types[name]), default) for name, default in defaults.items()}
    return pydantic.create_model(kind.__name__, __base__=_Arguments, **given)


def _type(hint: Any) -> Any:
    """The type in the terms of pydantic."""
    if is_dataclass(hint) and isinstance(hint, type):
        return _model(hint)
    parts = get_args(hint)
    if get_origin(hint) is Annotated:
        return Annotated[(_type(parts[0]), *map(_note, parts[1:]))]
    if get_origin(hint) is list:
        return list[_type(parts[0])]  # type: ignore[misc]  # known when it runs only
    if type(None) in parts:
        return Union[tuple(map(_type, parts))]  # noqa: UP007 - of so many types as there are
    return hint


def _takes_numbers(hint: Any) -> bool:
    return hint in (int, float) or any(map(_takes_numbers, get_args(hint)))


def _note(note: Argument | ToldAs) -> Any:
    if isinstance(note, ToldAs):
        return WithJsonSchema({"type": note.type})
    limits = asdict(note)
    return pydantic.Field(json_schema_extra=limits.pop("told"), **limits)


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return pydantic.Field(default_factory=field.default_factory)
    return ... if field.default is MISSING else field.default


def _in_words(name: str, error: ValidationError) -> str:
    faults = (f"{'.'.join(map(str, e['loc'])) or 'the arguments'}: {e['msg']}" for e in error.errors()[:5])
    return f"{name} cannot take these arguments. {'; '.join(faults)}. Call it again with arguments that fit its schema."


def _plain(schema: Any) -> Any:
    """The schema in fewer words: without pydantic's titles, without the length limit that never matters, and without
    `null` for optional arguments."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    # pydantic's title is a string; the schema of an argument called `title` is an object
    plain = {key: _plain(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)}
    if plain.get("maxLength") == LONGEST:
        del plain["maxLength"]
    if plain.get("default", ...) is None:
        del plain["default"]
        choices = [choice for choice in plain.pop("anyOf", ()) if choice != {"type": "null"}]
        plain |= choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}
    return plain
