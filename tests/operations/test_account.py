"""The history names each sentence that a decision kept out of the tree or took out of it, with the reason."""

from __future__ import annotations

from memory_v2.memory import Memory
from tests.operations.scenes import call, calls, offline, scripted

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
