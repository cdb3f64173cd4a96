"""Each view shows what the memory has, at any size, and says what to do where there is nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from math import pi
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from memory_v2 import Memory
from memory_v2.agent.operation import asked_by
from memory_v2.storage.history import Revision
from memory_v2.view.layout import draw
from memory_v2.view.pages import MOST_ROWS, version
from memory_v2.view.rendering import decider, who

from .conftest import Page

VIEWS = ("/", "/graph", "/search?q=staging", "/history", "/entries", "/traces", "/notes", "/help")


class Tags(HTMLParser):
    """All elements of a page, with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def links(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.tags if tag == "a" and "href" in attrs]


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_can_be_read_with_a_memory_and_without(page: Page, empty: Page, view: str) -> None:
    for shown in (page, empty):
        html = shown.text(view)
        tags = Tags(html).tags
        assert html.startswith("<!doctype html>") or html.lstrip().startswith("<!doctype html>")
        assert sum(tag == "h1" for tag, _ in tags) == 1
        assert sum(tag == "main" for tag, _ in tags) == 1


def test_every_link_of_every_view_leads_to_a_view(page: Page) -> None:
    waiting, seen = ["/"], set[str]()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        body = page.text(address)
        for link in Tags(body).links() if "/raw/" not in address else ():
            parts = urlsplit(link)
            assert not parts.scheme and not parts.netloc, link
            if link.startswith("/"):
                waiting.append(link.partition("#")[0])
    kinds = {address.split("/")[1].partition("?")[0] for address in seen}
    assert kinds == {
        "", "page", "raw", "lines", "edit", "graph", "history", "compare", "entries", "entry", "traces", "trace",
        "notes", "help",
    }  # fmt: skip


def test_the_tree_has_sizes_ages_and_what_is_below_each_page(page: Page) -> None:
    page.memory.write("Ada is in the office on Mondays.", "people", "append")
    html = page.text("/")
    assert "Changed lately" in html and "just now" in html
    assert re.search(r"\d+ bytes", html)
    names = re.findall(r'class="name" href="/page/([^"]+)"', html)
    assert names[0] == "memory" and set(names) == {"memory", "people", "projects/silica"}


def test_a_page_has_its_links_its_days_and_its_source(page: Page) -> None:
    html = page.text("/page/projects/silica")
    assert 'title="said 2026-10-03 · from standup.md"' in html
    assert 'href="/lines/projects/silica#L3"' in html
    assert '<h2 id="h-testing">' in html
    assert "standup.md" in html
    assert 'href="/page/projects/silica#h-testing" class="to-page">how it is tested</a>' in page.text("/page/people")


def test_a_place_in_a_page_is_reached_by_its_line(page: Page) -> None:
    answer = page.ask("/page/projects/silica?at=7")
    assert (answer.status, answer.headers) == (303, (("Location", "/page/projects/silica#L7"),))


def test_a_line_leads_to_the_change_that_brought_it_and_that_to_its_trace(page: Page) -> None:
    change = re.findall(r'href="(/history/\w+)"', page.text("/lines/projects/silica"))[0]
    assert "The page itself was made by" in page.text("/lines/projects/silica")
    html = page.text(change)
    assert "<ins" in html and "Staging is at staging.example.org" in html
    trace = re.findall(r'href="(/trace/[\w-]+)"', html)[0]
    assert "offline" in page.text(trace) and "stored, as revision" in page.text(trace)
    assert "limits:" in page.text(trace + "?full=yes")


def test_a_search_marks_the_words_and_has_the_day(page: Page) -> None:
    html = page.text("/search?q=staging")
    assert "<mark>Staging</mark>" in html
    assert '<time class="said" datetime="2026-10-03">' in html
    assert 'href="/page/projects/silica?at=' in html


def test_a_search_as_one_types_leaves_no_trace(page: Page) -> None:
    before = page.memory.traces()
    for query in ("s", "st", "sta", "staging", '"', "*", "(", "  ", "\0", "🤷", "x" * 5_000):
        page.text(f"/search?q={query}")
    assert page.memory.traces() == before


