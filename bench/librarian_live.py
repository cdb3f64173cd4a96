"""How a model files the documents of one folder, beside the planner: `python -m bench.librarian_live FOLDER`.

The documents are written one by one, each with the name of its file as its source, once by the planner and once by the
model, in the same order; then both trees are measured as in `bench.librarian`, and shown.

    python -m bench.librarian_live FOLDER --model anthropic:<model> --record TRACES
                     write them live and keep the traces; run it again to go on where it stopped
    python -m bench.librarian_live FOLDER --model recorded:TRACES
                     replay it
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from bench.librarian import NOW, Document, Figures, Tree, below, in_order, print_figures
from bench.scenario.play import PATIENT, chosen_model
from memory_v2 import Memory
from memory_v2.agent.load import OFFLINE
from memory_v2.models.base import Model
from memory_v2.storage.local.storage import LocalStorage


def main() -> None:
    """Writes the documents twice, and prints the figures and both trees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default=OFFLINE)
    parser.add_argument("--record", type=Path, metavar="TRACES", help="keep the traces here")
    parser.add_argument("--files", type=int, default=40, help="write so many files at most")
    parser.add_argument("--shuffled", type=int, metavar="SEED", help="choose and write in this order by chance")
    given = parser.parse_args()
    documents = in_order(below(given.folder, given.folder), given.shuffled)[: given.files]
    if given.record:
        given.record.mkdir(parents=True, exist_ok=True)
    planner, planned = written(documents, chosen_model(OFFLINE, None), None)
    model, decided = written(documents, chosen_model(given.model, given.record), given.record)
    print(f"{len(documents)} documents of {given.folder.name}")
    print_figures([planned, decided], ["planner", given.model.partition(":")[0]])
    for name, tree in (("planner", planner), (given.model, model)):
        print(f"\n{name}:")
        tree.show(print)


def written(documents: Sequence[Document], model: Model, kept: Path | None) -> tuple[Tree, Figures]:
    """The tree of the documents, and its figures. The traces of what the model decided go to the folder `kept`."""
    with tempfile.TemporaryDirectory() as place:
        clock = _Clock()
        with Memory(LocalStorage(Path(place)), model, limits=PATIENT, now=clock, traces=1_000) as memory:
            for number, document in enumerate(documents, 1):
                clock.tick()
                result = memory.write(document.text, source=document.name)
                trace = memory.trace(result.trace)
                if kept is None:
                    continue
                print(f"{number} of {len(documents)}: {document.name} on {result.path}", file=sys.stderr, flush=True)
                if any(event["reason"] for event in trace.of("decided")):
                    sys.exit("the model did not decide this, so it is not kept; run this again to go on from here")
                if not any(kept.glob(f"{trace.name.rpartition('-')[0]}-*")):
                    shutil.copy(Path(place) / ".metadata" / "traces" / f"{trace.name}.jsonl", kept)
            tree = Tree(memory)
            return tree, tree.figures(documents, documents)


class _Clock:
    """The clock of `bench.librarian`, a minute later each time it ticks."""

    def __init__(self) -> None:
        self._now = NOW

    def tick(self) -> None:
        self._now += timedelta(minutes=1)

    def __call__(self) -> datetime:
        return self._now


if __name__ == "__main__":
    main()
