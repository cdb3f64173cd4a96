"""Words, their lists, and sentences."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memory_v2
from memory_v2.text.lists import fillers, read_words, stopwords
from memory_v2.text.speakers import speaker, speakers
from memory_v2.text.words import clauses, content_words, has_cjk, is_latin, normal, sentences, stem, words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
# What markup is made of, close together: where taking one mark off bares the next.
MARKUP = st.text(st.sampled_from("ab1 \n*_`#>-+.),:![]x。\u0301'"), max_size=40)


def test_a_text_with_emoji_or_lost_bytes_is_latin_and_one_with_other_letters_is_not() -> None:
    assert is_latin("Thanks 👍🏽 ❤️, see 🏴 \ufeff\ufffd")
    assert not any(map(is_latin, "λДא好かก가\u0301"))


@given(ANY_TEXT | MARKUP)
def test_nothing_that_is_text_makes_any_of_these_fail(text: str) -> None:
    content_words(text)
    has_cjk(text)
    speaker(text)
    speakers(text.splitlines())


@given(ANY_TEXT)
def test_words_are_folded_and_in_nfc(text: str) -> None:
    for word in words(text):
        assert word
        assert not any(c.isspace() for c in word)
        assert word == unicodedata.normalize("NFC", unicodedata.normalize("NFD", word).casefold())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop", ["dont", "stop"]),
        ("Caroline's she'll I'd o’clock", ["caroline", "she", "i", "oclock"]),
        ("l’homme qu'il aujourd'hui", ["l", "homme", "qu", "il", "aujourdhui"]),
        ("snake_case node.js C++ and C# at v0.1.0", ["snake_case", "node.js", "c++", "and", "c#", "at", "v0.1.0"]),
        ("Python 3.12, 10,240 bytes.", ["python", "3.12", "10240", "bytes"]),
        ("The end.Next one", ["the", "end", "next", "one"]),
        ("_so_ **bold** README.md", ["so", "bold", "readme.md"]),
        ("Straße ÉCOLE", ["strasse", "école"]),
        ("我喜欢Python语言", ["我喜", "喜欢", "python", "语言"]),
        ("日", ["日"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("서울 가다", ["서울", "가다"]),
        ("हिन्दी", ["हिन्दी"]),
    ],
)
def test_words_of_every_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_composed_and_decomposed_text_has_the_same_words() -> None:
    text = "Configuración façade 서울 が"
    assert words(unicodedata.normalize("NFD", text)) == words(text)


def test_plural_and_singular_meet() -> None:
    pairs = """projects project stories story movies movie caches cache boxes box classes class viruses virus
    heroes hero houses house sizes size databases database matches match kids kid aliases alias buses bus
    shoes shoe gases gas"""
    names = pairs.split()
    assert [(a, b) for a, b in zip(names[::2], names[1::2], strict=True) if stem(a) != stem(b)] == []
    assert stem("caroline's") == "caroline"
    assert stem("projects'") == "project"


@pytest.mark.parametrize("word", ["redis", "status", "class", "was", "node.js", "años", "naïves", "v2s", "gas", "lens"])
def test_what_is_no_plural_is_left_alone(word: str) -> None:
    assert stem(word) == word


@given(st.text("abcdefghijklmnopqrstuvwxyz'", max_size=12))
def test_stemming_settles_and_never_empties_a_word(word: str) -> None:
    assert bool(stem(word)) == bool(word.removesuffix("'").removesuffix("'s"))


def test_content_words_are_stems_without_function_words_in_five_languages() -> None:
    assert content_words("Which projects did we finish with the new tools?") == ["project", "finish", "new", "tool"]
    assert content_words("¿Dónde está la casa de los perros?") == ["casa", "perro"]
    assert content_words("Où est la maison que nous avons?") == ["maison", "avon"]
    assert content_words("Was ist das für ein Hund?") == ["hund"]
    assert content_words("O que você não sabe sobre isso?") == ["sabe"]


def test_a_function_word_that_means_something_in_another_language_is_kept() -> None:
    assert {"die", "war", "car", "son", "hat", "man", "comment", "pour", "mit", "dos"}.isdisjoint(stopwords())


def test_the_word_lists_are_words_as_they_are_tokenised() -> None:
    assert [word for word in stopwords() | fillers() if words(word) != [word]] == []
    assert [word for word in fillers() if stem(word) not in fillers()] == []
    assert not stopwords() & fillers()


@pytest.mark.parametrize(("text", "expected"), [("abc é ж ไทย", False), ("a 語", True), ("かな", True), ("한", True)])
def test_has_cjk(text: str, expected: bool) -> None:
    assert has_cjk(text) is expected


@given(ANY_TEXT | MARKUP)
def test_normal_of_normal_is_itself(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@pytest.mark.parametrize(
    "same",
    [
        "- **Silica** uses pytest.",
        "silica USES `pytest`",
        "> Silica\n  uses\tpytest!",
        "## _Silica_ uses pytest",
        "1. ***Silica*** uses pytest…",
        "- Silica uses\n- pytest;",
    ],
)
def test_marks_case_and_spacing_do_not_change_what_is_said(same: str) -> None:
    assert normal(same) == "silica uses pytest"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("- [ ] deploy", "- [x] deploy"),
        ("Silica uses pytest?", "Silica uses pytest."),
        ("snake_case", "snakecase"),
        ("2 * 3", "2 3"),
        ("2*3", "23"),
        ("2023. A year", "2024. A year"),
        ("C#", "C"),
        ("port -1", "port 1"),
    ],
)
def test_what_changes_the_meaning_is_kept(one: str, other: str) -> None:
    assert normal(one) != normal(other)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Ana: I went there yesterday.", "Ana"),
        ("- **Ana:** Did you see it?", "Ana"),
        ("**Ana**: You should come", "Ana"),
        ("- **[8 May 2023] Ana:** I ran", "Ana"),
        ("- [2026-02-03 14:02] Ana: hola, ¿qué tal?", "Ana"),
        ("2026-02-03 14:02 - Jean-Luc de Brie: on y va demain", "Jean-Luc de Brie"),
        ("12/03/2024, 14:05 - Dr. Silva: vamos ao parque amanhã.", "Dr. Silva"),
        ("1. O'Brien: I agree", "O'Brien"),
        ("user: fix the tests", "user"),
        ("assistant: Done.", "assistant"),
        ("Speaker 2: well", "Speaker 2"),
        ("@ana_92: hi there", "@ana_92"),
        ("小明：今天去了公园。", "小明"),
    ],
)
def test_a_turn_of_a_dialogue_has_a_speaker(line: str, name: str) -> None:
    assert speaker(line) == name


@pytest.mark.parametrize(
    "line",
    [
        "Note: this is important.",
        "TODO: fix the tests now",
        "Status: done",
        "Bot: @x",
        "http://example.com is up",
        "See https://example.com/a: it works",
        "**Style:** Formal",
        "- **Purpose:** Search all files with relevance ranking.",
        "**User:** Ana",
        "Mitigation: cache the results of the call",
        "name: foo bar baz",
        "URL: example.com is the one",
        "Posts: 4 of them so far",
        "Phase 2: I will do it",
        "状态：完成。",
        "C:\\Users\\ana",
        "10:30: stand-up",
        "Ana said: I went",
        "Ana:",
        "## Ana",
    ],
)
def test_a_key_and_its_value_have_none(line: str) -> None:
    assert speaker(line) is None


def test_the_speakers_of_a_dialogue_recur_and_speak() -> None:
    lines = ["# Session 1", "", "Ana: Hi!", "Bo: Hey, how are you?", "Ana: ok", "Bo: fine", "Ana: vale", "(they laugh)"]
    assert speakers(lines) == {"Ana": 3, "Bo": 2}


def test_a_log_of_keys_and_values_has_no_speakers() -> None:
    entry = ["**Task:** Fix the login", "**Outcome:** Deployed", "**Duration:** two hours", "**Gunas:** three of them"]
    assert speakers(entry * 5) == {}


def test_names_that_have_few_of_the_lines_make_no_dialogue() -> None:
    assert speakers(["Ana: Hi!", "Ana: Are you there?", *["The plan is to ship."] * 5]) == {}


def test_a_name_that_does_not_recur_is_no_speaker() -> None:
    assert speakers(["Ana: Hi!", "Ana: Are you there?", "Warning: I am hot!"]) == {"Ana": 2}


@given(ANY_TEXT)
def test_a_word_of_another_script_changes_none_of_the_words_before_it(text: str) -> None:
    assert words(f"{text}\n日") == [*words(text), "日"]


FILES = sorted(file for file in Path(memory_v2.__file__).parent.rglob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_word_list_says_what_it_is_for(file: Path) -> None:
    comment, _, _ = file.read_text("utf-8").partition("\n")
    assert comment.startswith("# ") and comment.endswith(".")
    assert read_words(file) and not any("#" in word for word in read_words(file))


def test_importing_the_package_and_reading_a_page_read_no_word_list() -> None:
    code = (
        "import sys, memory_v2\nopened = []\n"
        "sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == 'open' else None)\n"
        "import memory_v2.text.words, memory_v2.text.speakers, memory_v2.models.offline\n"
        "try:\n    memory_v2.Memory.open('/nowhere/at/all').read()\n"
        "except memory_v2.PageNotFound:\n    pass\n"
        "print('\\n'.join(name for name in opened if name.endswith('.txt')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@given(st.text(max_size=200))
def test_the_sentences_of_a_text_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


def test_a_sentence_ends_at_its_mark_at_a_blank_line_and_before_an_item() -> None:
    text = "Node 1.2 is “out.” It\nworks… Good!\n\nNext\n- one\n- two。三"
    assert [sentence.strip() for sentence in sentences(text)] == [
        *("Node 1.2 is “out.”", "It\nworks…", "Good!", "Next", "- one", "- two。", "三")
    ]


def test_clauses_end_at_commas_unless_told_otherwise() -> None:
    text = "Port: 80, not 443 (yet). Now – done"
    assert [clause.strip() for clause in clauses(text)] == ["Port", "80", "not 443", "yet", "Now", "done"]
    assert clauses(text, at_commas=False) == ["Port", "80, not 443 (yet)", "Now", "done"]
