"""A model that cannot be asked is told of before anything is written; and no provider's package is imported before a
model is asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.errors import InvalidSetting
from memory_v2.memory import Memory
from memory_v2.models.base import Model
from memory_v2.models.litellm import LiteLLMModel
from memory_v2.storage.local.storage import LocalStorage
from tests.wire.adapters import ADAPTERS, Adapter

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY")
NAMES = {
    "anthropic": "anthropic:some-model",
    "openai": "openai:some-model",
    "litellm": "litellm:openai/some-model",
    "mcp": "litellm:openai/some-model",
}


@pytest.fixture(autouse=True)
def nobodys_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the keys, and the profiles, of whoever runs the tests."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def refusal(model: str | Model, folder: Path) -> str:
    """What is said when something is to be written, and when something is searched; nothing is written."""
    asking: tuple[Callable[[Memory], object], ...] = (
        lambda memory: memory.write("The Kestrel sails on 12 May."),
        lambda memory: memory.search("When does the Kestrel sail?"),
    )
    said = set()
    for ask in asking:
        with pytest.raises(InvalidSetting) as refused, Memory(LocalStorage(folder), model) as memory:
            ask(memory)
        said.add(str(refused.value))
    assert not list(folder.rglob("*.md"))
    (one,) = said
    return one


@pytest.mark.parametrize("package", NAMES)
def test_a_package_that_is_not_installed_is_named_with_the_way_to_get_it(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    extra = "litellm" if package == "mcp" else package
    assert refusal(NAMES[package], tmp_path / "memory") == (
        f"this model needs the package {package}, which is not installed: pip install 'silica-memory[{extra}]'"
    )


@pytest.mark.parametrize("name", [*NAMES.values(), "litellm:anthropic/some-model"])
def test_a_key_that_is_missing_is_named(name: str, tmp_path: Path) -> None:
    variable = "OPENAI_API_KEY" if "openai" in name else "ANTHROPIC_API_KEY"
    assert refusal(name, tmp_path / "memory") == f"the model {name} needs a key: set {variable}"


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
@pytest.mark.parametrize("key", ["a-key\n", "a-key\r", "a\tkey", "schlüssel", "a-key\0"], ids=repr)
def test_a_key_that_cannot_be_one_is_told_and_not_shown(adapter: Adapter, key: str, tmp_path: Path) -> None:
    model = adapter("http://localhost:1", key=key)
    assert refusal(model, tmp_path / "memory") == (
        f"the key of the model {model.name} contains a line break or another character that no key has"
    )


def test_a_profile_that_cannot_be_used_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nobody")
    told = refusal(NAMES["anthropic"], tmp_path / "memory")
    assert told.startswith("the model anthropic:some-model has no usable key: ")
    assert "'nobody'" in told


@pytest.mark.parametrize("model", ["some-model", "nobody/some-model"])
def test_a_provider_that_litellm_does_not_know_is_told(model: str, tmp_path: Path) -> None:
    assert refusal(LiteLLMModel(model), tmp_path / "memory") == (
        f"LiteLLM knows no provider for {model!r}; name one: <provider>/<model>"
    )


def test_no_provider_is_imported_before_a_model_is_asked(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from memory_v2 import Memory
from memory_v2.storage.local.storage import LocalStorage
for name in {sorted(set(NAMES.values()))}:
    with Memory(LocalStorage(Path({str(tmp_path / "memory")!r})), name) as memory:
        memory.write("The Kestrel sails on 12 May.", mode="append")
        assert memory.list_files() and memory.check() == []
print(sorted({{"anthropic", "openai", "litellm", "mcp", "httpx", "httpx2"}}.intersection(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_litellm_reaches_out_to_nobody_but_the_provider() -> None:
    code = """
import socket
from memory_v2.errors import ModelError
from memory_v2.models.litellm import LiteLLMModel
from tests.wire.adapters import conversation
asked = []
def nobody(host, *args, **more):
    asked.append(host)
    raise socket.gaierror("nobody is called like this")
socket.getaddrinfo = nobody
try:
    LiteLLMModel("openai/some-model", api_key="some-key", base_url="http://provider.invalid/v1").respond(conversation())
except ModelError as error:
    print(error, asked)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "it cannot be reached ['provider.invalid']\n"
