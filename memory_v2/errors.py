"""Every error that the package raises on purpose.

SilicaError
├── UsageError                    the caller asked for something impossible
│   ├── InvalidPath               (ValueError) the path is not valid for a page
│   ├── InvalidText               (ValueError) the text cannot be stored on a page
│   ├── InvalidPattern            (ValueError) the pattern to search for is none, or takes too long
│   ├── InvalidSetting            (ValueError) a setting has an invalid value
│   ├── PageExists                (FileExistsError) a page of this name exists already
│   ├── NotAllowed                the page does not allow this operation
│   └── NotRecorded               a recording does not contain this request
├── PageNotFound                  (KeyError) there is no such page; also called MemoryNotFoundError
├── EntryNotFound                 (KeyError) there is no such entry
├── Cancelled                     the operation was cancelled from another thread
├── ToolProblem                   a tool call was wrong; shown to the model, with what to do next
├── ModelError                    the provider failed; `retryable` says whether to try again, `retry_after` when
└── StorageError                  (OSError) the disk or the service failed
    ├── StorageConflict           the page has changed since it was read
    └── Unreadable                one file cannot be read; the others can
"""

from __future__ import annotations


class SilicaError(Exception):
    """The base of every error raised on purpose; `str(error)` is one sentence for a person."""


class UsageError(SilicaError):
    """The caller asked for something impossible; nothing was changed."""


class InvalidPath(UsageError, ValueError):
    """The path is not valid for a page; the message names the rule that it breaks."""


class InvalidText(UsageError, ValueError):
    """The text cannot be stored: it is empty, or cannot be encoded as UTF-8."""


class InvalidPattern(UsageError, ValueError):
    """The pattern to search for is no regular expression, or takes too long; the message says where, or why."""


class InvalidSetting(UsageError, ValueError):
    """A setting has an invalid value; the message names the setting."""


class PageExists(UsageError, FileExistsError):
    """A page of this name exists already, or one whose path differs only in case."""


class NotAllowed(UsageError):
    """The page does not allow this operation: the root cannot be deleted, and a full page cannot take in another."""


class NotRecorded(UsageError):
    """A recording does not contain this request: the tree, a prompt or a tool has changed since."""


class PageNotFound(SilicaError, KeyError):
    """There is no such page. Also a `KeyError`, so that reading a memory is like reading a mapping. A face may
    add pages with similar paths, or a hint what to do."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path
        self.similar: list[str] = []
        self.hint = ""

    def __str__(self) -> str:
        return f"there is no page {self.path!r}"


class EntryNotFound(SilicaError, KeyError):
    """There is no such entry."""

    def __init__(self, entry_id: str) -> None:
        super().__init__(entry_id)
        self.id = entry_id

    def __str__(self) -> str:
        return f"there is no entry {self.id!r}; 'silica memory entries ls' lists them"


class Cancelled(SilicaError):
    """The operation was cancelled from another thread; nothing was stored."""


class ToolProblem(SilicaError):
    """The model can correct its tool call: the message is shown to it and says what to do next."""


class ModelError(SilicaError):
    """The provider of a model failed. `retryable` says whether the same request may work later, and `retry_after` after
    how many seconds, if the provider says so."""

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class StorageError(SilicaError, OSError):
    """The disk or the service failed or refused; everything stored before is still there."""


class StorageConflict(StorageError):
    """A page has changed since the version that a write or a delete expected."""


class Unreadable(StorageError):
    """One file of the memory, or one folder, cannot be read; this says nothing about the others."""
