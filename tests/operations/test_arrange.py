"""Pages that move, merge and go away: links and children follow, and no byte is lost."""

from __future__ import annotations

import pytest

from memory_v2.errors import InvalidPath, InvalidText, NotAllowed, PageExists, PageNotFound, StorageConflict
from memory_v2.memory import Memory
from tests.operations.scenes import SMALL, Crowded, body, call, calls, offline, scripted
from tests.properties.whole import faults, pages_of, stands


def family() -> Memory:
    """`a` with the children `a/b` and `a/c`; links to them in every form."""
    memory = offline()
    memory.write("# A\n\nThe text of a.\n", "a")
    memory.write("The text of b, see [[a#part|the part]].\n", "a/b")
    memory.write("The text of c.\n", "a/c")
    memory.write("See [[a]], [[A|words]], [[a.md]], [[a/b]], and `[[a]]`.\n\n```\n[[a]]\n```\n", "memory")
    assert faults(pages_of(memory.storage), 10_240) == []
    return memory


def still_whole(memory: Memory, threshold: int = 10_240) -> None:
    assert faults(pages_of(memory.storage), threshold) == []
    assert [finding for finding in memory.check() if finding.severity == "error"] == []


# rename


def test_links_follow_a_page_and_the_pages_below_it() -> None:
    memory = family()
    result = memory.rename("a", "people/ana")
    assert result.path == "people/ana"
    assert memory.storage.list_files() == ["memory", "people/ana", "people/ana/b", "people/ana/c"]
    assert body(memory).startswith(
        "# Memory\n\nSee [[people/ana]], [[people/ana|words]], [[people/ana]], [[people/ana/b]], and `[[a]]`."
    )
    assert "```\n[[a]]\n```" in memory.read()
    assert "[[people/ana#part|the part]]" in memory.read("people/ana/b")
    still_whole(memory)


@pytest.mark.parametrize("new", ["a/b/a", "a/a", "b", "A"])
def test_a_page_moves_into_its_own_folder_and_out_of_it_and_nothing_is_lost(new: str) -> None:
    memory = family()
    memory.rename("a", new)
    assert len(memory.storage.list_files()) == 4
    assert body(memory, new) == "# A\n\nThe text of a."
    assert "The text of b" in memory.read(f"{new}/b")
    assert body(memory, f"{new}/c").endswith("The text of c.")
    still_whole(memory)


def test_a_page_is_listed_by_the_nearest_page_above_its_new_path() -> None:
    memory = family()
    memory.write("The text of x.\n", "x")
    memory.rename("x", "a/b/x")
    assert memory.graph().breadcrumb("a/b/x") == ("memory", "a", "a/b", "a/b/x")
    assert "[[a/b/x]] - The text of x." in memory.read("a/b")
    assert memory.merge("a/b/x").path == "a/b"
    memory.rename("a/c", "people/c")
    assert memory.graph().breadcrumb("people/c") == ("memory", "people/c")
    memory.rename("a", "a/b/a")  # which its own child is above
    still_whole(memory)


def test_a_page_has_the_title_that_is_given_and_so_has_the_line_that_lists_it() -> None:
    memory = family()
    memory.write("- [[a]] and [[a/b]]\n", "a/c")
    memory.rename("a", "people/ana", "Ana")
    assert body(memory, "people/ana") == "# Ana\n\nThe text of a."
    assert "- [[people/ana]] - The text of a.\n" in memory.read()
    memory.rename("people/ana", "people/ana", "Ana of *Porto*")
    assert body(memory, "people/ana") == "# Ana of Porto\n\nThe text of a."
    memory.write("# Boats\n\nBoats are built of oak by the sister of Ada.\n")
    assert "- [[boats]] - Boats: Boats are built of oak by the sister of Ada\n" in memory.read()
    memory.rename("boats", "ships", "Ships")
    assert "- [[ships]] - Ships: Boats are built of oak by the sister of Ada\n" in memory.read()
    memory.write("---\ntitle: Tea\n---\n\nGreen.\n", "tea")
    memory.rename("tea", "tea", "Teas")
    assert body(memory, "tea") == "---\ntitle: Tea\n---\n\n# Teas\n\nGreen."
    still_whole(memory)
    for title in ("", " \n", "two\nlines", "**"):
        with pytest.raises(InvalidText):
            memory.rename("tea", "teas", title)
    assert body(memory, "tea").endswith("Green.")


def test_a_child_moves_into_the_place_of_no_other() -> None:
    memory = family()
    for new, error in [("a/c", PageExists), ("A/x", PageExists), ("memory", PageExists), ("../x", InvalidPath)]:
        with pytest.raises(error):
            memory.rename("a/b", new)
    with pytest.raises(NotAllowed):
        memory.rename("memory", "other")
    with pytest.raises(PageNotFound):
        memory.rename("ghost", "b")
    still_whole(memory)


