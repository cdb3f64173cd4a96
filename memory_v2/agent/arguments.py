"""The arguments of tools: what is said of each, how they are checked, and the JSON schemas that models are shown.

Pydantic checks them. Importing it is slow, so that is done for the first check; the offline planner, whose arguments
fit, does without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

from memory_v2.errors import ToolProblem

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError, ValidationInfo

LONGEST = 200_000
"""The longest string argument, in characters: a safety limit that the schema does not mention."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What a model is told about an argument, for which a string is enough, and what is checked in the arguments of a
    model: the length of a text or a list, the range of a number. `told` is told in the schema besides, not checked."""

    description: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    ge: float | None = None
    le: float | None = None
    told: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToldAs:
    """The only type of an argument of several types that the schema mentions."""

    type: str


def checked(tool: str, kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for a tool that takes a dataclass of this kind, or is this function, with the types that are
    declared. Raises `ToolProblem` if they do not fit."""
    from pydantic import ValidationError

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
    from pydantic import create_model

    types = get_type_hints(kind, include_extras=True)
    if is_dataclass(kind):
        defaults = {field.name: _default(field) for field in fields(kind)}
    else:
        _, *parameters = signature(kind).parameters.values()
        defaults = {
            parameter.name: ... if parameter.default is parameter.empty else parameter.default
            for parameter in parameters
        }
    given: dict[str, Any] = {name: (_type(types[name]), default) for name, default in defaults.items()}
    return create_model(kind.__name__, __base__=_base(), **given)


@cache
def _base() -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, field_validator
    from pydantic_core import PydanticCustomError

    class Arguments(BaseModel):
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

    return Arguments


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


def _note(note: str | Argument | ToldAs) -> Any:
    from pydantic import Field, WithJsonSchema

    if isinstance(note, ToldAs):
        return WithJsonSchema({"type": note.type})
    limits = asdict(Argument(note) if isinstance(note, str) else note)
    return Field(json_schema_extra=limits.pop("told"), **limits)


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        import pydantic

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
