"""Tools: each checks its arguments, stages a part of the decision, and returns the next message for the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from memory_v2.errors import InvalidPath, ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.tree.numbers import Numbers

LONGEST = 200_000
"""The longest string argument, in characters: a safety limit that the schema does not mention."""


class Arguments(BaseModel):
    """The arguments of a tool. Arguments that are not in the schema are refused."""

    model_config = ConfigDict(extra="forbid", str_max_length=LONGEST)


NumberList = Annotated[Numbers, WithJsonSchema({"type": "string"})]
"""Numbers of blocks in any form; the schema only mentions the simplest, a string."""

Description = Annotated[
    str,
    Field(
        description="one line, at most 160 characters, that lets a reader choose: who, what, when",
        json_schema_extra={"maxLength": 160},  # what the model is asked for; slightly longer ones are accepted
    ),
]
"""The description of a page in its parent's list of children."""

A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool, described in `prompts/tools/<name>.md.j2`, with the arguments `arguments`.

    `run` returns the answer for the model, and raises `ToolProblem` for a mistake that the model can correct. A tool
    that only looks (`decides` is false) does not end the loop.
    """

    name: str
    arguments: type[A]
    run: Callable[[A], Prompt]
    decides: bool = True

    @property
    def description(self) -> str:
        """What the tool does and how to use it: the text of its template."""
        return Prompt(f"tools/{self.name}").text

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments."""
        schema: Mapping[str, Any] = _plain(self.arguments.model_json_schema())
        return schema

    def call(self, arguments: Mapping[str, Any]) -> Prompt:
        """Checks the arguments and runs the tool; raises `ToolProblem`."""
        try:
            checked = self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise ToolProblem(_in_words(self.name, error)) from error
        try:
            return self.run(checked)
        except InvalidPath as error:
            raise ToolProblem(f"{error}; choose another path") from error


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
