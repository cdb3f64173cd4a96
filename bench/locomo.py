"""LoCoMo through the whole product: `python -m bench.locomo [--dense]`.

Each conversation is written with `Memory.write(text)`, without a path or a model, by session and by turn; the tree
grows and splits by itself. Then its questions are asked with `Memory.search`. Figures: of the turns that answer a
question, the share among the first 5, 10 and 20 turns that the hits show, and among those that fit into 1,000 and 2,000
tokens; and the tokens of the hits that have to be read for so many turns.

Beside it, in the same run: the same ranker over a flat list, which is one page with all sessions; and plain full text
and grep over single turns; with `--dense`, search by meaning too. Anything lost, unreachable, too large or broken is
counted and printed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bench.data import load
from bench.searching import Baseline, Watch, full_text, grep, index_figures, memory_of, new_memory, pages_of
from bench.tables import Figures, means, parser, report
from memory_v2 import Memory
from memory_v2.text.words import tokens
from memory_v2.tree.block import split_lines

DEPTHS = (5, 10, 20)
BUDGETS = (1000, 2000)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
ADVERSARIAL = 5
DEEP = 100

_TURN = re.compile(r"D?:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a speaker; `caption` describes a picture sent with it, `when` is the start of the session."""

    id: str
    speaker: str
    text: str
    caption: str
    session: int
    when: datetime

    @property
    def said(self) -> str:
        """The turn as one line, without its speaker."""
        caption = f" (image: {self.caption})" if self.caption else ""
        return " ".join(f"{self.text}{caption}".split())


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids of the turns that answer it, and its kind: 1 multi-hop, 2 temporal, 3 open, 4 single-hop."""

    text: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of two people over many sessions, with questions about it."""

    name: str
    sessions: tuple[tuple[Turn, ...], ...]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> list[Turn]:
        """All turns in order."""
        return [turn for session in self.sessions for turn in session]


Found = list[tuple[Turn, int]]
"""Turns, best first, each with the tokens that were read to come to it."""
Search = Callable[[str], Found]
Row = dict[str, float]
Texts = Callable[[Conversation], Iterator[str]]


def main() -> None:
    """Prints the recall of evidence, what it costs, and what became of the text."""
    arguments = parser("LoCoMo through the whole product.")
    arguments.add_argument("--dense", action="store_true", help="search by meaning too, with the extra of that name")
    chosen = arguments.parse_args()
    conversations = load_locomo()
    recall, times, kept, index = (dict[str, Figures]() for _ in range(4))
    for name, prepare in (SEARCHES | (BY_MEANING if chosen.dense else {})).items():
        watch, rows = Watch(), dict[str, list[Row]]()
        for conversation in conversations:
            rows[conversation.name] = list(measure(conversation, watch.timed(prepare(conversation))))
        recall |= table_of(name, rows)
        times[name] = watch.figures()
    for name, texts in WAYS.items():
        memories = [grown(conversation, texts) for conversation in conversations]
        kept |= {
            f"{one.name}, {name}": account(memory, one) for memory, one in zip(memories, conversations, strict=True)
        }
        index[name] = index_figures(*map(pages_of, memories))
    report(
        {"recall of evidence": recall, f"a search for {DEEP} hits": times, "the text": kept, "the index": index},
        chosen.json,
    )


def by_session(conversation: Conversation) -> Iterator[str]:
    """A session as in a log: a dated heading, and an item for each turn."""
    for session in conversation.sessions:
        turns = "\n".join(f"- {turn.speaker}: {with_caption(turn)}" for turn in session)
        yield f"## {spoken_date(session[0].when)}\n\n{turns}\n"


def by_turn(conversation: Conversation) -> Iterator[str]:
    """One turn at a time, each with its date."""
    for turn in conversation.turns:
        yield f"[{spoken_date(turn.when)}] {turn.speaker}: {with_caption(turn)}"


WAYS: dict[str, Texts] = {"session by session": by_session, "turn by turn": by_turn}


def grown(conversation: Conversation, texts: Texts, dense: bool = False) -> Memory:
    """The memory after the whole conversation was written to it, offline and without a path."""
    memory = new_memory(dense=dense)
    for text in texts(conversation):
        memory.write(text)
    return memory


def flat(conversation: Conversation) -> Memory:
    """A memory of one page that has all sessions."""
    return memory_of({"memory": "# Conversation\n\n" + "\n".join(by_session(conversation))})


def account(memory: Memory, conversation: Conversation) -> Figures:
    """What became of the text."""
    pages = pages_of(memory)
    everything = b"".join(pages.values()).decode()
    return {
        "turns": len(conversation.turns),
        "lost": sum(1 for turn in conversation.turns if with_caption(turn) not in everything),
        "pages": len(pages),
        "largest bytes": max(map(len, pages.values())),
        "most children": max(map(len, memory.graph().children.values()), default=0),
        "findings": len(memory.check()),
    }


def memory_search(memory: Memory, conversation: Conversation) -> Search:
    """A search of the memory that returns the turns on the lines it finds."""
    places = turn_places(memory, conversation)

    def search(query: str) -> Found:
        found: dict[str, tuple[Turn, int]] = {}
        sizes = 0
        results = memory.search(query, DEEP)
        if results.degraded:
            sys.exit(results.degraded)  # such as: what the extra needs is not installed
        for result in results:
            sizes += tokens(result.excerpt)
            for line in range(result.lines[0], result.lines[1] + 1):
                if turn := places.get((result.path, line)):
                    found.setdefault(turn.id, (turn, sizes))
        return list(found.values())

    return search


