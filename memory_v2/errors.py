"""Every error the package raises on purpose.

SilicaError
├── UsageError                    the caller asked for something that cannot be
│   ├── InvalidPath               (ValueError) a path that no page may have
│   ├── InvalidText               (ValueError) a text that no page can hold
│   ├── InvalidSetting            (ValueError) a setting that means nothing
│   ├── PageExists                (FileExistsError) a page is already there
│   ├── NotAllowed                an operation that this page does not allow
│   └── NotRecorded               a recording was asked for what it does not hold
├── PageNotFound                  (KeyError) no page is there
├── ToolProblem                   shown to the model: says what to do next
├── ModelError                    the model's provider failed; `retryable` says whether to try again, and when
└── StorageError                  (OSError) the disk or the service failed
    └── StorageConflict           the page is not at the version that was expected
"""

from __future__ import annotations


class SilicaError(Exception):
    """The root of every error raised on purpose; `str(error)` is one sentence for a person."""


class UsageError(SilicaError):
    """The caller asked for something that cannot be; nothing was changed."""


class InvalidPath(UsageError, ValueError):
    """A path that no page may have; the message names the rule it breaks."""


class InvalidText(UsageError, ValueError):
    """A text that no page can hold: empty, or not encodable as UTF-8."""


class InvalidSetting(UsageError, ValueError):
    """A setting whose value means nothing."""


class PageExists(UsageError, FileExistsError):
    """A page is already there, or one whose path differs only in case."""


class NotAllowed(UsageError):
    """An operation that this page does not allow: the root cannot be deleted, a full page takes no other in."""


class NotRecorded(UsageError):
    """A recording was asked for what it does not hold: the tree, a prompt or a tool is not as it was."""


class PageNotFound(SilicaError, KeyError):
    """No page is there. Also a `KeyError`, so a memory reads like a mapping."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"there is no page {self.path!r}"


class ToolProblem(SilicaError):
    """A tool call the model can mend; the message is shown to it and says what to do next."""


class ModelError(SilicaError):
    """The provider behind a model failed; `retryable` says whether the same request may work later, `retry_after` in
    how many seconds, where the provider tells."""

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class StorageError(SilicaError, OSError):
    """The place where pages live failed or refused; what had been stored is still there."""


class StorageConflict(StorageError):
    """A page is not at the version that a write or a delete expected."""
