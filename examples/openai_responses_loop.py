"""A model of OpenAI with a memory, by Responses: python examples/openai_responses_loop.py "What do you know?"

Set OPENAI_API_KEY. The memory is the one that `silica memory` uses.
"""

import os
import sys

from openai import OpenAI

from memory_v2 import Memory
from memory_v2.tools import dispatch, openai_responses_tools

MODEL = os.environ.get("MODEL", "gpt-6-sol")
SYSTEM = "You have a memory. Search it before you answer, and write down what will matter in later conversations."


def answer(question: str, memory: Memory, turns: int = 20) -> str:
    client, items = OpenAI(), [{"role": "user", "content": question}]
    kept = {"store": False, "include": ["reasoning.encrypted_content"]}  # nothing is kept on the server
    for _ in range(turns):
        reply = client.responses.create(
            model=MODEL, instructions=SYSTEM, tools=openai_responses_tools(memory), input=items, **kept
        )
        items += reply.output
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            return reply.output_text
        for call in calls:
            result = dispatch(memory, call.name, call.arguments)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result.text})
    return "stopped: too many turns"


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]), Memory.open()))
