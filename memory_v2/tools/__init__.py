"""The memory as tools of an agent: one set of definitions in each vendor's form, and one function that runs a call.

tools = claude_tools(memory)  # or openai_tools, openai_responses_tools
result = dispatch(memory, call.name, call.input)
"""

from __future__ import annotations

from memory_v2.tools.answer import ToolResult
from memory_v2.tools.dispatch import claude_tools, dispatch, openai_responses_tools, openai_tools
from memory_v2.tools.tools import TOOLS, Tool

__all__ = [
    "TOOLS",
    "Tool",
    "ToolResult",
    "claude_tools",
    "dispatch",
    "openai_responses_tools",
    "openai_tools",
]
