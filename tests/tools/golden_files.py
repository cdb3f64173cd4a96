"""What each vendor's model is told about each tool. `python -m tests.tools.golden_files` writes the golden files anew;
their diff is the review of a changed description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from memory_v2 import Memory
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tools import TOOLS, claude_tools, openai_responses_tools, openai_tools

GOLDEN = Path(__file__).parent / "golden"


def golden_texts() -> Iterator[tuple[str, str]]:
    """Each tool's name, and its description and its definitions as they are sent."""
    memory = Memory(VolatileStorage())
    forms = {
        "Claude": claude_tools(memory),
        "OpenAI, chat": openai_tools(memory),
        "OpenAI, responses": openai_responses_tools(memory),
    }
    for number, tool in enumerate(TOOLS):
        about = tool.about(memory)
        shown = {name: json.dumps(told[number], indent=1, ensure_ascii=False) for name, told in forms.items()}
        quoted, above = json.dumps(about, ensure_ascii=False), '"(as above)"'
        parts = [f"## {name}\n\n```json\n{text.replace(quoted, above)}\n```" for name, text in shown.items()]
        yield tool.name, "\n\n".join([f"# {tool.name}", about, *parts]) + "\n"


if __name__ == "__main__":
    for name, text in golden_texts():
        (GOLDEN / f"{name}.md").write_text(text, encoding="utf-8")
