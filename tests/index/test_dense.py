"""Search by meaning: which places are found, what is stored, and what becomes of it if something is missing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_v2 import InvalidSetting, Memory
from memory_v2.index.dense import chosen, installed
from memory_v2.index.dense.chosen import Dense
from memory_v2.index.dense.encoder import vocabulary, word_pieces
from memory_v2.index.dense.meaning import KnownVectors, key_of
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.store import FILE, Store
from memory_v2.progress import heard_by
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.words import words

if TYPE_CHECKING:
    from memory_v2.index.dense.encoder import Vectors

np = pytest.importorskip("numpy", reason="needs the extra dense")
pytest.importorskip("onnxruntime", reason="needs the extra dense")

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
    """An `Encoder` in which words of one sense have one vector."""

    name = "senses"
    dimensions = len(SENSES)

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, text: str, without: Collection[str] = ()) -> Vectors:
        self.encoded.append(text)
        said = [word for word in words(text) if word not in without]
        rows = [[127 * (word in sense) for sense in SENSES] for word in said if any(word in s for s in SENSES)]
        vectors: Vectors = np.array(rows, np.int8).reshape(-1, self.dimensions)
        return vectors


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
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chosen, "missing", lambda: ["onnxruntime"])


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


def test_in_a_conversation_a_turn_is_found_by_the_turns_around_it() -> None:
    talk = (
        "# Talk\n\n- Ann: Hey Bob! How have you been?\n- Bob: I was ill, but I am well now.\n"
        "- Ann: Are you alone at home?\n- Bob: I have the cats.\n- Ann: Oh, how many?\n- Bob: Three of them.\n"
        "- Ann: A trio!\n- Bob: My guitar needs new strings.\n- Ann: I know a shop for those.\n"
    )
    index = FullTextIndex(storage_of({"memory": talk}), None, dense=Dense(Senses()))
    assert [hit.text for hit in index.recall("pets", 2)] == ["- Bob: I have the cats.", "- Ann: Oh, how many?"]


def test_a_question_in_a_script_that_the_model_does_not_know_goes_by_words(
    index: FullTextIndex, senses: Senses
) -> None:
    assert index.recall("Кто подписывает релиз, Boris?") == index.search("Кто подписывает релиз, Boris?")
    assert not senses.encoded


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


def test_erasing_the_index_leaves_no_vector(index: FullTextIndex, senses: Senses, tmp_path: Path) -> None:
    index.recall("pets")
    assert known(tmp_path, senses.name, key_of("- The deploy runs on Fridays."))
    index.erase(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as tables:
        assert tables.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
    assert first(index, "pets") == "- Anna keeps two cats and a parrot."


def known(folder: Path, made_by: str, key: int) -> dict[int, bytes]:
    store = Store(folder)
    with store.reading() as tables:
        return KnownVectors(store, made_by).get(tables, [key])


def test_vectors_of_another_encoder_are_not_used(tmp_path: Path) -> None:
    KnownVectors(Store(tmp_path), "one").put({1: b"x"})
    assert known(tmp_path, "one", 1) == {1: b"x"}
    assert known(tmp_path, "another", 1) == {}


@pytest.mark.usefixtures("nothing_installed")
def test_without_the_extra_words_answer_and_the_result_says_what_to_install(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, dense=True)
    memory.write("The deploy runs on Fridays.")
    results = memory.search("When does the deploy run?")
    assert (results.answered, results[0].excerpt) == (True, "The deploy runs on Fridays.")
    assert "onnxruntime" in results.degraded and installed.HOW in results.degraded


def test_a_search_by_meaning_is_replayed_by_meaning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(chosen, "missing", list)
    monkeypatch.setattr("memory_v2.index.dense.encoder.load_encoder", Senses)
    memory = Memory.open(tmp_path, dense=True)
    memory.write(PAGES["memory"])
    assert "parrot" in memory.search("Which pets does she have?")[0].excerpt
    assert memory.replay().agrees
    assert Memory.open(tmp_path).replay().agrees


def test_nothing_of_it_is_loaded_unless_it_is_chosen(tmp_path: Path) -> None:
    Memory.open(tmp_path).write("The deploy runs on Fridays.")
    run = (
        "import sys; from memory_v2 import Memory\n"
        f"Memory.open({str(tmp_path)!r}).search('deploy')\nprint(sys.modules.keys() & {{'numpy', 'onnxruntime'}})"
    )
    assert subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_the_setting_is_on_or_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SILICA_MEMORY_DENSE", "perhaps")
    with pytest.raises(InvalidSetting, match="SILICA_MEMORY_DENSE must be on or off"):
        Memory.open(tmp_path)


def test_pieces_are_those_of_bert() -> None:
    known = list(vocabulary())
    pieces = [known[number] for number in word_pieces("Zürich's naïve tokenization, 東京 (v2.0)\ufffd\u0301!")]
    assert " ".join(pieces) == "zurich ' s naive token ##ization , 東 京 ( v ##2 . 0 ) !"
    assert word_pieces("a" * 101 + " ☃") == [vocabulary()["[UNK]"]] * 2


class TestTheModel:
    """With the package that carries it; skipped where the extra is not installed."""

    @pytest.fixture(autouse=True)
    def is_installed(self) -> None:
        if missing := installed.missing():
            pytest.skip(f"{', '.join(missing)} is not installed")

    def test_it_answers_a_question_in_other_words(self) -> None:
        index = FullTextIndex(storage_of(PAGES), None, dense=Dense())
        assert first(index, "Which pets does she have?") == "- Anna keeps two cats and a parrot."
        assert first(index, "When do we ship to production?") == "- The deploy runs on Fridays."

    def test_a_text_has_the_same_vectors_every_time(self) -> None:
        from memory_v2.index.dense.encoder import load_encoder

        encoder = load_encoder()
        one, other = (encoder.encode("Anna keeps two cats and a parrot.") for _ in range(2))
        assert (one == other).all() and one.shape == (5, encoder.dimensions)
        assert len(encoder.encode("Anna keeps two cats.", {"anna"})) == 3
        assert len(encoder.encode("")) == len(encoder.encode("?!")) == 0

    def test_another_file_is_refused(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        from memory_v2.index.dense import encoder

        (tmp_path / "model.onnx").write_bytes(b"another model")
        monkeypatch.setattr(encoder, "model_file", lambda: tmp_path / "model.onnx")
        encoder.load_encoder.cache_clear()
        dense = Dense()
        assert dense.meaning(Store(None)) is None and "SHA-256" in dense.problem
        encoder.load_encoder.cache_clear()
