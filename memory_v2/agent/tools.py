"""What a model can do: a tool checks its arguments, stages what was decided, and answers with the next message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from memory_v2.errors import InvalidPath, ToolProblem
from memory_v2.models.base import Prompt


class Arguments(BaseModel):
    """The arguments of a tool: what the schema does not name is refused."""

    model_config = ConfigDict(extra="forbid", str_max_length=200_000)


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
        return self.arguments.model_json_schema()

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
