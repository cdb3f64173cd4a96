"""The real program as tests run it: in a process of its own, in this one where speed matters, or on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from memory_v2.cli.app import silica
from tests.forks import run_module, start_on_terminal

PROGRAM = (sys.executable, "-m", "memory_v2.cli")


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """What was printed; it is always UTF-8."""
        return self.out.decode("utf-8")

    @property
    def json(self) -> Any:
        """The one document that was printed."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Program:
    """`silica memory --path <folder>`, with nothing of the environment of whoever runs the tests."""

    home: Path
    folder: Path

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What the program sees; an empty value takes a variable away."""
        own = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "PYTHONPATH")}
        seen = {**own, "HOME": str(self.home), "LC_ALL": "C.UTF-8", "TERM": "xterm", **(more or {})}
        return {key: value for key, value in seen.items() if value}

    def silica(
        self,
        *args: str | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> Ended:
        """Runs `silica` in a process of its own. Python itself is started for it where that makes a difference."""
        if before is None and not any(name.startswith(("PYTHON", "LC_")) for name in env or ()):
            ended = run_module("memory_v2.cli", *args, stdin=stdin, cwd=self.home, env=self.environment(env))
            return Ended(ended.code, ended.out, ended.err.decode("utf-8"))
        done = subprocess.run(
            [*PROGRAM, *args],
            input=stdin,
            capture_output=True,
            cwd=self.home,
            env={**self.environment(env), "PYTHONDONTWRITEBYTECODE": "1"},  # which `before` may have it write in half
            preexec_fn=before,
            timeout=60,
        )
        return Ended(done.returncode, done.stdout, done.stderr.decode("utf-8"))

    def run(self, *args: str | bytes, **how: Any) -> Ended:
        """Runs a verb in a process of its own."""
        return self.silica("memory", "--path", str(self.folder), *args, **how)

    def quick(self, *args: str, stdin: bytes | None = None) -> Ended:
        """Runs a verb in this process."""
        runner = CliRunner(env={"HOME": str(self.home), "SILICA_MEMORY_PATH": None, "SILICA_MEMORY_MODEL": None})
        done = runner.invoke(silica, ["memory", "--path", str(self.folder), *args], input=stdin)
        return Ended(done.exit_code, done.stdout_bytes, done.stderr)

    def done(self, *args: str, stdin: bytes | None = None) -> str:
        """Runs a verb in this process that is not expected to fail, and returns what it printed."""
        ended = self.quick(*args, stdin=stdin)
        assert ended.code == 0, ended
        return ended.text

    def on_terminal(
        self,
        *args: str,
        columns: int = 80,
        keys: tuple[bytes, bytes] = (b"", b""),
        env: Mapping[str, str] | None = None,
    ) -> Ended:
        """Runs a verb on a terminal of this width, where the second of `keys` is typed once the first is shown.

        A terminal shows both kinds of output at once, so `err` is empty.
        """
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        ended = start_on_terminal(
            "memory_v2.cli",
            *("memory", "--path", str(self.folder), *args),
            terminal=os.ttyname(its),
            cwd=self.home,
            env=self.environment(env),
        )
        os.close(its)
        shown = b""
        awaited, typed = keys
        if not awaited:
            os.write(ours, typed)
        try:
            while select.select([ours], [], [], 60)[0] and (part := _read(ours)):
                shown += part
                if awaited and typed and awaited in shown:
                    time.sleep(0.2)  # a question is shown a moment before the answer is waited for
                    os.write(ours, typed)
                    typed = b""
        finally:
            os.close(ours)  # whoever still waits for keys is told that nobody is there any more
        return Ended(ended(), shown.replace(b"\r\n", b"\n"), "")

    def page(self, path: str, data: bytes | str) -> Path:
        """Puts a page in its place, as somebody with an editor would."""
        file = self.folder / f"{path}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return file

    def files(self) -> dict[str, bytes]:
        """Every page, byte for byte."""
        return {str(f.relative_to(self.folder)): f.read_bytes() for f in self.folder.rglob("*.md")}


def write_twice(program: Program) -> None:
    """Two writes: one to the root, one to `people`."""
    program.done("write", "Grace writes compilers")
    program.done("write", "--to", "people", "Ada keeps the books")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # how Linux says that this is the end
        return b""


def words(program: Program, call: str) -> list[str]:
    """A call as it is typed, with the folders of the program and the ids of its history."""
    return [filled(program, word) for word in shlex.split(call)]


def filled(program: Program, text: str) -> str:
    """The text, with the home, the memory's folder, and the newest id of its history and the one before."""
    if "{newest}" in text or "{older}" in text:
        newest, older = (line[:12] for line in program.quick("history").text.splitlines()[:2])
        text = text.replace("{newest}", newest).replace("{older}", older)
    return text.format(home=program.home, folder=program.folder)