def turn_places(memory: Memory, conversation: Conversation) -> dict[tuple[str, int], Turn]:
    """The turn on each line of each page."""
    waiting: dict[str, list[Turn]] = {}
    for turn in conversation.turns:
        first = f"{turn.speaker}: {split_lines(with_caption(turn))[0].rstrip()}"
        waiting.setdefault(first, []).append(turn)
    places: dict[tuple[str, int], Turn] = {}
    for info in memory.list_files():
        for number, line in enumerate(split_lines(memory.read(info.path)), 1):
            turns = waiting.get(line.split("] ", 1)[-1].removeprefix("- ").rstrip())
            if turns:
                turn = turns.pop(0) if len(turns) > 1 else turns[0]
                for further in range(len(split_lines(with_caption(turn)))):
                    places[info.path, number + further] = turn
    return places


def with_caption(turn: Turn) -> str:
    """The verbatim turn, with the caption of its picture."""
    return f"{turn.text} (image: {turn.caption})" if turn.caption else turn.text


def spoken_date(when: datetime) -> str:
    """`8 May 2023, 1:56 pm`."""
    return f"{when.day} {when:%B %Y}, {when.strftime('%I:%M %p').lstrip('0').lower()}"


def _written(texts: Texts, dense: bool = False) -> Callable[[Conversation], Search]:
    return lambda conversation: memory_search(grown(conversation, texts, dense), conversation)


def turn_search(baseline: Callable[[Sequence[str]], Baseline]) -> Callable[[Conversation], Search]:
    """A flat baseline over single turns, which are read one by one."""

    def prepare(conversation: Conversation) -> Search:
        turns = conversation.turns
        said = [f"{turn.speaker}: {turn.said}" for turn in turns]
        find = baseline(said)

        def search(query: str) -> Found:
            found, sizes = [], 0
            for number in find(query, DEEP):
                sizes += tokens(said[number])
                found.append((turns[number], sizes))
            return found

        return search

    return prepare


SEARCHES: dict[str, Callable[[Conversation], Search]] = {
    **{f"memory, {name}": _written(texts) for name, texts in WAYS.items()},
    "flat list": lambda conversation: memory_search(flat(conversation), conversation),
    "FTS5 over turns": turn_search(full_text),
    "grep over turns": turn_search(grep),
}
BY_MEANING = {f"memory, {name}, dense": _written(texts, dense=True) for name, texts in WAYS.items()}


def load_locomo() -> list[Conversation]:
    """The LoCoMo conversations of the development part, without questions whose evidence does not exist."""
    return [_conversation(given) for given in load("locomo/locomo_dev.json")]


def _conversation(given: dict[str, Any]) -> Conversation:
    talk = given["conversation"]
    numbers = sorted(int(found[1]) for key in talk if (found := re.fullmatch(r"session_(\d+)", key)))
    sessions = tuple(_session(number, talk) for number in numbers if talk[f"session_{number}"])
    known = {turn.id for session in sessions for turn in session}
    questions = (
        Question(str(asked["question"]), _evidence(asked.get("evidence", []), known), int(asked["category"]))
        for asked in given["qa"]
    )
    return Conversation(str(given["sample_id"]), sessions, tuple(q for q in questions if q.evidence))


def _session(number: int, talk: dict[str, Any]) -> tuple[Turn, ...]:
    when = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
    return tuple(
        Turn(turn["dia_id"], turn["speaker"], turn["text"], turn.get("blip_caption", ""), number, when)
        for turn in talk[f"session_{number}"]
    )


def _evidence(given: list[str], known: set[str]) -> frozenset[str]:
    """The turns that are meant. Some ids in the data are run together, padded, or of turns that do not exist."""
    ids = {f"D{int(session)}:{int(turn)}" for text in given for session, turn in _TURN.findall(str(text))}
    return frozenset(ids & known)


def table_of(name: str, found: Mapping[str, Sequence[Row]]) -> dict[str, Figures]:
    """The rows of a search: of each conversation, of all, and of each category."""
    every = [row for rows in found.values() for row in rows]
    return {
        **{f"{name}, {conversation}": summary(rows) for conversation, rows in found.items()},
        f"{name}, all": summary(every),
        **{
            f"{name}, {kind}": summary(row for row in every if row["category"] == category)
            for category, kind in CATEGORIES.items()
        },
    }


def summary(rows: Iterable[Row]) -> Figures:
    """The means of the figures of questions."""
    return {name: value for name, value in means(rows).items() if name != "category"}


def measure(conversation: Conversation, search: Search) -> Iterator[Row]:
    """One row of figures for each question."""
    for question in conversation.questions:
        if question.category != ADVERSARIAL:
            yield figures(question, search(question.text))


def figures(question: Question, found: Sequence[tuple[Turn, int]]) -> Row:
    """The share of the evidence among the first turns found, at each depth and token budget, and the tokens read."""
    turns = [turn for turn, _ in found]
    row: Row = {"category": question.category}
    for depth in DEPTHS:
        row[f"@{depth}"] = _recall(question, turns[:depth])
    for budget in BUDGETS:
        row[f"{budget // 1000}k"] = _recall(question, list(_within(turns, budget)))
    for depth in DEPTHS:
        row[f"tokens @{depth}"] = found[:depth][-1][1] if found else 0
    return row


def _recall(question: Question, found: Sequence[Turn]) -> float:
    return len(question.evidence & {turn.id for turn in found}) / len(question.evidence)


def _within(found: Sequence[Turn], budget: int) -> Iterator[Turn]:
    """The turns that fit into a token budget, one line each; a token is about four bytes."""
    size = 0
    for turn in found:
        size += len(f"- {turn.speaker}: {turn.said}\n".encode())
        if size > 4 * budget:
            return
        yield turn


if __name__ == "__main__":
    main()
