"""How much the tests try: little by default, much more with `SILICA_TESTS=thorough`, which `make thorough` sets.

What is tried by chance begins at the same seeds either way, so the thorough run contains the quick one.
"""

from __future__ import annotations

import os
from typing import Final

EFFORTS: Final = ("quick", "thorough")
EFFORT: Final = os.environ.get("SILICA_TESTS") or EFFORTS[0]
if EFFORT not in EFFORTS:
    raise ValueError(f"SILICA_TESTS is one of {', '.join(EFFORTS)}, not {EFFORT!r}")

IS_THOROUGH: Final = EFFORT == "thorough"


def effort(quick: int, thorough: int) -> int:
    """How often something is tried."""
    return thorough if IS_THOROUGH else quick
