"""`make contract`: schemathesis against a service that runs, on the embedded store and on PostgreSQL with Redis."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.service.conftest import REDIS, database
from tests.service.running import program

REFUSALS = [401, 403, 404, 409, 410, 412, 413, 422, 428]
"""What a request may be answered although it fits the document: it depends on what is stored, or on more than a schema
can say, as a body's bytes."""
WRONG = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]
"""What a request that does not fit the document may be answered: schemathesis's own list, and 413, as a text
that is too long may make a body that is not read to its end."""
ENDLESS = "/events$"
"""A stream does not end by itself; it has tests of its own."""


def main(schemathesis: str, seconds: str) -> int:
    """Runs all checks on both stores, for so many seconds each. Returns the worst exit status."""
    with tempfile.TemporaryDirectory() as scratch, database() as address:
        configuration = Path(scratch) / "schemathesis.toml"
        statuses = [200, 201, 204, 304, *REFUSALS]
        checks = {"positive_data_acceptance": statuses, "negative_data_rejection": WRONG}
        written = [f"[checks.{name}]\nexpected-statuses = {expected}\n" for name, expected in checks.items()]
        configuration.write_text("\n".join(written))
        servers = {"DATABASE_URL": address.replace("+psycopg", ""), "REDIS_URL": REDIS}
        ended = []
        for number, environment in enumerate(({}, servers)):
            with ExitStack() as stack:
                folder = Path(scratch) / f"memory-{number}"
                _, service, key = stack.enter_context(program(folder, environment))
                command = f"{schemathesis} --config-file {configuration} run {service}/openapi.json --checks all"
                command += f" --exclude-path-regex {ENDLESS} --continue-on-failure --request-timeout 60"
                words = [*command.split(), "--max-time", seconds, "-H", f"Authorization: Bearer {key}"]
                ended.append(subprocess.run(words, env=os.environ | {"NO_PROXY": "*"}, cwd=scratch).returncode)
        return max(ended)


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1]).absolute()), sys.argv[2]))
