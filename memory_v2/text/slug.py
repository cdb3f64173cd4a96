"""How words become a name, and whether a name says anything."""

from __future__ import annotations

import re
import unicodedata

_DEVICE = re.compile(r"con|prn|aux|nul|conin|conout|(?:com|lpt)[0-9]")
_MOST_BYTES = 100
_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ](?=\w)")


def slug(words: str, limit: int = 48) -> str:
    """A name for the last part of a path, of at most `limit` (and 100) bytes; empty if nothing is left.

    Lower case, letters and digits of any script with their accents, hyphens between, cut between words where it can be;
    every page may have it, on Windows too.
    """
    kept: list[str] = []
    for c in unicodedata.normalize("NFC", _APOSTROPHE.sub("", words).lower()):
        category = unicodedata.category(c)
        # A mark belongs to the letter before it; alone (the one that colours an emoji) it would be an invisible name.
        mark = category in ("Mn", "Mc") and bool(kept) and kept[-1] != "-"
        kept.append(c if category[0] == "L" or category == "Nd" or mark else "-")
    name = unicodedata.normalize("NFC", re.sub(r"-{2,}", "-", "".join(kept)).strip("-"))
    name = _cut(name, max(0, min(limit, _MOST_BYTES)))
    return f"{name}-notes" if _DEVICE.fullmatch(name) else name


def _cut(name: str, limit: int) -> str:
    if len(name.encode()) <= limit:
        return name
    short = name.encode()[:limit].decode(errors="ignore")
    if name[len(short)] != "-":
        whole = short.rpartition("-")[0]
        # One long word after a short one is better cut than lost.
        short = whole if len(whole.encode()) > limit // 2 else short
    return short.strip("-")


def is_meaningful(segment: str) -> bool:
    """Whether a name tells something of what is on the page.

    `misc`, `part-2`, `other-stuff` and `17` do not; `test-plan`, `2026-03` and `q1-report` do.
    """
    parts = re.findall(r"\d+|[^\W\d_]+", _plain(segment))
    numbers = [part for part in parts if part.isdecimal()]
    if len(numbers) == len(parts):
        return _is_date(numbers)
    said = [part for part in parts if part not in _EMPTY and not part.isdecimal()]
    # "page-2026-03" is a page of something: of March.
    return bool(said) or _is_date(numbers)


def _is_date(numbers: list[str]) -> bool:
    """Whether the numbers are a year, years, or a day or month of a year, written as one number or several."""
    if len(numbers) == 1 and len(numbers[0]) == 8:
        numbers = [numbers[0][:4], numbers[0][4:6], numbers[0][6:]]
    if len(numbers) > 1 and len(numbers[-1]) == 4:
        numbers = numbers[::-1]
    years = [number for number in numbers if len(number) == 4 and number.isascii() and number[:2] in ("19", "20")]
    if not numbers or numbers[0] not in years:
        return False
    rest = numbers[1:]
    return len(years) == len(numbers) or (len(rest) <= 2 and all(len(n) <= 2 and 1 <= int(n) <= 31 for n in rest))


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if unicodedata.category(c) != "Mn"))


# Without accents; each alone, with a number, or with each other ("new-page-2", "sin-titulo").
_EMPTY = frozenset(
    _plain(
        """
        misc miscellaneous miscellanea other others various varia stuff thing things general generic unsorted
        uncategorized untitled unnamed noname title page pages subpage section sections part parts chunk chunks block
        blocks piece pieces split new temp tmp draft test content contents text texts note notes item items entry
        entries document documents file files child children more rest remaining extra etc and the of no nr
        otro otros otra otras varios varias cosa cosas titulo sin pagina paginas seccion secciones parte partes bloque
        bloques nuevo nueva prueba contenido contenidos nota notas resto generales y
        autre autres divers diverse diverses chose choses titre sans partie parties bloc blocs nouveau nouvelle contenu
        contenus reste generale generaux et
        andere anderes anderer sonstige sonstiges verschiedenes diverses allgemein allgemeines titel ohne unbenannt teil
        teile seite seiten abschnitt abschnitte neu neue neues inhalt inhalte notiz notizen zeug dinge und
        outro outros outra outras diversos coisa coisas geral sem secao secoes bloco blocos novo conteudo conteudos e
        其他 其它 杂项 雜項 页面 部分 内容 未命名 新建 第 页 节 部 その他 雑多 無題 ページ 新規
        """
    ).split()
)
