"""The words of a text, and which of them carry its meaning; its sentences; the text without Markdown; its tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import groupby
from typing import Literal

from memory_v2.text.lists import DATA, read_words, stopwords

# Scripts written without spaces between words. Chinese, Japanese and Korean first; then Thai, Lao, Burmese, Khmer.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fd5\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_UNSPACED = _CJK + "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"
# Python's \w excludes combining marks; without them Hindi, Arabic and Hebrew words fall apart.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
)
_UNSPACED_RUN = f"[{_UNSPACED}]++"
_SPACED_WORD = rf"(?:[^\W_{_UNSPACED}]++|[{_MARKS}]++)++"
_LATIN_WORD = r"[^\W_]++"
_ASCII_WORD = "[0-9A-Za-z]++"
# All of the above is among these, but no emoji, and no sign for bytes that are not UTF-8. The large classes take 12 ms
# to compile, which a text without them should not pay.
_BEYOND_LATIN = re.compile("[^\0-\u02ff\u1800-\u2e7f\ufe00-\ufe0f\ufeff\ufffd\U0001f000-\U0001faff]")
_MANY_MARKS = re.compile(r"[^\w\s\0-\x7f]{30,}")
_APOSTROPHES = "'’‘ʼ＇"
_A_CJK, _AN_APOSTROPHE, _A_MARK = f"[{_CJK}]", f"[{_APOSTROPHES}]", f"[,{_APOSTROPHES}]"


_CLITICS = frozenset(["s", "ll", "re", "ve", "d", "m"])
_ELIDED = frozenset(["c", "d", "j", "jusqu", "l", "lorsqu", "m", "n", "puisqu", "qu", "quoiqu", "s", "t"])
_SINGULAR = frozenset(["alias", "atlas", "bias", "canvas", "christmas", "gas", "lens", "news"])


@cache
def _token(script: Literal["ascii", "latin", "any"]) -> re.Pattern[str]:
    """A word; in a text of `any` script letters, or as group 1 a run of characters without spaces."""
    before, word = {
        "ascii": (r"[A-Za-z][A-Za-z]*+(?![0-9'_.+\#])|", _ASCII_WORD),  # most words are no more, and found so at once
        "latin": ("", _LATIN_WORD),
        "any": (f"({_UNSPACED_RUN})|", _SPACED_WORD),
    }[script]
    # A dot joins `node.js` and `v0.1.0`, but not two sentences: "the end.Next".
    dot = r"\.(?:(?=[^A-ZÀ-Þ])|(?<=[A-ZÀ-Þ]\.))"
    return re.compile(
        rf"{before}"
        r"\d{1,3}(?:,\d{3})++(?![\d,])(?:\.\d++)?"
        rf"|{word}(?:(?:[{_APOSTROPHES}]|_++|{dot}){word})*+(?:(?<=[A-Za-z])\+\+\d*+|(?<=\b[A-Za-z])\#(?!\w))?"
    )


@cache
def matcher(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled on first use."""
    return re.compile(pattern)


def composed(text: str, form: Literal["NFC", "NFD", "NFKC"] = "NFC") -> str:
    """The text in a normal form. Of marks behind one letter, `unicodedata` alone would take quadratic time to put them
    in order."""
    return unicodedata.normalize(form, text if text.isascii() else _MANY_MARKS.sub(_in_order, text))


def _in_order(run: re.Match[str]) -> str:
    parts = groupby(run[0], key=lambda c: unicodedata.combining(c) > 0)
    return "".join("".join(sorted(part, key=unicodedata.combining) if marks else part) for marks, part in parts)


def folded(text: str) -> str:
    """The text with its case folded, in NFC."""
    if text.isascii():
        return text.lower()
    # Folding is stable only after decomposition (Unicode 3.13, D145).
    return composed(composed(text, "NFD").casefold())


def unaccented(text: str) -> str:
    """The text with its case folded and without accents, in NFC."""
    decomposed = composed(text.casefold(), "NFD")
    return composed("".join(c for c in decomposed if unicodedata.category(c) != "Mn"))


def is_latin(text: str) -> bool:
    """Whether `text` has no letters but Latin ones, none of them composed of several characters."""
    return text.isascii() or _BEYOND_LATIN.search(text) is None


def has_cjk(text: str) -> bool:
    """Whether `text` has Chinese characters, kana or hangul."""
    return not is_latin(text) and matcher(_A_CJK).search(text) is not None


