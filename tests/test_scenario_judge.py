"""The judge of the scenario: it knows a good tree from a bad one, and sees what is lost and what is stale."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from bench.scenario.judge import Watch, standings
from bench.scenario.key import SUBJECTS
from bench.scenario.play import QUESTIONS, TEXTS, Step
from bench.scenario.sentences import normal, places, sentences_of, tree_of
from memory_v2.operations.results import WriteResult
from memory_v2.trace.recording import Trace
from memory_v2.tree.page import Page, parse_page


def shelved(page_of: Mapping[str, str], texts: int = len(TEXTS)) -> dict[str, Page]:
    """The texts on pages: each whole, on the page of its first part's subject."""
    bodies: dict[str, str] = {}
    for text in TEXTS[:texts]:
        path = page_of[text.about or next(iter(text.parts.values()))]
        bodies[path] = f"{bodies.get(path, '')}{text.text}\n"
    links = "".join(f"- [[{path}]]\n" for path in bodies if path != "memory")
    bodies["memory"] = f"# Memory\n\n{bodies.get('memory', '')}## Links\n\n{links}"
    return {path: parse_page(path, body) for path, body in bodies.items()}


def written(pages: dict[str, Page], number: int, *calls: str) -> Step:
    trace = Trace()
    trace.events.append({"event": "reply", "calls": [{"name": name} for name in calls]})
    return Step(number, TEXTS[number - 1], WriteResult("memory"), trace, pages)


def verdicts(pages: Mapping[str, Page]) -> Counter[str]:
    return Counter(one.verdict for one in standings(TEXTS, pages, {}))


def test_forty_texts_have_known_subjects_and_their_answers_stand_in_them() -> None:
    parts = {one.subject for one in sentences_of(TEXTS)} - {""}
    assert (len(TEXTS), len(QUESTIONS)) == (40, 25)
    assert parts <= set(SUBJECTS)
    assert all(to in parts for text in TEXTS for to in text.parts.values())
    assert [text.day for text in TEXTS] == sorted(text.day for text in TEXTS)
    for question in QUESTIONS:
        told = "\n".join(normal(TEXTS[number - 1].text) for number in question.texts)
        assert all(re.search(said, told) for said in question.answer), question


def test_a_page_for_each_subject_is_right_and_one_heap_is_not() -> None:
    right = verdicts(shelved({subject: subject for subject in SUBJECTS}))
    assert right["wrong"] <= 2 and right["right"] >= 40  # one text has three subjects, and stays whole here
    assert verdicts(shelved(dict.fromkeys(SUBJECTS, "memory"))) == {"acceptable": len(standings(TEXTS, {}, {}))}
    assert verdicts(shelved(dict.fromkeys(SUBJECTS, "gazebo"))) == {"wrong": len(standings(TEXTS, {}, {}))}


def test_every_sentence_is_found_where_it_stands() -> None:
    pages = shelved({subject: subject for subject in SUBJECTS})
    assert set(places(sentences_of(TEXTS), tree_of(pages))) == set(sentences_of(TEXTS))


def test_a_sentence_that_goes_missing_is_lost_unless_a_decision_took_it_out() -> None:
    page_of = {subject: subject for subject in SUBJECTS}
    before, missing = shelved(page_of, 3), shelved(page_of, 2)
    for calls, name in ((("place",), "lost"), (("place", "replace"), "replaced")):
        watch = Watch(TEXTS)
        watch.see(written(before, 3))
        assert not watch.lost and not watch.replaced
        watch.see(written(missing, 4, *calls))
        assert {one.text for one in getattr(watch, name)} == {3, 4}


def test_a_part_that_was_told_otherwise_is_judged_by_the_page_on_which_that_was_done() -> None:
    page_of = {subject: subject for subject in SUBJECTS}
    before, missing = shelved(page_of, 3), shelved(page_of, 2)
    for calls, verdict in ((("place",), "wrong"), (("place", "replace"), "right")):
        watch = Watch(TEXTS)
        watch.see(written(before, 3))
        watch.see(written(missing, 4, *calls))
        pages = {**missing, "lumen/deploys": before["lumen/deploys"].with_body([])}
        stands = next(one for one in standings(TEXTS, pages, watch.retold) if one.text == 3)
        assert (stands.verdict, stands.pages) == (verdict, ("lumen/deploys",) if verdict == "right" else ())


def test_a_description_that_says_what_was_true_once_is_stale() -> None:
    pages = shelved({subject: subject for subject in SUBJECTS}, 14)
    watch = Watch(TEXTS)
    for told, found in (("on Tuesdays", 1), ("on Thursdays, until April on Tuesdays", 0), ("when it is deployed", 0)):
        listed = pages | {"memory": pages["memory"].with_description("lumen/deploys", told)}
        watch.stale.clear()
        watch.see(written(listed, 14))
        assert len(watch.stale) == found