def test_a_search_without_an_answer_says_so(page: Page, empty: Page) -> None:
    assert "Nothing found for" in empty.text("/search?q=staging")
    assert "The memory does not seem to answer this" in page.text("/search?q=kangaroo+staging+zeppelin+quantum")
    assert "perhaps: no place tells all" in page.text("/search?q=zeppelin+staging")


def test_the_history_is_by_day_and_of_one_page(page: Page) -> None:
    html = page.text("/history")
    assert ">Today</h2>" in html and ">undone</span>" in html
    assert "Grace writes compilers" not in page.text("/history?page=projects/silica")
    assert "No change fits" in page.text("/history?day=1999-01-01")


def test_entries_are_chosen_by_domain_and_ordered_by_importance(page: Page) -> None:
    assert "Leeks" not in page.text("/entries?domain=technical")
    html = page.text("/entries?order=importance")
    assert html.index("The build") < html.index("Leeks")
    assert "importance 90%" in html and "confidence 40%" in html
    (entry,) = re.findall(r'href="(/entry/hawk/[\w-]+)"', html)
    assert "technical" in page.text(entry)


def test_notes_have_an_index_and_an_audit(page: Page) -> None:
    assert "2026-02-03.md" in page.text("/notes/0")
    audit = page.text("/notes/0/audit")
    assert "broken-link" in audit and "secret" in audit and "ghp_abcdefghij" not in audit
    assert "Deployed, see" in page.text("/notes/0/note/2026-02-03.md")
    for address in ("/notes/7", "/notes/0/note/../memory/memory.md", "/notes/0/note//etc/passwd"):
        assert page.ask(address).status >= 400


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/page/siliva", 404, "Search for it"),
        ("/page/projects/silico", 404, 'href="/page/projects/silica"'),
        ("/page/../../etc/passwd", 404, "no page"),
        ("/history/ffffffff", 409, "there is no operation"),
        ("/trace/nothing", 409, "there is no trace"),
        ("/entry/nobody/none", 404, "no such entry"),
        ("/graph?under=nowhere", 404, "no page"),
        ("/nothing/here", 404, "no such view"),
        ("/undo", 405, "cannot be done"),
    ],
)
def test_an_error_says_what_to_do(page: Page, address: str, status: int, words: str) -> None:
    assert words in page.text(address, status)


def test_a_fault_is_a_page_too(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page.memory, "history", lambda _: 1 / 0)
    assert "This is a bug in Silica" in page.text("/history", 500)


def test_a_key_that_only_reads_has_no_forms_and_changes_nothing(page: Page) -> None:
    for address in ("/", "/page/people", "/history"):
        body = page.ask(address, can_write=False).body
        assert isinstance(body, bytes) and b'method="post"' not in body and b"/edit/" not in body
    head = page.memory.storage.history.head
    assert page.ask("/undo", {"revision": head[:12]}, can_write=False).status == 403
    assert page.memory.storage.history.head == head


def test_a_large_tree_is_folded(tmp_path: Path) -> None:
    folder = tmp_path / "large"
    for branch in range(12):
        children = [f"b{branch}/p{number}" for number in range(60)]
        listed = "\n".join(f"- [[{child}]] - about {child}" for child in children)
        for child in children:
            file = folder / f"{child}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# {child}\n\nText of {child}.\n")
        (folder / f"b{branch}.md").write_text(f"# Branch {branch}\n\n## Links\n\n{listed}\n")
    listed = "\n".join(f"- [[b{branch}]] - branch {branch}" for branch in range(12))
    (folder / "memory.md").write_text(f"# Memory\n\n## Links\n\n{listed}\n")
    with Memory.open(folder) as memory:
        page = Page(memory)
        html = page.text("/")
        assert html.count('class="row"') <= MOST_ROWS
        assert "733 pages" in html and "60 pages below" in html
        assert 'href="/page/b11/p59"' in page.text("/?under=b11")
        graph = page.text("/graph")
        assert graph.count('class="dot ') <= 320 and "as many as can be read" in graph
        assert graph == page.text("/graph")
        assert 'href="/page/b11/p59" tabindex' in page.text("/graph?under=b11")


