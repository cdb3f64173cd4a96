"""The weight of each signal by which places are ranked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDS = "its words"
NEAR = "its words and those before it"
AROUND = "the words around it"
BESIDE = "the words beside it, in any text"
SECTION = "the words of its section"
TOLD = "how much of the question it and its headings have"
OWN = "how much of the question it has"
ABOVE = "how much of the question its headings have"
TITLE = "title or heading asked for"
DEPTH = "how far below the root it stands"
LINKED = "what links to its page"
NAMED = "a name that is asked for"
TAKES_PART = "a page of that person"
DAY = "the day asked for"
AFTERWARDS = "after the day asked for"
LATELY = "how lately it was said"
SUCCEEDS = "how near in meaning to the best place, and later"
ASKS = "a question itself"
PERSON = "said to an assistant"
PHRASE = "the query to the letter"
STATEMENT = "its meaning"

QUESTION: Final[Mapping[str, float]] = {
    WORDS: 0.75,
    NEAR: 0.6,
    AROUND: 4.0,
    SECTION: 0.6,
    TOLD: 2.5,
    OWN: 1.1,
    ABOVE: 1.8,
    TITLE: 8.0,
    DEPTH: -0.8,
    LINKED: 10.0,
    NAMED: 2.0,
    DAY: 4.0,
    ASKS: -1.3,
    PERSON: 3.0,
    PHRASE: 2.0,
    STATEMENT: 2.5,
}
"""For the places that answer a question, fitted by `python -m bench.fit` on all its sets together, and rounded."""
SAID_THEN = 0.5
"""The points of a place that was said on a day asked for but does not name it, which `index.line_dates` knows. They are
few: what was so in a month may have been said long before."""
SAID_LATELY = 0.55
"""The points of the place that was said last, of the best ones; the one said first has none. Whoever asks for no time
asks for what is so now. Who asks for what was so before gets them the other way round."""
SUCCEEDS_FIRST = 2.5
"""The points of a place that was said later than the best one and is as near to it in meaning as can be."""
SAID_AFTERWARDS = -1.5
"""The points of a place that was said after all days asked for and names none of them: it may tell what is so since."""
BELONGS: Final[Mapping[str, float]] = {
    WORDS: 5.0,
    NEAR: 2.0,
    BESIDE: 1.0,
    SECTION: 1.0,
    ABOVE: 1.0,
    NAMED: 2.0,
    TAKES_PART: 3.5,
    DAY: 6.0,
    PHRASE: 2.0,
}
"""For the places that a new text may belong to."""
