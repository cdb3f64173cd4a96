"""Nothing in a page becomes an element that runs or fetches, wherever its text is shown."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from memory_v2 import Memory
from memory_v2.view.markdown import is_safe, to_html

from .conftest import Page
from .hostile import PAGES
from .test_views import Tags

OURS = {"/static/view.css", "/static/view.js"}
NEVER = {
    "iframe",
    "img",
    "object",
    "embed",
    "style",
    "base",
    "audio",
    "video",
    "image",
    "use",
    "foreignobject",
    "animate",
}


def check(html: str) -> None:
    """Only the script, the stylesheet and the forms of the page itself are in it."""
    for tag, attributes in Tags(html).tags:
        assert tag not in NEVER, tag
        assert not any(name.startswith("on") or name in ("style", "srcset", "formaction") for name in attributes)
        if tag in ("script", "link"):
            assert (attributes.get("src") or attributes.get("href") or "").partition("?")[0] in OURS or (
                attributes.get("rel") == "icon"
            )
        if tag == "meta":
            assert "http-equiv" not in attributes
        if tag == "form":
            assert (attributes["action"] or "").startswith("/")
        if tag == "a" and attributes.get("href"):
            assert urlsplit(attributes["href"] or "").scheme in ("", "http", "https", "mailto")
            assert not (attributes["href"] or "").startswith(("//", "/\\", "\\"))


def test_there_are_thirty_of_them() -> None:
    assert len(set(PAGES)) == 30


@pytest.mark.parametrize("number", range(len(PAGES)))
def test_a_hostile_page_is_shown_as_text(tmp_path: Path, number: int) -> None:
    (tmp_path / "bad.md").write_text(PAGES[number] + "\n", "utf-8", newline="")
    (tmp_path / "memory.md").write_text(
        "# Memory\n\n- [[bad]] - " + PAGES[number].replace("\n", " ")[:300] + "\n", "utf-8"
    )
    with Memory.open(tmp_path) as memory:
        memory.entries.capture(PAGES[number].replace("\0", "") + " evil", tags=["<b>"])
        memory.write("Evil script words.", path="bad", mode="append", source="<script>window.ran=1</script>")
        page = Page(memory)
        entry = memory.entries.list_entries()[0].id
        operation = memory.history()[0].id
        views = [
            "/",
            "/page/memory",
            "/page/bad",
            "/lines/bad",
            "/edit/bad",
            "/graph",
            "/search?q=evil+script",
            "/history",
        ]
        for address in (
            *views,
            f"/history/{operation}",
            "/entries",
            f"/entry/{entry}",
            f"/trace/{memory.traces()[-1]}",
        ):
            check(page.text(address))


@pytest.mark.parametrize(
    "target", ["javascript:x", "JAVASCRIPT:x", " javascript:x", "data:x", "//host", "/\\host", "http://[", "x:y"]
)
def test_a_link_leads_to_the_web_or_into_the_memory_only(target: str) -> None:
    assert not is_safe(target)


def test_html_is_text_and_an_image_is_a_link() -> None:
    html = to_html("<b>bold</b> ![a chart](https://example.org/x.png)", lambda key, heading: None)
    assert "&lt;b&gt;bold" in html
    assert '<a class="image" rel="noreferrer nofollow" href="https://example.org/x.png">a chart</a>' in html
