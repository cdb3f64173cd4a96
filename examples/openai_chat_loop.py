"""A model of OpenAI with a memory, by Chat Completions: python examples/openai_chat_loop.py "What do you know?"

Set OPENAI_API_KEY. The memory is the one that `silica memory` uses.
"""

import os
import sys

from openai import OpenAI

from memory_v2 import Memory
from memory_v2.tools import dispatch, openai_tools

MODEL = os.environ.get("MODEL", "gpt-6-sol")
SYSTEM = "You have a memory. Search it before you answer, and write down what will matter in later conversations."


def answer(question: str, memory: Memory, turns: int = 20) -> str:
    client = OpenAI()
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
    for _ in range(turns):
        reply = client.chat.completions.create(model=MODEL, tools=openai_tools(memory), messages=messages)
        message = reply.choices[0].message
        if not message.tool_calls:
            return message.content
        calls = [call.model_dump() for call in message.tool_calls]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in message.tool_calls:
            result = dispatch(memory, call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
    return "stopped: too many turns"


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]), Memory.open()))