def words(text: str) -> list[str]:
    """The words of `text` in order, casefolded, in NFC.

    Identifiers, versions and host names stay whole. English `'s` and `'ll` and French `l'` and `qu'` are cut off; other
    apostrophes disappear (`don't` becomes `dont`). Scripts without spaces give overlapping pairs of characters.
    """
    plain = composed(text)
    if plain.isascii():
        found = [token.lower() for token in _token("ascii").findall(plain)]
    elif is_latin(plain):
        found = [folded(token) for token in _token("latin").findall(plain)]
    else:
        found = []
        for match in _token("any").finditer(plain):
            token = folded(match[0])
            pairs = [token[i : i + 2] for i in range(len(token) - 1)] if match[1] else []
            found += pairs or [token]
    if not matcher(_A_MARK).search("".join(found)):
        return found
    unmarked: list[str] = []
    done = 0
    for place in [place for place, word in enumerate(found) if not (word.isascii() and word.isalnum())]:
        unmarked += found[done:place]
        unmarked += filter(None, _without_marks(found[place]))  # an apostrophe that is a letter, alone, leaves nothing
        done = place + 1
    return unmarked + found[done:]


def unbroken_words(text: str) -> list[str]:
    """The words of `text` in order, as `words` gives them, but each run of a script without spaces as one word."""
    plain = composed(text)
    if plain.isascii():
        return words(plain)
    parts = matcher(f"({_UNSPACED_RUN})").split(plain)
    return [word for place, part in enumerate(parts) for word in ([folded(part)] if place % 2 else words(part))]


def proper_words(text: str) -> list[str]:
    """The words with a digit, and the names: words with a capital after the first word. Where more than a third have
    one, as in German, capitals tell nothing."""
    word = _LATIN_WORD if is_latin(text) else _SPACED_WORD
    tokens = matcher(rf"{word}(?:[{_APOSTROPHES}._-]{word})*+").findall(text)
    named = {token for token in tokens[1:] if token != token.casefold()}
    if len(named) * 3 > len(tokens):
        named = set()
    return [token for token in dict.fromkeys(tokens) if token in named or any(map(str.isdigit, token))]


def _without_marks(token: str) -> list[str]:
    """The words of a token, without commas and apostrophes."""
    if not token.isascii():
        token = matcher(_AN_APOSTROPHE).sub("'", token)
    return _without_apostrophes(token) if "'" in token else [token.replace(",", "")]


def _without_apostrophes(token: str) -> list[str]:
    body, _, tail = token.rpartition("'")
    if tail not in _CLITICS:
        body = token
    head, _, rest = body.partition("'")
    if rest and head in _ELIDED:
        return [head, rest.replace("'", "")]
    return [body.replace("'", "")]


def stem(word: str) -> str:
    """`word` without an English plural or possessive ending. Singular and plural share a stem, which need not be a
    word."""
    word = word.removesuffix("'").removesuffix("'s")
    if len(word) < 4 or not (word.isascii() and word.isalpha()) or word in _SINGULAR:
        return word
    if word.endswith("es") and word[:-2] in _SINGULAR:
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    # "es" endings: boxes, classes, viruses, heroes, stories. Words in -e get the same stem: caches and cache.
    if len(word) > 3 and word.endswith(("sse", "use", "xe", "zze", "che", "she", "oe")):
        return word[:-1]
    if len(word) > 3 and word.endswith("ie"):
        return word[:-2] + "y"
    return word


@cache
def general() -> frozenset[str]:
    """Words so general that a fact can be retold without them, and their stems."""
    found = read_words(DATA / "general.txt")
    return found | {stem(word) for word in found}


def content_words(text: str) -> list[str]:
    """The stems of the words of `text` that are not stopwords, in order."""
    ignored = stopwords()
    return [stem(word) for word in words(text) if word not in ignored]


_LINE_MARKS = r"\s*(?:(?:>|\#{1,6}|[-*+•‣]|\d{1,3}[.)])(?=\s|$)\s*|>\s*)*"
_BEHIND_MARKS = rf"(?m)^{_LINE_MARKS}(.*)"
# A run of stars, underscores or backticks is text inside a word (`snake_case`) and alone (`2 * 3`). So it goes if it
# stands behind a word and not before one, behind a blank and not before one, or behind any other sign.
_NO_TEXT = r"[*_`](?<![*_`]{2})(?:(?<=[^\W_].)[*_`]*+(?![^\W_])|(?<!\S.)[*_`]*+(?=\S)|(?<=[^\w\s].)[*_`]*+)"
_ENDS = " \t.,;:!…。，、；：！"


