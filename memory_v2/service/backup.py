"""A copy of everything in one file, with a checksum of each part: the embedded store and the memory's folder."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from memory_v2.errors import InvalidSetting, NotAllowed, StorageError
from memory_v2.service.migrating import migrate
from memory_v2.service.options import DATABASE_FILE, ServiceOptions
from memory_v2.service.store import Store
from memory_v2.storage.local.walk import walk_files

CHECKSUMS = "checksums.json"
_OWN = ".service"


def back_up(options: ServiceOptions, file: Path) -> int:
    """Writes a backup and returns its number of files; the service may be running. The store is copied first: an entry
    that it knows is then in the folder too. Raises `NotAllowed` if the store is a server with tools of its own."""
    _require_embedded(options)
    with tempfile.TemporaryDirectory() as scratch:
        database = Path(scratch) / DATABASE_FILE
        source = options.folder / _OWN / DATABASE_FILE
        if not source.exists():
            raise InvalidSetting(f"there is no service in {options.folder}")
        with closing(sqlite3.connect(source)) as opened, closing(sqlite3.connect(database)) as copy:
            opened.backup(copy)
        files = {f"{_OWN}/{DATABASE_FILE}": database}
        for path in sorted(walk_files(options.folder)):
            name = path.relative_to(options.folder).as_posix()
            if path.is_file() and not path.is_symlink() and not name.startswith(f"{_OWN}/{DATABASE_FILE}"):
                files[name] = path
        new = file.with_name(f"{file.name}.part")
        sums = {}
        with tarfile.open(new, "w:gz") as archive:
            for name, path in files.items():
                kept = Path(scratch) / "file"
                shutil.copyfile(path, kept)  # it may change while it is read; what is summed is what is stored
                sums[name] = _sum(kept)
                archive.add(kept, name, recursive=False)
            listed = Path(scratch) / CHECKSUMS
            listed.write_text(json.dumps(sums, indent=1))
            archive.add(listed, CHECKSUMS)
        new.replace(file)
    return len(files)


def restore(options: ServiceOptions, file: Path) -> int:
    """Restores a backup into a folder that is empty or missing, and returns its number of files. Cursors of before are
    then no longer valid. Raises `NotAllowed`, and `StorageError` for a file that is not whole."""
    _require_embedded(options)
    if options.folder.exists() and any(options.folder.iterdir()):
        raise NotAllowed(f"{options.folder} is not empty: restore into a new folder")
    options.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder.parent) as scratch:
        try:
            with tarfile.open(file) as archive:
                archive.extractall(scratch, filter="data")
            listed = Path(scratch) / CHECKSUMS
            sums = json.loads(listed.read_text())
        except (tarfile.TarError, EOFError, OSError, ValueError, RecursionError) as error:
            raise StorageError(f"{file} cannot be read as a backup: {error}") from error
        listed.unlink()
        stored = {p.relative_to(scratch).as_posix(): _sum(p) for p in Path(scratch).rglob("*") if p.is_file()}
        if stored != sums:
            raise StorageError(f"{file} is damaged: its files do not have their checksums")
        shutil.copytree(scratch, options.folder, dirs_exist_ok=True)
    migrate(options.database_url)
    store = Store(options.database_url, lambda: 0.0)
    store.new_epoch()
    store.close()
    return len(sums)


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _require_embedded(options: ServiceOptions) -> None:
    if options.database:
        raise NotAllowed("the store is a PostgreSQL server: back it up with pg_dump, and the folder beside it")
    if options.s3:
        raise NotAllowed("the pages are in a bucket: copy it with its own tools, and the folder's .service beside it")
