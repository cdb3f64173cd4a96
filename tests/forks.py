"""Runs Python modules as processes of their own, without paying each time for starting Python and importing everything.

A server process imports the program once; it runs nothing and starts no thread. For each run it forks a child, which
takes over the arguments, streams, folder and environment that it is told, and then does what `python -m` does.
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
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, AnyStr

PROJECT = Path(__file__).parents[1]
LAZY = (
    "alembic.command",
    "dulwich.repo",
    "filelock",
    "markdown_it",
    "psycopg",
    "sqlalchemy.dialects.sqlite",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
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
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        streams = [stream.fileno() for stream in (given, out, err)]
        code = _server().start(["-m", module, *arguments], streams, os.fspath(cwd), env).wait_or_kill(timeout)
        for stream in (out, err):
            stream.seek(0)
        return Done(code, out.read(), err.read())


def start_on_terminal(
    module: str, *arguments: str, terminal: str, cwd: Path, env: Mapping[str, str]
) -> Callable[[], int]:
    """Starts `python -m module` with the terminal of this name as its own; returns what waits for its exit code."""
    started = _server().start(["-m", module, *arguments], [], os.fspath(cwd), env, terminal)
    return lambda: started.wait_or_kill(TIMEOUT)


class Popen(subprocess.Popen[AnyStr]):
    """A process as `subprocess.Popen` starts it, for the commands `python -m module …` and `python -c code …`."""

    def _execute_child(self, args: Sequence[str], *others: Any) -> None:
        _, preexec, _, passed, cwd, env, _, _, _, *pipes = others[:15]
        assert args[0] == sys.executable and not preexec and not passed, args
        streams = [end if end != -1 else own for own, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        self._started = _server().start(args[1:], streams, os.fspath(cwd or os.getcwd()), env)
        self.pid = self._started.pid
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        self.returncode = self._started.wait(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        code = self._started.wait(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.returncode = code
        return code


class Started:
    """A child of the server."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self._lock = threading.Lock()
        self._code: int | None = None
        self._lines = told.makefile("rb")
        self.pid = int(self._lines.readline())

    def wait(self, timeout: float | None) -> int | None:
        """Its exit code as soon as it has ended, or `None` after so many seconds."""
        with self._lock:
            if self._code is None and select.select([self._told], [], [], timeout)[0]:
                self._code = int(self._lines.readline().removeprefix(b"="))
                self._lines.close()
                self._told.close()
            return self._code

    def wait_or_kill(self, timeout: float) -> int:
        """Its exit code; after so many seconds it is killed."""
        code = self.wait(timeout)
        if code is None:
            os.kill(self.pid, signal.SIGKILL)
            code = self.wait(None)
        assert code is not None
        return code


class ForkServer:
    """The server, as the threads of the tests see it. It ends with the tests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=PROJECT,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the tests to handle
            )
        atexit.register(self.close)

    def start(
        self,
        arguments: Sequence[str | bytes],
        streams: Sequence[int],
        cwd: str,
        env: Mapping[str, str] | None,
        terminal: str = "",
    ) -> Started:
        """Starts what Python does with these arguments, on these standard streams or on the terminal of this name."""
        order = {
            "arguments": [os.fsdecode(one) for one in arguments],
            "cwd": cwd,
            "env": dict(os.environ if env is None else env),
            "terminal": terminal,
        }
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            socket.send_fds(self._orders, [b"."], [theirs.fileno(), *streams])
        ours.sendall(json.dumps(order).encode() + b"\n")
        return Started(ours)

    def close(self) -> None:
        """Ends the server."""
        self._orders.close()
        self._process.wait()


_server = cache(ForkServer)


# the server itself


def _import_everything() -> None:
    import memory_v2

    for found in pkgutil.walk_packages(memory_v2.__path__, "memory_v2."):
        if not found.name.endswith("__main__") and ".dense." not in found.name:  # that may not be installed
            importlib.import_module(found.name)
    for name in LAZY:
        importlib.import_module(name)


def _serve(orders: socket.socket) -> tuple[socket.socket, list[int]]:
    """Forks a child for each order, and tells its exit code when it has ended. Returns where the order comes from, and
    the standard streams, in the child only."""
    ended, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    while True:
        ready = select.select([orders.fileno(), ended], [], [])[0]
        if ended in ready:
            os.read(ended, 1_024)
            _tell_of_those_that_ended(running)
        if orders.fileno() not in ready:
            continue
        byte, descriptors, _, _ = socket.recv_fds(orders, 1, 4)
        if not byte:
            sys.exit()
        asking = socket.socket(fileno=descriptors[0])
        child = os.fork()
        if not child:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for other in (orders, *running.values()):
                other.close()
            os.close(ended)
            os.close(told)
            return asking, descriptors[1:]
        running[child] = asking
        for descriptor in descriptors[1:]:
            os.close(descriptor)


def _tell_of_those_that_ended(running: dict[int, socket.socket]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with running.pop(ended[0]) as asking, suppress(OSError):
                asking.sendall(b"=%d\n" % os.waitstatus_to_exitcode(ended[1]))


def _take_over(asking: socket.socket, streams: list[int]) -> list[str]:
    """Makes this process look as if Python had just been started for the order; then tells its id, and returns the
    arguments."""
    with asking, asking.makefile("rb") as lines:
        order = json.loads(lines.readline())
        os.setsid()  # the first terminal that it opens is its own
        if order["terminal"]:
            streams = [os.open(order["terminal"], os.O_RDWR)] * 3
        for descriptor, stream in enumerate(streams):
            os.dup2(stream, descriptor)
        for stream in {*streams}.difference((0, 1, 2)):
            os.close(stream)
        sys.stdin = sys.__stdin__ = _stream(0, "r", "surrogateescape")  # type: ignore[misc]
        sys.stdout = sys.__stdout__ = _stream(1, "w", "surrogateescape")  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace")  # type: ignore[misc]
        os.environ.clear()
        os.environ.update(order["env"])
        os.chdir(order["cwd"])
        asking.sendall(b"%d\n" % os.getpid())
    return list(order["arguments"])


def _stream(descriptor: int, mode: str, errors: str) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, mode, closefd=False)
    buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, "utf-8", errors, line_buffering=os.isatty(descriptor) or descriptor == 2)


def _act(arguments: list[str]) -> None:
    """Does what Python does with these arguments."""
    way, what, *more = arguments
    sys.argv = [what if way == "-m" else "-c", *more]
    if way == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


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
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored where the tests run in the background
    _import_everything()
    gc.freeze()  # what all children share is neither searched nor copied
    told = _take_over(*_serve(socket.socket(fileno=int(sys.argv[1]))))
    try:
        _act(told)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        _end(ended.code or 0)
    _end(0)