def test_a_page_cannot_take_the_pages_below_it_where_no_path_may_be() -> None:
    memory = family()
    memory.write("deep", "a/b/c/d/e/f/g/h/i/j/k")
    before = memory.storage.list_files()
    with pytest.raises(InvalidPath):
        memory.rename("a", "x/y/z")
    assert memory.storage.list_files() == before


def test_renaming_a_page_to_its_own_name_changes_nothing() -> None:
    memory = family()
    before = memory.read()
    with pytest.raises(NotAllowed, match="has this name already"):
        memory.rename("a", "a")
    assert memory.read() == before


@pytest.mark.parametrize("new", ["target-with-a-much-longer-name", "t"])
def test_a_large_block_with_a_link_in_it_keeps_its_bytes(new: str) -> None:
    memory = offline(SMALL)
    memory.write("target text", "target")
    text = "word " * 150 + "see [[target]] and " + "word " * 1_200
    memory.write(text)
    memory.rename("target", new)
    still_whole(memory, SMALL)
    assert stands(memory, text.strip(" "))


def test_where_a_page_was_split_from_follows_its_new_name() -> None:
    memory = family()
    memory.rename("a", "x")
    assert "split_from: a\n" not in memory.read("x/b")


# pages that nobody has linked

LONE = {"with a root": b"# Memory\n\nText.\n", "without a root": None}


@pytest.mark.parametrize("root", LONE.values(), ids=LONE.keys())
@pytest.mark.parametrize("operation", ["rename", "split", "merge", "delete", "rename a page above", "rename its child"])
def test_what_no_page_links_to_is_arranged_like_any_other(root: bytes | None, operation: str) -> None:
    memory = offline(SMALL)
    storage = memory.storage
    if root:
        storage.write("memory", root)
    parts = "".join(f"## Part {n}\n\n{f'Carmen has fact {n}. ' * 25}\n\n" for n in range(3))
    storage.write("a/lone", f"# Lone\n\n{parts}\n## Links\n\n- [[a/lone/x]] - words\n".encode())
    storage.write("a/lone/x", b"# X\n\nThe text of x.\n")
    storage.write("a", b"# A\n\nThe text of a.\n")
    match operation:
        case "rename":
            assert memory.rename("a/lone", "b").path == "b"
        case "split":
            assert memory.split("a/lone").new_files
        case "merge":
            assert memory.merge("a/lone/x").path == "a/lone"
        case "delete":
            memory.delete("a/lone")
            assert not storage.exists("a/lone")
        case "rename a page above":
            assert memory.rename("a", "b").path == "b"
        case _:
            assert memory.rename("a/lone/x", "a/lone/y").path == "a/lone/y"
    if operation != "delete":
        assert stands(memory, "Carmen has fact 2.")
    assert stands(memory, "The text of x.")
    memory.checkup(apply=True)
    still_whole(memory, SMALL)


# merge


def test_crlf_and_odd_bytes_survive_a_merge() -> None:
    memory = offline()
    memory.write("Start.")
    data = b"# Odd\r\n\r\n\xff\xfe bytes\r\n- \xc3\xa9\x00 item  \r\n"
    memory.storage.write("odd", data)
    memory.checkup(apply=True)
    memory.merge("odd")
    assert data.rstrip() in memory.storage.read("memory").data
    still_whole(memory)


def test_what_would_be_too_large_together_stays_apart() -> None:
    memory = offline(SMALL)
    memory.write("word. " * 150)
    memory.write("text. " * 250, "a")
    before = memory.storage.list_files()
    with pytest.raises(NotAllowed, match="more than the 2,048"):
        memory.merge("a")
    assert memory.storage.list_files() == before


def test_neither_the_root_nor_a_part_nor_a_ghost_is_merged() -> None:
    memory = offline(SMALL)
    memory.write("word " * 1_200)
    part = next(path for path, page in pages_of(memory.storage).items() if page.piece is not None)
    for path, error in [("memory", NotAllowed), (part, NotAllowed), ("ghost", PageNotFound), ("../x", InvalidPath)]:
        with pytest.raises(error):
            memory.merge(path)


# delete


def test_pages_in_a_circle_can_be_deleted_one_by_one() -> None:
    memory = offline()
    memory.storage.write("memory", b"# M\n\n[[a]]\n")
    memory.storage.write("a", b"# A\n\n[[b]]\n")
    memory.storage.write("b", b"# B\n\n[[a]] [[memory]] [[c]]\n")
    memory.storage.write("c", b"# C\n")
    for path in ("a", "b", "c"):
        memory.delete(path)
        still_whole(memory)
    assert memory.storage.list_files() == ["memory"]


