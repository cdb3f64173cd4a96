"""What search by meaning costs: `python -m bench.meaning [--pages 10000]`; needs the extra `dense`.

A tree of pages is searched by words alone, by meaning too, and by plain full text over the same passages, question by
question in turn, so that whatever else the machine does hits all of them. The vectors of its passages are stand-ins,
as making real ones takes minutes and they are compared in the same time; those of the questions are real. Then everyday
notes of others are encoded.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from zlib import crc32

import numpy as np

from bench.growth import make_tree
from bench.personas import people
from bench.searching import Watch, full_text
from bench.tables import Figures, parser, report
from memory_v2.index.dense.chosen import Dense
from memory_v2.index.dense.meaning import Vector, load_encoder, units
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.local.storage import LocalStorage

SEARCHES = 100
DEPTH = 10
FIRST = "everything"
"""What is asked until all is encoded."""


class StandIn:
    """An `Encoder` with any vector for each text but those that are `asked`."""

    name, dimensions = "stand-in", load_encoder().dimensions

    def __init__(self) -> None:
        self.asked = {FIRST}
        self.made = 0

    def encode(self, text: str) -> Vector:
        """The real vector of a question, another one else."""
        if text in self.asked:
            return load_encoder().encode(text)
        self.made += 1
        chance = np.random.default_rng(crc32(text.encode()))
        return chance.integers(-11, 12, self.dimensions, np.int8)


def main() -> None:
    """Prints the times and sizes."""
    arguments = parser("What search by meaning costs.")
    arguments.add_argument("--pages", type=int, default=10_000, help="how many pages are searched")
    chosen = arguments.parse_args()
    report({f"a search of {chosen.pages:,} pages": searches(chosen.pages), "notes": {"encoded": notes()}}, chosen.json)


def searches(pages: int) -> dict[str, Figures]:
    """The times of each search, and what they are to those of plain full text."""
    with tempfile.TemporaryDirectory() as place:
        make_tree(Path(place), pages)
        encoder, watch = StandIn(), Watch()
        index = FullTextIndex(LocalStorage(Path(place)), None, dense=Dense(encoder))
        index.refresh()
        found = [page.read_text("utf-8") for page in sorted(Path(place).rglob("*.md"))]
        passages = [passage for text in found for passage in text.split("\n\n")]
        plain = full_text(passages)
        by = [
            watch.timed("FTS5 over passages", lambda question: len(plain(question, DEPTH))),
            watch.timed("by words", lambda question: len(index.search(question, DEPTH))),
            watch.timed("by meaning too", lambda question: len(index.recall(question, DEPTH))),
        ]
        made = -1
        while encoder.made > made:  # a search encodes for two seconds
            made = encoder.made
            index.recall(FIRST, DEPTH)
        chance = np.random.default_rng(pages)
        for _ in range(SEARCHES):
            words = " ".join(chance.choice(passages).split()[:3])
            encoder.asked.add(question := f"What about {words}?")
            for search in by:
                search(question)
    rows = watch.rows
    least = rows["FTS5 over passages"]["CPU p50 ms"] or 1.0
    return {name: {**row, "to FTS5": (row["CPU p50 ms"] or 0.0) / least} for name, row in rows.items()}


def notes() -> Figures:
    """What encoding notes takes, for a thousand of them."""
    texts, encoder = [told["text"] for person in people() for told in person["texts"]], load_encoder()
    began = time.process_time()
    vectors = [encoder.encode(unit) for text in texts for unit in units(text)]
    share = 1000 / len(texts)
    return {
        "notes": 1000,
        "CPU s": (time.process_time() - began) * share,
        "vectors": round(len(vectors) * share),
        "KB": sum(vector.nbytes for vector in vectors) * share / 1024,
    }


if __name__ == "__main__":
    main()
