"""What texts of many forms cost: CPU seconds of each form at each face, for three sizes, and how they grow.

    python -m tests.text.shapes [--form WORDS] [--face NAME] [--sizes 50 100 200] [--above SECONDS]

A form is a unit that is repeated, or a text that is made for a size. The exponent is that of the last doubling: 1 is
linear, 2 quadratic. What takes longer than `LIMIT` is ended, and larger sizes are left out.
"""

from __future__ import annotations

import argparse
import math
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

from memory_v2.errors import SilicaError
from memory_v2.memory import Memory
from memory_v2.notes.notes import Notes
from memory_v2.storage.local.storage import LocalStorage
from migrate.folder import scan_folder
from migrate.planning import make_plan
from migrate.run import run

LIMIT = 30
"""CPU seconds after which a form is ended."""

UNITS = {
    **{f"unit {unit!r}": unit for unit in (
        ".", "a.", "a. ", "A. b ", "?! ", "\u2026", "-", "a-", "- ", "-\n", "*", "**", "*a,", "**a** ", "_", "_a_",
        "`", "``a", "`a` ", "~", "~~~\n", "```\n", "\n", "\r\n", "\r", " \n", "\t", "\t\n", "\u2028", "\x0c", " ",
        "\\", "\\\n", "|", "|a|b|\n", "| ", "> ", ">\n", "> \n", ">a\n", "> > \n", "#", "# \n", "# a\n", "## a\n\n",
        "# a\n## b\n### c\n", "#a ", "#t1 #t2 ", "=\n", "a\n=\n", "---\n", "--- ", "***\n", "<", "<a", "<a>", "</a>",
        "<!--", "<!-- a -->\n", "<div>\n", "<div>\n\n", "<![CDATA[", "&", "&amp;", "{{", "{% ", "}}", "[", "]", "[[",
        "]]", "[[a", "[[a]]", "[[a]] ", "- [[a]]\n", "- [[a]] - b\n", "[a](", "[a](b) ", "![", "![a](b)", "[a]: b\n",
        "[^1]: b\n", "(", ")", "((a))", "a", "a ", "a\n", "a\n\n", "word ", "key: value\n", "- key: value\n", "- a\n",
        "- a\n\n", "- a:\n", "1. a\n", "1) a\n\n", "- [ ] a\n", "  - a\n", "+ a\n* b\n", "a,", "a, ", "a;", "a:",
        ":", "/", "a/", "../", "@a ", "a@b.c ", "http://a.b/c ", "https://", "1", "1 ", "1.", "1,", "1-", "0x",
        "\u20ac5 ", "2026-01-01", "2026-01-01 ", "- 2026-01-01: a\n", "## 2026-01-01\n\na\n\n", "May ", "last Monday ",
        "\"", "\"a\" ", "'", "\u2019s ", "\u201c", "not ", "never a, ", "Ada: Hi?\n", "**Ada**: Hi.\n", "é", "e\u0301",
        "\u0301", "\u0301\u0323", "\u200b", "a\u200b", "\u200d", "\u202e", "\ufeff", "\xad", "\x00", "\xa0",
        "👩\u200d💻", "🇩🇪", "👍🏽 ", "日", "日本語の記録。", "日本 ", "\u0e44\u0e17\u0e22", "\u1100", "\u05d0\u05d1 ",
        "ß", "İ", "ﬃ", "## Links\n", "## Links\n\n- [[a]]\n", "## Metadata\n\n", "a: b\n---\n",
    )},
    "a fence of lines": "x = 1  # y\n",
}  # fmt: skip


def _lines(line: Callable[[int], str]) -> Callable[[int], str]:
    def made(size: int) -> str:
        parts, left, number = [], size, 0
        while left > 0:
            parts.append(line(number))
            left -= len(parts[-1].encode())
            number += 1
        return "".join(parts)

    return made