def test_a_graph_opens_a_level_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    names = [f"group{number}" for number in range(20)]
    texts = {"memory": names} | {name: [f"{name}/p{number}" for number in range(20)] for name in names}
    for listed in texts.values():
        for child in listed:
            (tmp_path / f"{child}.md").parent.mkdir(exist_ok=True)
            (tmp_path / f"{child}.md").write_text(f"# {child}\n", "utf-8")
    for path, listed in texts.items():
        links = "".join(f"- [[{child}]]\n" for child in listed)
        (tmp_path / f"{path}.md").write_text(f"# {path}\n\n## Links\n\n{links}", "utf-8")
    with Memory.open(tmp_path) as memory:
        graph = Page(memory).text("/graph")
    assert graph.count('class="dot ') == 21 and graph.count('class="ring"') == 20


def test_names_inside_a_graph_do_not_meet() -> None:
    groups = [f"group-{number:012}" for number in range(24)]
    children = {"memory": groups} | {group: [f"{group}/{leaf}" for leaf in range(3)] for group in groups}
    paths = ["memory", *groups, *(leaf for group in groups for leaf in children[group])]
    names = {path: path.rpartition("/")[2] for path in paths}
    picture = draw("memory", children, (), {}, names)
    for dot in picture.dots[1:]:
        if not dot.is_leaf:
            assert dot.is_inward
            inner_end = dot.far - 10 * len(names[dot.path])
            assert 2 * pi * inner_end >= 17 * len(groups)


def test_a_deep_tree_is_shown_some_levels_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("# Memory\n\n## Links\n\n- [[p0]]\n")
    for number in range(299):
        (tmp_path / f"p{number}.md").write_text(f"# Page {number}\n\n## Links\n\n- [[p{number + 1}]]\n")
    (tmp_path / "p299.md").write_text("# The last\n")
    with Memory.open(tmp_path) as memory:
        page = Page(memory)
        (below,) = re.findall(r'href="(/\?under=p\d+)">\d+ pages below', page.text("/"))
        assert below in page.text("/") and "p20" in page.text(below)


def test_a_page_with_many_children_is_paged(tmp_path: Path) -> None:
    folder = tmp_path / "wide"
    folder.mkdir()
    names = [f"n{number:03}" for number in range(250)]
    for name in names:
        (folder / f"{name}.md").write_text(f"# {name}\n")
    (folder / "memory.md").write_text("# Memory\n\n## Links\n\n" + "\n".join(f"- [[{name}]]" for name in names) + "\n")
    with Memory.open(folder) as memory:
        page = Page(memory)
        last = 'class="name" href="/page/n249"'
        assert "1–100 of 250" in page.text("/") and last not in page.text("/")
        assert last in page.text("/?under=memory&from=200")


def test_a_very_large_page_is_shown_in_parts_and_nothing_of_it_is_missing(tmp_path: Path) -> None:
    rows = "".join(f"| {number} | cell{number} |\n" for number in range(8_000))
    text = "# Large\n\n" + "".join(f"Paragraph number {number}.\n\n" for number in range(6_000))
    text += f"| a | b |\n|---|---|\n{rows}\n\n" + "The end.\n"
    (tmp_path / "memory.md").write_text(text)
    with Memory.open(tmp_path) as memory:
        page = Page(memory)
        first = page.text("/page/memory")
        count = re.findall(r"Part 1 of (\d+)", first)[0]
        parts = [page.text(f"/page/memory?part={number}") for number in range(int(count))]
        assert max(map(len, parts)) < 600_000
        whole = "".join(parts)
        assert {*map(str, range(6_000))} <= {*re.findall(r"Paragraph number (\d+)\.", whole)}
        assert {*map(str, range(8_000))} <= {*re.findall(r"cell(\d+)", whole)}
        assert "The end." in parts[-1]
        line = text[: text.index("The end.")].count("\n") + 1
        assert f"part={int(count) - 1}" in dict(page.ask(f"/page/memory?at={line}").headers)["Location"]


