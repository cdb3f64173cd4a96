"""The Dockerfile and the compose file, without an engine: what they start is started here, and a memory that is no
service needs nothing of it. `make images` runs their linters."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

from tests.service.own_servers import OwnServer, binary, free_port, until
from tests.service.running import HOST

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def instruction(name: str) -> Any:
    """The list that an instruction of the Dockerfile has."""
    found = re.search(rf"^{name} (\[.*\])$", DOCKERFILE, re.M)
    assert found
    return json.loads(found[1])


def test_the_image_installs_extras_that_there_are() -> None:
    extras = re.search(r"'\.\[([\w,]+)\]'", DOCKERFILE)
    there = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extras and set(extras[1].split(",")) <= set(there)


def test_the_images_command_serves_and_its_health_check_sees_it(tmp_path: Path) -> None:
    program, *words = instruction("CMD")
    assert program == "silica"
    port = free_port()
    words[words.index("0.0.0.0")] = HOST
    command = [sys.executable, "-m", "memory_v2.cli", *words, "--port", str(port)]
    env = os.environ | {"SILICA_MEMORY_PATH": str(tmp_path)}
    check = [sys.executable, *instruction("HEALTHCHECK .* CMD")[1:]]
    check[-1] = check[-1].replace(":8080", f":{port}")
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=env) as process:
        try:
            until(lambda: subprocess.run(check, stderr=quiet, env=env | {"no_proxy": HOST}).returncode == 0)
        finally:
            process.terminate()
    assert (tmp_path / ".service").is_dir()


def test_the_services_of_the_compose_file_are_given_what_they_read() -> None:
    api, redis, postgres = (COMPOSE["services"][name] for name in ("api", "redis", "postgres"))
    assert set(api["environment"]) == {"DATABASE_URL", "REDIS_URL"}
    assert api["environment"]["REDIS_URL"] == "redis://redis:6379"
    assert re.match(r"postgresql://.+@postgres:5432/", api["environment"]["DATABASE_URL"])
    assert set(api["depends_on"]) == {"redis", "postgres"} and "healthcheck" in redis and "healthcheck" in postgres
    assert postgres["environment"]["POSTGRES_USER"] in api["environment"]["DATABASE_URL"]
    assert (postgres["image"], redis["image"]) == ("postgres:15", "redis:7-alpine")
    assert "postgres-data:/var/lib/postgresql/data" in postgres["volumes"] and "redis-data:/data" in redis["volumes"]
    assert [port.rpartition("127.0.0.1:")[2] for port in api["ports"]] == ["8080:8080"]
    mounted = {volume.split(":")[0] for service in COMPOSE["services"].values() for volume in service["volumes"]}
    assert mounted == set(COMPOSE["volumes"])


def test_the_command_of_redis_starts_it_with_a_log_on_disk(tmp_path: Path) -> None:
    program, *words = COMPOSE["services"]["redis"]["command"]
    port = free_port()
    server = OwnServer([binary(program), *words, "--port", str(port), "--bind", HOST, "--dir", str(tmp_path)], port)
    server.start()
    try:
        assert (tmp_path / "appendonlydir").is_dir()
    finally:
        server.kill()


WITHOUT_THE_EXTRA = """
import re, sys, tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
project = tomllib.loads(Path(sys.argv[2]).read_text("utf-8"))["project"]
named = lambda needed: {re.split(r"[^\\w-]", each)[0].lower() for each in needed}
extra = named(project["optional-dependencies"]["service"]) - named(project["dependencies"])
extra |= {"starlette", "psycopg-binary"}
gone = {module for module, owners in packages_distributions().items() if extra & {each.lower() for each in owners}}
assert {"fastapi", "sqlalchemy", "redis", "psycopg", "alembic", "uvicorn", "starlette"} <= gone
sys.modules.update(dict.fromkeys(gone))  # importing one of them fails, as where it is not installed

from memory_v2 import Memory
with_it = Memory.open(sys.argv[1])
with_it.write("The leeks are planted in March.", path="garden")
with_it.entries.capture("Kale is sown in June.", agent="hawk")
with_it.entries.pick_up()
assert "March" in with_it.search("When are leeks planted?")[0].excerpt
assert "June" in with_it.search("When is kale sown?")[0].excerpt
assert "leeks" in with_it.read("garden") and with_it.undo() and not with_it.check()
print(*(name for name in sys.modules if name.startswith("memory_v2.service")))
"""


def test_a_memory_writes_searches_and_reads_where_the_extra_is_not_installed(tmp_path: Path) -> None:
    """Nor is any module of the service imported: what a memory costs is as it would be without one."""
    command = [sys.executable, "-c", WITHOUT_THE_EXTRA, str(tmp_path), str(ROOT / "pyproject.toml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")


def test_a_memory_that_is_no_service_imports_none_of_it() -> None:
    """Nor does what the shell needs to know of the verb, or the adapter for OpenAI's Agents SDK."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, memory_v2, memory_v2.memory, memory_v2.cli.app, memory_v2.service.openai_session\n"
            "from memory_v2.service.options import check_installed\n"
            "print(*{name.partition('.')[0] for name in sys.modules})",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    extra = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "redis", "psycopg", "jsonpatch"}
    assert not extra.intersection(done.stdout.split()) and "opentelemetry" not in done.stdout
