"""The weight of each signal by which places are ranked."""

from __future__ import annotations

from dataclasses import dataclass, replace

COMPARED = 40
"""How many of the best places are compared, to put the newest first of those that differ in a few words."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each sign, fitted and rounded; `docs/measured.md` says on what and how. A further sign gets a
    weight here, and points in `_points`."""

    own: float
    near: float
    wide: float = 0.0
    whole: float = 0.0
    told: float = 0.0
    context: float = 1.0
    phrase: float = 2.0
    named: float = 2.0
    named_near: float = 1.0
    takes_part: float = 3.5
    day: float = 6.0
    when: float = 2.5
    titled: float = 8.0
    deeper: float = -0.8
    """For each step below the root at which the title asked for stands: of several, the one above the most is meant."""
    linked: float = 6.0
    """Of two places that answer together, the one that has the link says about what the other one is."""
    asks: float = 0.0
    person: float = 2.0
    """What somebody says to an assistant is about them; the long answers repeat it."""
    front_matter: float = -1.0
    """It says what its page is about, and is seldom an answer."""
    statement: float = 0.0
    text: float = 0.0
    """How near its nearest statement, and all that it says, are in meaning."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """How places are ranked: the weights of those in a conversation and of others, among how many of the best a fact
    may be told again in other words, how much it counts that a place has the words of the question that those before it
    do not have, and how much each place of the same day counts against it, after the first `_UNCROWDED`."""

    talk: Weights
    note: Weights
    told_again: int
    unsaid: float = 0.0
    crowded: float = 0.0


QUESTION = Weighing(
    # In conversations an answer shares words with the question before it; notes can be read on their own, below their
    # headings.
    talk=Weights(own=1.0, near=2.0, wide=5.0, whole=2.0, named=3.0, asks=-0.75),
    note=Weights(own=2.0, near=2.0, told=3.0, when=1.0),
    # All that did so in `bench.facts` were among the best three; further down, what looks like it is about something
    # else (`bench.notes`).
    told_again=5,
    # A question about several things is answered by several places. At 2 it hardly helps; at 6 it costs on LoCoMo.
    unsaid=4.0,
    crowded=0.6,  # from 0.5 to 1 it finds as much on LoCoMo
)
"""For the places that answer a question."""
_MEANT = Weights(
    own=0.5,
    near=0.0,
    context=0.0,
    named=2.25,
    named_near=0.0,
    takes_part=0.0,
    day=1.5,
    when=1.25,
    statement=3.5,
    text=3.5,
)
MEANING = Weighing(
    talk=replace(_MEANT, own=0.0, near=1.5, wide=2.5, whole=1.25, asks=-0.65, text=3.0),
    note=replace(_MEANT, told=2.5),
    told_again=0,
)
"""The same if meaning is compared too. These weights were chosen together on everyday notes, facts that change and
conversations, by a softmax over the candidates of each question; docs/measured.md has what is found."""
_PLAIN = Weights(
    own=5.0, near=2.0, wide=1.0, whole=1.0, asks=-0.75, titled=0.0, linked=0.0, person=0.0, front_matter=0.0
)
TEXT = Weighing(talk=replace(_PLAIN, own=1.0, wide=5.0, whole=0.5), note=_PLAIN, told_again=COMPARED)
"""For the places that a new text may belong to: what a line tells of a question's words says little about a text."""
