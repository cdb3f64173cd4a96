"""The messages that models read: one Jinja template each, rendered strictly and without escaping."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent


def render(template: str, data: Mapping[str, Any]) -> str:
    """The message `prompts/<template>.md.j2` with this data. A name that the template uses and the data lacks is an
    error.

    Data is inserted as it is and never interpreted as a template.
    """
    return _environment().get_template(f"{template}.md.j2").render(**data)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=False,  # messages are Markdown, and the model must see their data unchanged
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters["lines"] = _lines
    return environment


def _lines(text: str) -> str:
    """Text as data: each line after the first is marked, and bytes that are not UTF-8 become U+FFFD."""
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "\n    │ ".join(shown.rstrip("\r\n").splitlines()) or " "
