"""What is raised where a file cannot be changed safely."""

from __future__ import annotations

from memory_v2.errors import SilicaError


class Unclear(SilicaError):
    """A file cannot be understood, or not be changed safely: it is left as it is. The message says why."""
