"""Check what `make release` built of the clients: each is installed alone, in an empty folder, and loaded.

Run by `make release` as `python release/check_clients.py .release/clients`; it uses nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

NEEDED = {
    "distributed_memory": ("distributed_memory/py.typed",),
    "distributed-memory-client": ("src/index.js", "src/node.js", "types/index.d.ts", "README.md", "LICENSE"),
    "n8n-nodes-distributed-memory": (
        "dist/credentials/DistributedMemoryApi.credentials.js",
        "dist/nodes/DistributedMemory/DistributedMemory.node.js",
        "dist/nodes/DistributedMemoryTrigger/DistributedMemoryTrigger.node.js",
        "dist/icons/memory.svg",
        "README.md",
        "LICENSE",
    ),
}
LOAD = "import { MemoryClient } from '@distributed-memory/client'; import '@distributed-memory/client/node';"
UNWANTED = ("test", "node_modules", "__pycache__")


def contents(archive: Path) -> list[str]:
    """The names in an archive, without the folder that all of a package of npm are in."""
    if archive.suffix == ".whl":
        return zipfile.ZipFile(archive).namelist()
    with tarfile.open(archive) as packed:
        return [name.split("/", 1)[-1] for name in packed.getnames()]


def python(wheel: Path) -> None:
    """Install the wheel alone and make a client."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        pip = [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, wheel], check=True)
        code = "import distributed_memory as d; print(d.__version__, d.MemoryClient('dm_x_y').session_id)"
        subprocess.run([scripts / "python", "-c", code], cwd=folder, check=True)


def node(package: Path) -> None:
    """Install the package alone and make a client."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "package.json").write_text(json.dumps({"private": True}), "utf-8")
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--offline", str(package)]
        subprocess.run(install, cwd=folder, check=True)
        program = f"{LOAD} console.log(new MemoryClient({{ apiKey: 'dm_x_y' }}).constructor.name);"
        subprocess.run(["node", "--input-type=module", "--eval", program], cwd=folder, check=True)


def main() -> None:
    """Check the wheel, the sdist and the two packages in the folder that is named."""
    built = [path for path in Path(sys.argv[1]).resolve().iterdir() if path.suffix in (".whl", ".gz", ".tgz")]
    for name, needed in NEEDED.items():
        found = [path for path in built if path.name.startswith(f"{name}-")]
        for archive in found:
            names = contents(archive)
            missing = [need for need in needed if need not in names]
            unwanted = [each for each in names if any(part in each.split("/") for part in UNWANTED)]
            if missing or unwanted:
                sys.exit(f"{archive.name} lacks {missing} and holds {unwanted}")
            print(f"{archive.name}: {len(names)} files, {archive.stat().st_size:,} bytes")
            if archive.suffix == ".whl":
                python(archive)
            elif name == "distributed-memory-client":
                node(archive)
        if not found:
            sys.exit(f"there is no {name} in {sys.argv[1]}")


if __name__ == "__main__":
    main()