@pytest.mark.parametrize(("path", "error"), [("memory", NotAllowed), ("ghost", PageNotFound), ("../x", InvalidPath)])
def test_what_cannot_be_deleted_is_not(path: str, error: type[Exception]) -> None:
    memory = family()
    with pytest.raises(error):
        memory.delete(path)
    assert len(memory.storage.list_files()) == 4


def test_deleting_a_page_of_many_children_does_not_crowd_the_page_above() -> None:
    memory = offline()
    memory.write("Index.", "index")
    for n in range(60):
        memory.write(f"Facts about subject{n}.", f"index/subject{n}")
    memory.delete("index")
    still_whole(memory)


# others change the pages meanwhile


@pytest.mark.parametrize("rivals", [1, 4])
def test_what_others_write_meanwhile_is_kept(rivals: int) -> None:
    for operation in ("rename", "merge", "delete"):
        storage = Crowded(0)
        memory = offline(storage=storage)
        memory.write("The text of a.", "a")
        memory.write("See [[a]].")
        storage.rivals = rivals
        if operation == "rename":
            memory.rename("a", "b")
        elif operation == "merge":
            memory.merge("a")
        else:
            memory.delete("a")
        assert all(said in memory.read() for said in storage.said)
        assert len(storage.said) == rivals
        still_whole(memory)


def test_pages_that_are_never_still_are_an_error_and_nothing_is_changed() -> None:
    storage = Crowded(0)
    memory = offline(storage=storage)
    memory.write("The text of a.", "a")
    storage.rivals = 1_000
    with pytest.raises(StorageConflict):
        memory.rename("a", "b")
    assert memory.storage.list_files() == ["a", "memory"]


LINKED = "# Memory\n\nAsk [[alice|her]] and [[alice/bees]].\n\n" + 2 * ("The boats lie in the harbour. " * 30 + "\n\n")


def club() -> Memory:
    """A root that lists three pages, of which one has a page below it."""
    memory = offline()
    memory.write(LINKED, None, "replace")
    for path in ("alice", "alice/bees", "robert", "harbour"):
        memory.write(f"{path.title()} is a member of the club. See [[robert]].", path)
    return memory


def split(memory: Memory, name: str = "people", links: str = "L1-L2") -> Memory:
    """The memory after a model has moved these links, and the boats, to new pages."""
    people = {"name": name, "title": "Alice and Robert", "description": "Alice, Robert, members", "links": links}
    boats = {"name": "boats", "title": "Boats", "description": "The boats lie in the harbour", "blocks": "3-4"}
    reply = calls(call("split_page", strategy="topic", children=[people, boats]))
    memory, _ = scripted(memory, reply, threshold=SMALL)
    assert memory.split().decided_by == "scripted"
    return memory


def test_children_follow_their_new_parent_with_all_links_to_them() -> None:
    before = club()
    old = {path: page.data for path, page in pages_of(before.storage).items()}
    memory = split(before)
    pages = pages_of(memory.storage)
    assert {"people", "people/alice", "people/alice/bees", "people/robert", "harbour", "boats"} <= pages.keys()
    assert not {"alice", "alice/bees", "robert"} & pages.keys()
    assert "[[people/alice|her]]" in pages["memory"].body
    assert "[[people/alice/bees]]" in pages["memory"].body
    assert "[[people/robert]]" in pages["harbour"].body
    assert faults(pages, SMALL) == []
    assert memory.check() == []
    memory.undo()
    assert {path: page.data for path, page in pages_of(memory.storage).items()} == old


def test_a_child_keeps_its_path_where_the_new_one_is_taken() -> None:
    before = club()
    before.write("Alice of the people.", "people/alice")
    memory = split(before)
    assert {"alice", "people/alice", "people/robert"} <= pages_of(memory.storage).keys()
    assert memory.check() == []


def test_a_child_with_a_source_of_its_own_keeps_its_path() -> None:
    before = club()
    page = pages_of(before.storage)["robert"]
    before.storage.write("robert", page.text.replace("## Metadata\n\n", "## Metadata\n\nsource: robert.md\n").encode())
    memory = split(before)
    assert {"robert", "people/alice"} <= pages_of(memory.storage).keys()
    assert memory.check() == []


def test_a_child_in_the_folder_of_another_page_keeps_its_path() -> None:
    before = club()
    before.rename("robert", "staff/robert")
    memory = split(before)
    assert {"staff/robert", "people/alice"} <= pages_of(memory.storage).keys()
