"""Claude with a memory: python examples/anthropic_loop.py "What do you know about my garden?"

Set ANTHROPIC_API_KEY. The memory is the one that `silica memory` uses.
"""

import os
import sys

from anthropic import Anthropic

from memory_v2 import Memory
from memory_v2.tools import claude_tools, dispatch

MODEL = os.environ.get("MODEL", "claude-sonnet-5-5")
SYSTEM = "You have a memory. Search it before you answer, and write down what will matter in later conversations."


def answer(question: str, memory: Memory, turns: int = 20) -> str:
    client, messages = Anthropic(), [{"role": "user", "content": question}]
    for _ in range(turns):
        reply = client.messages.create(
            model=MODEL, max_tokens=2048, system=SYSTEM, tools=claude_tools(memory), messages=messages
        )
        messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        told = []
        for call in calls:
            result = dispatch(memory, call.name, call.input)
            block = {"type": "tool_result", "tool_use_id": call.id, "content": result.text}
            told.append({**block, "is_error": result.is_error})
        messages.append({"role": "user", "content": told})
    return "stopped: too many turns"


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]), Memory.open()))
