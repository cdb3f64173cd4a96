"""`python -m memory_v2.cli` is `silica`."""

from __future__ import annotations

from memory_v2.cli import main

if __name__ == "__main__":
    main()
