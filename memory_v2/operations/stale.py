"""What is no longer true in the line by which a page is listed, after the page has changed."""

from __future__ import annotations

import re

from memory_v2.operations.guard import details
from memory_v2.text.words import content_words, words

_IN_BRACKETS = re.compile(r"\((?:[^()]|\([^()]*\))*\)|（[^（）]*）|~~[^~]*~~")
_FORMERLY = re.compile(r"\b(?:before|previously|formerly|no longer|instead of)\b[^.;\n]*", re.IGNORECASE)


def stale_values(line: str, before: str, after: str, page: str) -> list[str]:
    """The values in a line that blocks had which were taken out (`before`), and that what stands there now does not
    have (`after`), except as something that was so before. Names are looked for on the whole page as it is now."""
    now, formerly = _said_now(after), "\n".join(_IN_BRACKETS.findall(after))
    aside = "\n".join(_IN_BRACKETS.findall(before))
    return sorted(
        value
        for value in details(before)
        if _stands(value, line)
        and not _stands(value, now)
        and not (_stands(value, aside) and _stands(value, formerly))
        and not (value[0].isalpha() and _stands(value, _said_now(page)))
    )


def _said_now(text: str) -> str:
    """A text without what it says in brackets, or of former times."""
    return _FORMERLY.sub(" ", _IN_BRACKETS.sub(" ", text))


def _stands(value: str, text: str) -> bool:
    """Whether a text has a value, in the singular or the plural."""
    if value.casefold() in words(text) or re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE):
        return True
    terms = set(content_words(value))
    return bool(terms) and value[0].isalpha() and terms <= set(content_words(text))
