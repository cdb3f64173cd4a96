"""BEAM through the whole product: `python -m bench.beam`.

A chat of BEAM (100K) is three sessions of a person and an assistant, whose answers are long Markdown. Each message is
written with `Memory.write`, one at a time as an agent would do it that remembers its talk: verbatim, with the role in
front (`User: …`) and the day of its session as `date=`, offline and without a path. Each probing question that names
messages is then asked with `Memory.search`. The figure is recall: of the messages that are named, the share among the
first 10 and 50 messages that the hits show a line of. `tokens` is the text that a reader of ten messages has to read.

Beside it, in the same run: plain full text and grep over the messages, and the same ranker over a flat list, which is
one page with all messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from operator import itemgetter

from bench.data import load as load_data
from bench.searching import (
    FLAT,
    Passages,
    Shown,
    Watch,
    full_text,
    grep,
    index_figures,
    new_memory,
    of_memory,
    pages_of,
    shown,
    shown_of,
)
from bench.tables import Figures, means, parser, report
from memory_v2 import Memory

CHATS = tuple("12345678")
DEPTHS = (10, 50)
DEEP = 300
"""How many hits are asked for: several may show the same message."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat: its messages as they are written, each with the day of its session; and its questions, each with the
    numbers of the messages that it is about."""

    messages: Sequence[tuple[str, date]]
    questions: Sequence[tuple[str, frozenset[int]]]

    @property
    def texts(self) -> list[str]:
        """The messages without their days."""
        return [text for text, _ in self.messages]


def main() -> None:
    """Prints the recall of each search, by chat and together."""
    chosen = parser("Recall of the messages of long chats.").parse_args()
    chats = {name: load(name) for name in CHATS}
    recall, watch = dict[str, Figures](), Watch()
    memories = {name: grown(chat) for name, chat in chats.items()}
    for search, prepare in SEARCHES.items():
        timed = {name: watch.timed(search, prepare(chat, memories[name])) for name, chat in chats.items()}
        rows = {name: list(measure(chat, timed[name])) for name, chat in chats.items()}
        recall |= {f"{search}, chat {name}": means(found) for name, found in rows.items()}
        recall[f"{search}, all"] = means(row for found in rows.values() for row in found)
    index = {f"chat {name}": index_figures(pages_of(memory)) for name, memory in memories.items()}
    lost = {
        f"chat {name}": {"messages": len(chat.messages), "lost": Passages(memories[name], chat.texts).lost()}
        for name, chat in chats.items()
    }
    report(
        {"recall of messages": recall, f"a search for {DEEP} hits": watch.rows, "the index": index, "the text": lost},
        chosen.json,
    )


def load(name: str) -> Chat:
    """A chat, with those questions that name a message."""
    folder = f"beam/100K/{name}"
    batches = load_data(f"{folder}/chat.json")
    messages = {}
    for batch in batches:
        said = [one for turn in batch["turns"] for one in turn]
        day = datetime.strptime(said[0]["time_anchor"], "%B-%d-%Y").date()
        for message in said:
            messages[message["id"]] = f"{message['role'].title()}: {message['content']}", day
    number_of = {given: number for number, given in enumerate(messages)}
    asked = load_data(f"{folder}/probing_questions.json")
    questions = (
        (
            one["question"],
            frozenset(number_of[given] for given in _ids(one.get("source_chat_ids")) if given in number_of),
        )
        for kind in asked.values()
        for one in kind
    )
    return Chat(list(messages.values()), [(question, about) for question, about in questions if about])


def grown(chat: Chat) -> Memory:
    """The memory after every message was written to it."""
    memory = new_memory()
    for text, day in chat.messages:
        memory.write(text, date=day)
    return memory


def flat(chat: Chat) -> Memory:
    """A memory of one page that has all messages."""
    memory = new_memory(threshold=FLAT)
    for day, messages in groupby(chat.messages, itemgetter(1)):
        memory.write("\n\n".join(text for text, _ in messages), "memory", "append", date=day)
    return memory


def measure(chat: Chat, search: Shown) -> Iterator[Figures]:
    """A row for each question."""
    for question, about in chat.questions:
        found = search(question)
        order = list(found)
        row: dict[str, float] = {f"@{depth}": len(about & {*order[:depth]}) / len(about) for depth in DEPTHS}
        yield {**row, "tokens": found[order[: min(DEPTHS)][-1]] if order else 0}


def _of_memory(chat: Chat, memory: Memory) -> Shown:
    return shown(of_memory(memory, DEEP), Passages(memory, chat.texts).shown_by)


SEARCHES: Mapping[str, Callable[[Chat, Memory], Shown]] = {
    "memory": _of_memory,
    "flat list": lambda chat, _: _of_memory(chat, flat(chat)),
    "FTS5 over messages": lambda chat, _: shown_of(full_text, chat.texts, max(DEPTHS)),
    "grep over messages": lambda chat, _: shown_of(grep, chat.texts, max(DEPTHS)),
}


def _ids(given: object) -> Iterator[int]:
    """The ids in a list of ids and lists, or in one of several such lists by name."""
    if isinstance(given, int):
        yield given
    elif isinstance(given, dict | list):
        for one in given.values() if isinstance(given, dict) else given:
            yield from _ids(one)


if __name__ == "__main__":
    main()
