"""Tests edit pages by hand and go on faster than a person, and count on when the program reads: here it looks at all
pages whenever it may, in every process of the tests. `tests/operations/test_freshness.py` sets the age that is in use.
"""

from memory_v2.operations import context

MAX_AGE = context.MAX_AGE
context.MAX_AGE = 0.0
