"""What the offline planner does with new text: a document becomes a page of its own, a note goes to its subject."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest

from memory_v2.memory import Memory
from memory_v2.models.briefs import PageView, WriteBrief
from memory_v2.models.offline.documents import LONG_TEXT, read_document
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.graph import Edge, Graph, Node
from memory_v2.tree.page import new_page, parse_page
from memory_v2.tree.path import ROOT
from memory_v2.tree.source import Source
from tests.models.many_pages import NOTES, many_pages
from tests.operations.scenes import body, offline
from tests.properties.whole import clock, missing, pages_of, texts_of
from tests.tree.texts import EXAMPLES

PROSE = "The kiln is heated slowly, as moist clay bursts. Above six hundred degrees nothing can happen any more.\n\n"


def children(memory: Memory, path: str = "memory") -> dict[str, str]:
    """The pages listed on a page, with their descriptions."""
    return {child.target: child.description for child in parse_page(path, memory.read(path)).children}


# documents


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("# Garden plan\n\nTomatoes in bed 1.\n\n## Tools\n\nThe mower.\n", "garden-plan", "Garden plan"),
        ("Garden plan\n===========\n\nTomatoes in bed 1.\n", "garden-plan", "Garden plan"),
        (
            "From: Ana <ana@example.org>\nDate: Tue, 3 Feb 2026\nSubject: Re: Fwd: Garden plan\n\nTomatoes.\n",
            "garden-plan",
            "Garden plan",
        ),
        ("Betreff: AW: Wartung der Pumpe\nVon: Ben\n\nAm Montag.\n", "wartung-der-pumpe", "Wartung der Pumpe"),
        ("差出人：田中\n件名：ポンプの点検\n\n来週の月曜日に点検します。\n", "ポンプの点検", "ポンプの点検"),
        ("---\ntitle: Garden plan\ntags: [home]\n---\n\nTomatoes in bed 1.\n", "garden-plan", "Garden plan"),
        ("# Ausflüge & Reisen\n\nMit Öl und Straße.\n", "ausflüge-reisen", "Ausflüge & Reisen"),
        ("# 上海出差\n\n三月十日到十四日，住在静安酒店。\n", "上海出差", "上海出差"),
        ("Our machines:\n\n- heron: production\n- wren: staging\n- magpie: backups\n", "our-machines", "Our machines"),
    ],
)
def test_a_document_becomes_a_page_of_its_own(text: str, path: str, title: str) -> None:
    memory = offline()
    memory.write("What was there.")
    result = memory.write(text)
    assert (result.path, result.degraded) == (path, "")
    page = pages_of(memory.storage)[path]
    assert text.strip() in memory.read(path)
    assert page.title == title
    assert children(memory)[path].startswith(title)
    assert body(memory) == "# Memory\n\nWhat was there."


def test_a_list_of_a_day_is_called_and_told_by_what_is_so_tomorrow() -> None:
    memory = offline()
    text = "Decisions for Tidewater today:\n\n- Rope is bought in Hull\n- Ada owns the pier\n- Jonas paints the boats\n"
    assert memory.write(text).path == "decisions-for-tidewater"
    line = "Decisions for Tidewater: Rope is bought in Hull; Ada owns the pier; Jonas paints the boats"
    assert children(memory) == {"decisions-for-tidewater": line}
    memory.write(text, "inbox")
    assert children(memory)["inbox"] == "Rope is bought in Hull"


def test_the_first_document_leaves_the_root_its_own_title() -> None:
    memory = offline()
    assert memory.write("# Garden\n\nTomatoes in bed 1.\n").path == "garden"
    assert body(memory) == "# Memory"


def test_a_long_text_without_a_title_is_a_document_and_is_called_by_its_words() -> None:
    memory = offline()
    text = "".join(f"The kiln number {n} is heated slowly, as moist clay bursts. {PROSE}" for n in range(9))
    assert len(text) > LONG_TEXT
    result = memory.write(text)
    assert any(word in result.path for word in ("clay", "kiln"))
    assert text.strip() in memory.read(result.path)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"The kiln number {n} is heated slowly, as moist clay bursts.\n" for n in range(40)),
        "The kiln is heated slowly.\n\n" + "".join(f"## Clay {n}\n\n{PROSE * 9}" for n in range(12)),
    ],
    ids=["one long paragraph", "sections below an introduction, larger than a page"],
)
def test_long_prose_is_a_document_beside_a_page_that_shares_its_words(text: str) -> None:
    memory = offline()
    memory.write("# Kiln\n\nThe kiln number 3 is heated slowly, as moist clay bursts.\n\n## Clay\n\nIt is moist.\n")
    before = memory.read("kiln")
    result = memory.write(text)
    assert "kiln" not in (result.path, result.path.partition("/")[0])
    assert memory.read("kiln") == before


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"## 2026-01-{day:02}\n\n{PROSE}" for day in range(1, 10)),
        "".join(f"- Alice: {PROSE.strip()}\n- Bob: Really? {PROSE.strip()}\n" for _ in range(6)),
        "".join(f"{n}. The capital of country {n} is city {n}.\n" for n in range(60)),
        "# 2026-01-12\n\nFired the kiln.\n",
    ],
    ids=["log", "conversation", "numbered facts", "a day"],
)
def test_what_is_no_document_goes_to_the_root(text: str) -> None:
    memory = offline()
    assert memory.write(text).path == "memory"
    assert text.strip() in memory.read()


def test_two_documents_of_one_title_are_told_apart_by_a_word() -> None:
    memory = offline()
    first = memory.write(
        f"# Meeting\n\nAbout the kiln and the glaze of the kiln.\n\n{PROSE}" + "## Glaze\n\nBlue.\n" * 20
    )
    second = memory.write(
        "# Meeting\n\n" + "The harbour is dredged. The harbour is closed.\n\n## Dredging\n\nSlow.\n" * 9
    )
    assert first.path == "meeting"
    assert second.path.startswith("meeting-")
    assert not second.path.endswith("-2")


def test_a_document_that_comes_again_is_nothing_new() -> None:
    memory = offline()
    texts = [
        f"# {name}\n\n{PROSE}\n## Usage\n\nPut {name} into the kiln.\n\n- a\n- b\n" for name in ("Glaze", "Clay", "Ash")
    ]
    for text in texts:
        memory.write(text)
    for text in texts:
        result = memory.write(text)
        assert result.outcome == "nothing new"
        assert result.revisions == ()


@pytest.mark.parametrize(
    "note", ["Subject: tomatoes.\n\nThey are in bed 1.\n", "From: Monday\nTo: Friday\n\nThe kiln is cold.\n"]
)
def test_a_note_that_is_no_e_mail_makes_no_page(note: str) -> None:
    memory = offline()
    assert memory.write(note).path == "memory"
    assert children(memory) == {}


PORT, OTHER_PORT = "The API runs on port 8080.", "Port of the API is 8443 now."


def test_a_statement_that_is_so_again_is_stored_again_and_found_first() -> None:
    memory = offline()
    for day, text in ((16, PORT), (17, OTHER_PORT), (20, PORT), (22, OTHER_PORT), (23, PORT)):
        assert memory.write(text, date=date(2026, 2, day)).outcome == "written"
        assert memory.write(text, date=date(2026, 2, day)).outcome == "nothing new"
    assert memory.write(PORT, date=date(2026, 2, 24)).outcome == "nothing new"
    first = memory.search("which port does the API run on")[0]
    assert (first.excerpt.strip(), first.date) == (PORT, date(2026, 2, 23))


@pytest.mark.parametrize(
    "since",
    [
        "The API runs on port 8080 since the move.",  # says it too
        "The API is written in Go, by the harbour's team.",  # is about something else
    ],
)
def test_a_statement_that_is_still_so_is_nothing_new(since: str) -> None:
    memory = offline()
    memory.write(PORT, date=date(2026, 2, 16))
    memory.write(since, date=date(2026, 2, 17))
    assert memory.write(PORT, date=date(2026, 2, 20)).outcome == "nothing new"


def test_a_statement_that_is_told_anew_stands_beside_the_older_one() -> None:
    memory = offline()
    for text in ("The choir meets at 19:30 in the Linden hall.", "The cat gets 60 g of food.", "The rent is due."):
        memory.write(text)
    memory.write("The choir meets at 20:00 in the Linden hall now.")
    assert body(memory).index("19:30") < body(memory).index("20:00") < body(memory).index("The cat")


def test_where_others_have_shortened_the_page_meanwhile_the_planner_does_not_break_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = offline()
    for text in ("The rent is due.", "The cat gets 60 g of food.", "The choir meets at 19:30 in the Linden hall."):
        memory.write(text)
    new = "The choir meets at 20:00 in the Linden hall now."
    found = memory._engine.context.index.similar(new)
    memory.write("# Memory\n", "memory", "replace")
    monkeypatch.setattr("memory_v2.index.full_text.FullTextIndex.similar", lambda *_, **__: found)
    assert memory.write(new).degraded == ""
    assert new in memory.read("memory")


def test_a_statement_that_is_told_anew_tears_no_list() -> None:
    memory = offline()
    steps = "1. tag the branch\n2. wait ten minutes for the canary\n3. tell all"
    memory.write(f"How we release it when nobody is in:\n\n{steps}")
    memory.write("2. wait fifteen minutes for the canary")
    assert any(steps in memory.read(page.path) for page in memory.list_files())


def test_what_was_told_before_or_will_be_told_later_takes_no_place() -> None:
    memory = offline()
    memory.write(PORT, date=date(2026, 2, 16))
    memory.write(OTHER_PORT, date=date(2026, 2, 12))
    memory.write(OTHER_PORT.replace("8443", "8444"), date=date(2026, 2, 25))
    assert memory.write(PORT, date=date(2026, 2, 20)).outcome == "nothing new"


def test_a_document_is_listed_where_its_kin_is() -> None:
    memory = offline()
    recipes = ("Lasagna", "Gazpacho", "Goulash")
    memory.storage.write(
        "tools", b"# Tools\n\n## Links\n\n- [[tools/saw]] - Saw: blade\n- [[tools/drill]] - Drill: bits\n"
    )
    for tool in ("saw", "drill"):
        memory.storage.write(f"tools/{tool}", f"# {tool.capitalize()}\n\nA tool for wood.\n".encode())
    listed = "".join(f"- [[recipes/{name.casefold()}]] - {name}: recipe, oven, tomatoes\n" for name in recipes)
    memory.storage.write("recipes", f"# Recipes\n\n## Links\n\n{listed}".encode())
    for name in recipes:
        memory.storage.write(
            f"recipes/{name.casefold()}", f"# {name}\n\nA recipe with tomatoes from the oven.\n".encode()
        )
    memory.storage.write("memory", b"# Memory\n\n## Links\n\n- [[tools]] - Tools\n- [[recipes]] - Recipes\n")
    memory.check()
    result = memory.write("# Recipe for moussaka\n\nTomatoes, aubergines; bake the tomatoes in the oven.\n")
    assert result.path in children(memory, "recipes")
    other = memory.write("# Passport\n\nRuns out in 2031; the consulate is in the Rue de Lille.\n")
    assert other.path in children(memory)


def test_a_document_named_for_a_subject_and_more_is_listed_on_the_page_of_the_subject() -> None:
    memory = offline()
    memory.write("# Webshop\n\nThe shop of Kanto.\n")
    memory.write("# Webshop: outage of the checkout\n\nDown for 42 minutes.\n\n## Cause\n\nA certificate.\n")
    assert children(memory, "webshop")


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_no_title_stands_in_the_way_of_a_page(text: str) -> None:
    memory = offline()
    line = " ".join(text.split())[:300]
    for document in (f"# {line}\n\nA text.\n", f"{line[:50]}:\n\n- one\n- two\n- three\n"):
        try:
            document.encode()
        except UnicodeEncodeError:
            return
        result = memory.write(document)
        assert (result.decided_by, result.degraded) == ("offline", "")
        assert missing([block.content for block in parse_blocks(document)], texts_of(pages_of(memory.storage))) == []


# titled notes


def test_a_small_titled_note_goes_to_the_page_of_that_title_without_the_heading() -> None:
    memory = offline()
    memory.write("# Dishwasher\n\nBosch, bought in 2021.\n\n## Errors\n\nE15: water in the tray.\n")
    result = memory.write("# Dishwasher\n\nIt was repaired in March.\n")
    assert result.path == "dishwasher"
    assert memory.read("dishwasher").count("# Dishwasher\n") == 1
    assert "E15: water in the tray.\n\nIt was repaired in March.\n" in memory.read("dishwasher")


def test_a_small_titled_note_goes_to_the_section_of_that_title() -> None:
    memory = offline()
    memory.write("# Car\n\nA Golf.\n\n## Insurance\n\n412 euros.\n\n## Repairs\n\nNew clutch.\n")
    assert memory.write("# Insurance\n\nThe insurance of the car is now 436 euros.\n").path == "car"
    assert "412 euros.\n\nThe insurance of the car is now 436 euros.\n\n## Repairs" in memory.read("car")
    assert "# Insurance\n\nThe" not in memory.read("car")


def test_a_heading_is_not_repeated_when_a_text_begins_with_the_title_of_its_page() -> None:
    memory = offline()
    memory.write("# Silica\n\nA tree.\n\n## Testing\n\npytest.\n", "silica")
    memory.write("# Silica\n\nNeeds Python 3.12.\n\n## Deploy\n\nFly.io.\n", "silica")
    assert memory.read("silica").count("# Silica") == 1
    assert "A tree.\n\nNeeds Python 3.12.\n\n## Testing\n\npytest.\n\n## Deploy\n\nFly.io." in memory.read("silica")


# notes


def test_a_note_among_three_hundred_pages_goes_to_the_page_about_its_subject() -> None:
    memory = many_pages()
    assert len(memory.list_files()) > 300
    went = {text: memory.write(text).path for text, _ in NOTES}
    verdicts = Counter(
        "right" if went[text] == page else "root" if went[text] == "memory" else "wrong" for text, page in NOTES
    )
    assert verdicts["right"] >= 0.9 * len(NOTES), [text for text, page in NOTES if went[text] != page]
    assert verdicts["wrong"] == 0, [(text, went[text]) for text, page in NOTES if went[text] not in (page, "memory")]


def test_the_root_keeps_a_note_that_shares_two_words_with_a_page() -> None:
    memory = offline()
    memory.write("# Kitchen\n\nThe oven is new. The fridge hums at night and the window is old.\n")
    assert memory.write("The old man next door hums a song at night.").path == "memory"


@pytest.mark.parametrize(
    ("page", "note"),
    [
        ("# Heizung\n\nVaillant, Wartung durch Firma Krüger.\n", "Die Heizung verliert Druck, Sollwert sind 1,5 bar."),
        (
            "# Viaje a Lisboa\n\nDel 3 al 9 de junio. Hotel Avenida.\n",
            "El hotel Avenida permite cancelar hasta el 1 de junio.",
        ),
        ("# 猫咪豆豆\n\n豆豆三岁，吃皇家猫粮。\n", "豆豆最近不爱吃皇家猫粮，换成了渴望。"),
        (
            "# Data warehouse\n\nThe model `orders_daily` is the base of all reports.\n",
            "orders_daily lacks refunds before 2025.",
        ),
    ],
)
def test_a_note_finds_its_page_in_any_language(page: str, note: str) -> None:
    memory = offline()
    path = memory.write(page).path
    memory.write("# Bread\n\nRye flour, water, salt.\n")
    assert memory.write(note).path == path


def test_a_note_that_introduces_something_new_gets_a_page_and_what_follows_goes_there() -> None:
    memory = offline()
    text = (
        "Tidewatch shows the water level in nine small harbours. A gauge sends a reading every 30 seconds. "
        "The harbour masters of Tidewatch are warned by telephone when the water is too high; the county pays for it."
    )
    assert memory.write(text).path == "tidewatch"
    assert memory.write("The receiver of Tidewatch listens on port 9050.").path == "tidewatch"


def test_a_transcript_stays_in_order_whatever_its_messages_speak_of() -> None:
    memory = offline()
    memory.write("## Ports\n\n| service | port |\n|---|---|\n| redis | 6379 |")
    told = [
        "User: Which port does redis listen on?",
        "Assistant: It listens on 6379.\n\nShall I change it?",
        "User: Which port does postgres listen on?",
    ]
    for text in told:
        memory.write(text)
    assert body(memory).endswith("\n\n".join(told))


def test_a_list_about_several_pages_stays_together_on_the_root() -> None:
    memory = offline()
    memory.write("# Webshop\n\nThe shop of Kanto.\n")
    memory.write("# Garden\n\nTomatoes grow along the wall.\n")
    text = "- The webshop has a new logo.\n- The garden needs compost.\n"
    assert memory.write(text).path == "memory"


# dates


def log_and_subject() -> Memory:
    memory = offline()
    memory.storage.write("2026-01", b"# January 2026\n\n## 2026-01-03\n\nMilo had a fever and the doctor came.\n")
    memory.storage.write("memory", b"# Memory\n\n## Links\n\n- [[2026-01]] - January 2026: fever\n")
    memory.check()
    return memory


def test_a_dated_entry_goes_to_its_month() -> None:
    assert log_and_subject().write("2026-01-25: Milo is well again.").path == "2026-01"


def test_a_note_without_a_date_is_not_filed_by_date() -> None:
    assert log_and_subject().write("Milo had a fever and the doctor came again.").path == "memory"


# sources


def told(text: str, source: str, *pages: str) -> WriteBrief:
    """A brief of a text that came from this source, in a memory of these pages, all listed on the root."""
    below = tuple(Edge(ROOT, path, "", child=True) for path in pages)
    tree = Graph({path: Node(path, 100, path) for path in (ROOT, *pages)}, {ROOT: below})
    root = PageView(new_page(ROOT, "Memory"))
    return WriteBrief(
        blocks=parse_blocks(text),
        path=None,
        pages=[root],
        places=[],
        known={},
        threshold=10_240,
        now=clock(),
        today=clock().date(),
        block_count=lambda _: 1,
        source=Source(source),
        tree=tree,
    )


@pytest.mark.parametrize(
    ("text", "source", "path", "title"),
    [
        ("# Writing plugins\n\nHooks.\n", "docs/internals/plugins.md", "docs/internals/plugins", "Writing plugins"),
        ("Hooks are called in order.\n", "docs/internals/plugins.md", "docs/internals/plugins", "Plugins"),
        ("# Configuration\n\nHooks.\n", "docs/cfg.md", "docs/configuration", "Configuration"),
        ("Hooks.\n", "log/2026-02-06.md", "log/2026-02-06", "2026-02-06"),
        ("# TODAY.md\n\nHooks.\n", "TODAY.md", "today", "TODAY.md"),
        ("# MEMORY.md — What lasts\n\nHooks.\n", "MEMORY.md", "what-lasts", "MEMORY.md — What lasts"),
        ("- Hooks are called.\n", "MEMORY.md", "long-term-memory", "Long term memory"),
        ("# {{title}}\n\nHooks.\n", "templates/person.md", "templates/person", "{{title}}"),
        ("# Decision: {{title}}\n\nHooks.\n", "templates/decision.md", "templates/decision", "Decision: {{title}}"),
        ("# Garden\n\nBeds.\n", "/home/ana/notes/home/garden.md", "notes/home/garden", "Garden"),
    ],
)
def test_a_file_becomes_a_page_in_its_folder(text: str, source: str, path: str, title: str) -> None:
    document = read_document(told(text, source))
    assert document is not None
    assert (document.path, document.title, document.parent) == (path, title, ROOT)


@pytest.mark.parametrize(
    ("heading", "source", "line"),
    [
        ("{{title}}", "templates/person.md", "Person: Hooks are called in order"),
        ("Decision: {{title}}", "templates/decision.md", "Decision: Hooks are called in order"),
        ("{{title}}", "2026.md", "2026: Hooks are called in order"),
    ],
)
def test_a_template_is_listed_without_what_is_to_be_filled_in(heading: str, source: str, line: str) -> None:
    document = read_document(told(f"# {heading}\n\nHooks are called in order.\n", source))
    assert document is not None
    assert document.description == line


def test_a_file_whose_path_is_taken_is_called_by_a_further_word() -> None:
    text = "# Plugins\n\nHooks.\n\n## Hooks of pytest\n\nMore.\n"
    document = read_document(told(text, "docs/plugins.md", "docs/plugins"))
    assert document is not None
    assert document.path not in ("docs/plugins", "docs/plugins-2")


def test_a_short_note_from_somebody_is_no_document() -> None:
    assert read_document(told("Hooks are called in order.\n", "Ana")) is None


def test_a_text_that_is_the_title_of_its_new_page_is_written() -> None:
    memory = offline()
    assert memory.write("Other.", "other").outcome == "written"
    assert "\nOther.\n" in memory.read("other")


def test_a_document_that_is_divided_below_its_page_lists_no_other_documents() -> None:
    memory = offline()
    section = "The kiln is heated slowly, as moist clay bursts in a hot kiln. " * 40
    memory.write(
        "# Kilns\n\n" + "".join(f"## {part}\n\n{section}\n\n" for part in ("Clay", "Wood", "Gas", "Oil", "Heat"))
    )
    parts = set(children(memory, "kilns"))
    assert len(parts) > 1
    other = memory.write("# A kiln of wood\n\nThe kiln is heated slowly with wood; clay bursts in a hot kiln.\n")
    assert other.path in children(memory)
    assert set(children(memory, "kilns")) == parts


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Spark of noon: 2026-02-08 17:48", "2026-02-08-17-48-spark-of-noon"),
        ("Memory log: 2026-02-15 — Late session", "2026-02-15-memory-log-late-session"),
        ("2026-02-08 — Day 3 (Saturday)", "2026-02-08-day-3-saturday"),
        ("Sync of the kilns - 2026-02-09", "sync-of-the-kilns-2026-02-09"),
    ],
)
def test_a_date_in_a_title_is_read_as_it_stands_in_the_name(title: str, name: str) -> None:
    assert offline().write(f"# {title}\n\n{PROSE * 5}").path == name


KEYS = "A key hangs there." + " A key hangs there." * 59
KILN_ROOM = f"# The kiln room\n\nIt stands behind the barn.\n\n## Keys\n\n{KEYS}\n\n## Fire\n\nRun.\n"


def test_a_text_of_sections_stays_whole_and_lets_nothing_between_them() -> None:
    memory = offline()
    text = "".join(f"## {part} of the kiln\n\n{PROSE}{PROSE}" for part in ("Lighting", "Feeding", "Cooling"))
    place = memory.write(text).path
    assert place != "memory"
    memory.write("The kiln once more, and its lighting, feeding and cooling. " * 12)
    assert text.strip() in memory.read(place)


def test_a_file_with_two_endings_is_called_without_them() -> None:
    memory = offline()
    assert memory.write("That was done.", source="prompts/done.md.j2").path == "prompts/done"
    assert children(memory)["prompts/done"] == "Done"


@pytest.mark.parametrize(
    ("note", "above"),
    [
        ("The kiln room is locked at night.", "It stands behind the barn."),
        ("- The kiln room is locked.\n- Its roof is of tin.", "It stands behind the barn."),
        ("The keys of the kiln room were copied.", KEYS),
    ],
)
def test_a_note_goes_to_the_section_that_it_names_or_above_all_of_them(note: str, above: str) -> None:
    memory = offline()
    memory.write(KILN_ROOM)
    memory.write(note)
    assert f"{above}\n\n{note}\n" in memory.read("the-kiln-room")


def test_a_text_of_several_paragraphs_does_not_come_between_the_parts_of_a_document() -> None:
    memory = offline()
    memory.write(KILN_ROOM)
    note = "The kiln room is locked.\n\n- Ask Mara.\n- Or ask Jonas.\n"
    memory.write(note)
    assert f"{KILN_ROOM}\n{note}" in memory.read("the-kiln-room")


@pytest.mark.parametrize("source", ["user", "Ana, session of 3 May"])
def test_what_a_person_tells_does_not_go_below_the_last_heading_of_a_page_that_they_began(source: str) -> None:
    memory = offline()
    memory.write("## Building a batch by hand\n\nRun the job with --sign.\n", "payouts", "append", source=source)
    memory.write("The settlement test is flaky: rerun it.", "payouts", source=source)
    body = memory.read("payouts")
    assert body.index("flaky") < body.index("## Building a batch") < body.index("--sign")


def test_what_a_person_tells_does_not_come_between_the_parts_of_a_file() -> None:
    memory = offline()
    memory.write("## Building\n\nRun the job.\n\n## Signing\n\nUse the key.\n", "payouts", source="docs/payouts.md")
    memory.write("The settlement test is flaky: rerun it.", "payouts", source="user")
    assert memory.read("payouts").index("Use the key.") < memory.read("payouts").index("flaky")


def test_a_line_end_that_is_written_as_two_characters_ends_a_name() -> None:
    memory = offline()
    page = memory.write(
        "# Web Sync Status: 2026-02-08\\n- **Started**: 2026-02-07 23:12\\n\n" + "It worked. " * 60
    ).path
    assert page == "web-sync-status-2026-02-08"


def test_a_readme_is_listed_by_the_folder_that_it_is_about() -> None:
    memory = offline()
    memory.write("How requests are cached.\n\n## Context caching\n\nIt is on.\n", source="llms/gemini/README.md")
    memory.write("# A title of its own\n\nAnd a text.\n", source="llms/azure/README.md")
    listed = children(memory)
    assert listed["llms/gemini/readme"] == "Gemini README: How requests are cached; Context caching"
    assert [told for told in listed.values() if told.startswith("A title of its own")]


def test_a_namesake_of_a_day_keeps_the_day_first() -> None:
    memory = offline()
    for told in ("The portal was rebuilt. The portal is up again. ", "The cables were laid. The cables are new. "):
        memory.write("# Web Sync Status: 2026-02-08\n\n" + told * 20)
    (second,) = children(memory).keys() - {"web-sync-status-2026-02-08"}
    assert second.startswith("2026-02-08-web-sync-status-")


# sections of others


@pytest.mark.parametrize("text", ["The API limit is 600.", "Recipe: lentil soup, 35 minutes.", "- [ ] call Ada"])
@pytest.mark.parametrize("lines", [1, 40])
def test_a_note_does_not_go_below_the_last_heading_of_the_root(lines: int, text: str) -> None:
    memory = offline()
    for number in range(lines):
        memory.write(f"Shelf {number} holds glaze number {number * 7}.", "memory", "append")
    memory.write("## Ports\n\n| service | port |\n|---|---|\n| redis | 6379 |")
    memory.write(text)
    stood = body(memory)
    assert stood.index("Shelf 0") < stood.index(text) < stood.index("## Ports")


@pytest.mark.parametrize(
    "heading", ["## 2026-02-17", "## Standup of 17 February 2026", "## 2026-02-17\n\n### Migration"]
)
@pytest.mark.parametrize("title", ["", "### Ports\n\n"])
def test_what_names_no_day_is_not_put_below_a_day_that_is_past(title: str, heading: str) -> None:
    memory = offline()
    memory.write(f"## 2026-02-16\n\n- The kiln was lit.\n\n{heading}\n\n- Ada is at 80%.", "log", "append")
    memory.write(f"{title}The API limit is 600.", "log")
    found = memory.search("API limit")[0]
    assert (found.path, found.date) == ("log", clock().date())
    for text in ("2026-02-17: Bob is at 90%.", "## 2026-02-18\n\n- Ada is at 95%.", "## Wine\n\n- It is red."):
        memory.write(text, "log")
        assert body(memory, "log").endswith(text)


def test_a_note_of_today_goes_on_below_the_heading_of_today() -> None:
    memory = offline()
    today = clock().date()
    memory.write(f"## 2026-02-16\n\n- The kiln was lit.\n\n## {today}\n\n- Ada is at 80%.", "log", "append")
    memory.write("- Bob is at 90%.", "log")
    assert body(memory, "log").endswith("- Ada is at 80%.\n\n- Bob is at 90%.")


def test_what_names_no_day_tears_no_section_that_has_a_day_below_it() -> None:
    memory = offline()
    section = "## Folders\n\n### August 27th, 2024\n\nEach folder has a file.\n\nThe file has the requests."
    memory.write(section, "log", "append")
    memory.write("The API limit is 600.\n\nIt was 500.", "log")
    assert section in body(memory, "log")
    assert memory.search("API limit")[0].date == clock().date()
