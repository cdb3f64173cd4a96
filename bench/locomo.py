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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bench.data import load
from bench.searching import (
    Passages,
    Shown,
    Watch,
    full_text,
    grep,
    index_figures,
    memory_of,
    new_memory,
    of_memory,
    pages_of,
    shown,
    shown_of,
)
from bench.tables import Figures, means, parser, report
from memory_v2 import Memory

DEPTHS = (5, 10, 20)
BUDGETS = (1000, 2000)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
ADVERSARIAL = 5
DEEP = 100

_TURN = re.compile(r"D?:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: what was `said`, by whom, with the caption of a picture that was sent with it; and when its session
    began."""

    id: str
    said: str
    when: datetime

    @property
    def item(self) -> str:
        """The turn as an item of a list."""
        return f"- {self.said}"

    @property
    def line(self) -> str:
        """The turn as one line."""
        return " ".join(self.said.split())


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


Row = tuple[int, Figures]
Texts = Callable[[Conversation], Iterable[str]]


def main() -> None:
    """Prints the recall of evidence, what it costs, and what became of the text."""
    chosen = parser("LoCoMo through the whole product.", dense=True).parse_args()
    conversations = load_locomo()
    recall, kept, index = (dict[str, Figures]() for _ in range(3))
    watch = Watch()
    for name, prepare in (SEARCHES | (BY_MEANING if chosen.dense else {})).items():
        recall |= table_of(
            name, {one.name: list(measure(one, watch.timed(name, prepare(one)))) for one in conversations}
        )
    for name, texts in WAYS.items():
        memories = [grown(conversation, texts) for conversation in conversations]
        kept |= {
            f"{one.name}, {name}": account(memory, one) for memory, one in zip(memories, conversations, strict=True)
        }
        index[name] = index_figures(*map(pages_of, memories))
    report(
        {"recall of evidence": recall, f"a search for {DEEP} hits": watch.rows, "the text": kept, "the index": index},
        chosen.json,
    )


def by_session(conversation: Conversation) -> Iterator[str]:
    """A session as in a log: a dated heading, and an item for each turn."""
    for session in conversation.sessions:
        yield "\n".join([f"## {spoken_date(session[0].when)}", "", *(turn.item for turn in session), ""])


def by_turn(conversation: Conversation) -> list[str]:
    """One turn at a time, each with its date."""
    return [f"[{spoken_date(turn.when)}] {turn.said}" for turn in conversation.turns]


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
        "lost": sum(1 for turn in conversation.turns if turn.said not in everything),
        "pages": len(pages),
        "largest bytes": max(map(len, pages.values())),
        "most children": max(map(len, memory.graph().children.values()), default=0),
        "findings": len(memory.check()),
    }


def spoken_date(when: datetime) -> str:
    """`8 May 2023, 1:56 pm`."""
    return f"{when.day} {when:%B %Y}, {when.strftime('%I:%M %p').lstrip('0').lower()}"


def passages(memory: Memory, conversation: Conversation, texts: Texts) -> Passages:
    """Where the turns of a conversation stand in a memory to which it was written so."""
    turns = by_turn(conversation) if texts is by_turn else [turn.item for turn in conversation.turns]
    return Passages(memory, turns)


def _of_memory(memory: Memory, conversation: Conversation, texts: Texts = by_session) -> Shown:
    on = passages(memory, conversation, texts).on
    return shown(of_memory(memory, DEEP), lambda hit: on(hit.path, *hit.lines))


def _written(texts: Texts, dense: bool = False) -> Callable[[Conversation], Shown]:
    return lambda conversation: _of_memory(grown(conversation, texts, dense), conversation, texts)


SEARCHES: dict[str, Callable[[Conversation], Shown]] = {
    **{f"memory, {name}": _written(texts) for name, texts in WAYS.items()},
    "flat list": lambda conversation: _of_memory(flat(conversation), conversation),
    "FTS5 over turns": lambda conversation: shown_of(full_text, [turn.line for turn in conversation.turns], DEEP),
    "grep over turns": lambda conversation: shown_of(grep, [turn.line for turn in conversation.turns], DEEP),
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
    return tuple(Turn(turn["dia_id"], _said(turn), when) for turn in talk[f"session_{number}"])


def _said(turn: Mapping[str, str]) -> str:
    caption = f" (image: {turn['blip_caption']})" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def _evidence(given: list[str], known: set[str]) -> frozenset[str]:
    """The turns that are meant. Some ids in the data are run together, padded, or of turns that do not exist."""
    ids = {f"D{int(session)}:{int(turn)}" for text in given for session, turn in _TURN.findall(str(text))}
    return frozenset(ids & known)


def table_of(name: str, found: Mapping[str, Sequence[Row]]) -> dict[str, Figures]:
    """The rows of a search: of each conversation, of all, and of each category."""
    every = [row for rows in found.values() for row in rows]
    parts = {**found, "all": every}
    parts |= {kind: [row for row in every if row[0] == category] for category, kind in CATEGORIES.items()}
    return {f"{name}, {part}": means(figures for _, figures in rows) for part, rows in parts.items()}


def measure(conversation: Conversation, search: Shown) -> Iterator[Row]:
    """The kind and the figures of each question."""
    turns = conversation.turns
    for question in conversation.questions:
        if question.category != ADVERSARIAL:
            found = [(turns[number], read) for number, read in search(question.text).items()]
            yield question.category, figures(question, found)


def figures(question: Question, found: Sequence[tuple[Turn, int]]) -> Figures:
    """The share of the evidence among the first turns found, at each depth and token budget, and the tokens read."""
    turns = [turn for turn, _ in found]
    return {
        **{f"@{depth}": _recall(question, turns[:depth]) for depth in DEPTHS},
        **{f"{budget // 1000}k": _recall(question, list(_within(turns, budget))) for budget in BUDGETS},
        **{f"tokens @{depth}": found[:depth][-1][1] if found else 0 for depth in DEPTHS},
    }


def _recall(question: Question, found: Sequence[Turn]) -> float:
    return len(question.evidence & {turn.id for turn in found}) / len(question.evidence)


def _within(found: Sequence[Turn], budget: int) -> Iterator[Turn]:
    """The turns that fit into a token budget, one line each; a token is about four bytes."""
    size = 0
    for turn in found:
        size += len(f"- {turn.line}\n".encode())
        if size > 4 * budget:
            return
        yield turn


if __name__ == "__main__":
    main()
