"""Claude's own memory tool on a Silica memory: python examples/claude_memory_tool.py "Remember that I grow leeks."

Set ANTHROPIC_API_KEY. The memory is the one that `silica memory` uses.
"""

import os
import sys

from anthropic import Anthropic

from memory_v2 import Memory
from memory_v2.tools.claude_memory import ClaudeMemoryTool

MODEL = os.environ.get("MODEL", "claude-sonnet-5-5")


def answer(question: str, memory: Memory, turns: int = 20) -> str:
    runner = Anthropic().beta.messages.tool_runner(
        model=MODEL,
        max_tokens=2048,
        tools=[ClaudeMemoryTool(memory)],
        messages=[{"role": "user", "content": question}],
        max_iterations=turns,
        thread=False,  # else the conversation is kept on the server
    )
    return "".join(block.text for block in runner.until_done().content if block.type == "text")


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]), Memory.open()))
