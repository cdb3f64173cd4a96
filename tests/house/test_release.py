"""The files that registries and hosts read agree with the package they start."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MANIFESTS = ("server.json", "claude/.claude-plugin/plugin.json", "gemini/gemini-extension.json")
MCP = next(need for need in PROJECT["optional-dependencies"]["mcp"] if need.startswith("mcp"))
COMMAND = ["--with", MCP, f"silica-memory@{PROJECT['version']}", "memory", "mcp"]


def read(name: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / "release" / name).read_text("utf-8")))


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_names_the_package_and_its_version(name: str) -> None:
    manifest = read(name)
    assert manifest["name"].rpartition("/")[2] == PROJECT["name"]
    assert manifest["version"] == PROJECT["version"]
    assert manifest["description"] == PROJECT["description"] and len(manifest["description"]) <= 100


def test_each_host_starts_a_command_of_the_package() -> None:
    started = [
        read(name)["mcpServers"]["silica-memory"] for name in ("claude/.mcp.json", "gemini/gemini-extension.json")
    ]
    assert all(server == {"command": "uvx", "args": COMMAND} for server in started)
    assert PROJECT["name"] in PROJECT["scripts"]


def test_the_registry_starts_the_same_command() -> None:
    (package,) = read("server.json")["packages"]
    assert (package["registryType"], package["runtimeHint"]) == ("pypi", "uvx")
    runtime = [part for argument in package["runtimeArguments"] for part in (argument["name"], argument["value"])]
    arguments = [argument["value"] for argument in package["packageArguments"]]
    assert [*runtime, f"{package['identifier']}@{package['version']}", *arguments] == COMMAND


def test_one_program_names_the_owner_in_all_files() -> None:
    places = (
        ROOT / place for place in ("release", "clients/n8n", "clients/js", "clients/python", "docs", "pyproject.toml")
    )
    files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*")) if file.is_file()]
    kept = [
        file for file in files if not {"node_modules", "dist"} & set(file.parts) and file.suffix not in (".py", ".md")
    ]
    holding = {str(file.relative_to(ROOT)) for file in kept if b"OWNER" in file.read_bytes()}
    owner = runpy.run_path(str(ROOT / "release" / "owner.py"))
    assert holding == set(owner["FILES"])
    for name in holding:
        text = owner["named"]((ROOT / name).read_text("utf-8"), "acme/silica")
        assert "OWNER" not in text and "acme" in text and "silica-memory" not in re.findall(r"github.com/\S+", text)


def test_the_workflow_publishes_every_client_without_a_token() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "distributed_memory-*" in text and "clients/js clients/n8n" in text.rpartition("publish-npm:")[2]
    assert text.count("id-token: write") == 2 and not re.search(r"secrets\.|_TOKEN|password", text)


def test_every_action_of_the_workflows_is_pinned_to_a_commit() -> None:
    text = "".join(path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml"))
    used = re.findall(r"uses: (\S+)", text)
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)
