"""What a search over pages and entries costs: `python -m bench.recall`.

A memory has 10,000 pages of ten lines and 100,000 entries of eight agents and two years. Questions are a few words of
entries and pages. Beside it, the full-text table of SQLite is asked for the ten best of the same lines by BM25, with
the words joined by OR. A cold start is a program of its own that opens the memory and asks once; that of Python
is taken off. Then what reads every entry: a look at all files, and `status`, beside reading the files one by one.
"""

from __future__ import annotations

import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bench.capture import fill_files
from bench.freshness import fill
from bench.searching import Watch
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.storage.local.storage import LocalStorage

PAGES, ENTRIES, SEARCHES = 10_000, 100_000, 200
_RESULTS = 10
_COLD = "from memory_v2 import Memory\nwith Memory.open({folder!r}, 'offline') as memory: memory.search({question!r})"
_FTS5 = (
    "import sqlite3\n"
    "sqlite3.connect({file!r}).execute('SELECT text FROM lines WHERE lines MATCH ? ORDER BY rank LIMIT 10', "
    "({match!r},)).fetchall()"
)


def main() -> None:
    """Prints the figures."""
    arguments = parser((__doc__ or "").splitlines()[0])
    arguments.add_argument("--pages", type=int, default=PAGES)
    arguments.add_argument("--entries", type=int, default=ENTRIES)
    arguments.add_argument("--searches", type=int, default=SEARCHES)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        report(measured(Path(place), asked.pages, asked.entries, asked.searches), asked.json)


def measured(place: Path, pages: int, entries: int, searches: int) -> dict[str, dict[str, Figures]]:
    """All figures, in a folder for the memory and for SQLite's table."""
    folder, file = place / "memory", place / "fts5.sqlite"
    folder.mkdir()
    fill(folder, pages)
    before = _searched(folder, _questions(_lines(folder), searches))
    with Memory(LocalStorage(folder)) as memory:
        memory.entries.area.make_ready()
    texts = fill_files(folder, entries)
    lines = [*_lines(folder), *texts]
    questions = _questions(lines, searches)
    filled = _cpu(lambda: _ask_once(folder, questions[0]))
    _table(file, lines)
    after, beside = _searched(folder, questions), _searched_beside(file, questions)
    return {
        "searches": {"pages only": before, "pages and entries": after, "FTS5": beside},
        "first search of a program, CPU ms": {
            "memory": {"CPU ms": _cold(_COLD.format(folder=str(folder), question=questions[0]))},
            "FTS5": {"CPU ms": _cold(_FTS5.format(file=str(file), match=_match(questions[0])))},
        },
        "every entry, CPU s": _everything(folder) | {"filling the index": {"CPU s": filled}},
    }


def _searched(folder: Path, questions: Sequence[str]) -> Figures:
    watch = Watch()
    with Memory.open(folder, "offline") as memory:

        def ask(question: str) -> object:
            return memory.search(question, _RESULTS)

        search = watch.timed(ask)
        for question in questions:
            search(question)
    return watch.figures()


def _searched_beside(file: Path, questions: Sequence[str]) -> Figures:
    watch = Watch()
    with sqlite3.connect(file) as tables:

        def ask(question: str) -> object:
            best = "SELECT text FROM lines WHERE lines MATCH ? ORDER BY rank LIMIT ?"
            return tables.execute(best, (_match(question), _RESULTS)).fetchall()

        search = watch.timed(ask)
        for question in questions:
            search(question)
    return watch.figures()


def _everything(folder: Path) -> dict[str, Figures]:
    with Memory(LocalStorage(folder)) as memory:
        area = memory.entries.area
        return {
            "a look at all files": {"CPU s": _cpu(lambda: area.index.refresh(everything=True))},
            "status": {"CPU s": _cpu(memory.entries.status)},
            "age": {"CPU s": _cpu(memory.entries.age)},
            "reading each file": {"CPU s": _cpu(lambda: list(area.read_files()))},
        }


def _lines(folder: Path) -> list[str]:
    return [line for file in sorted(folder.glob("topics/*.md")) for line in file.read_text("utf-8").splitlines()[2:]]


def _questions(lines: Sequence[str], count: int) -> list[str]:
    """A few words of some lines, in their order."""
    chance, questions = random.Random(3), []
    for line in chance.choices(lines, k=count):
        words = re.findall(r"\w+", line)
        kept = sorted(chance.sample(range(len(words)), min(5, len(words))))
        questions.append(" ".join(words[place] for place in kept))
    return questions


def _table(file: Path, lines: Iterable[str]) -> None:
    with sqlite3.connect(file) as tables:
        tables.execute("CREATE VIRTUAL TABLE lines USING fts5(text, tokenize='porter unicode61')")
        tables.executemany("INSERT INTO lines VALUES (?)", ((line,) for line in lines))


def _match(question: str) -> str:
    return " OR ".join(f'"{word}"' for word in question.split())


def _ask_once(folder: Path, question: str) -> None:
    with Memory.open(folder, "offline") as memory:
        memory.search(question)


def _cpu(act: Callable[[], object]) -> float:
    """Seconds of CPU, user and system."""
    before = time.process_time()
    act()
    return time.process_time() - before


def _cold(program: str, trials: int = 3) -> float:
    """Milliseconds of CPU that a program takes more than Python alone: the fewest of some trials."""
    return 1_000 * (min(_spent(program) for _ in range(trials)) - min(_spent("pass") for _ in range(trials)))


def _spent(program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
