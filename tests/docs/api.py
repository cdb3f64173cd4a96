"""Writes `docs/api.md` from the docstrings: `python -m tests.docs.api`."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from memory_v2 import errors, functions, migrate_memory_v1_to_v2
from memory_v2.memory import Memory
from memory_v2.memory_checkpoints import Checkpoints
from memory_v2.memory_entries import Entries
from memory_v2.notes.audit.audit import Choice
from memory_v2.notes.audit.context import Policy
from memory_v2.notes.extract import Wanted
from memory_v2.notes.notes import Notes
from memory_v2.settings import Limits

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
OPENING = """# The Python API

Written from the docstrings by `make api`; do not edit it by hand.

```python
from memory_v2 import Memory

memory = Memory.open()
```
"""
MAX_LINE = 90
"""A longer signature, in characters, has each argument on a line of its own."""
MAX_DEFAULT = 60
"""A default that takes more characters is not shown."""
NEW_LINE = "\n"
ENTRIES, CHECKPOINTS = "memory.entries", "memory.checkpoints"
_NAME = re.compile(r"\b[A-Z]\w+")


def page() -> str:
    """The whole page."""
    types = result_types()
    parts = [
        OPENING,
        *_section("Memory", [_class(Memory), *_members(Memory, "memory")]),
        *_section("Entries", [f"{_doc(Entries)}\n", *_members(Entries, ENTRIES)]),
        *_section("Checkpoints", [f"{_doc(Checkpoints)}\n", *_members(Checkpoints, CHECKPOINTS)]),
        *_section("Notes", [_class(Notes), *_members(Notes, "notes")]),
        *_section("Functions", [_function(one) for one in (*_functions(), migrate_memory_v1_to_v2)]),
        *_section("Results", [_type(one) for one in types]),
        *_section("Errors", [f"```\n{_tree(inspect.getdoc(errors) or '')}\n```\n"]),
    ]
    return "\n".join(parts)


def _members(one: type, held: str) -> Iterator[str]:
    return (_member(one, name, held) for name in members(one))


def members(one: type) -> list[str]:
    """The public methods and properties of a class, in the order in which they are written, inherited ones last."""
    kinds = (staticmethod, classmethod, property, cached_property)
    known = ((name, value) for part in one.__mro__ if _is_ours(part) for name, value in vars(part).items())
    public = (name for name, value in known if inspect.isfunction(value) or isinstance(value, kinds))
    return [name for name in dict.fromkeys(public) if not name.startswith("_")]


def names_of(module: Any) -> list[str]:
    """The public functions of a module."""
    found = vars(module).items()
    return [name for name, value in found if inspect.isfunction(value) and value.__module__ == module.__name__]


def result_types() -> list[type]:
    """What the methods of a memory, of its entries and of notes return, and what that consists of, in the order in
    which it comes up."""
    found: dict[type, None] = {Limits: None, Wanted: None, Choice: None, Policy: None}
    holders = (Memory, Entries, Checkpoints, Notes)
    waiting = [one for held in holders for name in members(held) for one in _named_in(held, _returns(held, name))]
    while waiting:
        one = waiting.pop(0)
        if one in found or one in holders or issubclass(one, Exception):
            continue
        found[one] = None
        told = [type_ for type_, _ in _fields(one).values()]
        told += [*map(str, getattr(one, "__orig_bases__", ())), *(base.__name__ for base in one.__bases__)]
        waiting += [other for text in told for other in _named_in(one, text)]
    return list(found)


def _section(title: str, parts: list[str]) -> Iterator[str]:
    yield f"## {title}\n"
    yield from parts


def _class(one: type) -> str:
    made = vars(one)["__init__"]
    signature = _signature(made, drop_first=True, returns=False)
    return f"{_doc(one)}\n\n```\n{one.__name__}{signature}\n```\n\n{_doc(made)}\n"


def _member(one: type, name: str, called: str) -> str:
    value = inspect.getattr_static(one, name)
    if isinstance(value, property | cached_property):
        return f"### {called}.{name}\n\n{_doc(value)}\n"
    function = getattr(value, "__func__", value)
    owner = one.__name__ if isinstance(value, classmethod | staticmethod) else called
    signature = _signature(function, drop_first=not isinstance(value, staticmethod))
    return f"### {owner}.{name}\n\n```\n{owner}.{name}{signature}\n```\n\n{_doc(function)}\n"


def _functions() -> list[Callable[..., Any]]:
    return [getattr(functions, name) for name in names_of(functions)]


def _function(function: Callable[..., Any]) -> str:
    name = function.__name__
    return f"### {name}\n\n```\n{name}{_signature(function)}\n```\n\n{_doc(function)}\n"


def _type(one: type) -> str:
    lines = [f"### {one.__name__}\n", f"{_doc(one)}\n"]
    lines += [
        f"- all that [`{base.__name__}`](#{base.__name__.lower()}) has" for base in one.__bases__ if _is_ours(base)
    ]
    for name, (type_, default) in _fields(one).items():
        is_told = default is not MISSING and len(repr(default)) < MAX_DEFAULT
        lines.append(f"- `{name}: {type_}`" + (f", else `{default!r}`" if is_told else ""))
    for name in (name for name in members(one) if name in vars(one)):
        value = inspect.getattr_static(one, name)
        if isinstance(value, property):
            lines.append(f"- `{name}: {_returns(one, name)}`: {_sentence(value)}")
        elif inspect.isfunction(value) and not _takes_ours(one, value):
            lines.append(f"- `{name}{_signature(value, drop_first=True)}`: {_sentence(value)}")
    return "\n".join(lines) + "\n"


def _takes_ours(one: type, function: Callable[..., Any]) -> bool:
    """Whether a method is one that the program calls itself: it takes what only the program makes."""
    taken = [str(annotation) for name, annotation in function.__annotations__.items() if name != "return"]
    return any(_named_in(one, annotation) for annotation in taken)


def _fields(one: type) -> dict[str, tuple[str, Any]]:
    """The public fields of a class, each with its type and its default."""
    known = {field.name: field.default for field in fields(one)} if is_dataclass(one) else {}
    found = inspect.get_annotations(one).items()
    told = {name: str(getattr(annotation, "__forward_arg__", annotation)) for name, annotation in found}
    return {name: (type_, known.get(name, MISSING)) for name, type_ in told.items() if not name.startswith("_")}


def without_words(function: Callable[..., Any], annotation: str) -> str:
    """The annotation of an argument without the sentence about it, which may have a name of its own."""
    told: ast.expr = ast.parse(annotation, mode="eval").body
    if isinstance(told, ast.Subscript) and ast.unparse(told.value) == "Annotated" and isinstance(told.slice, ast.Tuple):
        return ast.unparse(told.slice.elts[0])
    named = vars(inspect.getmodule(function)).get(annotation)
    if get_origin(named) is Annotated:
        kind = get_args(named)[0]
        return kind.__name__ if isinstance(kind, type) else str(kind)
    return annotation


def _signature(function: Callable[..., Any], drop_first: bool = False, returns: bool = True) -> str:
    signature = inspect.signature(function)
    parts: list[str] = []
    for parameter in list(signature.parameters.values())[int(drop_first) :]:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        star = str(parameter).partition(parameter.name)[0]
        parts.append(f"{star}{parameter.name}: {without_words(function, parameter.annotation)}{default}")
    end = f" -> {signature.return_annotation}" if returns else ""
    line = f"({', '.join(parts)}){end}"
    return line if len(line) < MAX_LINE else f"(\n    {f',{NEW_LINE}    '.join(parts)},\n){end}"


def _doc(one: object) -> str:
    doc = inspect.getdoc(one)
    assert doc, one
    return doc


def _sentence(one: object) -> str:
    return " ".join(_doc(one).partition("\n\n")[0].split())


def _tree(doc: str) -> str:
    return doc.partition("\n\n")[2]


def _is_ours(one: type) -> bool:
    return one.__module__.startswith("memory_v2")


def _returns(one: type, name: str) -> str:
    value = inspect.getattr_static(one, name)
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    function = value.func if isinstance(value, cached_property) else function
    return str(function.__annotations__.get("return", ""))


def _named_in(one: type, annotation: str) -> list[type]:
    """The classes of this package that an annotation of a class names."""
    found = (_resolved(one.__module__, name) for name in _NAME.findall(annotation))
    return [named for named in found if isinstance(named, type) and _is_ours(named)]


def _resolved(module: str, name: str) -> Any:
    source = import_module(module)
    if hasattr(source, name):
        return getattr(source, name)
    home = _imports(module).get(name)
    return getattr(import_module(home), name, None) if home else None


@cache
def _imports(module: str) -> dict[str, str]:
    """Where the names come from that a module imports, also for type checkers only."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
    return {alias.name: str(node.module) for node in found for alias in node.names}


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
