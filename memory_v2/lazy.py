"""Packages whose modules are imported when they are first used: reading a page must not wait for what writing needs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def submodules(package: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package: `package.name` imports that module. What type checkers and editors see are the
    imports in the package's `if TYPE_CHECKING` block."""

    def load(name: str) -> ModuleType:
        full = f"{package}.{name}"
        try:
            return import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name) from error

    return load