def test_changes_are_named_as_people_name_them(page: Page) -> None:
    html = page.text("/history")
    assert "took back: Grace writes compilers." in html and "The build takes four minutes." in html
    assert "Yesterday" in html and "decided by" not in html
    capture = page.memory.history()[0]
    assert "/obs-" in capture.first.summary and f"<h1>{capture.first.summary}" not in page.text(
        f"/history/{capture.id}"
    )
    assert capture.id not in page.text(f"/compare?old={capture.id}").replace(f"/{capture.id}", "").replace(
        f'title="{capture.id}"', ""
    )
    assert "edit by hand, " not in page.text("/lines/people")
    (Path(page.memory.storage.where) / "people.md").write_text("# People\n\nTyped by hand.\n", "utf-8")
    page.memory.history()
    assert "edit by hand, " in page.text("/lines/people")


def test_a_change_names_who_asked_for_it(page: Page) -> None:
    captures = page.text("/history").split('class="timeline"')[1].split("<li")[1:3]
    assert "by shield" in captures[0] and "by hawk" in captures[1]
    with asked_by("claude-code"):
        page.memory.write("Lin keeps the calendar.", path="calendar")
    page.ask("/edit/notes", {"text": "# Notes\n\nTyped here.\n", "version": version("")})
    [edit, write] = page.text("/history").split('class="timeline"')[1].split("<li")[1:3]
    assert "by claude-code" in write and "decided by" not in write
    assert "by a person at the page" in edit
    assert "by claude-code" in page.text("/lines/calendar")
    assert "by claude-code" in page.text(f"/history/{page.memory.history('calendar')[0].id}")


def test_an_agent_that_decided_itself_is_named_once() -> None:
    past = Revision("write", "Lin", decided_by="host:claude-code", paths=("calendar",))
    assert (who([past]), decider(past.decided_by)) == ("claude-code", "the agent itself")
    assert who([replace(past, agent="claude-code")]) == "claude-code"


def test_a_change_after_which_only_lists_of_links_changed_can_be_taken_back(page: Page) -> None:
    page.memory.write("Kay plays the viola in the orchestra of the town.", path="music")
    change = page.memory.history()[0]
    page.memory.write("Lin keeps the calendar of the whole office.", path="calendar")
    assert "memory" in {*change.paths} & {*page.memory.history()[0].paths}
    address = f"/history/{change.id}"
    assert "Take this change back" in page.text(address) and "take back what came later" not in page.text(address)
    assert page.ask("/undo", {"revision": change.id}).status == 303
    assert "There is no page" in page.text("/page/music", 404)


def test_an_edit_by_hand_is_called_by_its_pages(page: Page) -> None:
    (Path(page.memory.storage.where) / "people.md").write_text("# People\n\nTyped by hand.\n", "utf-8")
    assert "edit by hand people" in re.sub(r"<[^>]+>", "", page.text("/history"))


def test_what_was_there_before_the_history_is_no_edit(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("# Memory\n\nWords.\n", "utf-8")
    with Memory.open(tmp_path) as memory:
        page = Page(memory)
        page.subject.warm()
        assert memory.storage.history.begun  # so that nobody who opens the history waits for it
        for view in ("/history", "/lines/memory"):
            assert "already there" in page.text(view) and "edit by hand" not in page.text(view)


def test_the_difference_of_a_page_ends_with_its_text(page: Page) -> None:
    page.memory.create("notes", "# Notes\n\nWords.\n")
    html = page.text(f"/history/{page.memory.history()[0].id}")
    added = re.findall('<ins dir="auto">(.*?)</ins>', html)
    assert added[-3:] == ["# Notes", " ", "Words."]


def test_branches_of_a_large_tree_open_by_a_click(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        for name in ("a", "b"):
            memory.create(name, f"# {name.upper()}\n\nWords.\n")
            for number in range(40):
                memory.create(f"{name}/{number}", f"# Page {number}\n\nWords.\n")
        html = Page(memory).text("/")
    assert html.count("<details data-branch=") == 2 and html.count("40 pages below") == 2
