"""S3 on this machine, over real HTTP: moto's server, and a door before it at which requests can come to grief."""

from __future__ import annotations

import http.client
import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch
from urllib.parse import urlsplit

import boto3
from botocore.loaders import create_loader
from moto.backends import list_of_moto_modules
from moto.server import ThreadedMotoServer
from mypy_boto3_s3 import S3Client

from memory_v2.storage.s3.storage import S3Storage

Machine: TypeAlias = Callable[..., S3Storage]
"""Starts a machine with a memory in the bucket of the test, see `conftest.py`."""

HOST = "127.0.0.1"
CONDITIONS = ("if-match", "if-none-match")
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    "NO_PROXY": HOST,
    "no_proxy": HOST,
}


@cache
def server() -> str:
    """The address of moto's server, which runs as long as the tests do."""
    _search_once()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    return f"http://{host}:{port}"


def _search_once() -> None:
    """Lets moto and botocore look only once for what does not change while tests run: moto lists its own modules for
    each request, botocore reads the description of S3, a megabyte of JSON, for each client."""
    patch("moto.backends.list_of_moto_modules", cache(partial(list, list_of_moto_modules()))).start()
    patch("botocore.session.create_loader", cache(create_loader)).start()


@contextmanager
def new_bucket(versions: bool = False) -> Iterator[str]:
    """The name of an empty bucket, with credentials and nothing else of this machine's configuration around it; it
    keeps old versions, if that is wanted."""
    gone = {name: "" for name in os.environ if name.startswith("AWS_") and name not in ENVIRONMENT}
    with patch.dict(os.environ, ENVIRONMENT):
        for name in gone:
            del os.environ[name]
        name = f"memory-{uuid.uuid4().hex[:12]}"
        client().create_bucket(Bucket=name)
        if versions:
            client().put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        yield name


@cache
def client() -> S3Client:
    """boto3's own client: somebody else who works with the same bucket."""
    return boto3.session.Session().client(
        "s3",
        region_name="us-east-1",
        endpoint_url=server(),
        aws_access_key_id="somebody",
        aws_secret_access_key="else",
    )


def keys(bucket: str) -> dict[str, bytes]:
    """Every object of the bucket."""
    pages = client().get_paginator("list_objects_v2").paginate(Bucket=bucket)
    found = [one["Key"] for page in pages for one in page.get("Contents", ())]
    return {key: client().get_object(Bucket=bucket, Key=key)["Body"].read() for key in found}


def put(bucket: str, key: str, data: bytes) -> None:
    """Somebody else stores an object, with other tools."""
    client().put_object(Bucket=bucket, Key=key, Body=data)


def upload(folder: Path, bucket: str, prefix: str) -> None:
    """A plain copy of a folder: each file under its name."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            key = f"{prefix}/{file.relative_to(folder).as_posix()}"
            client().put_object(Bucket=bucket, Key=key, Body=file.read_bytes())


def download(bucket: str, prefix: str, folder: Path) -> None:
    """The way back."""
    for key, data in keys(bucket).items():
        file = folder / key.removeprefix(f"{prefix}/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


@dataclass(frozen=True)
class Asked:
    """A request as it came to the door."""

    method: str
    key: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Answers:
    """An answer of S3's that moto does not give."""

    status: int
    code: str = ""
    more: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Loses:
    """The request is carried out, if it `arrives`; the answer never comes."""

    arrives: bool = True


@dataclass(frozen=True)
class Cuts:
    """The answer breaks off in its middle."""


@dataclass(frozen=True)
class Strips:
    """The conditions are taken no notice of."""


Fate: TypeAlias = "Answers | Loses | Cuts | Strips | None"


@dataclass
class Door:
    """A server before the server. `fate` says what becomes of a request; `asked` is what came."""

    url: str
    fate: Callable[[Asked], Fate] = lambda _: None
    asked: list[Asked] = field(default_factory=list)

    def count(self, method: str, suffix: str = "") -> int:
        """How many requests of this kind came, for keys that end so."""
        return sum(1 for one in self.asked if one.method == method and one.key.endswith(suffix))


@contextmanager
def door() -> Iterator[Door]:
    """A door for as long as the context lasts."""
    with _Doorway((HOST, 0), _Keeper) as doorway:
        doorway.door = Door(f"http://{HOST}:{doorway.server_address[1]}")
        thread = threading.Thread(target=doorway.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield doorway.door
        finally:
            doorway.shutdown()
            thread.join(10)


class _Doorway(ThreadingHTTPServer):
    door: Door
    daemon_threads = True
    block_on_close = False


class _Keeper(BaseHTTPRequestHandler):
    server: _Doorway
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        self.close_connection = True
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        path = urlsplit(self.path).path
        asked = Asked(self.command, path, headers)
        self.server.door.asked.append(asked)
        fate = self.server.door.fate(asked)
        if isinstance(fate, Answers):
            words = f"<Error><Code>{fate.code}</Code><Message>the server's words</Message>{fate.more}</Error>"
            return self._answer(fate.status, fate.headers, words.encode() if fate.code else b"")
        if isinstance(fate, Loses) and not fate.arrives:
            return None
        if isinstance(fate, Strips):
            headers = {name: value for name, value in headers.items() if name not in CONDITIONS}
        status, answered, data = self._forward(headers, body)
        if not isinstance(fate, Loses):
            self._answer(status, answered, data, cut=isinstance(fate, Cuts))
        return None

    do_GET = do_PUT = do_HEAD = do_DELETE = _handle  # noqa: N815  the names that the standard library asks for

    def _forward(self, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        behind = http.client.HTTPConnection(urlsplit(server()).netloc, timeout=30)
        try:
            behind.request(self.command, self.path, body or None, {n: v for n, v in headers.items() if n != "expect"})
            answer = behind.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            behind.close()

    def _answer(self, status: int, headers: dict[str, str], data: bytes, cut: bool = False) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                self.send_header(name, value)
        size = int(headers.get("Content-Length", 0)) if self.command == "HEAD" else len(data)
        self.send_header("Content-Length", str(size))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if cut else data)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""
