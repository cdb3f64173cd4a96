"""What is told again as its opposite is found out, in five languages; what is told again in other words is not."""

from __future__ import annotations

import pytest

from memory_v2.operations.guard import denied_by, missing_from
from memory_v2.text.negation import affirmed, denied
from memory_v2.tree.block import parse_blocks

OPPOSITES = [
    ("The kettle is not blue.", "The kettle is blue. The pot does not leak."),
    ("Bruno never lends the boat to Zoë.", "Bruno lends the boat to Zoë; it was never painted."),
    ("Die Uhr gehört nicht Anna.", "Die Uhr gehört Anna. Die Vase gehört nicht Bruno."),
    ("El barco está en Cádiz, no lo toques.", "- El barco está en Cádiz, lo toques.\n- No es azul."),
    ("Le bateau n'est jamais à quai.", "Le bateau est à quai. Paul ne fume pas."),
    ("花盆不在阳台上。", "花盆在阳台上。水壶不是红色的。"),
]
RETOLD = [
    ("The kettle is not blue.", "Colour of the kettle: not blue, but red."),
    ("Silica uses ruff since 2026.", "Silica uses ruff since 2026, no longer flake8."),
    ("The port is 80.", "The port is 80 (not 8080)."),
    ("The kettle is blue.", "- The pot is not blue.\n- The kettle is blue."),
    ("The kettle is\nnot blue.", "The kettle is not\nblue."),
    ("Nobody has the key.", "The key: nobody has it."),
    ("Completely different.", "There is nothing here."),
    ("Die Uhr gehört nicht Anna.", "Anna gehört die Uhr nicht."),
]


@pytest.mark.parametrize(("negated", "told"), OPPOSITES)
def test_a_not_that_is_left_out_is_missed_although_something_else_is_negated(negated: str, told: str) -> None:
    assert affirmed(negated, told)
    assert missing_from(parse_blocks(negated)[0], told)


@pytest.mark.parametrize(("negated", "told"), OPPOSITES)
def test_a_text_is_not_said_by_its_opposite(negated: str, told: str) -> None:
    plain = told.removeprefix("- ").partition(".")[0].partition(";")[0].partition("。")[0]
    assert denied(plain, negated)
    assert denied_by(parse_blocks(plain)[0], negated)


@pytest.mark.parametrize(("text", "told"), RETOLD)
def test_what_is_told_in_other_words_is_neither_affirmed_nor_denied(text: str, told: str) -> None:
    assert (affirmed(text, told), denied(text, told)) == ([], [])