MADE: dict[str, Callable[[int], str]] = {
    "words that differ": _lines(lambda n: f"w{n} "),
    "items that differ": _lines(lambda n: f"- item {n} of w{n % 97}\n"),
    "headings that differ": _lines(lambda n: f"# h{n}\n"),
    "sections that differ": _lines(lambda n: f"## h{n}\n\nThe text {n} of it.\n\n"),
    "links to many pages": _lines(lambda n: f"- [[p{n}]] - about {n}\n"),
    "links in prose": _lines(lambda n: f"see [[p{n}]] and [[p{n // 2}]], "),
    "tags that differ": _lines(lambda n: f"#tag{n} "),
    "a list that gets deeper": _lines(lambda n: f"{'  ' * (n % 400)}- a{n}\n"),
    "quotes that get deeper": _lines(lambda n: f"{'> ' * (n % 300)}a{n}\n"),
    "paragraphs that differ": _lines(lambda n: f"Ada told {n} that w{n} costs {n * 7} euros.\n\n"),
    "one line of sentences": _lines(lambda n: f"Ada told {n} that w{n} costs {n * 7} euros. "),
    "a table": lambda size: "| a | b |\n|---|---|\n" + _lines(lambda n: f"| r{n} | {n * 3} |\n")(size),
    "a wide table": lambda size: "|a" * (size // 6) + "|\n" + "|-" * (size // 6) + "|\n" + "|b" * (size // 6) + "|\n",
    "front matter": lambda size: "---\n" + _lines(lambda n: f"k{n}: v{n}\n")(size) + "---\n\n# a\n\nb\n",
    "tags in front matter": lambda size: "---\ntags: [" + _lines(lambda n: f"t{n}, ")(size) + "x]\n---\n\n# a\n",
    "deep front matter": lambda size: "---\na: " + "[" * size + "\n---\n\n# a\n",
    "an open front matter": lambda size: "---\n" + _lines(lambda n: f"k{n}: v{n}\n")(size),
    "an open fence": lambda size: "```\n" + _lines(lambda n: f"x{n} = {n}\n")(size),
    "an open comment": lambda size: "<!--\n" + _lines(lambda n: f"x{n} = {n}\n")(size),
    "a log": _lines(lambda n: f"- 2026-{n % 12 + 1:02}-{n % 28 + 1:02}: fact {n}\n"),
    "days": _lines(lambda n: f"## {2000 + n % 26}-{n % 12 + 1:02}-{n % 28 + 1:02}\n\nfact {n}\n\n"),
    "a dialogue": _lines(lambda n: f"Ada: Did you see {n}?\nBob: Yes, {n}!\n\n"),
    "numbered steps": _lines(lambda n: f"{n + 1}. step {n}\n"),
    "chinese that differs": _lines(lambda n: f"{chr(0x4E00 + n % 20_000)}{chr(0x4E00 + n * 7 % 20_000)}"),
    "references": _lines(lambda n: f"[r{n}]: /u{n}\n"),
    "a long metadata": lambda size: "# a\n\nb\n\n## Metadata\n\n" + _lines(lambda n: f"k{n}: v{n}\n")(size),
}  # fmt: skip

FORMS: dict[str, Callable[[int], str]] = {
    **{name: (lambda size, unit=unit: unit * (size // len(unit.encode()))) for name, unit in UNITS.items()},  # type: ignore[misc]
    **MADE,
}


def _memory(folder: Path) -> Memory:
    return Memory(LocalStorage(folder / "memory"))


def _write(folder: Path, text: str) -> None:
    with _memory(folder) as memory:
        memory.write(text)


def _append(folder: Path, text: str) -> None:
    with _memory(folder) as memory:
        memory.write(text, "log", "append")


def _replace(folder: Path, text: str) -> None:
    with _memory(folder) as memory:
        memory.write("The weir was built in 1961.", "log")
        memory.write(text, "log", "replace")


def _capture(folder: Path, text: str) -> None:
    with _memory(folder) as memory:
        memory.entries.capture(text)
        memory.search("the weir")


def _import(folder: Path, text: str) -> None:
    source = folder / "notes"
    source.mkdir()
    (source / "a.md").write_text(text, newline="")
    with _memory(folder) as memory:
        scanned = scan_folder(source)
        run(memory, scanned, make_plan(memory, scanned, source))


def _hand(folder: Path, text: str) -> None:
    with _memory(folder) as memory:
        memory.write("The weir was built in 1961.", "weir")
        (folder / "memory/log.md").write_text(text, newline="")
        memory.search("weir")
        memory.check()
        memory.write("The weir was painted in 1970.", "weir")
        memory.blame("log")


def _notes(folder: Path, text: str) -> None:
    (folder / "notes").mkdir()
    half = len(text) // 2
    (folder / "notes/2026-01-01.md").write_text(text[:half], newline="")
    (folder / "notes/2026-01-02.md").write_text(text[half:], newline="")
    with Notes.open(folder / "notes", folder / "cache.sqlite") as notes:
        notes.refresh()
        notes.digest()
        notes.audit()
        notes.index(folder / "out")
        notes.search("weir")


def _search(folder: Path, text: str) -> None:
    with _memory(folder) as memory:
        memory.write("The weir was built in 1961.", "weir")
        memory.search(text)


FACES: dict[str, Callable[[Path, str], None]] = {
    "write": _write,
    "append": _append,
    "replace": _replace,
    "capture": _capture,
    "import": _import,
    "hand": _hand,
    "notes": _notes,
    "search": _search,
}


@contextmanager
def _limited() -> Iterator[None]:
    def ended(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def seconds(face: str, form: str, size: int) -> tuple[float, str]:
    """CPU seconds of a form at a face, and how it ended: nothing, or the error that was raised."""
    text = FORMS[form](size)
    with tempfile.TemporaryDirectory() as folder:
        start, ended = process_time(), ""
        try:
            with _limited():
                FACES[face](Path(folder), text)
        except SilicaError as error:
            ended = f"{type(error).__name__}: {str(error)[:60]}"
        except TimeoutError:
            ended = "ENDED"
        except Exception as error:  # noqa: BLE001 - what a user would see as a crash is listed too
            ended = f"CRASH {type(error).__name__}: {str(error)[:80]}"
        return process_time() - start, ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--form", default="")
    parser.add_argument("--face", choices=FACES, action="append")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200], help="in KB")
    parser.add_argument("--above", type=float, default=0, help="print only what takes longer at the largest size")
    chosen = parser.parse_args()
    for form in FORMS:
        if chosen.form not in form:
            continue
        for face in chosen.face or FACES:
            times, ended = list[float](), ""
            for size in chosen.sizes:
                took, ended = seconds(face, form, size * 1000)
                times.append(max(took, 0.001))  # the clock may stand still
                if took > LIMIT or ended == "ENDED":
                    break
            grows = f"{math.log2(times[-1] / times[-2]):5.2f}" if len(times) > 1 else "    –"
            if times[-1] >= chosen.above or ended.startswith(("CRASH", "ENDED")):
                print(f"{face:8} {grows} {' '.join(f'{t:7.2f}' for t in times)}  {form}  {ended}", flush=True)


if __name__ == "__main__":
    main()
