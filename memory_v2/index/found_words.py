"""Where in a text the words of a question stand, in any of their forms, or related ones."""

from __future__ import annotations

from collections.abc import Iterator

from memory_v2.index.terms import related, terms, terms_of, verb_forms, verbs
from memory_v2.text.lists import stopwords
from memory_v2.text.words import has_cjk, matcher, words


def places_of_words(text: str, question: str) -> Iterator[tuple[int, int]]:
    """The first character of each word of the text that the question has, and the one after it, in order. Words that
    say nothing count only if the question has no others."""
    asked = [word for word in words(question) if word not in stopwords()] or words(question)
    wanted = {verbs().get(term, term) for word in asked for term in terms(word)}
    wanted.update(*(verb_forms().get(term, ()) for term in wanted), *map(related, wanted))
    tokens = list(matcher(r"[^\W_]+").finditer(text))
    found = [False] * len(text)
    for token, spelled in zip(tokens, terms_of([token[0] for token in tokens]), strict=True):
        if has_cjk(token[0]):
            for start in range(token.start(), token.end() - 1):
                if text[start : start + 2] in wanted:
                    found[start : start + 2] = [True, True]
        elif not wanted.isdisjoint(spelled):
            found[token.start() : token.end()] = [True] * len(token[0])
    yield from (
        (run.start(), run.end()) for run in matcher("1+").finditer("".join("01"[is_found] for is_found in found))
    )
