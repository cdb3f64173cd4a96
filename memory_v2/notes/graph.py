"""Who and what is named where: files, people and projects, with the links between files and the mentions in them.

A person is somebody whom a label, a heading, a link or a handle tells to be one; a project has a file in a folder of
projects, or is below a heading that says so. Once known, a name counts wherever it is written the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memory_v2.files.links import LinkResolver
from memory_v2.files.listing import without_suffix
from memory_v2.notes.extract import Extracted
from memory_v2.notes.languages import bare, pattern
from memory_v2.notes.links import file_names, links
from memory_v2.notes.note import Note
from memory_v2.notes.people import heading_name
from memory_v2.tree.graph import dot_quoted, mermaid_escaped

MOST = 200
"""How many nodes a graph has where nobody says how many: more cannot be read as a picture."""
SHORTEST = 3
"""How long a name is at least that is looked for, in characters: shorter ones are found in anything."""
LONGEST = 40
"""How long a name is at most, likewise: what is longer is a sentence."""
NAMES_AT_ONCE = 500
"""How many names are looked for in one pass over a text."""

_HANDLE = re.compile(r"@.*[A-Z\d_]")
NodeKind: TypeAlias = Literal["file", "person", "project"]
EdgeKind: TypeAlias = Literal["links", "mentions"]
_CODE = re.compile(r"`[^`\n]*`|https?://\S+")
_LINKED = re.compile(r"\[\[[^\[\]]*\]\]|\]\([^()]*\)|https?://\S+")


@dataclass(frozen=True, slots=True)
class NoteNode:
    """A file, a person or a project. `id` is its kind and its name."""

    id: str
    kind: NodeKind
    name: str


@dataclass(frozen=True, slots=True)
class NoteEdge:
    """A file links to another one, or mentions somebody or something: how often, and where first."""

    source: str
    target: str
    kind: EdgeKind
    count: int
    place: str


@dataclass(frozen=True, slots=True)
class NotesGraph:
    """The nodes with most edges first, and the edges; and how many of each are left out."""

    nodes: tuple[NoteNode, ...]
    edges: tuple[NoteEdge, ...]
    nodes_left_out: int = 0
    edges_left_out: int = 0

    def to_mermaid(self) -> str:
        """A Mermaid flow chart: solid arrows are links, dotted ones mentions."""
        ids = {node.id: f"n{number}" for number, node in enumerate(self.nodes)}
        shapes = {"file": '["{}"]', "person": '(["{}"])', "project": '{{{{"{}"}}}}'}
        lines = ["graph LR", *(f"  %% {line}" for line in self._left_out())]
        lines += [f"  {ids[node.id]}{shapes[node.kind].format(mermaid_escaped(node.name))}" for node in self.nodes]
        arrows = {"links": "-->", "mentions": "-.->"}
        lines += [f"  {ids[edge.source]} {arrows[edge.kind]} {ids[edge.target]}" for edge in self.edges]
        return "\n".join(lines) + "\n"

    def to_dot(self) -> str:
        """A Graphviz digraph, likewise."""
        shapes = {"file": "box", "person": "ellipse", "project": "hexagon"}
        lines = ["digraph notes {", "  rankdir=LR;", *(f"  // {line}" for line in self._left_out())]
        for node in self.nodes:
            lines.append(f"  {dot_quoted(node.id)} [label={dot_quoted(node.name)}, shape={shapes[node.kind]}];")
        for edge in self.edges:
            style = "" if edge.kind == "links" else " [style=dotted]"
            lines.append(f"  {dot_quoted(edge.source)} -> {dot_quoted(edge.target)}{style};")
        return "\n".join([*lines, "}"]) + "\n"

    def _left_out(self) -> list[str]:
        line = f"left out: {self.nodes_left_out} nodes and {self.edges_left_out} edges; --most says how many are shown"
        return [line] if self.nodes_left_out else []


def notes_graph(
    notes: Sequence[Note], extracted: Iterable[Extracted], resolver: LinkResolver, most: int = MOST
) -> NotesGraph:
    """The graph of these notes, with so many nodes at most: those with most edges."""
    files = [NoteNode(_id("file", note.name), "file", note.name) for note in notes]
    people = [NoteNode(_id("person", name), "person", name) for name in sorted(_people(extracted))]
    taken = {node.name.casefold() for node in people}
    named = sorted(name for name in _projects(notes) if name.casefold() not in taken)
    projects = [NoteNode(_id("project", name), "project", name) for name in named]
    nodes = [*files, *people, *projects]
    edges = [*_links(notes, resolver), *_mentions(notes, [*people, *projects], resolver)]
    degrees = Counter(end for edge in edges for end in (edge.source, edge.target))
    shown = sorted(nodes, key=lambda node: (-degrees[node.id], node.kind, node.name))[:most]
    ids = {node.id for node in shown}
    inside = tuple(edge for edge in edges if edge.source in ids and edge.target in ids)
    return NotesGraph(tuple(shown), inside, len(nodes) - len(shown), len(edges) - len(inside))


def _id(kind: NodeKind, name: str) -> str:
    return f"{kind}:{name}"


def _people(extracted: Iterable[Extracted]) -> set[str]:
    """Who is told to be somebody: by a label or a heading, or by a handle in a sentence. `@agent` may be anything."""
    found: set[str] = set()
    for one in extracted:
        if one.category == "contacts":
            sure = one.people if one.grade != "keyword" else filter(_HANDLE.match, one.people)
            found.update(name for name in sure if _is_name(name))
    return {name for name in found if not (name.startswith("@") and name[1:] in found)}


def _projects(notes: Sequence[Note]) -> set[str]:
    found = set()
    for note in notes:
        *folders, last = note.name.split("/")
        if folders and _says_projects(folders[-1]):
            heading = next((section.heading for section in note.sections if section.level == 1), "")
            found.add(heading or without_suffix(last).replace("-", " "))
        for item in note.items:
            if item.kind == "bullet" and item.headings and _says_projects(item.headings[-1]):
                found.add(heading_name(item.text))
    return {name for name in found if _is_name(name)}


def _says_projects(words: str) -> bool:
    return pattern("projects", "headings").fullmatch(bare(words).strip(" *_.:#0123456789")) is not None


def _is_name(name: str) -> bool:
    return SHORTEST <= len(name.lstrip("@")) <= LONGEST and re.search(r"[^\W\d_]", name) is not None


def _links(notes: Sequence[Note], resolver: LinkResolver) -> Iterator[NoteEdge]:
    known = {note.name for note in notes}
    found: dict[tuple[str, str], list[str]] = {}
    for note, _, link in links(notes):
        for name in resolver.resolve(note.name, link.target, link.is_wiki)[:1]:
            if name in known and name != note.name:
                found.setdefault((note.name, name), []).append(f"{note.name}:{link.line}")
    for (source, target), where in sorted(found.items()):
        yield NoteEdge(_id("file", source), _id("file", target), "links", len(where), where[0])


def _mentions(notes: Sequence[Note], named: Sequence[NoteNode], resolver: LinkResolver) -> Iterator[NoteEdge]:
    among = [_pattern(named[start : start + NAMES_AT_ONCE]) for start in range(0, len(named), NAMES_AT_ONCE)]
    ids = {node.name.removeprefix("@"): node.id for node in named}
    files = {note.name for note in notes}
    for note in notes:
        found: dict[str, list[str]] = {}
        for line, text in _texts(note):
            where, said = f"{note.name}:{line}", _CODE.sub(" ", text)
            targets = {ids[name] for names in among for name in names.findall(said)}
            for mentioned in file_names(_LINKED.sub(" ", text)):
                led = resolver.resolve(note.name, mentioned)
                targets |= {_id("file", name) for name in led if len(led) == 1 and name in files - {note.name}}
            for target in targets:
                found.setdefault(target, []).append(where)
        for target, places in sorted(found.items()):
            yield NoteEdge(_id("file", note.name), target, "mentions", len(places), places[0])


def _texts(note: Note) -> list[tuple[int, str]]:
    """The headings of a note and what is said in it, by line."""
    headings = ((section.first_line, section.heading) for section in note.sections if section.heading)
    items = ((item.first_line, item.text) for item in note.items if item.kind != "code")
    return sorted((*headings, *items))


def _pattern(named: Sequence[NoteNode]) -> re.Pattern[str]:
    names = sorted((re.escape(node.name.removeprefix("@")) for node in named), key=lambda name: (-len(name), name))
    return re.compile(rf"(?<![\w@-])@?({'|'.join(names)})(?![\w-])")
