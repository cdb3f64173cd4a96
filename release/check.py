"""Check what `make release` built: contents, changelog, and an install of the wheel alone in each Python that is there.

Run by `make release` as `python release/check.py dist`; it uses nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NEEDED = (
    "memory_v2/py.typed",
    "memory_v2/prompts/",
    "memory_v2/migrate/",
    "memory_v2/view/templates/page.html",
    "memory_v2/view/static/view.css",
    "memory_v2/view/static/view.js",
)
UNWANTED = ("tests/", "bench/", "cassettes/", "__pycache__", ".pyc", "_cache/")
FACT = "Silica uses pytest for testing"


def contents(wheel: Path, sdist: Path) -> None:
    """Exit unless both files hold what the package needs and nothing that only development needs."""
    names = zipfile.ZipFile(wheel).namelist()
    with tarfile.open(sdist) as archive:
        packed = [name.split("/", 1)[-1] for name in archive.getnames()]
    missing = [need for need in NEEDED if not any(name.startswith(need) for name in names)]
    unwanted = [name for name in names + packed if any(part in name for part in UNWANTED)]
    if missing or unwanted:
        sys.exit(f"the wheel lacks {missing}; wheel or sdist hold {unwanted[:10]}")
    print(f"contents: {len(names)} files in the wheel, {len(packed)} in the sdist")


def interpreter(version: str) -> str | None:
    """A working Python of this version: on the path, kept by pyenv, or kept by uv."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    kept += sorted(Path.home().glob(f".local/share/uv/python/cpython-{version}.*/bin/python3"))
    for python in filter(None, [shutil.which(f"python{version}"), *map(str, reversed(kept))]):
        code = "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2])"
        answer = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        if answer.stdout.strip() == version:
            return python
    return None


def over_stdio(silica: Path, memory: Path, env: dict[str, str]) -> int:
    """Speak MCP with the server as a host does; the number of tools it lists."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "release", "version": "1"}}
    server = subprocess.Popen(
        [silica, "memory", "--path", memory, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    )
    assert server.stdin and server.stdout

    def send(method: str, params: dict[str, object], number: int | None = None) -> dict[str, object]:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        print(json.dumps(message | ({"id": number} if number else {})), file=server.stdin, flush=True)
        while number:
            answer = json.loads(server.stdout.readline())
            if answer.get("id") == number:
                return dict(answer["result"])
        return {}

    try:
        send("initialize", client, 1)
        send("notifications/initialized", {})
        tools = send("tools/list", {}, 2)["tools"]
        reply = send("tools/call", {"name": "search_memory", "arguments": {"query": "How is Silica tested?"}}, 3)
        if FACT not in json.dumps(reply) or reply.get("isError"):
            sys.exit(f"search_memory over stdio answered {reply}")
        return len(list(tools))  # type: ignore[call-overload]
    finally:
        server.kill()
        server.wait()


def install(wheel: Path, version: str, python: str) -> None:
    """Install the wheel alone in an empty environment and use it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        pip = [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"{wheel}[mcp]"], check=True)
        env = {key: value for key, value in os.environ.items() if not key.startswith(("SILICA_", "PYTHON"))}

        def silica(*arguments: str) -> str:
            command = [scripts / "silica", "memory", "--path", folder / "memory", *arguments]
            return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout

        silica("--help")
        silica("write", FACT)
        if FACT not in silica("search", "How is Silica tested?"):
            sys.exit(f"Python {version}: the search did not find what was written")
        tools = over_stdio(scripts / "silica", folder / "memory", env)
        print(f"Python {version}: --help, write, search, mcp over stdio ({tools} tools)", flush=True)


def main() -> None:
    """Check the one wheel and the one sdist in the folder that is named."""
    (wheel,), (sdist,) = ([*Path(sys.argv[1]).resolve().glob(kind)] for kind in ("*.whl", "*.tar.gz"))
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if f"## {version}" not in (ROOT / "CHANGELOG.md").read_text("utf-8") or f"-{version}-" not in wheel.name:
        sys.exit(f"CHANGELOG.md and {wheel.name} do not both name version {version}")
    if sys.argv[2:] and sys.argv[2] != f"v{version}":
        sys.exit(f"the tag {sys.argv[2]} is not v{version}")
    contents(wheel, sdist)
    found = {version: interpreter(version) for version in PYTHONS}
    for version, python in found.items():
        if python:
            install(wheel, version, python)
    missing = [version for version, python in found.items() if not python]
    if len(missing) == len(PYTHONS):
        sys.exit("no Python was found to install the wheel in")
    print(f"not there, so not tried: {', '.join(missing) or 'none'}")


if __name__ == "__main__":
    main()
