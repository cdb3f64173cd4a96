"""A model that lies: its answers fit the tools, and pass the guard as far as they can, but are not true.

It says that a text stands where something else stands, tells facts with the name, number or colour of others, drops
what was said, removes good blocks for reasons that it makes up, and names fewer blocks than it drops. Now and then it
is honest, so that there is something to lie about; now and then it only breaks.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeAlias

from memory_v2.errors import ModelError
from memory_v2.models.base import Conversation, Reply, ToolCall, Usage
from memory_v2.models.briefs import PageView, SearchBrief, SplitBrief, WriteBrief
from memory_v2.models.scripted import Answer
from tests.properties.sentences import bent, halved, sentence

Call: TypeAlias = tuple[str, dict[str, Any]]

REASONS = (
    "it is outdated: the user said so yesterday",
    "a duplicate of block 1",
    "no longer true since 2026-01-01",
    "nothing else was changed\n\nText:\n> all of it",
    'block 1 of memory was taken out, "everything", because: it was wrong',
    "said already: n1 (line 1), by block 1 of memory",
)
NAMES = ("facts", "people", "travel", "purchases", "Alice", "colours", "history", "garden", "things", "misc", "part-2")


class Liar:
    """Answers by chance, but always the same for a seed."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.has_lied = False
        """Whether the last answer about a text was a lie."""

    def answer(self, conversation: Conversation) -> Answer:
        """The next answer."""
        if self.chance.random() < 0.06:
            return self.chance.choice(BROKEN)(self.chance)
        brief = conversation.brief
        if isinstance(brief, SearchBrief):
            return self._reply([self._search(brief)])
        if isinstance(brief, SplitBrief):
            return self._reply([self._split(brief.view)])
        assert isinstance(brief, WriteBrief)
        shown = [view for view in brief.pages if view.page.blocks]
        if not shown:
            return self._reply(self._placed(brief, None))
        lie = self.chance.choice((*HONEST, *LIES))
        self.has_lied = lie in LIES
        calls = lie(self, brief, self.chance.choice(shown))
        if self.chance.random() < 0.15:
            calls.insert(self.chance.randint(0, len(calls)), self._removed(self.chance.choice(shown)))
        return self._reply(calls)

    def _reply(self, calls: list[Call]) -> Reply:
        made = tuple(ToolCall(name, arguments) for name, arguments in calls)
        return Reply("All is done as you asked; nothing was lost.", made, Usage(100, 10), "tool_use")

    def bent(self, text: str, other: str = "") -> str:
        """The text with something wrong in it, or left out, that fits into a call."""
        return bent(self.chance, text, other)[:11_000]

    # writing

    def _numbers(self, view: PageView, most: int = 3) -> list[int]:
        """Some blocks of a page, more often those at its end."""
        count = len(view.page.blocks)
        return sorted({min(count, self.chance.randint(1, count) + 1) for _ in range(self.chance.randint(1, most))})

    def _reason(self) -> str:
        return self.chance.choice(REASONS)

    def _removed(self, view: PageView) -> Call:
        return "remove", {"page": view.page.path, "blocks": self._numbers(view), "reason": self._reason()}

    def _like(self, text: str, brief: WriteBrief) -> tuple[str, int]:
        """The block of the shown pages with the most words of a text."""
        words = set(text.split())
        blocks = [(view.page.path, n, b) for view in brief.pages for n, b in enumerate(view.page.blocks, 1)]
        path, number, _ = max(blocks, key=lambda found: len(words & set(found[2].content.split())))
        return path, number

    def _placed(self, brief: WriteBrief, view: PageView | None) -> list[Call]:
        """No lie: the text is placed somewhere."""
        return [("place", {"blocks": _all(brief), "page": view.page.path if view else brief.path or "memory"})]

    def _made(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """A page with a title and a description that say what is not there."""
        words, names = " ".join(brief.text.split()[:7]), [name.lower() for name in NAMES]
        made = {
            "path": f"{self.chance.choice(names)}/{self.chance.choice(names)}-{self.chance.randint(1, 99)}",
            "parent": view.page.path,
            "title": self.bent(words)[:100],
            "description": f"{self.bent(words)[:100]} {self.chance.choice(('', sentence(self.chance)))}"[:200],
        }
        return [("create_page", {**made, "blocks": _all(brief)})]

    def _known(self, brief: WriteBrief, _: PageView) -> list[Call]:
        """Each block of the text is said to stand in the block that is most like it."""
        calls: list[Call] = []
        for number, block in enumerate(brief.blocks[:90], 1):
            path, there = self._like(block.content, brief)
            calls.append(("nothing_new", {"blocks": f"n{number}", "said_in": [{"page": path, "blocks": there}]}))
        return calls

    def _known_somewhere(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """All of the text is said to stand somewhere on the pages."""
        said = [
            {"page": one.page.path, "blocks": f"1-{len(one.page.blocks)}"} for one in brief.pages if one.page.blocks
        ]
        return [("nothing_new", {"blocks": _all(brief), "said_in": self.chance.choice((said, said[:1]))})]

    def _known_in_part(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """What the guard will not take as known is placed, the rest is not."""
        calls: list[Call] = []
        for number, block in enumerate(brief.blocks[:90], 1):
            path, there = self._like(block.content, brief)
            said = {"blocks": f"n{number}", "said_in": [{"page": path, "blocks": there}]}
            place = {"blocks": f"n{number}", "page": view.page.path}
            calls.append(self.chance.choice((("nothing_new", said), ("place", place))))
        return calls

    def _inserted(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """The text is told in words that are not its own."""
        told = self.bent(brief.text, view.page.body)
        return [("insert", {"page": view.page.path, "after": len(view.page.blocks), "text": told})]

    def _inserted_too(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """The text is placed, and told once more, or twice."""
        more = self.chance.choice((brief.text[:11_000], self.bent(brief.text)))
        return [*self._placed(brief, view), ("insert", {"page": view.page.path, "after": 1, "text": more})]

    def _replaced(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """Good blocks make room for words that drop half of them."""
        numbers = self._numbers(view)
        old = "\n\n".join(view.page.blocks[n - 1].content for n in numbers)
        told = self.bent(f"{brief.text}\n\n{halved(old)}", old)
        return [("replace", {"page": view.page.path, "blocks": numbers, "text": told, "reason": self._reason()})]

    def _replaced_by_new(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """Good blocks make room for the text, which says something else."""
        call = {"page": view.page.path, "blocks": self._numbers(view), "new_blocks": _all(brief)}
        return [("replace", {**call, "reason": self._reason()})]

    def _rewritten(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """The page is written again with fewer blocks, of which only some are named."""
        blocks = view.page.blocks
        left_out = self._numbers(view, 4)
        kept = [block.content for n, block in enumerate(blocks, 1) if n not in left_out]
        if kept and self.chance.random() < 0.4:
            kept[-1] = self.bent(kept[-1])
            left_out = sorted({*left_out, len(blocks)})
        if self.chance.random() < 0.3:
            self.chance.shuffle(kept)
        named = left_out if self.chance.random() < 0.6 else left_out[1:]
        new = self.chance.choice((brief.text, brief.text, self.bent(brief.text)))
        text = "\n\n".join([*kept, new])[:39_000]
        dropped = [{"blocks": named, "reason": self._reason()}] if named else []
        return [("rewrite_page", {"page": view.page.path, "text": text, "dropped": dropped})]

    def _placed_twice(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """The text is placed on two pages, or placed and said to be known."""
        other = self.chance.choice(brief.pages).page.path
        return [*self._placed(brief, view), ("place", {"blocks": "n1", "page": other, "after": 1})]

    def _emptied(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """The text is known, and what is said to say so is removed, before or after."""
        path, number = self._like(brief.text, brief)
        remove = ("remove", {"page": path, "blocks": number, "reason": self._reason()})
        known = ("nothing_new", {"blocks": _all(brief), "said_in": [{"page": path, "blocks": number}]})
        ways: list[list[Call]] = [[known, remove], [remove, known], [remove, *self._placed(brief, view)]]
        return self.chance.choice(ways)

    def _read(self, brief: WriteBrief, view: PageView) -> list[Call]:
        """Something else is read first, and something is decided without having seen it."""
        paths = [child.target for child in view.page.children[:3]] or [view.page.path]
        return [("read_pages", {"paths": paths}), *self.chance.choice(([], self._placed(brief, view)))]

    # dividing and searching

    def _split(self, view: PageView) -> Call:
        """Blocks are shuffled, named twice, or left out; titles and descriptions tell of something else."""
        page, count = view.page, len(view.page.blocks)
        order = [n for n in range(1, count + 1) if n not in page.fixed]
        if self.chance.random() < 0.4:
            self.chance.shuffle(order)
        if order and self.chance.random() < 0.2:
            order.append(self.chance.choice(order))
        if self.chance.random() < 0.3:
            order = order[: max(1, len(order) // 2)]
        cuts = self.chance.randint(1, 4)
        parts = [part for k in range(cuts) if (part := order[k * len(order) // cuts : (k + 1) * len(order) // cuts])]
        children = [self._child(view, part) for part in parts or [[count]]]
        summary = self.chance.choice(("", self.bent(" ".join(page.body.split()[:40])), sentence(self.chance)))
        return "split_page", {"strategy": "topic", "children": children, "summary": summary[:600]}

    def _child(self, view: PageView, numbers: list[int]) -> dict[str, Any]:
        words = " ".join(view.page.blocks[self.chance.choice(numbers) - 1].content.split()[:8])
        listed = [child.target.rpartition("/")[2] for child in view.page.children]
        name = self.chance.choice((*NAMES, *listed, f"{self.chance.choice(NAMES)}-{self.chance.randint(1, 999)}"))
        described = {"title": self.bent(words)[:100], "description": self.bent(words)[:200]}
        return {"name": name, **described, "blocks": numbers}

    def _search(self, brief: SearchBrief) -> Call:
        """Any place answers any question."""
        places = [{"place": f"p{self.chance.randint(1, 9)}", "score": 1, "context": sentence(self.chance)}]
        return self.chance.choice((("answer", {"results": places}), ("no_answer", {"reason": self._reason()})))


def _all(brief: WriteBrief) -> str:
    return f"n1-n{len(brief.blocks)}"


HONEST = (*[Liar._placed] * 5, Liar._made)
LIES = (
    *(Liar._known, Liar._known_somewhere, Liar._known_in_part, Liar._inserted, Liar._inserted_too, Liar._replaced),
    *(Liar._replaced_by_new, Liar._rewritten, Liar._rewritten, Liar._placed_twice, Liar._emptied, Liar._read),
)
BROKEN: tuple[Callable[[random.Random], Answer], ...] = (
    lambda chance: Reply("", stop_reason=chance.choice(("end", "length", "other"))),
    lambda chance: Reply(sentence(chance)),
    lambda chance: Reply("I cannot help with that.", stop_reason="refusal"),
    lambda chance: ModelError(sentence(chance), retryable=False),
    lambda chance: ValueError(sentence(chance)),
    lambda chance: Reply("", (ToolCall("insert", {"page": "memory", "after": 1, "text": sentence(chance) * 2_000}),)),
    lambda chance: Reply("", (ToolCall("store", {"text": sentence(chance)}), ToolCall("place", {"blocks": [[1]]}))),
    lambda chance: Reply("", (ToolCall("remove", {"page": "memory", "blocks": "1-9", "reason": "because"}),) * 150),
)
