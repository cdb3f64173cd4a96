"""What a model can do: a tool checks its arguments, stages what was decided, and answers with the next message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from memory_v2.errors import InvalidPath, ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.tree.numbers import Numbers

LONGEST = 200_000
"""Characters of any argument; no model has to be told."""


class Arguments(BaseModel):
    """The arguments of a tool: what the schema does not name is refused."""

    model_config = ConfigDict(extra="forbid", str_max_length=LONGEST)


NumberList = Annotated[Numbers, WithJsonSchema({"type": "string"})]
"""Numbers of blocks, in whatever form they are given; models are told the simplest."""

Description = Annotated[
    str,
    Field(
        description="one line, at most 160 characters, that lets a reader choose: who, what, when",
        json_schema_extra={"maxLength": 160},  # what is asked for; a little more is taken
    ),
]
"""What a page's parent says of it."""

A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool: the words for it stand in `prompts/tools/<name>.md.j2`, its arguments in `arguments`.

    `run` returns what the model is told; it raises `ToolProblem` for what the model can mend. A tool that only looks
    (`decides` is false) does not end the loop.
    """

    name: str
    arguments: type[A]
    run: Callable[[A], Prompt]
    decides: bool = True

    @property
    def description(self) -> str:
        """What it is for and how it is used, in the words of its template."""
        return Prompt(f"tools/{self.name}").text

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments."""
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
    """The schema in fewer words: without the titles that pydantic makes of the names, without lengths that nothing has,
    and without saying of what may be left out that it may be null, too."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    # a title is a string; an argument that is called `title` has a schema of its own
    plain = {key: _plain(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)}
    if plain.get("maxLength") == LONGEST:
        del plain["maxLength"]
    if plain.get("default", ...) is None:
        del plain["default"]
        choices = [choice for choice in plain.pop("anyOf", ()) if choice != {"type": "null"}]
        plain |= choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}
    return plain
