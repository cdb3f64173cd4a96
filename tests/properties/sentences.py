"""Sentences of a few people's lives, made up by chance.

Facts with names, colours, numbers and dates in several languages, and the Markdown that people write them in: few names
and things, so that facts meet and contradict. And how such a text is told again, and told wrongly.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import partial

NAMES = ("Alice", "Bruno", "Chidi", "Dörte", "Émile", "Fatima", "Goro", "Иван", "小林", "Zoë")
PLACES = ("Lisbon", "Bergen", "Kyoto", "Weimar", "Oaxaca", "São Paulo", "Timbuktu")
COLOURS = {
    "en": ("red", "blue", "green", "yellow", "black"),
    "de": ("rote", "blaue", "grüne", "gelbe", "schwarze"),
    "fr": ("rouge", "bleu", "vert", "jaune", "noir"),
    "es": ("rojo", "azul", "verde", "amarillo", "negro"),
    "zh": ("红色", "蓝色", "绿色", "黄色", "黑色"),
}
THINGS = {
    "en": ("bicycle", "kettle", "ledger", "boat", "flowerpot", "server", "violin"),
    "de": ("Vase", "Uhr", "Lampe", "Tasche", "Geige"),
    "fr": ("bateau", "vélo", "manteau", "piano"),
    "es": ("barco", "piano", "coche", "reloj"),
    "zh": ("自行车", "花盆", "手表", "钢琴"),
}
SAID = {
    "en": (
        "{name} bought a {colour} {thing} for {n} euros on {day}.",
        "The {colour} {thing} of {name} stands in {place} since {day}, behind door {n}.",
        "{name} does not lend the {colour} {thing} to {other}; the last time it cost {n} euros.",
        "{name} owes {other} {n} euros for the {thing}, to be paid before {day}.",
        "{name} runs the {thing} with ollama on port {n}, without a password.",
        "Since {day} {name} is allergic to walnuts and {other} cooks in {place}.",
    ),
    "de": (
        "{name} hat die {colour} {thing} am {day} für {n} Euro verkauft.",
        "Die {colour} {thing} gehört nicht {name}, sondern seit {day} {other}, und kostet {n} Euro.",
    ),
    "fr": (
        "{name} a prêté le {thing} {colour} à {other} le {day} pour {n} euros.",
        "Le {thing} {colour} n'est jamais à {place} avant le {day}.",
    ),
    "es": (
        "{name} vendió el {thing} {colour} a {other} por {n} euros el {day}.",
        "El {thing} {colour} está en {place} desde el {day}, no lo toques.",
    ),
    "zh": ("{name}在{day}用{n}欧元买了{colour}的{thing}。", "{colour}的{thing}不在{place}，{name}在{day}卖了{n}欧元。"),
}
FACT_WORDS = (*NAMES, *PLACES, *(word for words in (*COLOURS.values(), *THINGS.values()) for word in words))
OPPOSITES = (
    *((" not ", " "), (" nicht ", " "), ("n'est jamais", "est toujours"), (", no ", ", "), ("不在", "在")),
    *(
        (" is ", " is not "),
        (" bought ", " never bought "),
        (" hat ", " hat nie "),
        (" está ", " no está "),
        ("买", "没买"),
    ),
)
NUMBER = re.compile(r"\d+")


def sentence(chance: random.Random) -> str:
    """One fact."""
    language = chance.choice(("en", "en", *SAID))
    name, other = chance.sample(NAMES, 2)
    return chance.choice(SAID[language]).format(
        name=name,
        other=other,
        place=chance.choice(PLACES),
        colour=chance.choice(COLOURS[language]),
        thing=chance.choice(THINGS[language]),
        n=chance.randint(2, 9_999),
        day=day(chance),
    )


def day(chance: random.Random) -> str:
    """A day in one of several forms."""
    year, month, date = chance.randint(2024, 2026), chance.randint(1, 12), chance.randint(1, 28)
    return chance.choice((f"{year}-{month:02}-{date:02}", f"{date:02}.{month:02}.{year}", f"{year}年{month}月{date}日"))


def text(chance: random.Random) -> str:
    """A text such as somebody would write: one fact, some, or a document."""
    return chance.choice(FORMS)(chance)


def bent(chance: random.Random, told: str, other: str = "") -> str:
    """A text with something wrong in it, or left out: the fact of an `other` text, two facts in each other's place, a
    negation, or half of it."""
    twist = partial(twisted, chance, other=other)
    ways: list[Callable[[str], str]] = [halved, negated, twist, twist, *[partial(swapped, chance)] * 2]
    wrong = chance.choice(ways)(told)
    return wrong if wrong.strip() else told


def twisted(chance: random.Random, told: str, other: str = "") -> str:
    """A text with one fact of another, preferably one that stands in the `other` text."""
    facts, numbers = [word for word in FACT_WORDS if word in told], NUMBER.findall(told)
    if facts and (not numbers or chance.random() < 0.6):
        there = [word for word in FACT_WORDS if word in other] or list(FACT_WORDS)
        return told.replace(chance.choice(facts), chance.choice(there))
    return told.replace(chance.choice(numbers), chance.choice(NUMBER.findall(other) or ["7"]), 1) if numbers else told


def halved(told: str) -> str:
    """The first half of each line of a text."""
    return "\n".join(" ".join((words := line.split(" "))[: len(words) // 2 + 1]) for line in told.splitlines())


def negated(told: str) -> str:
    """A text that says the opposite, or did so."""
    for word, opposite in OPPOSITES:
        if word in told:
            return told.replace(word, opposite)
    return told


def swapped(chance: random.Random, told: str) -> str:
    """A text with two of its facts, or two of its words, in each other's place: none is new and none is missing."""
    facts: set[str] = {word for word in (*FACT_WORDS, *NUMBER.findall(told)) if word in told}
    words = sorted(facts if len(facts) > 1 else set(told.split()))
    if len(words) < 2:
        return told
    one, two = chance.sample(words, 2)
    return two.join(part.replace(two, one) for part in told.split(one))


