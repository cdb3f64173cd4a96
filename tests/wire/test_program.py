"""The program with a provider at its other end: what a person sees of it, and what another program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Ended, Program

from .adapters import KEY, NOBODY
from .dialects import Call, Says
from .server import HOST, Fails, Provider, serving

pytestmark = pytest.mark.allow_hosts([HOST])

TEXT = "The Kestrel sails on 12 May."
MODELS = {"anthropic": f"anthropic:{NOBODY}", "openai": f"openai:{NOBODY}", "litellm": f"litellm:anthropic/{NOBODY}"}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program on a memory that is not there yet."""
    return Program(tmp_path, tmp_path / "memory")


def environment(url: str, model: str) -> dict[str, str]:
    """What a user sets."""
    return {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "SILICA_MEMORY_MODEL": model,
    }


def assert_no_key(program: Program, ended: Ended) -> None:
    assert KEY not in ended.text + ended.err
    for file in program.home.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), f"{file.name} holds the key"


@pytest.mark.parametrize("model", [MODELS["anthropic"], MODELS["openai"]])
def test_a_person_is_told_in_one_sentence_why_somebody_else_decided(
    program: Program, provider: Provider, model: str
) -> None:
    provider.script = lambda _: Fails(401, f"no such key: {KEY}")
    ended = program.run("write", TEXT, env=environment(provider.url, model))
    told = "the model failed: it rejected the key (HTTP 401: no such key: …)"
    assert ended.err == f"silica: {model}: {told} (decided by offline)\n"
    assert (ended.code, ended.text.splitlines()[1:]) == (0, [])
    assert ended.text.startswith("memory · ")
    assert TEXT in program.done("read")
    assert len(provider.requests) == 1
    assert_no_key(program, ended)


def test_a_program_is_told_in_its_document(program: Program, provider: Provider) -> None:
    model = MODELS["openai"]
    provider.script = lambda _: Says("I will not.", stop="refusal")
    ended = program.run("write", "--json", TEXT, env=environment(provider.url, model))
    document = ended.json
    assert ended.code == 0
    assert document["degraded"] == f"{model}: the model refused"
    assert document["decided_by"] == "offline"
    assert document["cost"]["money"] is None
    assert ended.err == f"silica: {document['degraded']} (decided by offline)\n"
    assert TEXT in program.done("read")
    assert_no_key(program, ended)


def test_a_model_that_fails_and_then_decides_says_nothing_but_what_it_did(program: Program, provider: Provider) -> None:
    model = MODELS["litellm"]  # the one that would have more to say
    decision = Says("So.", [Call("place", {"blocks": "n1", "page": "memory"})], stop="other")
    provider.script = [Fails(429, "too often", {"retry-after": "0.01"}), decision]
    ended = program.run("write", "--json", TEXT, env=environment(provider.url, model))
    assert (ended.code, ended.err) == (0, "")
    assert (ended.json["decided_by"], ended.json["degraded"]) == (model, "")
    assert TEXT in program.done("read")
    assert_no_key(program, ended)


def test_nobody_at_the_address_is_told(program: Program) -> None:
    with serving() as gone:
        pass
    ended = program.run("write", TEXT, env=environment(gone.url, MODELS["openai"]))
    told = "the model failed: it cannot be reached (Connection refused)"
    assert ended.err == f"silica: {MODELS['openai']}: {told} (decided by offline)\n"
    assert ended.code == 0
    assert TEXT in program.done("read")


@pytest.mark.parametrize(("sdk", "variable"), [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")])
def test_without_a_key_nothing_is_written_and_what_needs_no_model_works(
    program: Program, sdk: str, variable: str
) -> None:
    model = MODELS[sdk]
    ended = program.run("write", "--json", TEXT, env={"SILICA_MEMORY_MODEL": model})
    assert ended.code == 2
    assert ended.json["error"]["kind"] == "InvalidSetting"
    assert ended.err == f"silica: the model {model} needs a key: set {variable}\n"
    assert not program.files()
    program.page("memory", f"# Memory\n\n{TEXT}\n")
    before = program.files()
    assert program.run("ls", env={"SILICA_MEMORY_MODEL": model}).text.startswith("memory\t")
    assert program.files() == before