@lru_cache(300)  # a line of a page is often a block too
def normal(text: str) -> str:
    """A normal form: two texts have the same one if they say the same, word for word.

    Markers of lists, headings, quotes, emphasis and code are removed, white space and case are folded, and final
    punctuation is dropped. Question marks and ticked boxes stay, because they change what the text says.
    """
    plain = folded(text)
    while True:
        bare = matcher(_NO_TEXT).sub("", plain) if _is_emphasised(plain) else plain
        lines = "\n".join(bare.rstrip().rstrip(_ENDS).splitlines())
        # Compose again: removing a mark may leave a letter before an accent.
        shorter = composed(" ".join(" ".join(matcher(_BEHIND_MARKS).findall(lines)).split()))
        # Removing one mark may expose another ("#." becomes "#"); after the first round one line is left.
        if shorter == plain or not _has_marks(shorter):
            return shorter
        plain = shorter


def _has_marks(line: str) -> bool:
    """Whether `normal` may make a line shorter that it has shortened already."""
    is_marked = (found := matcher(_LINE_MARKS).match(line)) is not None and found.end() > 0
    return is_marked or line.rstrip(_ENDS) != line or _is_emphasised(line)


def _is_emphasised(text: str) -> bool:
    """Whether a text has a sign of emphasis or code; a pattern takes ten times as long to tell."""
    return "*" in text or "_" in text or "`" in text


_LINK = re.compile(r"\[\[([^\[\]|#\r\n]+)(?:#[^\[\]|\r\n]*)?(?:\|([^\[\]\r\n]+))?\]\]|\[([^\[\]\r\n]+)\]\([^()\s]*\)")


_UNSHOWN = str.maketrans("", "", "[]|`*\ufffd")


def plain(text: str) -> str:
    """The words of a text on one line, including those of links, without Markdown and unprintable characters."""
    shown = text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if "[" in shown:
        shown = _LINK.sub(lambda link: link[2] or link[1] or link[3], shown)
    if not shown.isprintable():
        shown = "".join(c for c in shown if c.isprintable() or c.isspace())
    return " ".join(shown.translate(_UNSHOWN).split())


def capitalized(text: str) -> str:
    """The text with a capital first, unless that makes it another word, as a Turkish `ı` would become `I`."""
    capital = text[:1].upper() + text[1:]
    return capital if folded(capital) == folded(text) else text


def shorten(text: str, limit: int) -> str:
    """The beginning of a text, at most `limit` characters, cut between words if possible."""
    words = plain(text[: 4 * limit]).lstrip("-+># ")
    if len(words) <= limit:
        return words
    whole = words[: limit - 1].rpartition(" ")[0]
    return (whole if len(whole) > limit // 2 else words[: limit - 1]).rstrip(" ,;:-") + "…"


_LINE_END = r"(?:\r\n|\r|\n)"
_PARAGRAPH_END = rf"{_LINE_END}[ \t]*+{_LINE_END}\s*+|{_LINE_END}(?=[ \t]*+(?:[-*+>#|]|\d+[.)]\s))"
# Each run of marks is tried once, at its first mark: tried at every mark, a line of dots takes quadratic time.
_SENTENCE_END = re.compile(rf"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++|(?<![。！？])[。！？]++[」』”’）]*+|{_PARAGRAPH_END}")
_PART_END = rf"[.!?…][\"'”’)\]]*+\s|[。！？]|[:;]\s|[：；]|\s[-–—]\s|{_PARAGRAPH_END}"
_CLAUSE_END = rf"{_PART_END}|,\s|[，、]|[()（）]"


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each with the blanks behind it: together they are the text. A sentence goes on behind a
    line end, unless a blank line or the mark of a list, a heading, a quote or a table follows."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[start : end.end()]
        start = end.end()
    if start < len(text):
        yield text[start:]


def clauses(text: str, *, at_commas: bool = True) -> list[str]:
    """The parts of the sentences of a text between colons, semicolons and dashes; also between commas and brackets,
    unless told otherwise. Without the marks that divide them."""
    return [part for part in matcher(_CLAUSE_END if at_commas else _PART_END).split(text) if part.strip()]


CHARACTERS = 4
"""ASCII characters of English text per token. Any other character counts as a token, as in Chinese."""


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    plain = sum(map(str.isascii, text))
    return len(text) - plain + -(-plain // CHARACTERS)
