"""Whether a reader finds a document by the links alone: `python -m bench.librarian_walk --model <model>`.

The documents of each corpus of `bench.librarian` are written into a memory without a model. Then a model of Anthropic's
is told the title of a document (or the beginning of its text if it has no heading; and the name of its file if those
were told to the memory), and is shown the root; and then, one
at a time, the pages that it opens, until it says that it is at the document or has opened twelve. Needs the extra
`anthropic` and a key; `ANTHROPIC_BASE_URL` may name another endpoint.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from anthropic import Anthropic
from anthropic.types import ToolParam

from bench.librarian import CORPORA, NOW, ROOT, Document, Tree, documents
from memory_v2 import Memory
from memory_v2.storage.local.storage import LocalStorage

MOST_PAGES = 12
OPENING = 1_200
"""How much of a page's own text is shown, in characters."""
SYSTEM = """\
You look for one document in a tree of Markdown pages. You see one page at a time: its title, the beginning of its
text, and its links to other pages, each with a description. Open the page that most likely holds the document, or leads
to it. You may go to any page whose link you have seen. When the page you see is the document, say so with `found`."""
TOOLS: list[ToolParam] = [
    {
        "name": "open",
        "description": "Shows a page.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
    {
        "name": "found",
        "description": "Says that the page you see is the document, or the page that it was divided below.",
        "input_schema": {"type": "object", "properties": {}},
    },
]


def main() -> None:
    """Lets the model walk, and prints how many documents it has reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="the name of a model of Anthropic's")
    parser.add_argument("--each", type=int, default=10, help="documents of each corpus")
    parser.add_argument("--at-once", type=int, default=1, help="walks at the same time")
    parser.add_argument("--told", action="store_true", help="write each with the name of its file, and tell it")
    given = parser.parse_args()
    arrived = total = 0
    for corpus in CORPORA:
        found = documents(corpus)
        with tempfile.TemporaryDirectory() as place, Memory(LocalStorage(Path(place)), now=lambda: NOW) as memory:
            for document in found:
                memory.write(document.text, source=document.name if given.told else None)
            tree = Tree(memory)
            homes = tree.homes(found)
            walker = _Walker(memory, tree, given.model, given.told)
            chosen = random.Random(1).sample(found, min(given.each, len(found)))
            with ThreadPoolExecutor(given.at_once) as pool:
                for document, way in zip(chosen, pool.map(walker.way, chosen), strict=True):
                    is_there = way[-1] == homes[document]
                    arrived, total = arrived + is_there, total + 1
                    print(f"{'yes' if is_there else 'no':4}{corpus:9}{document.name}: {' › '.join(way)}", flush=True)
                    if not is_there:
                        print(f"    it is on {homes[document]}")
    print(f"\nreached: {arrived} of {total} ({arrived / total:.0%}; goal ≥ 90%)")


class _Walker:
    def __init__(self, memory: Memory, tree: Tree, model: str, told: bool) -> None:
        self._memory = memory
        self._tree = tree
        self._model = model
        self._told = told
        self._client = Anthropic(timeout=3_600, max_retries=0)

    def way(self, document: Document) -> list[str]:
        """The pages that the model opens on its way to a document, in order."""
        known = document.heading or document.text.strip()[:80]
        told = f", from the file {document.name}" if self._told else ""
        asked = f"The document: {known}{told}\n\n{self._shown(ROOT)}"
        messages: list[Any] = [{"role": "user", "content": asked}]
        way = [ROOT]
        while len(way) <= MOST_PAGES:
            reply = self._client.messages.create(
                model=self._model, max_tokens=500, system=SYSTEM, tools=TOOLS, messages=messages
            )
            call = next((part for part in reply.content if part.type == "tool_use"), None)
            if call is None or call.name == "found":
                break
            path = str(call.input.get("path", ""))
            if path in self._tree.titles:
                way.append(path)
            answer = {"type": "tool_result", "tool_use_id": call.id, "content": self._shown(path)}
            messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": [answer]}]
        return way

    def _shown(self, path: str) -> str:
        if path not in self._tree.titles:
            return "There is no such page."
        return "\n".join(self._lines(path))

    def _lines(self, path: str) -> Iterator[str]:
        body = self._memory.read(path).partition("\n## Links\n")[0].partition("\n## Metadata\n")[0]
        yield f"page {path}: {self._tree.titles[path]}"
        yield body[:OPENING] + (" …" if len(body) > OPENING else "")
        yield "links:"
        yield from (f"- {target} - {told}" for target, told in self._tree.links[path])


if __name__ == "__main__":
    main()
