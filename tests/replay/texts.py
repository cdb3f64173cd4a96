"""The texts and trees of the scenes; those that grow are made from lists, always the same."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.replay.scenario import Stage, data

TEXTS: Mapping[str, str] = data("texts")
TOWNS = ("Bergen", "Graz", "Porto", "Lund", "Ghent", "Brno", "Cork", "Turin", "Vilnius", "Nantes")
TRADES = (
    *("bakery", "dentist", "bike shop", "print shop", "vineyard"),
    *("school", "museum", "garage", "nursery", "brewery"),
)
CLIENT = "bergen/bergen-bakery"
"""The page of the client of whom a text tells, and of whom is asked."""


def grow(stage: Stage, tree: str | int) -> None:
    """Sets up a tree: one by its name, or one of so many pages."""
    if isinstance(tree, int):
        grow_clients(stage, tree)
        return
    for path, page in data("trees")[tree].items():
        bodies = page["body"] if isinstance(page["body"], list) else [page["body"]]
        text = "".join(TEXTS.get(body, body) for body in bodies)
        stage.page(path, page["title"], text, page.get("children"))


def grow_clients(stage: Stage, pages: int) -> None:
    """A tree of so many pages: a root, a page for each town, and below it one for each client there."""
    towns = TOWNS[: max(1, min(len(TOWNS), pages // 10))]
    turns = [(turn, trade, town) for turn in range(3) for trade in TRADES for town in towns]
    listed: dict[str, dict[str, str]] = {town: {} for town in towns}
    for number, (turn, kind, town) in enumerate(turns[: pages - 1 - len(towns)]):
        trade = f"{kind} {turn + 1}" if turn else kind
        path = f"{town}/{town}-{trade}".casefold().replace(" ", "-")
        listed[town][path] = f"the {trade} in {town}: contact, contract, open work"
        stage.page(path, f"{town} {trade}", _client(town, trade, number))
    for town, children in listed.items():
        stage.page(town.casefold(), town, f"Clients in {town}.", children)
    root = {town.casefold(): f"clients in {town}" for town in towns}
    stage.page("memory", "Memory", "Clients, by town.", root)


def _client(town: str, trade: str, number: int) -> str:
    first = (town, trade) == ("Bergen", "bakery")
    contact = "Henrik" if first else ("Ana", "Joost", "Milan", "Freya", "Paolo", "Ruta", "Emil")[number % 7]
    return f"""\
## Contact

- {contact} at the {trade} in {town}, best reached in the {"morning" if number % 2 else "afternoon"}.

## Contract

- Runs since 20{18 + number % 8}-0{1 + number % 9}-01, {120 + 10 * (number % 20) if not first else 190} euros a month.
- Payment terms: {45 if first else (14, 21, 30)[number % 3]} days.

## Work

- Website in {("Django", "Hugo", "WordPress")[number % 3]}, moved to the new server in 2025-{10 + number % 3}.
- Open: {("a form for orders", "pictures of the team", "opening hours on holidays")[number % 3]}.
"""


def days_in(text: str) -> list[str]:
    """The days of a log's entries, sorted."""
    return sorted(re.findall(r"^- (\d{4}-\d{2}-\d{2}):", text, re.M))
