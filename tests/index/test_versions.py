"""Of a fact that was told again in other words, the newest comes first, and the older one stays."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import count

import pytest

from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.volatile import VolatileStorage

AROUND = ["The kettle is in the kitchen.", "Die Pflanzen brauchen Wasser.", "下雨了要带伞。", "El tren sale tarde."]


def found(lines: list[str], query: str, *, is_dated: bool = True) -> list[str]:
    """The lines that are found, each said on the day after the one before it."""
    return [hit.text.removeprefix("- ") for hit in hits_of(lines, query, is_dated=is_dated)]


def hits_of(lines: list[str], query: str, *, is_dated: bool = True) -> list[Hit]:
    storage, days = VolatileStorage(), (date(2026, 3, 1) + timedelta(days=day) for day in count())
    said = [
        f"## {day}\n\n- {line}\n" if is_dated else f"- {line}"
        for line, day in zip([*AROUND, *lines], days, strict=False)
    ]
    storage.write("memory", "\n".join(["# Memory\n", *said, ""]).encode())
    return FullTextIndex(storage, None).search(query)


def test_a_number_behind_a_dash_is_part_of_what_is_asked_for() -> None:
    limit = "The rate limit was raised to 250 (PROJ-1140)."
    assert found([limit, "Python was upgraded from 3.12 to 3.13 (PROJ-1125)."], "PROJ-1140")[0] == limit


def test_an_older_version_is_marked_as_earlier() -> None:
    lines = ["Gerda lives in Kassel.", "Gerda has moved to Bonn.", "Gerda sings in Kassel."]
    hits = hits_of(lines, "Where does Gerda live?")
    assert {hit.text.removeprefix("- "): hit.earlier for hit in hits} == dict(
        zip(lines, (True, False, False), strict=True)
    )
    assert not any(hit.earlier for hit in hits_of(lines, "Where did Gerda live before?"))


def test_in_a_large_memory_a_version_has_half_of_what_the_first_line_has() -> None:
    provider, mail = (
        "The payment provider of the shop is Adyen.",
        "Postmark was replaced as the provider of mails by Resend.",
    )
    others = [f"Shelf {number} has {word}." for number, word in enumerate(["books", "tools", "paint", "seeds"] * 25)]
    assert found([provider, mail, *others], "Which payment provider does the shop use?")[0] == provider


@pytest.mark.parametrize(
    ("old", "new", "query"),
    [
        (
            "The book group reads Middlemarch.",
            "The book group dropped it and picked Stoner.",
            "What does the book group read?",
        ),
        (
            "Pelican's upload limit is 20 MB.",
            "Pelican takes uploads of 75 MB now.",
            "What is the upload limit of Pelican?",
        ),
        ("Our dentist is Dr. Okafor.", "The new dentist is Dr. Brandt.", "Who is our dentist?"),
        (
            "The landlord is Mr. Petrov, phone 555-0134.",
            "House sold; landlord Ms. Lind, phone 555-0188.",
            "phone of the landlord?",
        ),
        ("Tante Gerda wohnt in Kassel.", "Tante Gerda ist nach Göttingen gezogen.", "Wo wohnt Tante Gerda?"),
        (
            "El autobús para en la calle Olmo.",
            "El autobús ya no para en Olmo, sino en Norte.",
            "¿Dónde para el autobús?",
        ),
        ("La chorale répète le mercredi.", "Désormais la chorale répète le jeudi.", "Quel jour répète la chorale ?"),
        ("O médico da família é o Dr. Teles.", "A família mudou para a Dra. Figueira.", "Quem é o médico da família?"),
        ("海鸥项目的负责人是王芳。", "海鸥项目现在由李强负责。", "海鸥项目的负责人是谁？"),
        ("奶奶住在杭州。", "奶奶已经搬到苏州了。", "奶奶住在哪里？"),
    ],
)
def test_what_a_fact_has_become_comes_before_the_fact(old: str, new: str, query: str) -> None:
    assert found([old, new], query)[:2] == [new, old]


@pytest.mark.parametrize(
    "query", ["Where did Gerda live before?", "Where did Gerda use to live? Where did she live previously?"]
)
def test_a_question_for_what_was_so_before_is_answered_by_its_words(query: str) -> None:
    lines = ["Gerda lives in Kassel.", "Gerda has moved to Bonn."]
    assert found(lines, query) == lines
    assert found(lines, "Where does Gerda live?") == lines[::-1]


@pytest.mark.parametrize(
    ("lines", "query"),
    [
        (["Silica is tested with pytest.", "Quipu is tested with unittest since May."], "How is Silica tested?"),
        (["Error 4012 means that a token expired.", "Error 4013 is logged since May."], "What does error 4012 mean?"),
        (
            ["Lunch is at noon in the Berlin office.", "Lunch moved to two in Madrid's office."],
            "When is lunch in the Berlin office?",
        ),
        (["Pelican takes uploads of 20 MB.", "Pelican uploads have a new look."], "Which uploads does Pelican take?"),
        (
            ["Flights to Oslo are booked, confirmation code QX7PLM.", "Moved to 8 Carmo Street. Door code 4417."],
            "flight confirmation code",
        ),
        (
            ["Tern listens on port 5433.", f"Port list of the Tern boxes: {' '.join(map(str, range(7400, 7420)))}"],
            "Which port does Tern have?",
        ),
    ],
)
def test_news_about_something_else_comes_after_the_answer(lines: list[str], query: str) -> None:
    assert found(lines, query)[: len(lines)] == lines


def test_what_is_true_at_once_is_all_found() -> None:
    lines = [
        f"{name} plays the {thing} in the Corvid orchestra." for name, thing in (("Ada", "flute"), ("Ben", "horn"))
    ]
    lines.append("Cleo now plays the harp in the Corvid orchestra.")
    assert set(found(lines, "Who plays in the Corvid orchestra?")) >= set(lines)
    assert found(lines, "What does Ada play in the Corvid orchestra?")[0] == lines[0]


def test_in_a_conversation_nothing_is_taken_for_a_version() -> None:
    lines = [
        "Ann: I live in Kassel, in the old house.",
        "Bob: Is it a nice house?",
        "Ann: We moved house, you live and learn.",
        "Bob: Oh!",
    ]
    assert found(lines, "Who lives in an old house in Kassel?", is_dated=False)[0] == lines[0]


def test_a_place_far_down_is_no_version_of_the_first() -> None:
    near = [f"The cache of the quizzes is kept by server {n}." for n in ("one", "two", "three", "four")]
    lines = ["The cache keeps quizzes for 30 days.", *near, "Quizzes: loading was changed, with 8 seconds to wait."]
    assert found(lines, "How long are quizzes kept in the cache?")[0] != lines[-1]