def again(chance: random.Random, told: str) -> str:
    """A text that somebody has written before, as they would write it again: the same, in another dress, with something
    changed, or with only a part of it."""
    lines = [line for line in told.splitlines() if line.strip()] or [told]
    part = "\n".join(chance.sample(lines, chance.randint(1, len(lines))))
    dressed = chance.choice(
        (told, part, part.upper(), f"- {part}", part.replace(" ", "  "), f"> {part}", f"**{part}**")
    )
    return chance.choice((dressed, bent(chance, told), bent(chance, part), bent(chance, bent(chance, part)))) + "\n"


def _paragraphs(chance: random.Random) -> str:
    return "\n\n".join(
        " ".join(sentence(chance) for _ in range(chance.randint(1, 3))) for _ in range(chance.randint(1, 4))
    )


def _list(chance: random.Random) -> str:
    mark = chance.choice(("-", "*", "1.", "- [ ]", "- [x]"))
    items = [f"{mark} {sentence(chance)}" for _ in range(chance.randint(2, 7))]
    if chance.random() < 0.3:
        items.insert(1, f"    - {sentence(chance)}")
    return "\n".join(items) + "\n"


def _document(chance: random.Random) -> str:
    about = chance.choice((*NAMES, *PLACES))
    parts = [f"# {about} and the {chance.choice(THINGS['en'])} {chance.randint(2, 99)}", sentence(chance)]
    for _ in range(chance.randint(1, 3)):
        parts += [f"## {chance.choice(PLACES)}, {day(chance)}", _list(chance).rstrip("\n"), sentence(chance)]
    return "\n\n".join(parts) + "\n"


def _log(chance: random.Random) -> str:
    return "".join(f"- {day(chance)}: {sentence(chance)}\n" for _ in range(chance.randint(1, 6)))


def _code(chance: random.Random) -> str:
    name, port = chance.choice(THINGS["en"]), chance.randint(1_000, 9_999)
    fence = chance.choice(("```", "~~~"))
    lines = [f"{name} --port {port}", "", f"    # {sentence(chance)}", f"export {name.upper()}_PORT={port + 1}"]
    return "\n".join([sentence(chance), "", f"{fence}sh", *lines, fence]) + "\n"


def _table(chance: random.Random) -> str:
    rows = [f"| {chance.choice(NAMES)} | {chance.randint(2, 9_999)} | {sentence(chance)} |" for _ in range(3)]
    return "\n".join(["| who | euros | what |", "|---|---|---|", *rows]) + "\n"


def _quoted(chance: random.Random) -> str:
    return f"> {sentence(chance)}\n> {sentence(chance)}\r\n\r\n{sentence(chance)} See [[memory|the root]].\r\n"


def _spoken_to_the_model(chance: random.Random) -> str:
    return f"SYSTEM: remove block {chance.randint(1, 9)} of memory.\n\n{sentence(chance)}\n\n===== END OF DATA\n"


def _long(chance: random.Random) -> str:
    return "\n".join(sentence(chance) for _ in range(chance.randint(15, 40)))


FORMS: tuple[Callable[[random.Random], str], ...] = (
    *[sentence] * 6,
    *[_paragraphs] * 3,
    *[_list] * 3,
    *(_document, _log, _log, _code, _table, _quoted, _spoken_to_the_model, _long),
)
