"""Lines that list pages, and blocks that a rewritten page drops: each is accounted for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import ToolProblem
from memory_v2.memory import Memory
from memory_v2.models.base import Reply, ToolCall
from memory_v2.operations.guard import check_description, stale_values
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tools import dispatch
from memory_v2.tree.page import parse_page
from tests.operations.scenes import call, calls, offline, problems, scripted
from tests.operations.test_decided_again import meanwhile
from tests.properties.whole import clock

LINE = "Silica: deploys on Tuesdays, Python 3.11"
LASTING = "Silica: when it is deployed, and its Python"
NEW = "Silica deploys on Wednesdays since 2026-03-01.\n"


def silica(line: str = LINE, traces_in: Path | None = None) -> VolatileStorage:
    storage = VolatileStorage(clock, traces_in)
    storage.write("memory", f"# Memory\n\nNotes.\n\n## Links\n\n- [[silica]] - {line}\n".encode())
    storage.write("silica", b"# Silica\n\n- It deploys on Tuesdays.\n- It runs on Python 3.11.\n")
    return storage


def told(storage: VolatileStorage) -> Memory:
    return Memory(storage, now=clock)


def change(**how: Any) -> ToolCall:
    said: dict[str, Any] = {"text": "- Silica deploys on Wednesdays since 2026-03-01 (before: on Tuesdays)."}
    return call("replace", page="silica", blocks="2", reason="the day has changed", **(how or said))


DESCRIBE = call("describe", page="silica", description=LASTING)


def line_of(memory: Memory) -> str:
    return next(line for line in memory.read().splitlines() if line.startswith("- [[silica]]"))


def test_the_line_of_each_page_is_shown() -> None:
    memory, model = scripted(told(silica()), calls(call("place", blocks="n1", page="silica")))
    memory.write(NEW)
    assert f"listed on memory as: {LINE}" in model.sent[0].messages[0]


@pytest.mark.parametrize("how", [{}, {"new_blocks": "n1"}], ids=["own words", "to the letter"])
def test_a_replaced_value_in_the_line_is_told_once(how: dict[str, Any]) -> None:
    memory, model = scripted(told(silica()), calls(change(**how)), calls(DESCRIBE))
    result = memory.write(NEW)
    assert "tuesdays" in model.sent[1].messages[-1]
    assert "describe" in model.sent[1].messages[-1]
    assert (len(model.sent), result.decided_by) == (2, "scripted")
    assert LASTING in line_of(memory)


def test_a_removed_value_is_told_too() -> None:
    memory, model = scripted(
        told(silica()),
        calls(
            call("remove", page="silica", blocks="2", reason="taken back"), call("place", blocks="n1", page="memory")
        ),
        Reply("Done."),
    )
    memory.write("Forget the day of the deploys.\n")
    assert "silica is still listed with tuesdays" in model.sent[1].messages[-1]


@pytest.mark.parametrize(
    ("before", "after", "line", "stale"),
    [
        ("- It deploys on Tuesdays.", "- It deploys on Fridays (before: on Tuesdays).", "deploys on Tuesdays", True),
        ("- It deploys each Tuesday.", "- It deploys each Friday.", "deploys on Tuesdays", True),
        ("- Node 20 since 2025-01-10", "- Node 22 (before: Node 20 since 2025-01-10)", "runs on Node 20", True),
        ("- The port is `8080`.", "- The port is `9090`.", "listens on 8080", True),
        ("- Ask Dana.", "- Ask Tomasz, previously Dana.", "kept by Dana", True),
        ("- Sie wird von Dana gepflegt.", "- Sie wird von Tomasz gepflegt (before: Dana).", "gepflegt von Dana", True),
        ("- It runs in Porto (asked by Dana).", "- It runs in Oslo (asked by Dana; before: Porto).", "for Dana", False),
        ("- It deploys on Tuesdays.", "- It deploys on Tuesdays and Fridays.", "deploys on Tuesdays", False),
        ("- It deploys on Tuesdays.", "- It deploys on Fridays.", "when it is deployed", False),
        ("- The port is 80.", "- The port is 81.", "listens on 8080", False),
    ],
)
def test_a_value_is_stale_if_it_is_only_what_was_so_before(before: str, after: str, line: str, stale: bool) -> None:
    assert bool(stale_values(line, before, after, after)) == stale


def test_a_model_is_asked_again_if_somebody_else_has_described_the_page() -> None:
    storage = silica()

    def act() -> None:
        storage.write("memory", storage.read("memory").data.replace(LINE.encode(), b"Silica, by Dana"))

    memory, model = meanwhile(storage, act, calls(change(), DESCRIBE), calls(change()))
    memory.write(NEW)
    assert (len(model.sent), line_of(memory)) == (2, "- [[silica]] - Silica, by Dana")


def test_a_page_that_no_page_lists_has_no_description(tmp_path: Path) -> None:
    wrong = call("describe", page="memory", description="Notes about Silica")
    memory, _ = scripted(told(silica(traces_in=tmp_path)), calls(call("place", blocks="n1", page="silica"), wrong))
    result = memory.write(NEW)
    assert "no page lists memory" in problems(memory, result)[0]


def test_a_text_for_one_page_changes_only_its_own_line(tmp_path: Path) -> None:
    storage = silica(traces_in=tmp_path)
    storage.write("garden", b"# Garden\n\nTomatoes.\n")
    storage.write("memory", storage.read("memory").data + b"- [[garden]] - Tomatoes\n")
    other = call("describe", page="garden", description="Tomatoes of the garden")
    memory, _ = scripted(told(storage), calls(change(), DESCRIBE, other), Reply("Done."))
    result = memory.write(NEW, "silica")
    assert "goes to the page silica" in problems(memory, result)[0]
    assert LASTING in line_of(memory)
    assert "- [[garden]] - Tomatoes\n" in memory.read()


@pytest.mark.parametrize(
    "description",
    [
        "when and how it is deployed",
        "Silica: decisions, owners — and how it is deployed",
        "Deployment; who keeps Silica",
    ],
)
def test_a_description_may_use_lasting_words(description: str) -> None:
    assert check_description(description, ["Silica deploys on Tuesdays.", "silica"]) == description


@pytest.mark.parametrize("description", ["Sure, here you are", "Silica zqx3108w", "what a lovely afternoon it was"])
def test_a_description_that_is_not_about_the_page_is_refused(description: str) -> None:
    with pytest.raises(ToolProblem):
        check_description(description, ["Silica deploys on Tuesdays.", "silica"])


PAGE = '# Pots\n\nThe red pot stands\non the "old" balcony.\n\nThe blue pot costs 5 euros.\n'


def why(memory: Memory) -> list[str]:
    """The reasons that the newest revision gives."""
    return list(next(iter(memory.storage.history.revisions())).why)


def stored() -> Memory:
    memory = offline()
    memory.write(PAGE, mode="replace")
    return memory


def test_a_block_that_was_taken_out_is_named_to_the_letter_with_the_reason() -> None:
    remove = call("remove", page="memory", blocks=2, reason='it broke: "all of it"')
    memory, _ = scripted(stored(), calls(call("place", blocks="n1", page="memory"), remove))
    memory.write("The red pot broke.")
    named = (
        r'block 2 of memory was taken out, "The red pot stands on the \"old\" balcony.", because: it broke: "all of it"'
    )
    assert named in why(memory)


def test_each_block_that_a_rewritten_page_drops_is_named() -> None:
    dropped = [{"blocks": "2-3", "reason": "both were sold"}]
    rewrite = call("rewrite_page", page="memory", text="# Pots\n\nBoth pots were sold.", dropped=dropped)
    memory, _ = scripted(stored(), calls(rewrite))
    memory.write("Both pots were sold.")
    taken_out = [one for one in why(memory) if "taken out" in one]
    assert [one.partition(" was")[0] for one in taken_out] == ["block 2 of memory", "block 3 of memory"]
    assert '"The blue pot costs 5 euros."' in taken_out[1]


def test_what_is_nothing_new_is_named_by_its_lines_and_by_what_says_it_already() -> None:
    known = call("nothing_new", blocks="n2", said_in=[{"page": "memory", "blocks": "2-3"}])
    memory, _ = scripted(stored(), calls(call("place", blocks="n1", page="memory"), known))
    memory.write("A new pot.\n\n\nThe pot that is blue\ncosts 5 euros.\n")
    by = r'by blocks 2-3 of memory, "The red pot stands on the \"old\" balcony. The blue pot costs 5 euros."'
    assert f"said already: n2 (lines 4-5), {by}" in why(memory)


def test_what_is_told_in_other_words_is_named_by_its_lines() -> None:
    insert = call("insert", page="memory", after=3, text="Cost of the green pot: 7 euros.")
    memory, _ = scripted(stored(), calls(insert))
    memory.write("\nThe green pot costs 7 euros.\n")
    assert why(memory)[0].endswith(": n1 (line 2)")


def test_a_rewritten_page_keeps_its_title_at_the_top() -> None:
    text = 'The red pot stands\non the "old" balcony.\n\n# Pots\n\nThe blue pot costs 5 euros.\n\nBoth pots were sold.'
    memory, _ = scripted(stored(), calls(call("rewrite_page", page="memory", text=text)))
    memory.write("Both pots were sold.")
    assert memory.read().startswith("# Pots\n")


def test_a_rewritten_page_may_drop_its_title_for_a_new_one() -> None:
    dropped = [{"blocks": "1-3", "reason": "they were vases"}]
    memory, _ = scripted(
        stored(), calls(call("rewrite_page", page="memory", text="# Vases\n\nNo vase is left.", dropped=dropped))
    )
    memory.write("# Vases\n\nNo vase is left.")
    assert memory.read().startswith("# Vases\n\nNo vase is left.\n")
    assert "block 1 of memory" in "".join(why(memory))


SAID, CHANGED = "Priya Nair is our SRE.", "Priya Nair has left Tidewater."


def by_hand(memory: Memory) -> None:
    stored = memory.storage.read("people")
    memory.storage.write("people", stored.data.replace(SAID.encode(), CHANGED.encode()))


def by_hand_then_listed(memory: Memory) -> None:
    by_hand(memory)
    memory.list_files()


def by_model(memory: Memory) -> None:
    other, _ = scripted(memory, calls(call("replace", page="people", blocks=[2], new_blocks=[1], reason="she left")))
    assert not other.write(CHANGED, "people").degraded


def by_undo_and_redo(memory: Memory) -> None:
    memory.write(CHANGED, "people", "replace")
    memory.undo()
    memory.undo(memory.history()[0].id)


def by_merge(memory: Memory) -> None:
    memory.write(f"# People\n\n{CHANGED}", "people/priya")
    memory.write("Nobody is listed here.", "people", "replace")
    memory.merge("people/priya")


WAYS: dict[str, Callable[[Memory], object]] = {
    "replace_text": lambda memory: memory.replace_text("people", SAID, CHANGED),
    "write replace": lambda memory: memory.write(CHANGED, "people", "replace"),
    "tool replace": lambda memory: dispatch(
        memory, "replace_in_memory", {"path": "people", "old": SAID, "new": CHANGED}
    ),
    "tool write": lambda memory: dispatch(
        memory, "write_memory", {"path": "people", "content": CHANGED, "mode": "replace"}
    ),
    "edit": lambda memory: memory.edit("people", memory.read("people").replace(SAID, CHANGED), memory.read("people")),
    "a model": by_model,
    "by hand": by_hand,
    "undo and redo": by_undo_and_redo,
    "merge": by_merge,
    "by hand, then listed": by_hand_then_listed,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_line_changes_with_what_it_quotes(way: str, tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory")
    memory.write("The harbour opens at six.")
    memory.write(SAID, "people")
    assert line(memory) == SAID
    WAYS[way](memory)
    memory.search("Priya")  # whoever looks next
    assert "SRE" not in memory.read("memory")
    assert "SRE" not in memory.context().text
    assert memory.check() == []


def line(memory: Memory, path: str = "people") -> str:
    listed = parse_page("memory", memory.read("memory")).children
    return next(child.description for child in listed if child.target == path)


def test_one_undo_takes_back_an_edit_by_hand_and_the_line_that_followed_it(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory")
    memory.write("The harbour opens at six.")
    memory.write(SAID, "people")
    before = memory.read("memory"), memory.read("people")
    by_hand(memory)
    assert memory.search("Priya")
    assert line(memory) == CHANGED
    memory.undo()
    assert (memory.read("memory"), memory.read("people")) == before
    memory.undo()  # the write before it
    assert "people" not in {page.path for page in memory.list_files()}


def test_a_line_in_words_of_its_own_stays() -> None:
    memory = offline()
    memory.write(SAID, "people")
    root = memory.storage.read("memory").data.replace(SAID.encode(), b"who works here, and as what")
    memory.storage.write("memory", root)
    memory.write(CHANGED, "people", "replace")
    assert line(memory) == "who works here, and as what"


def test_a_line_stays_while_what_it_quotes_stays() -> None:
    memory = offline()
    memory.write(f"{SAID}\n\nThe office is in Oslo.", "people")
    memory.replace_text("people", "Oslo", "Bergen")
    assert line(memory) == SAID


def test_a_line_that_quotes_what_its_page_said_once_is_found_and_mended() -> None:
    memory = offline()
    memory.write(SAID, "people")
    memory.write(CHANGED, "people", "replace")
    root = memory.storage.read("memory").data.replace(CHANGED.encode(), SAID.encode())
    memory.storage.write("memory", root)  # as a merge of two machines may leave it
    [finding] = memory.check()
    assert (finding.kind, finding.path, finding.severity) == ("outdated-line", "memory", "notice")
    assert SAID.rstrip(".") in finding.message
    assert memory.checkup(apply=True).findings == ()
    assert "has left" in line(memory)


def test_text_that_a_split_moves_below_its_page_is_still_said_there() -> None:
    memory = offline(threshold=2_048)
    memory.write(SAID, "people")
    memory.write(
        "\n\n".join(f"## Team {n}\n\n" + f"Team {n} looks after harbour number {n}. " * 9 for n in range(9)), "people"
    )
    assert memory.check() == []


TOLD = (
    "Biscuit the cat eats fish.",
    "The vet of Biscuit is in Mill Row.",
    "Rent is due on the 3rd.",
    "The vet closes at six.",
)


def at_home() -> Memory:
    memory = offline()
    for text in TOLD:
        memory.write(text, "home")
    return memory


def test_the_line_of_a_page_that_has_grown_names_what_it_holds() -> None:
    told = line(at_home(), "home")
    assert told.startswith("Biscuit; ")
    assert {"vet", "Rent"} <= {*told.split("; ")}
    assert "3" not in told


def test_the_line_of_a_page_has_no_words_of_the_program() -> None:
    memory = offline()
    for text in TOLD:
        memory.write(text, "home", date="2026-01-05")
        memory.write(f"{text} So Ada says.", "home", date="2026-01-06")
    assert "block" in memory.read("home")
    assert not {"block", "Said"} & {*line(memory, "home").split("; ")}


def test_the_line_of_a_page_changes_no_oftener_than_the_page_doubles() -> None:
    memory = at_home()
    before = len(memory.history("memory"))
    for number in range(28):
        memory.write(f"Shelf {number} holds jars of the {number}th year.", "home")
    assert len(memory.history("memory")) - before <= 3
    assert memory.check() == []


def test_a_line_names_nothing_that_has_left_its_page() -> None:
    memory = at_home()
    for text in TOLD[:2]:
        memory.replace_text("home", text, "")
    assert "Biscuit" not in line(memory, "home")


def test_a_write_is_undone_although_lines_of_other_pages_have_changed_since() -> None:
    memory = at_home()
    before = memory.read("home")
    texts = [f"Crane {number} lifts {number} tons." for number in range(5)]
    written = memory.write("The harbour of Porto has a jetty.\n\n" + "\n\n".join(texts), "home")
    assert "Crane" in line(memory, "home")
    memory.write("Ines pays the boat.", "people")
    memory.undo(written.revision)
    assert memory.read("home") == before
    assert "Crane" not in line(memory, "home")
    assert line(memory) == "Ines pays the boat."
    assert memory.check() == []


def test_a_line_does_not_go_on_quoting_a_statement_that_a_newer_one_supersedes() -> None:
    memory = offline()
    memory.write("Tidewater meets at 9:30 in the Harbour room, with video.", "team")
    memory.write("Tidewater meets at 10:00 now, in the Harbour room, with video.", "team")
    assert "9:30" not in line(memory, "team")


def test_a_line_follows_the_newest_statement_that_says_that_the_opening_has_changed() -> None:
    memory = offline()
    memory.write("Tollgate's staging listens on port 8443.", "projects/tollgate")
    memory.write("Since 1 November Tollgate's staging listens on port 9443 instead of 8443.", "projects/tollgate")
    assert "9443" in line(memory, "projects/tollgate")
    for number in range(9):
        memory.write(f"Crane {number} was moved to pier {number}.", "projects/tollgate")
    assert "8443." not in line(memory, "projects/tollgate")


def test_the_line_that_is_the_opening_of_its_page_follows_it() -> None:
    memory = offline()
    address = "Her address: 14 Rue des Tilleuls, 69004 Lyon, third floor."
    memory.write(f"Corinne is my sister. {address}", "people/corinne")
    memory.replace_text("people/corinne", address, "Her address: 5 Quai des Brumes. Her former address" + address[11:])
    assert "5 Quai des Brumes" in line(memory, "people/corinne")


def test_an_undo_takes_a_link_away_although_another_line_of_that_page_has_changed_since() -> None:
    memory = offline()
    memory.write("Faro is on the sea.", "faro")
    made = memory.create("porto", "Porto is on the Douro.").revision
    memory.replace_text("faro", "on the sea", "south, on the sea")
    memory.undo(made)
    assert "[[porto]]" not in memory.read()
    assert "south" in line(memory, "faro")
    assert memory.check() == []


def test_an_undo_that_takes_a_link_away_lets_the_lines_follow_what_it_puts_back() -> None:
    memory = offline()
    memory.create("porto", "Porto is on the Douro.")
    memory.write("Faro is on the sea, unlike [[porto]].", "faro")
    memory.write("Lisbon is on the Tagus.", "lisbon")
    renamed = memory.rename("porto", "oporto").revision
    assert "unlike oporto" in line(memory, "faro")
    memory.replace_text("lisbon", "on the Tagus", "hilly, on the Tagus")
    memory.undo(renamed)
    assert "unlike porto" in line(memory, "faro") and "hilly" in line(memory, "lisbon")
    assert "[[oporto]]" not in memory.read() and memory.check() == []
