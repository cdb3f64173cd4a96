"""Which of two answers lets a model answer a question rightly: `python -m bench.judged --model <model>`.

Each question of `bench.notes` that has an answer is asked of a memory and of plain full text over the paragraphs of the
same notes (SQLite FTS5, bm25). Each gives what fits into 500 tokens: the memory what `search` gives for a prompt, full
text its first paragraphs, the last one cut. A model of Anthropic's sees the question, the lines that were known to
answer it before any search was asked, and both answers, in an order by chance and without a name; it says of each
whether it lets a reader answer, and which is better. Needs the extra `anthropic` and a key; `ANTHROPIC_BASE_URL` may
name another endpoint.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from anthropic import Anthropic
from anthropic.types import ToolParam

from bench.data import data_file
from bench.notes import SOME_NOTE, Pages, full_text_search, pages_of
from bench.notes_questions import QUESTIONS, Asked
from memory_v2 import Memory
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.tokens import tokens
from memory_v2.tree.block import decode, readable, split_lines

ROOM = 500
"""How many tokens an answer may have."""
SYSTEM = """\
You compare two texts that were found for a question. You are given the question, what is known to answer it, and the
texts A and B, each as a reader would be shown it. Say of each text whether somebody who has only this text can answer
the question rightly, and which of the two serves the reader better. It does not matter which is shorter, or in what
form it is; it matters whether what answers is there, whether it can be understood, and whether it is found at once."""
JUDGE: ToolParam = {
    "name": "judge",
    "description": "Says what the two texts are worth.",
    "input_schema": {
        "type": "object",
        "properties": {
            "a_answers": {"type": "boolean", "description": "Whether text A lets a reader answer rightly."},
            "b_answers": {"type": "boolean", "description": "Whether text B lets a reader answer rightly."},
            "better": {"type": "string", "enum": ["A", "B", "neither"]},
        },
        "required": ["a_answers", "b_answers", "better"],
    },
}


@dataclass(frozen=True)
class Verdict:
    """Whether each of two answers lets a reader answer, and which is better: `memory`, `full text` or `neither`."""

    asked: Asked
    memory: bool
    full_text: bool
    better: str


def main() -> None:
    """Asks the model about each question, and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="the name of a model of Anthropic's")
    parser.add_argument("--at-once", type=int, default=1, help="questions at the same time")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    client = Anthropic(timeout=3_600, max_retries=0)
    with ThreadPoolExecutor(given.at_once) as pool:
        verdicts = list(pool.map(lambda pair: _judged(client, given.model, *pair), _pairs()))
    figures = {
        "questions": len(verdicts),
        "the memory lets answer": sum(one.memory for one in verdicts),
        "full text lets answer": sum(one.full_text for one in verdicts),
        **{f"better: {name}": count for name, count in sorted(Counter(one.better for one in verdicts).items())},
    }
    if given.json:
        print(json.dumps(figures))
        return
    for name, count in figures.items():
        print(f"{name:26}{count:>4}")
    for one in verdicts:
        if not one.memory or one.better == "full text":
            print(f"{'' if one.memory else 'not answered, '}better {one.better}: {one.asked.question}")


def _pairs() -> Iterator[tuple[Asked, str, str, str]]:
    """Each question with the lines that answer it, what the memory gives, and what full text gives."""
    notes = data_file(SOME_NOTE).parents[2]
    folders = {asked.folder: pages_of(notes / asked.folder) for asked in QUESTIONS if asked.answers}
    memories = {name: _memory(pages) for name, pages in folders.items()}
    searches = {name: full_text_search(pages) for name, pages in folders.items()}
    for asked in QUESTIONS:
        if asked.answers:
            found = memories[asked.folder].search(asked.question, max_tokens=ROOM)
            paragraphs = [one.shown for one in searches[asked.folder](asked.question).found]
            yield (
                asked,
                "\n".join(_answers(asked, folders[asked.folder])),
                "\n\n".join(one.quoted for one in found),
                _first(paragraphs),
            )


def _memory(pages: Pages) -> Memory:
    storage = VolatileStorage()
    for path, data in pages.items():
        storage.write(path, data)
    return Memory(storage)


def _answers(asked: Asked, pages: Pages) -> Iterator[str]:
    for answer in asked.answers:
        path, number, _ = answer.split(":")
        yield split_lines(readable(decode(pages[path])))[int(number) - 1].strip()


def _first(paragraphs: Sequence[str]) -> str:
    """The first paragraphs that fit, and the beginning of the next."""
    text = "\n\n".join(paragraphs)
    if tokens(text) <= ROOM:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= ROOM else (low, middle - 1)
    return text[:low]


def _judged(client: Anthropic, model: str, asked: Asked, known: str, of_memory: str, of_full_text: str) -> Verdict:
    is_first = random.Random(asked.question).random() < 0.5
    texts = (of_memory, of_full_text) if is_first else (of_full_text, of_memory)
    shown = "\n\n".join(f"Text {name}:\n{text or '(nothing)'}" for name, text in zip("AB", texts, strict=True))
    content = f"Question: {asked.question}\n\nKnown to answer it:\n{known}\n\n{shown}"
    said: Any = client.messages.create(
        model=model,
        max_tokens=300,
        system=SYSTEM,
        tools=[JUDGE],
        tool_choice={"type": "tool", "name": "judge"},
        messages=[{"role": "user", "content": content}],
    )
    call = next(part.input for part in said.content if part.type == "tool_use")
    names = {"A": "memory" if is_first else "full text", "B": "full text" if is_first else "memory"}
    answers = {names["A"]: bool(call["a_answers"]), names["B"]: bool(call["b_answers"])}
    return Verdict(asked, answers["memory"], answers["full text"], names.get(call["better"], "neither"))


if __name__ == "__main__":
    main()
