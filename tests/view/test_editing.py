"""Editing a page in place, undoing and restoring: nothing is lost, whatever happens in between."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2 import Memory
from memory_v2.view.pages import restored, version

from .conftest import Page

LINES = st.lists(
    st.tuples(st.text(st.characters(blacklist_characters="\r\n"), max_size=12), st.sampled_from(["\n", "\r\n", "\r"])),
    max_size=12,
)


def submitted(text: str) -> str:
    """What a browser makes of a text in a form."""
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "\ufffd")
    return shown.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


@given(LINES, st.text(st.characters(blacklist_characters="\r\n"), max_size=5))
def test_what_was_not_edited_is_stored_to_the_byte(lines: list[tuple[str, str]], last: str) -> None:
    text = "".join(line + end for line, end in lines) + last
    if "\udc80" <= max(text, default="") <= "\udcff":
        return
    assert restored(text, submitted(text)) == text


def test_bytes_that_are_not_utf8_stay_where_a_line_was_not_edited() -> None:
    stored = "caf\udce9\r\nold\nlast"
    assert restored(stored, submitted(stored).replace("old", "new")) == "caf\udce9\r\nnew\nlast"


def form_of(page: Page, path: str) -> dict[str, str]:
    """The form that edits a page, as a browser has it."""
    shown = page.text(f"/edit/{path}")
    (given_version,) = re.findall(r'name="version" value="(\w*)"', shown)
    (text,) = re.findall(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', shown, re.S)
    return {"version": given_version, "text": html.unescape(text).replace("\n", "\r\n")}


def test_a_page_is_edited_in_place(page: Page) -> None:
    form = form_of(page, "people")
    form["text"] = form["text"].replace("Ada keeps", "Ada and Grace keep")
    answer = page.ask("/edit/people", form)
    assert (answer.status, dict(answer.headers)["Location"]) == (303, "/page/people")
    assert "Ada and Grace keep the release notes" in page.memory.read("people")
    assert "\r" not in page.memory.read("people")


def test_a_page_that_was_changed_meanwhile_is_shown_beside_the_text_that_was_typed(page: Page) -> None:
    form = form_of(page, "people")
    form["text"] = form["text"].replace("Ada keeps", "Grace keeps")
    page.memory.write("Barbara pays the rent.", path="people")
    now = page.memory.read("people")
    answer = page.ask("/edit/people", form)
    assert isinstance(answer.body, bytes)
    shown = html.unescape(answer.body.decode())
    assert answer.status == 409 and "nothing is lost" in shown
    assert "Grace keeps" in shown and "Barbara pays" in shown
    assert page.memory.read("people") == now
    again = {"version": version(now), "text": form["text"]}
    assert page.ask("/edit/people", again).status == 303
    assert "Grace keeps" in page.memory.read("people")
    assert any("Barbara pays" in change.diff for past in page.memory.history("people")
               for change in page.memory.show(past.id)[1].pages)  # fmt: skip


def test_a_page_that_changes_while_it_is_stored_is_a_conflict_too(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    form = form_of(page, "people")
    edit = page.memory.edit

    def late(path: str, text: str, was: str) -> object:
        Memory.open(Path(page.memory.storage.where)).write("Late words.", path="people")
        return edit(path, text, was)

    monkeypatch.setattr(page.memory, "edit", late)
    form["text"] += "Mine.\r\n"
    answer = page.ask("/edit/people", form)
    assert isinstance(answer.body, bytes)
    assert answer.status == 409 and b"Mine." in answer.body and b"Late words." in answer.body


def test_a_text_that_cannot_be_stored_is_not_lost(page: Page) -> None:
    form = form_of(page, "people") | {"text": "   "}
    answer = page.ask("/edit/people", form)
    assert answer.status == 400 and isinstance(answer.body, bytes) and b"nothing was stored" in answer.body


def test_a_new_page_is_written(empty: Page) -> None:
    form = form_of(empty, "memory")
    form["text"] = "# Memory\r\n\r\nFirst words.\r\n"
    assert empty.ask("/edit/memory", form).status == 303
    assert "First words." in empty.memory.read()
    assert empty.ask("/edit/memory", form).status == 409


def test_a_change_is_taken_back_and_that_too(page: Page) -> None:
    page.memory.write("Kay plays the viola.", path="people")
    before = page.memory.read("people")
    revision = page.memory.history()[0].id
    answer = page.ask("/undo", {"revision": revision})
    location = dict(answer.headers)["Location"]
    assert answer.status == 303 and "Kay plays" not in page.memory.read("people")
    done = page.text(location)
    assert "Taken back" in done and "Take this change back" not in done and "Do again" in done
    assert f'href="/history/{revision}"' in done  # the change before it
    again = page.ask("/undo", {"revision": revision})
    assert again.status == 409 and b"undone already" in again.body and b"Kay plays" in again.body
    assert page.ask("/undo", {"revision": location.split("/")[2].partition("?")[0]}).status == 303
    assert page.memory.read("people") == before


def test_a_change_that_others_stand_on_names_them_instead_of_a_button(page: Page) -> None:
    page.memory.write("Kay plays the viola.", path="people", source="codex")
    page.memory.write("Lin plays the cello.", path="people")
    newest, older = (f"/history/{past.id}" for past in page.memory.history()[:2])
    html = page.text(older)
    assert "Take this change back" not in html and f'href="{newest}"' in html
    assert "from codex" in html and "last_updated" not in html
    assert page.ask("/undo", {"revision": newest.rpartition("/")[2]}).status == 303
    assert "Take this change back" in page.text(older)


def test_a_page_is_put_back_as_it_was_after_a_change(page: Page) -> None:
    then = page.memory.history("people")[-1]
    page.memory.write("Kay plays the viola.", path="people")
    assert "Put the page back" in page.text(f"/history/{then.id}")
    assert page.ask("/restore", {"revision": then.id, "path": "people"}).status == 303
    assert "Kay plays" not in page.memory.read("people")
    assert page.ask("/restore", {"revision": then.id, "path": "nowhere"}).status == 404


def test_what_was_put_back_is_what_was_changed_last(page: Page) -> None:
    page.memory.replace_text("projects/silica", "pytest", "nose")
    assert page.ask("/undo", {"revision": page.memory.history()[0].id}).status == 303
    lately = page.text("/").partition("Changed lately")[2]
    assert lately.index("/page/projects/silica") < lately.index("/page/people")
    about = page.text("/page/projects/silica").partition("<dt>Changed</dt>")[2]
    assert f'datetime="{page.memory.history()[0].when.isoformat()}"' in about
    assert "took back: Silica uses pytest → Silica uses nose" in page.text("/history")


def test_a_text_that_was_only_added_is_told_so_in_a_sentence(page: Page) -> None:
    page.memory.write("Kay plays the viola.", path="people")
    html = page.text(f"/history/{page.memory.history()[0].id}")
    assert "no older text was changed" in html and "to the letter" not in html
    page.memory.write("Lin plays the cello.", path="people", mode="append")
    assert "no older text was changed" in page.text(f"/history/{page.memory.history()[0].id}")
    page.memory.write("Only this.", path="people", mode="replace")
    assert "no older text was changed" not in page.text(f"/history/{page.memory.history()[0].id}")
