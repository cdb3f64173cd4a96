"""Where notes go that are told one by one, without a place: `nice python -m bench.shelved`.

The notes of each persona (`SILICA_BENCH_DATA`/personas) are written on the day that they have, offline and without a
path. Then the tree is looked at from outside:

- *purity*: of all notes, those whose coarse subject is the commonest on their page. `by chance` is the same with the
  subjects dealt out anew to the same pages: small pages are pure by themselves.
- *walk*: of the questions that the notes answer, those whose answer a reader reaches who starts at the root and takes
  of each page the three links whose name and description share most words of three letters and more with the question,
  and at most nine pages a level. What is on the root is there at once.
- *days wrong*: of all notes, those that `blame` gives another day than the one on which they were written.
- *torn*: of all numbered lists, and lines with the list, table, code or quotation that they lead into, in `notes` and
  in the personas, those that do not stand together any more once the text, on a page of its own, was split at 2 KB.
- *pages*, *deepest*, *largest*: the tree. *on the root*: the share of the notes that are there.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, time
from statistics import fmean
from typing import Any

from bench.data import load
from bench.documents import documents
from bench.filing import BEST, ROOT, WIDEST, Tree
from bench.searching import new_memory
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.models.offline.outline import together
from memory_v2.settings import MIN_THRESHOLD
from memory_v2.tree.block import parse_blocks

PERSONAS = ("a", "c")
DEALS = 50
"""How often subjects are dealt out anew."""


def main() -> None:
    """Prints the figures of each persona, by words and, where it is installed, by meaning."""
    arguments = parser("Where notes go that are told one by one.")
    arguments.add_argument("--show", action="store_true", help="print each tree too")
    chosen = arguments.parse_args()
    rows: dict[str, Figures] = {}
    for by in ("words", "meaning"):
        for persona in PERSONAS:
            given = load(f"personas/{persona}.json")
            memory = told(given["texts"], by == "meaning")
            rows[f"{persona}, {by}"] = figures(memory, given)
            if chosen.show:
                show(memory, given["texts"])
        both = [rows[f"{persona}, {by}"] for persona in PERSONAS]
        rows[f"mean, {by}"] = {name: fmean(row[name] or 0 for row in both) for name in both[0]}
    texts = [document.text for document in documents("notes")]
    texts += ["\n\n".join(note["text"] for note in load(f"personas/{persona}.json")["texts"]) for persona in PERSONAS]
    report({"notes told one by one": rows, "after a split": {"all texts": torn(texts)}}, chosen.json)


def torn(texts: Sequence[str]) -> Figures:
    """How many parts that hang together are torn by a split."""
    together_, lost = 0, 0
    for text in texts:
        memory = new_memory(threshold=MIN_THRESHOLD)
        memory.write(text, "text", "append")
        there = [_unspaced(memory.read(page.path)) for page in memory.list_files()]
        for part in parts(text):
            together_ += 1
            lost += not any(_unspaced(part) in page for page in there)
    return {"parts": together_, "torn": lost}


def parts(text: str) -> list[str]:
    """The parts of a text that hang together and have room on a page of the least size."""
    blocks = parse_blocks(text)
    ends, found, done = together(blocks), [], 0
    for number, end in enumerate(ends):
        if number > done and end > number:
            part = "".join(block.text for block in blocks[number - 1 : end]).strip()
            done = end
            found += [part] if len(part.encode()) <= MIN_THRESHOLD // 2 else []
    return found


def told(notes: Sequence[dict[str, Any]], by_meaning: bool) -> Memory:
    """A memory that was told the notes, each on its day."""
    now = [datetime.min]
    memory = new_memory(dense=by_meaning, now=lambda: now[0])
    for note in notes:
        now[0] = datetime.combine(datetime.fromisoformat(note["date"]), time(10)).astimezone()
        memory.write(note["text"])
    return memory


def figures(memory: Memory, given: dict[str, Any]) -> Figures:
    """The figures of one persona."""
    tree = Tree(memory)
    homes = {note["id"]: home_of(tree, note["text"]) for note in given["texts"]}
    coarse = [note["subject"][0] for note in given["texts"]]
    places = list(homes.values())
    dealt = random.Random(1)
    return {
        "purity": purity(places, coarse),
        "by chance": fmean(purity(places, dealt.sample(coarse, len(coarse))) for _ in range(DEALS)),
        "walk, best three": walk(tree, given),
        "days wrong": days_wrong(memory, tree, given["texts"]),
        "on the root": places.count(ROOT) / len(places),
        "pages": len(tree.titles),
        "deepest": max(map(len, tree.way.values())) - 1,
        "largest": max(Counter(places).values()),
    }


def home_of(tree: Tree, text: str) -> str:
    """The page with most lines of a note; nothing if it is on none."""
    lines = [line for line in text.splitlines() if line.strip()]
    on = Counter(
        page for line in lines for page, there in tree.lines.items() if _letters(line) in _letters("".join(there))
    )
    return min(on, key=lambda page: (-on[page], page), default="")


def purity(places: Sequence[str], subjects: Sequence[str]) -> float:
    """The share of the notes whose subject is the commonest on their page."""
    there: dict[str, Counter[str]] = defaultdict(Counter)
    for place, subject in zip(places, subjects, strict=True):
        there[place][subject] += 1
    return sum(max(counts.values()) for counts in there.values()) / len(places)


def walk(tree: Tree, given: dict[str, Any]) -> float:
    """The share of the questions with an answer that a reader finds by the links."""
    texts = {note["id"]: note["text"] for note in given["texts"]}
    found = [
        any(tree.arrives(asked["q"], home_of(tree, texts[answer]), BEST, WIDEST) for answer in asked["answers"])
        for asked in given["questions"]
        if asked["answers"]
    ]
    return fmean(found)


def days_wrong(memory: Memory, tree: Tree, notes: Sequence[dict[str, Any]]) -> float:
    """The share of the notes that have another day than their own."""
    days: dict[str, set[str]] = defaultdict(set)
    for path in tree.titles:
        for line in memory.blame(path):
            days[_letters(line.text)].add(f"{line.revision.when:%Y-%m-%d}" if line.revision else "")
    first = (next(line for line in note["text"].splitlines() if line.strip()) for note in notes)
    return fmean(note["date"] not in days[_letters(line)] for note, line in zip(notes, first, strict=True))


def show(memory: Memory, notes: Sequence[dict[str, Any]]) -> None:
    """Prints the tree, with how many notes of which subject are on each page."""
    tree = Tree(memory)
    there: dict[str, Counter[str]] = defaultdict(Counter)
    for note in notes:
        there[home_of(tree, note["text"])][note["subject"][0]] += 1
    told_by = {path: label for links in tree.links.values() for path, label in links}
    for path, way in sorted(tree.way.items()):
        print("  " * (len(way) - 1) + path, "|", told_by.get(path, ""), "|", dict(there[path].most_common(5)))


def _unspaced(text: str) -> str:
    """The lines that are not blank."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _letters(line: str) -> str:
    return re.sub(r"[\W_]+", "", line).casefold()


if __name__ == "__main__":
    main()
