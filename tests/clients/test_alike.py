"""What must be the same in all clients, and in the files that registries read."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import distributed_memory
from distributed_memory import AsyncMemoryClient, MemoryClient, MemoryClientError

CLIENTS = Path(__file__).parents[2] / "clients"
PACKAGES = [CLIENTS / "js", CLIENTS / "n8n"]
CLOSING = {"close", "aclose"}


def package(folder: Path, name: str = "package.json") -> dict[str, Any]:
    return dict(json.loads((folder / name).read_text("utf-8")))


def operations(client: type) -> set[str]:
    return {name for name in dir(client) if not name.startswith("_")} - CLOSING


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def test_both_clients_for_python_and_the_one_for_javascript_have_the_same_operations() -> None:
    source = (CLIENTS / "js" / "src" / "client.js").read_text("utf-8")
    methods = set(re.findall(r"^  (?:async )?(\w+)\(.*\{$", source, re.MULTILINE)) - {"constructor"}
    assert operations(MemoryClient) == operations(AsyncMemoryClient)
    assert {camel(name) for name in operations(MemoryClient)} == methods


def test_python_and_javascript_have_the_same_errors() -> None:
    exported = (getattr(distributed_memory, name) for name in distributed_memory.__all__)
    ours = {each.__name__ for each in exported if inspect.isclass(each) and issubclass(each, MemoryClientError)}
    index = (CLIENTS / "js" / "src" / "index.js").read_text("utf-8")
    (listed,) = re.findall(r"export \{([^}]+)\} from './errors.js'", index)
    assert ours == set(re.findall(r"\w+", listed))


def test_all_clients_have_the_version_of_the_service() -> None:
    versions = {package(folder)["version"] for folder in PACKAGES} | {distributed_memory.__version__}
    for folder in (CLIENTS / "python", CLIENTS.parent):
        versions.add(tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["version"])
    assert len(versions) == 1


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda folder: str(folder.name))
def test_a_package_depends_on_nothing_and_its_lock_names_no_host(folder: Path) -> None:
    assert "dependencies" not in package(folder)
    locked = package(folder, "package-lock.json")["packages"]
    assert all("resolved" not in each for each in locked.values())


def test_files_stay_small_enough_to_be_read() -> None:
    kinds = ("python/distributed_memory/*.py", "js/src/*.js", "n8n/nodes/**/*.ts", "n8n/credentials/*.ts")
    sources = [path for kind in kinds for path in CLIENTS.glob(kind)]
    assert len(sources) > 20
    assert {path.name: n for path in sources if (n := len(path.read_text("utf-8").splitlines())) > 500} == {}
