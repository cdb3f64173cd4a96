"""Which places come first."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.terms import parse_question
from memory_v2.index.weights import DAY, QUESTION
from memory_v2.storage.volatile import VolatileStorage
from tests.tree.texts import STEADY

TALK = """# Session {number}

## {day}

- Ann: Hey Bob! How have you been?
- Bob: I was ill, but I am well now. What did you do?
- Ann: I went to a jazz concert in the old theatre with my sister.
- Bob: Who was playing? I would love to go too!
- Ann: A trio from Lisbon. They play again next week.
- Bob: My guitar needs new strings before I play anywhere.
"""


def index_of(**pages: str) -> FullTextIndex:
    storage = VolatileStorage()
    for path, text in pages.items():
        storage.write(path, text.encode())
    return FullTextIndex(storage, None)


def found(index: FullTextIndex, query: str, limit: int = 10) -> list[str]:
    return [hit.text for hit in index.search(query, limit)]


def first(index: FullTextIndex, query: str) -> Hit:
    return index.search(query, 1)[0]


@pytest.fixture(scope="module")
def notes() -> FullTextIndex:
    return index_of(
        memory="- The team meets on Mondays\n- Coffee is in the kitchen\n\n## Links\n\n- [[silica]] - pytest",
        silica="# Silica\n\n## Testing\n\n- uses pytest with xdist\n- coverage: 95%\n\n## Release\n\n- tagged by hand",
        quipu="# Quipu\n\n## Testing\n\n- uses unittest\n\n## Release\n\n- `write_memory` is called on each push\n",
    )


def test_a_word_finds_other_forms_of_it(notes: FullTextIndex) -> None:
    assert found(notes, "who meet on a monday?")[0] == "- The team meets on Mondays"
    assert found(notes, "calling")[0] == "- `write_memory` is called on each push"


def test_one_word_is_enough(notes: FullTextIndex) -> None:
    assert found(notes, "how do we brew our coffee in the morning")[0] == "- Coffee is in the kitchen"


def test_headings_and_titles_tell_places_apart(notes: FullTextIndex) -> None:
    assert first(notes, "testing of silica").path == "silica"
    assert first(notes, "testing of quipu").text == "- uses unittest"
    assert found(notes, "silica release")[0] == "- tagged by hand"


def test_an_identifier_is_found_whole_and_by_its_parts(notes: FullTextIndex) -> None:
    for query in ("write_memory", "`write_memory`", "what does write do with memory"):
        assert first(notes, query).text == "- `write_memory` is called on each push"


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("useOrderList", ["order list", "useOrderList", "useorderlist", "use_order_list", "OrderList"]),
        ("fetchShipmentEtas", ["fetch_shipment_etas", "shipment etas"]),
        ("XMLHttpRequest", ["xml http request", "XmlHttpRequest"]),
        ("validate_iban", ["validateIban", "ValidateIBAN"]),
        ("HARBOR.featureCacheTtl", ["feature cache", "featureCacheTtl"]),
    ],
)
def test_an_identifier_is_found_in_whatever_style_it_is_spelled(written: str, asked: list[str]) -> None:
    line = f"- {written} polls the server"
    index = index_of(memory=f"- The retry waits for a minute\n{line}\n- The order of tests is fixed\n")
    for query in asked:
        assert found(index, query)[0] == line, query


def test_a_name_in_camel_case_is_not_found_by_a_part_of_it_where_another_is_missing() -> None:
    assert found(index_of(memory="- Post the letter on Monday\n"), "PostgreSQL") == []


@pytest.mark.parametrize("path", ["ours", "kiln", "zeta", "omega", "alpha", "memo"])
def test_a_title_brings_its_page_however_much_stands_below_others_with_its_words(path: str) -> None:
    body = "".join(f"The kiln is fired on day {number}.\n\n" for number in range(200))
    others = {f"memory-{name}": f"# Long-term memory of {name}\n\n{body}" for name in ("ada", "bo", "cleo", "dan")}
    index = index_of(**others, **{path: f"# Long-term memory\n\nWhat is kept.\n\n{body}"})
    assert first(index, "Long-term memory").text == "What is kept."


def test_a_short_word_in_capitals_is_looked_up_though_it_is_a_stopword_without_them() -> None:
    index = index_of(memory="- CI takes 14 minutes\n- The review takes a day\n- it runs in Spain\n")
    assert found(index, "what runs in CI")[0] == "- CI takes 14 minutes"
    assert found(index, "what is it about CI") == ["- CI takes 14 minutes"]


def test_a_form_that_no_page_has_finds_a_shorter_or_longer_one() -> None:
    index = index_of(memory="- Ada is a citizen of France\n- the department buys chairs\n")
    assert found(index, "citizenship") == ["- Ada is a citizen of France"]
    assert found(index, "depart") == ["- the department buys chairs"]


def test_entries_are_found_only_when_asked_for(notes: FullTextIndex) -> None:
    assert {hit.path for hit in notes.search("pytest")} == {"silica"}
    assert [hit.path for hit in notes.search("pytest", child_links=True)] == ["silica", "memory"]


def test_what_was_written_near_it_does_not_make_a_note_an_answer(notes: FullTextIndex) -> None:
    assert found(notes, "xdist") == ["- uses pytest with xdist"]


def test_why_a_place_was_found_is_said(notes: FullTextIndex) -> None:
    assert first(notes, "Which pytest plugins?").found_by == "pytest"
    assert first(notes, "how is silica coverage").found_by == "coverage"
    assert first(notes, "silica").found_by == "above it: silica"


def test_that_a_place_was_found_by_a_related_word_is_said() -> None:
    index = index_of(memory="- Ana has a dog\n- The pet shop is closed\n")
    assert [hit.found_by for hit in index.search("pets")] == ["pets", "in other words: pets"]


def test_scores_fall_from_one_to_zero(notes: FullTextIndex) -> None:
    scores = [hit.score for hit in notes.search("testing release pytest uses hand")]
    assert len(scores) > 2
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] < scores[0] < 1


def test_stopwords_alone_are_looked_up() -> None:
    index = index_of(memory="- to be or not to be\n- something else\n")
    assert found(index, "to be or not to be") == ["- to be or not to be"]


@pytest.mark.parametrize("query", ["", " ", "?", "...", '"', "*", '""', "zebra", "\0", "\ud800"])
def test_a_query_that_says_nothing_finds_nothing(notes: FullTextIndex, query: str) -> None:
    assert notes.search(query) == []


@STEADY
@given(st.text(st.sampled_from("\"'*^()-+:{}[]. \0ORANDNTEor近茶Silica_\ud800"), max_size=30))
def test_no_query_is_taken_for_syntax(query: str) -> None:
    index = index_of(memory="# Memory\n\n- Silica OR NOT AND NEAR 近く お茶\n")
    for hit in index.search(query):
        assert hit.text == "- Silica OR NOT AND NEAR 近く お茶"


def test_a_quotation_is_found_to_the_letter() -> None:
    index = index_of(
        memory="- the red car and the blue house\n- the red house\n- the house is red\n- blue red house car\n"
    )
    assert found(index, '"red house"')[0] == "- the red house"
    assert found(index, "“the house is red”")[0] == "- the house is red"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("喝茶", "- 我喜欢喝茶"),
        ("你喜欢喝什么茶?", "- 我喜欢喝茶"),
        ("茶", "- 我喜欢喝茶"),
        ("東京", "- 来週、東京で会議があります"),
        ("カイギ", "- カイギは月曜日"),
        ("김치", "- 저는 김치를 좋아해요"),
        ("อาหาร", "- ฉันชอบอาหารไทย"),
        ("cafe", "- le café est fermé"),
    ],
)
def test_all_scripts_are_searched(query: str, expected: str) -> None:
    lines = ["我喜欢喝茶", "来週、東京で会議があります", "カイギは月曜日", "저는 김치를 좋아해요", "ฉันชอบอาหารไทย"]
    index = index_of(memory="".join(f"- {line}\n" for line in [*lines, "le café est fermé"]))
    assert found(index, query)[0] == expected


def test_of_contradicting_facts_the_newest_comes_first() -> None:
    index = index_of(
        memory="- The capital of Freedonia is Rome, the old city\n- The capital of Freedonia is Paris\n"
        "- Freedonia is large\n- The capital of Freedonia is Oslo\n"
    )
    assert found(index, "What is the capital of Freedonia?", 3) == [
        "- The capital of Freedonia is Oslo",
        "- The capital of Freedonia is Paris",
        "- The capital of Freedonia is Rome, the old city",
    ]


def test_of_what_answers_as_well_the_later_comes_first_unless_a_time_is_asked_for() -> None:
    lines = ["2026-01-13: Hay from Brockmann is 6.50 a bale.", "2026-09-14: Hay from Brockmann, sixty bales at 7.40."]
    index = index_of(memory="# Hay\n\n" + "".join(f"- {line}\n" for line in lines))
    assert "7.40" in first(index, "What does hay cost?").text
    assert "6.50" in first(index, "What did hay cost in January?").text


@pytest.mark.parametrize(
    ("query", "is_past"),
    [
        ("What did hay cost before the drought?", True),
        ("What was the price of hay in the spring?", True),
        ("What was hay at first?", True),
        ("Who used to sell us hay?", True),
        ("Was kostete das Heu vor der Dürre?", True),
        ("Wann kam das Heu früher?", True),
        ("¿Cuánto costaba el heno antes de la sequía?", True),
        ("Combien coûtait le foin avant l'été ?", True),
        ("Quanto custava o feno até ao verão?", True),
        ("以前干草多少钱？", True),
        ("What do I check before hay is stored?", False),
        ("Which file has the origins that are allowed?", False),
        ("Was muss ich vor dem Mähen prüfen?", False),
        ("¿Qué se mira antes de guardar el heno?", False),
        ("What did hay cost?", False),
    ],
)
def test_what_was_so_before_is_asked_for_by_a_time_and_the_past_tense(query: str, is_past: bool) -> None:
    assert parse_question(query, ()).past is is_past


def test_who_asks_for_what_was_so_before_gets_what_was_said_first() -> None:
    lines = ["2026-01-13: Hay from Brockmann is 6.50 a bale.", "2026-09-14: Hay from Brockmann is 7.40 a bale."]
    index = index_of(memory="# Hay\n\n" + "".join(f"- {line}\n" for line in lines))
    assert "7.40" in first(index, "What does hay from Brockmann cost?").text
    assert "6.50" in first(index, "What did hay from Brockmann cost before the drought?").text


def test_the_day_says_which_fact_is_newest() -> None:
    index = index_of(a="- 2024-03-01: the port is 8080\n", b="- 2024-01-01: the port is 9090\n")
    assert found(index, "which port?") == ["- 2024-03-01: the port is 8080", "- 2024-01-01: the port is 9090"]


def test_the_number_of_a_fact_says_which_is_newest() -> None:
    index = index_of(a="41. Ada plays the flute.\n", b="7. Ada plays the piano.\n")
    assert found(index, "what does Ada play?") == ["41. Ada plays the flute.", "7. Ada plays the piano."]


def test_an_old_fact_comes_first_when_its_day_is_asked_for() -> None:
    index = index_of(memory="- 2024-01-01: the port is 9090\n- 2024-03-01: the port is 8080\n")
    assert found(index, "which port was it on 2024-01-01?")[0] == "- 2024-01-01: the port is 9090"
    assert found(index, "which port was it in January 2024?")[0] == "- 2024-01-01: the port is 9090"


@pytest.fixture(scope="module")
def talk() -> FullTextIndex:
    first_session = TALK.format(number=1, day="8 May 2023, 1:56 pm")
    second = "## 3 June 2024\n\n- Ann: I sold my car!\n- Bob: I bought a car, and you?\n- Ann: No.\n- Bob: Ok, bye!\n"
    third = "## 9 June 2024\n\n- Cleo: I sold my car!\n- Dan: Me too!\n- Cleo: So you did?\n- Dan: Yes, I did!\n"
    return index_of(one=first_session, two=second, three=third)


def test_an_answer_takes_words_from_the_question_before_it(talk: FullTextIndex) -> None:
    assert "A trio from Lisbon" in "".join(found(talk, "Who was playing at the concert?", 3))


def test_who_is_named_in_the_question_is_preferred_as_speaker(talk: FullTextIndex) -> None:
    assert first(talk, "What did Ann do with her car?").text == "- Ann: I sold my car!"
    assert first(talk, "what did bob do with his car").text == "- Bob: I bought a car, and you?"
    assert first(talk, "What did Cleo do with her car?").path == "three"
    assert "said by Cleo" in first(talk, "What did Cleo do with her car?").found_by


def test_a_word_that_could_be_a_name_is_one_where_it_is_written_as_one() -> None:
    index = index_of(
        a="- Will: I hope for rain!\n- Hope: The rain is late, you know.\n- Will: No rain?\n- Hope: No rain at all!\n"
    )
    assert "said by Will" in first(index, "What did Will say of rain?").found_by
    assert "said by Hope" in first(index, "What did Hope say of rain?").found_by
    assert "said by" not in first(index, "Which people hope for rain? Not me").found_by
    assert "said by Will" not in first(index, "Will the rain be late?").found_by


def test_a_name_alone_is_looked_up(talk: FullTextIndex) -> None:
    assert all("Cleo" in text for text in found(talk, "Cleo", 2))


def test_a_day_in_the_question_is_preferred(talk: FullTextIndex) -> None:
    for query in ("What car was sold on 9 June 2024?", "car on June 9", "what was said about a car on 9 June"):
        assert first(talk, query).path == "three", query
    assert {hit.path for hit in talk.search("what happened in May 2023?")} == {"one"}
    assert first(talk, "concert in May 2023").found_by.endswith("date May 2023")


def test_a_day_alone_does_not_answer_what_else_is_asked_for() -> None:
    index = index_of(
        cluster="# Cluster\n\n- The cluster runs Kubernetes 1.32.\n",
        bills="# Bills\n\n- The certificate holds until 11 May 2026.\n",
    )
    assert first(index, "Which version of Kubernetes did the cluster run in May 2026?").path == "cluster"
    assert first(index, "What is due on 11 May 2026?").path == "bills"


def test_a_note_about_somebody_is_found_beside_their_talk() -> None:
    index = index_of(
        talk=TALK.format(number=1, day="8 May 2023"), ann="# People\n\n- Ann lives in Elm Street\n- Joe too\n"
    )
    assert first(index, "Where is Ann's home?").text == "- Ann lives in Elm Street"


def test_the_date_of_a_hit_is_that_of_its_heading(talk: FullTextIndex) -> None:
    hit = first(talk, "guitar strings")
    assert (hit.date, hit.section, hit.first_line) == (date(2023, 5, 8), ("Session 1", "8 May 2023, 1:56 pm"), 10)


def test_a_long_text_may_be_a_query(talk: FullTextIndex) -> None:
    assert first(talk, "nothing of all this " * 500 + TALK).path == "one"


def test_the_front_matter_of_a_page_is_not_the_answer_that_its_text_is() -> None:
    index = index_of(
        plugin="---\ntags: [memory, plugin]\n---\n\n# Slot\n\nThe memory plugin fills the slot that the old one left.\n"
    )
    assert found(index, "memory plugin")[0].startswith("The memory plugin fills")


def test_what_somebody_told_an_assistant_comes_before_what_it_answered() -> None:
    told = "User: The sprint ends on March 29, so please plan how two of us do the login page."
    answer = "Assistant: The sprint will end soon."
    for role, other in (("User", "Assistant"), ("用户", "助手"), ("**Usuario**", "**Asistente**")):
        lines = [told.replace("User", role), answer.replace("Assistant", other)]
        index = index_of(memory="# Sprint\n\n" + "\n\n".join([*lines, *3 * ["It rains.\n"]]))
        assert found(index, "When does the sprint end?")[0] == lines[0]


def test_what_asks_in_chinese_is_not_looked_up() -> None:
    index = index_of(memory="- 分不清哪个是主我，哪个不是\n- 时区: Asia/Shanghai\n")
    assert found(index, "在哪个时区？")[0] == "- 时区: Asia/Shanghai"
    assert found(index, "哪个") == ["- 分不清哪个是主我，哪个不是"]


def test_the_same_line_about_something_else_is_no_newer_version() -> None:
    line = "- Listens on port {}\n- Written in Go\n"
    index = index_of(
        harbor=f"# Harbor\n\n{line.format(8443)}", lantern=f"# Lantern\n\n{line.format(7010)}", z=line.format(5050)
    )
    assert first(index, "Which port does Harbor listen on?").path == "harbor"


SERVICE = "# {}\n\nIt is one of several.\n\n- Listens on port {}\n- Written in Go\n"


@pytest.mark.parametrize(("others", "link"), [(3, "services/tern"), (300, "services/tern"), (300, "Services/Tern.md")])
def test_a_question_is_answered_by_two_pages_of_which_one_links_to_the_other(others: int, link: str) -> None:
    index = index_of(
        **{f"services/a{n:03}": SERVICE.format(f"a{n:03}", 7000 + n) for n in range(others)},
        **{"services/tern": SERVICE.format("Tern", 8443), "zoe": f"# Zoe\n\n- Looks after [[{link}]]\n"},
    )
    best = found(index, "Which port does the service that Zoe looks after listen on?", 2)
    assert sorted(best) == ["- Listens on port 8443", f"- Looks after [[{link}]]"]


def test_a_line_that_links_to_everything_lifts_nothing_above_what_one_line_links_to() -> None:
    names = ("harbor", "lantern", "meadow", "quarry")
    index = index_of(
        **{f"services/{name}": SERVICE.format(name.title(), 7000 + n) for n, name in enumerate(names)},
        zoe="# Zoe\n\n- Looks after [[services/meadow]]\n",
        hub=f"# Zoe and all others look after\n\n- {', '.join(f'[[services/{name}]]' for name in names)}\n",
    )
    hits = index.search("Which port does the service that Zoe looks after have?")
    lifted = {hit.text: dict(hit.signs).get("what links to its page", 0.0) for hit in hits}
    assert lifted["- Listens on port 7002"] == pytest.approx(4 * lifted["- Listens on port 7001"], abs=0.05)
    assert next(hit.text for hit in hits if "port" in hit.text) == "- Listens on port 7002"


def test_of_pages_of_one_title_the_one_without_a_number_comes_first() -> None:
    index = index_of(
        port="# Port\n\nWhere ships lie at night, of which there are many here.\n",
        **{"port-2": "# Port\n\nA port.\n", "port-443": "# Port 443\n\nIt is closed.\n"},
    )
    assert first(index, "Port").path == "port"
    assert first(index, "Port 443").path == "port-443"


def test_a_title_brings_its_page_and_a_heading_its_section() -> None:
    title = "Spark of Consciousness: 2026-02-08 18:13"
    index = index_of(
        a=f"# {title}\n\n- All is quiet\n\n## Energy use\n\n- Twelve watts\n- More at night\n",
        b="# Consciousness Spark: 2026-02-08 18:13\n\n- The spark of 18:13 says: consciousness\n",
        c=f"# Sparks\n\n- See {title}\n- Of energy, use as little as you can\n- The energy use was measured\n",
    )
    assert first(index, title).path == "a"
    assert first(index, "energy use").text == "- Twelve watts"


def test_a_title_is_found_however_many_places_have_its_words() -> None:
    others = "\n\n".join(f"Spark: the {n}th spark of the hive was a hive spark." for n in range(300))
    index = index_of(
        a=f"# Log\n\n{others}\n", b="# Hive spark\n\nAll is quiet, and nothing else is to be told today.\n"
    )
    assert first(index, "Hive spark").path == "b"


def test_what_stands_first_under_a_title_comes_before_what_repeats_it() -> None:
    index = index_of(a="# Proxy\n\nA small server.\n\n## Use\n\n- Start the proxy\n- Ask the proxy, not the model\n")
    assert found(index, "proxy", 1) == ["A small server."]


def test_of_several_titles_asked_for_the_nearest_to_the_root_comes_first() -> None:
    index = index_of(
        api="# Python\n\n## Open entries\n\n- One list, by day\n",
        shelf="# Open entries\n\nA short text.\n",
        **{"a/b/c": "# Open entries\n\n- One list, by name\n"},
    )
    assert [hit.path for hit in index.search("Open entries", 3)] == ["shelf", "api", "a/b/c"]


def test_a_line_of_nothing_but_the_question_may_be_a_title_but_comes_after_headings() -> None:
    index = index_of(
        a="# Web log 2026-02-08\n\n- Log: 2026-02-08\n",
        b="# Log\n\n## Repairs\n\n2026-02-08\n\n- The gate hangs again\n",
    )
    assert first(index, "2026-02-08").text == "2026-02-08"
    index = index_of(c="# Old pumps\n\nNone runs.\n", d="# List\n\nOld pumps\n\nold pumps\n")
    assert first(index, "Old pumps").text == "None runs."


def test_what_added_to_the_score_of_a_place_is_told(notes: FullTextIndex, talk: FullTextIndex) -> None:
    hit = first(notes, "testing of silica")
    signs = dict(hit.signs)
    total = sum(signs.values())
    assert signs["title or heading asked for"] > 0
    assert "the day asked for" not in signs
    assert hit.score == pytest.approx(total / (total + 5), abs=0.01)
    assert dict(first(talk, "What happened on 8 May 2023?").signs)[DAY] == QUESTION[DAY]
