"""What is told in other words: what it lacks, what it negates, and what is kept."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.operations.guard import denied_by, missing_from
from memory_v2.text.kept import kept
from memory_v2.text.retelling import affirmed, denied, lost_words
from memory_v2.tree.block import parse_blocks

LOST = [
    ("The blue flowerpot stands on the balcony.", "The red flowerpot stands on the balcony.", "blue"),
    ("ada runs the nightly job on ollama.", "ada runs the nightly job.", "ollama"),
    ("The heater in the cellar is off.", "The heater in the cellar is on.", "off"),
    ("Deploys happen after the standup.", "Deploys happen before the standup.", "after"),
    ("The build takes less than five minutes.", "The build takes more than five minutes.", "less"),
    ("The left door sticks in winter.", "The right door sticks in winter.", "left"),
    ("Tea is bought by grace and linus.", "Tea is bought by grace.", "linus"),
    ("The plants are happy by the window.", "The plants are unhappy by the window.", "happy"),
    ("The gradle build is slow.", "The grade of the build is slow.", "gradle"),
    ("Der blaue Blumentopf steht auf dem Balkon.", "Der rote Blumentopf steht auf dem Balkon.", "blaue"),
    ("Die Heizung im keller ist kaputt.", "Die Heizung ist kaputt.", "keller"),
    ("Das dauert weniger als eine Stunde.", "Das dauert mehr als eine Stunde.", "weniger"),
    ("La maceta azul está en el balcón.", "La maceta roja está en el balcón.", "azul"),
    ("El servidor corre con ollama en casa.", "El servidor está en casa.", "ollama"),
    ("La copia se hace antes de la cena.", "La copia se hace después de la cena.", "antes"),
    ("Le pot bleu est sur le balcon.", "Le pot rouge est sur le balcon.", "bleu"),
    ("La sauvegarde tourne sur le vieux portable de la cave.", "La sauvegarde tourne sur le portable.", "vieux"),
    ("Il faut moins de sel dans la soupe.", "Il faut plus de sel dans la soupe.", "moins"),
    ("蓝色的花盆在阳台上。", "红色的花盆在阳台上。", "蓝"),
    ("青い植木鉢はベランダにある。", "赤い植木鉢はベランダにある。", "青"),
    ("古いノートはクラウドに保存した。", "古いノートは保存した。", "クラウド"),
]
KEPT = [
    ("The class is on a Thursday.", "The class: Thursdays."),
    ("Silica now runs on Python 3.12.", "- Silica uses Python 3.12 (before: 3.11)"),
    ("The tomatoes are planted in the greenhouse.", "Planting tomatoes: in the greenhouse"),
    ("The servers were connected within one week.", "Connecting the server: one week"),
    ("`last_updated` is set by the program.", "The program sets `last_updated`."),
    ("Die Tomaten werden mit Regenwasser gegossen.", "Tomaten: gegossen wird mit Regenwasser"),
    ("Die Sicherung läuft jetzt auf dem Server.", "Sicherung: auf dem Server"),
    ("Los tomates se plantan en mayo.", "Tomate: se planta en mayo"),
    ("Le serveur est utilisé pour la sauvegarde.", "Serveurs: sauvegardes"),
    ("花盆在阳台上。", "阳台上的花盆"),
]


@pytest.mark.parametrize(("text", "told", "lost"), LOST)
def test_a_word_that_says_something_is_missed(text: str, told: str, lost: str) -> None:
    assert lost in lost_words(text, told)
    assert missing_from(parse_blocks(text)[0], told)


@pytest.mark.parametrize(("text", "told"), KEPT)
def test_the_same_in_other_words_has_lost_nothing(text: str, told: str) -> None:
    assert lost_words(text, told) == []
    assert missing_from(parse_blocks(text)[0], told) == []


def test_what_stands_above_a_text_is_told_with_it() -> None:
    (block,) = parse_blocks("silica's tests run with pytest.")
    assert missing_from(block, "Tests run with pytest.") == ["silica"]
    assert missing_from(block, "Tests run with pytest.", "projects/silica") == []


def test_general_words_alone_do_not_say_what_another_text_says() -> None:
    (block,) = parse_blocks("It runs now.")
    assert missing_from(block, "The red flowerpot.") != []
    assert missing_from(block, "Now it runs.") == []


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


some_lines = st.lists(st.sampled_from("abcdefgh"), max_size=90)


@given(some_lines, some_lines)
def test_what_is_kept_is_equal_and_in_the_order_of_both(old: list[str], new: list[str]) -> None:
    pairs = kept(old, new)
    assert all(old[place] == new[new_place] for place, new_place in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


def test_all_is_kept_but_what_was_changed() -> None:
    old = [str(n) for n in range(1000)] + ["", "x"] * 500
    new = [*old[:10], "new", *old[10:500], *old[501:], "end"]
    assert len(kept(old, new)) == len(old) - 1
