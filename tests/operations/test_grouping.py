"""How a page that lists more than fits is grouped without a model: a reader finds the way by the words of the links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pytest

from memory_v2.memory import Memory
from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.grouping import Listed, ListedTerms, grouped
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.slug import slug
from memory_v2.tree.page import MAX_DESCRIPTION, ChildLink, new_page, parse_page, read_page
from tests.operations.scenes import body
from tests.properties.whole import clock

SUBJECTS = {
    "SQLite": "full-text search, triggers, JSON columns, backups, the write-ahead log, window functions, foreign keys",
    "Django": "admin actions, model forms, middleware, signals, template tags, migrations, class-based views",
    "Docker": "compose files, multi-stage builds, health checks, volumes, base images, networks, layer caching",
    "GitHub": "issue templates, protected branches, release notes, code owners, actions secrets, pull requests, gists",
    "Kubernetes": "ingress rules, rolling updates, node affinity, config maps, cron jobs, service accounts, quotas",
    "Pottery": "glaze recipes, kiln temperatures, clay bodies, wheel throwing, bisque firing, trimming feet",
}
TITLES = {
    f"{topic[0].upper()}{topic[1:]} in {subject}": subject
    for subject, topics in SUBJECTS.items()
    for topic in topics.split(", ")
}


def text_on(title: str, subject: str) -> str:
    return (
        f"# {title}\n\nHow {subject} does it was learned. We use {subject} for this, and {subject} is confirmed "
        f"to work with different keys. {title} took a day.\n"
    )


def shelf(titles: Mapping[str, str], sources: Mapping[str, str] | None = None, memory: Memory | None = None) -> Memory:
    """A memory whose root lists a page for each title, written at once."""
    memory = memory or Memory(VolatileStorage(clock), threshold=2_048, now=clock)
    root = read_page("memory", memory.storage.read("memory").data) if memory.storage.exists("memory") else None
    listed = []
    for title, subject in titles.items():
        page = parse_page(slug(title), text_on(title, subject))
        source = {"source": sources[title]} if sources else {}
        memory.storage.write(page.path, page.stamped(clock(), **source).data)
        listed.append((page.path, describe_page(title, page.blocks)))
    memory.storage.write("memory", (root or new_page("memory", "Memory")).with_children(listed).data)
    return memory


def lines(memory: Memory, path: str = "memory") -> dict[str, str]:
    """The children that a page lists, with their descriptions."""
    return {child.target: child.description for child in read_page(path, memory.storage.read(path).data).children}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.casefold()))


def reached(memory: Memory, title: str) -> str:
    """The page at which somebody arrives who takes the link with most words of the title, from the root on."""
    path = "memory"
    while found := lines(memory, path):
        path = max(found, key=lambda target: len(words(title) & words(f"{target.rsplit('/', 1)[-1]} {found[target]}")))
    return path


def below(memory: Memory, path: str) -> set[str]:
    found = set(lines(memory, path))
    return found.union(*(below(memory, child) for child in found))


def test_a_reader_finds_each_document_by_the_words_of_the_links() -> None:
    memory = shelf(TITLES)
    assert memory.split().new_files
    assert memory.check() == []
    astray = [title for title in TITLES if reached(memory, title) != slug(title)]
    assert len(astray) <= 0.05 * len(TITLES), astray


def test_groups_are_called_by_their_subject_as_the_texts_write_it() -> None:
    memory = shelf(TITLES)
    made = memory.split().new_files
    names = {name.rsplit("/", 1)[-1] for name in made}
    assert {"sqlite", "django", "docker", "github", "kubernetes", "pottery"} <= names
    assert "- [[sqlite]] - SQLite" in memory.read()
    assert memory.read("github").startswith("# GitHub\n")
    assert not [name for name in names if re.search(r"-\d$", name)]
    assert not names & {"keys", "confirmed", "different", "day", "use", "learned"}


def test_what_joins_a_group_is_told_in_its_line() -> None:
    memory = shelf(TITLES)
    memory.split()
    more = {f"{topic} in {subject}": subject for subject in SUBJECTS for topic in ("Encryption", "Lanterns", "Tariffs")}
    shelf(more, memory=memory)
    memory.split()
    assert memory.check() == []
    astray = [title for title in [*TITLES, *more] if reached(memory, title) != slug(title)]
    assert len(astray) <= 0.1 * len(TITLES | more), astray
    assert "sqlite-2" not in below(memory, "memory")


@pytest.mark.parametrize("times", [1, 2])
def test_the_same_listing_is_grouped_into_the_same_bytes(times: int) -> None:
    first, second = shelf(TITLES), shelf(TITLES)
    for _ in range(times):
        first.split()
        second.split()
    files = first.storage.list_files()
    assert files == second.storage.list_files()
    assert [body(first, path) for path in files] == [body(second, path) for path in files]
    assert [lines(first, path) for path in files] == [lines(second, path) for path in files]


def test_two_files_of_a_folder_come_to_one_group_when_the_source_is_told() -> None:
    folders = ("notes/work", "notes/home", "talks", "recipes/cakes")
    sources = {title: f"{folders[n % 4]}/{slug(title)}.md" for n, title in enumerate(TITLES)}
    memory = shelf(TITLES, sources)
    memory.split()
    assert memory.check() == []
    for group in lines(memory):
        inside = {
            sources[title].rpartition("/")[0] for title in TITLES if slug(title) in {group} | below(memory, group)
        }
        assert len(inside) == 1, group
    assert {"work", "home", "talks", "recipes"} == set(lines(memory))


@pytest.mark.parametrize("title", ["Unsealing the vault in Helsinki", "灵活冗余的语音对话系统"])
def test_a_document_filed_on_a_group_is_found_by_the_line_of_the_group(title: str) -> None:
    memory = Memory(VolatileStorage(clock), threshold=2_048, now=clock)
    for number, (written, subject) in enumerate(TITLES.items()):
        folder = ("work", "home", "talks", "cakes")[number % 4]
        memory.write(text_on(written, subject), source=f"{folder}/{slug(written)}.md")
    result = memory.write(f"# {title}\n\nIt was done at noon.\n", source="talks/n.md")
    assert result.path in lines(memory, "talks")
    assert reached(memory, title) == result.path
    assert memory.check() == []
    assert all(len(told) <= MAX_DESCRIPTION for told in descriptions(memory))


def test_a_group_keeps_its_line_if_that_leads_to_a_new_document_already() -> None:
    memory = shelf(TITLES)
    memory.split()
    before = lines(memory)
    page = memory.write("# Kiln temperatures in Pottery\n\nHotter.\n", source="second.md").path
    assert page in lines(memory, "pottery")
    assert lines(memory) == before


def test_an_amount_in_a_title_keeps_no_page_from_being_divided() -> None:
    titles = {f"Web sync status -{n}ms of node {chr(97 + n % 26)}{n}": "sync" for n in range(60)}
    memory = shelf(titles)
    assert memory.split().degraded == ""
    assert len(lines(memory)) < 32


def test_days_are_grouped_by_month() -> None:
    days = {f"2026-{month:02d}-{day:02d}": "kiln" for month in (1, 2, 3) for day in range(1, 29)}
    memory = shelf(days, memory=Memory(VolatileStorage(clock), threshold=4_096, now=clock))
    memory.split()
    assert memory.check() == []
    assert set(lines(memory)) == {"2026-01", "2026-02", "2026-03"}
    assert lines(memory)["2026-02"].startswith("February 2026")
    assert set(lines(memory, "2026-02")) == {day for day in days if day.startswith("2026-02")}


def test_tags_tell_what_belongs_together() -> None:
    tags = ("harbour", "orchard", "clinic")
    memory = Memory(VolatileStorage(clock), threshold=2_048, now=clock)
    listed = []
    for number in range(70):
        name = f"note-{chr(97 + number % 26)}{chr(97 + number // 26)}{number}"
        text = (
            f"---\ntags: [{tags[number % 3]}]\n---\n\n# Meeting {name} of the people who came\n\nThey met and talked.\n"
        )
        memory.storage.write(name, text.encode())
        listed.append((name, f"Meeting {name} of the people who came"))
    memory.storage.write("memory", new_page("memory", "Memory").with_children(listed).data)
    memory.split()
    assert memory.check() == []
    for group in lines(memory):
        assert len({int(re.sub(r"\D", "", path)) % 3 for path in below(memory, group)}) <= 1, group
    assert set(tags) <= {re.sub(r"-.*", "", name) for name in lines(memory)}


@pytest.mark.parametrize("title", ["", "x", "🎉", "a: b: c", "调试服务器的日志", "{{title}}", "word " * 60])
def test_whatever_the_titles_are_the_tree_is_whole(title: str) -> None:
    memory = Memory(VolatileStorage(clock), threshold=2_048, now=clock)
    listed = []
    for number in range(60):
        memory.storage.write(f"p{number}", f"# {title} {number % 7}\n\ntext\n".encode())
        listed.append((f"p{number}", f"{title} {number % 7}"))
    memory.storage.write("memory", new_page("memory", "Memory").with_children(listed).data)
    assert memory.split().degraded == ""
    assert memory.check() == []
    assert {f"p{number}" for number in range(60)} <= below(memory, "memory")


def descriptions(memory: Memory) -> Iterable[str]:
    return (told for path in memory.storage.list_files() for told in lines(memory, path).values())


def test_descriptions_are_short() -> None:
    memory = shelf(TITLES | {f"{title}, once more at length and in detail": title for title in TITLES})
    memory.split()
    assert all(0 < len(told) <= MAX_DESCRIPTION for told in descriptions(memory))


def test_a_catalogue_grows_in_few_levels_and_is_never_stuck() -> None:
    memory = Memory(VolatileStorage(clock), threshold=4_096, now=clock)
    topics = [topic.replace(" ", f" {which} ") for which in ("old", "new", "wild") for topic in TITLES]
    for start in range(0, len(topics), 20):
        shelf({title: title.rsplit(" ", 1)[-1] for title in topics[start : start + 20]}, memory=memory)
        assert memory.split().degraded == ""
    assert memory.check() == []
    assert {slug(title) for title in topics} <= below(memory, "memory")
    ways = [path for path in lines(memory) for path in lines(memory, path) for path in lines(memory, path)]
    assert all(not lines(memory, path) for path in ways)


def test_pages_that_came_after_the_groups_join_them_before_a_reader_is_lost_among_them() -> None:
    memory = Memory(VolatileStorage(clock), now=clock)
    groups = []
    for subject in SUBJECTS:
        listed = []
        for title in [title for title, of in TITLES.items() if of == subject][:3]:
            page = parse_page(slug(title), text_on(title, subject))
            memory.storage.write(page.path, page.stamped(clock()).data)
            listed.append((page.path, describe_page(title, page.blocks)))
        group = new_page(slug(subject), subject).with_children(listed)
        memory.storage.write(group.path, group.stamped(clock(), split_from="memory").data)
        groups.append((group.path, f"{subject}: a word"))
    memory.storage.write("memory", new_page("memory", "Memory").with_children(groups).data)
    memory.check()
    later = {f"{title} again": subject for title, subject in TITLES.items()}
    for title, subject in later.items():
        memory.write(text_on(title, subject), source=f"{slug(title)}.md")
        assert len(lines(memory)) <= 33
    memory.write("# Nothing of the kind\n\nA bus to the sea.\n")
    assert len(lines(memory)) <= 32
    reached = {target for group, _ in groups for target in lines(memory, group)}
    assert len(reached) > 25


def test_pages_that_all_have_a_month_are_grouped_though_there_are_more_months_than_lines() -> None:
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 13) for day in (3, 4)]
    listed = [Listed(n, ChildLink(day, day, f"- [[{day}]] - {day}\n"), day) for n, day in enumerate(days, 1)]
    groups = grouped(listed, 4, ListedTerms(listed))
    assert [group.name for group in groups] == [f"2026-{month:02}" for month in range(1, 13)]
    assert sum(len(group.members) for group in groups) == len(days)


def test_what_a_line_has_of_two_phrases_without_spaces_stands_apart() -> None:
    told = {f"{first} - {second}": "Pottery" for first, second in (("潮汐预报", "港口日程"), ("潮汐观测", "灯塔检修"))}
    memory = shelf(TITLES | told)
    assert memory.split().new_files
    said = " ".join(descriptions(memory))
    assert not any(title.replace(" - ", "") in said for title in told)
    assert all(reached(memory, title) == slug(title) for title in told)


def test_a_page_of_a_month_goes_below_no_subject() -> None:
    memory = shelf({"2026-02": "SQLite"} | TITLES)
    assert memory.split().new_files
    assert "2026-02" in lines(memory)


def test_days_that_come_later_join_their_month_though_it_has_text_of_its_own() -> None:
    memory = shelf({f"2026-02-{day:02}": "kiln" for day in range(1, 10)} | TITLES)
    memory.split()
    memory.write("- A kiln was ordered.", "2026-02", mode="append")
    shelf(
        {f"2026-02-{day}": "kiln" for day in range(10, 20)}
        | {f"New {t[0].lower()}{t[1:]}": s for t, s in TITLES.items()},
        memory=memory,
    )
    memory.split()
    assert [line for line in lines(memory).values() if line.startswith("February 2026")] == [lines(memory)["2026-02"]]
    assert {f"2026-02-{day}" for day in range(10, 20)} <= below(memory, "2026-02")
