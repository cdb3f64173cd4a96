"""Runs Python modules as processes of their own, without paying each time for starting Python and importing everything.

A server process imports the program once; it runs nothing and starts no thread. For each run it forks a child, which
takes over the arguments, files, folder and environment that it is told, and then does what `python -m` does.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1]
LAZY = ("dulwich.repo", "filelock", "markdown_it")
"""What the program imports late; the server imports it early, with every module of the program itself."""
TIMEOUT = 300.0
"""Seconds after which a child is killed: it hangs. No run takes a tenth of this on a busy machine."""


@dataclass(frozen=True)
class Done:
    """How a process ended, and what it printed."""

    code: int
    out: bytes
    err: bytes


def run_module(
    module: str,
    *arguments: str | bytes,
    stdin: bytes = b"",
    cwd: Path = PROJECT,
    env: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT,
) -> Done:
    """Runs `python -m module`, its standard streams connected to files; in the tests' own environment by default. It is
    killed after `timeout` seconds."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("in", "out", "err")]
        files[0].write_bytes(stdin)
        code = _server().start(module, arguments, files, cwd, env)(timeout)
        return Done(code, files[1].read_bytes(), files[2].read_bytes())


def start_on_terminal(
    module: str, *arguments: str, terminal: str, cwd: Path, env: Mapping[str, str]
) -> Callable[[], int]:
    """Starts `python -m module` with the terminal of this name as its own; returns what waits for its exit code."""
    return partial(_server().start(module, arguments, [Path(terminal)] * 3, cwd, env), TIMEOUT)


class ForkServer:
    """The server, as one thread of the tests sees it. It ends with the tests; one run follows the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # `select` knows nothing of lines that are in a buffer already
            cwd=PROJECT,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            start_new_session=True,  # Ctrl-C is for the tests to handle
        )
        self._is_busy = False
        atexit.register(self.close)

    def start(
        self,
        module: str,
        arguments: Sequence[str | bytes],
        files: Sequence[Path],
        cwd: Path,
        env: Mapping[str, str] | None,
    ) -> Callable[[float], int]:
        """Starts a module; the function that is returned waits for its end, so many seconds at most, and must be
        called."""
        order = {
            "module": module,
            "arguments": [os.fsdecode(one) for one in arguments],
            "files": [os.fspath(file) for file in files],
            "cwd": os.fspath(cwd),
            "env": dict(os.environ if env is None else env),
        }
        assert self._process.stdin is not None
        assert not self._is_busy, "wait for the run before"
        self._is_busy = True
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        return partial(self._wait, child)

    def _wait(self, child: int, timeout: float) -> int:
        assert self._process.stdout is not None
        try:
            if not select.select([self._process.stdout], [], [], timeout)[0]:
                os.kill(child, signal.SIGKILL)
            return int(self._process.stdout.readline())
        finally:
            self._is_busy = False

    def close(self) -> None:
        """Ends the server."""
        self._process.communicate()


_own = threading.local()


def _server() -> ForkServer:
    if not hasattr(_own, "server"):
        _own.server = ForkServer()
    server: ForkServer = _own.server
    return server


# the server itself


def _import_everything() -> None:
    import memory_v2

    for found in pkgutil.walk_packages(memory_v2.__path__, "memory_v2."):
        if not found.name.endswith("__main__") and ".dense." not in found.name:  # that may not be installed
            importlib.import_module(found.name)
    for name in LAZY:
        importlib.import_module(name)


def _serve() -> dict[str, Any]:
    """Forks a child for each order, and tells its exit code when it has ended. Returns the order, in the child only."""
    while line := sys.stdin.buffer.readline():
        child = os.fork()
        if not child:
            return dict(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    sys.exit()


def _take_over(order: dict[str, Any]) -> None:
    """Makes this process look as if Python had just been started for the order; then tells its id."""
    teller = os.dup(1)
    os.setsid()  # the first terminal that it opens is its own
    for descriptor, (file, flags) in enumerate(
        zip(order["files"], (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT] * 2), strict=True)
    ):
        opened = os.open(file, flags)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = sys.__stdin__ = _stream(0, "r", "surrogateescape")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "w", "surrogateescape")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace")  # type: ignore[misc]
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    sys.argv = [order["module"], *order["arguments"]]
    os.write(teller, b"%d\n" % os.getpid())
    os.close(teller)


def _stream(descriptor: int, mode: str, errors: str) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, mode, closefd=False)
    buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, "utf-8", errors, line_buffering=os.isatty(descriptor) or descriptor == 2)


def _end(code: int) -> None:
    """Ends this process as Python does, without taking apart what was imported: that takes longer than most runs."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):  # Python itself has to tell of it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    _import_everything()
    gc.freeze()  # what all children share is neither searched nor copied
    told = _serve()
    _take_over(told)
    try:
        runpy.run_module(told["module"], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        _end(ended.code or 0)
    _end(0)
