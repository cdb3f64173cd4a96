"""Who speaks each line of a dialogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from memory_v2.text.lists import askers, labels, roles
from memory_v2.text.words import composed, folded, has_cjk, matcher, words

# These may speak, but just as often are spoken about: "System: Linux", "**Agent:** claude-3".
_PARTIES = frozenset(["agent", "bot", "customer", "person", "player", "system"])
_LABELS_CJK = (
    "[时時]间|[时時]間|日期|状态|状況|備考|备注|注意|目标|目標|任务|任務|结果|結果|结论|結論|原因|问题|問題|方案|方法|说明|説明|"
    "总结|摘要|来源|位置|地点|名称|名前|标题|類型|类型|版本|路径|作者|用户id|例|如|注|步骤|手順|重要|待办|进展|日時|場所|対応|"
    "理由|目的|内容|主题|核心|关键|建议|优先级|发现|计划|当前|优点|缺点|观察|行动|教训"
)
_NOUNISH = (
    *("tion", "sion", "ment", "ments", "ness", "ity", "ing"),
    *("ción", "ção", "dad", "dade", "té", "ung", "keit", "heit"),
)
KEPT = 10_000
"""Of how many lines and names it is kept what they look like: the lines of a page are looked at several times."""
_LABEL = 20
"""How far a colon is from the start of a message, in characters, with list marker and emphasis."""
_PARTICLES = frozenset(
    ["al", "bin", "da", "de", "del", "der", "di", "do", "dos", "du", "el", "la", "le", "van", "von", "y"]
)


@cache
def _turn() -> re.Pattern[str]:
    stamp = (
        r"\[(?=[^\]\n]{0,60}\d)[^\]\n]{1,60}\]|\((?=[^)\n]{0,60}\d)[^)\n]{1,60}\)"
        r"|\d[\d:/.,\-TZ ]{2,30}(?:[AaPp]\.?[Mm]\.?(?!\w))?"
    )
    word = r"[^\W\d_](?:[^\W_]|['’.-](?=[^\W\d_])){0,30}\.?"
    name = rf"@[\w.-]{{1,40}}|{word}(?:\x20(?:{word}|\d{{1,3}})){{0,3}}"
    mark = r"\*{1,3}|_{1,3}"
    return re.compile(
        rf"\s{{0,12}}(?:(?:[-*+•>]|\d{{1,3}}[.)])\s{{1,4}}){{0,3}}(?P<a>{mark})?(?:(?:{stamp})\s{{0,3}}[-–—,|]?\s{{0,3}})?"
        rf"(?P<b>{mark})?(?P<name>{name})(?:{mark})?(?:\s?(?:{stamp}))?\s?(?::(?:{mark})?\s|：(?:{mark})?\s?)\s*(?P<said>\S[^\n]*)"
    )


@cache
def _personal() -> re.Pattern[str]:
    # Speech addresses somebody, asks or exclaims. "we", "our" and "nous" are left out: plain notes use them as often.
    return re.compile(
        r"[!?！？]|\b(?:i|me|my|myself|you|your|yours|yo|mi|mí|tú|usted|eu|você|meu|minha|je|moi|toi|tu|vous|ich|mir"
        r"|mich|mein|meine|du|dich|dir|hi|hey|hello|hola|oi|olá|salut|bonjour|hallo|thanks|gracias|obrigad[oa]|merci|danke"
        r"|yes|yeah|sí|sim|oui|ja)\b|\b[jm]['’]|[我你您咱吗呢吧]|私|僕|俺|あなた|です[かねよ]|ます[かねよ]|ありがとう"
    )


def _said(text: str) -> tuple[str, str, bool] | None:
    """The name, what was said, and whether the name is emphasised; `None` if `text` does not look like a turn."""
    return _said_behind_colon(text) if ":" in text or "：" in text else None


@lru_cache(KEPT)
def _said_behind_colon(text: str) -> tuple[str, str, bool] | None:
    match = _turn().match(text)
    if match is None:
        return None
    name = composed(match["name"]).rstrip(".")
    if not name.startswith("@") and not _is_name(name):
        return None
    return name, match["said"], bool(match["a"] or match["b"])


@lru_cache(KEPT)
def _role(name: str) -> str | None:
    """The role or party that `name` is, without the number or letter after it: "Speaker 2"."""
    role = matcher(r"\s?(?:\d{1,3}|\b\w)$").sub("", folded(name))
    return role if role in roles() or role in _PARTIES else None


@lru_cache(KEPT)
def _is_name(name: str) -> bool:
    parts = name.split()
    if _role(name) is not None:
        return True
    if has_cjk(name):
        longest = 8 if matcher(r"[^\u4e00-\u9fff]").search(name) else 4
        return len(parts) == 1 and len(name) <= longest and not matcher(_LABELS_CJK).match(name.casefold())
    plain = [folded(part) for part in parts]
    if any(part in labels() for part in plain) or matcher(r"\d").search(name):
        return False
    upper = [part[0].isupper() for part in parts]
    particles = [part in _PARTICLES for part in plain]
    return upper[0] and sum(upper) <= 3 and all(u or p for u, p in zip(upper, particles, strict=True))


@lru_cache(KEPT)
def _is_speech(name: str, said: str) -> bool:
    return _role(name) in roles() or _personal().search(folded(said)) is not None


def _has_words(text: str, least: int) -> bool:
    """Whether a text has as many words; mostly letters between blanks tell, as no word goes on behind a blank."""
    return matcher(rf"(?<![A-Za-z])(?:[A-Za-z]++,? ){{{least}}}").search(text) is not None or len(words(text)) >= least


def speaker(text: str) -> str | None:
    """The speaker of the line `text`, as far as one line can tell; `None` if it may not be a turn of a dialogue.

    `Ana: …` counts as a turn if a sentence follows. If the name is bold, in capitals or an abstract noun, as the keys
    of a list often are, the sentence must also address somebody, ask or exclaim."""
    if (turn := _said(text)) is None:
        return None
    name, said, emphasised = turn
    if _is_speech(name, said) and (_has_words(said, 2) or (_role(name) and not emphasised)):
        return name
    if emphasised or _role(name) or (name.isupper() and len(name) > 1) or name.casefold().endswith(_NOUNISH):
        return None
    if matcher(r"[.!?…。！？][\"'”’)*_]*\s*$").search(said):
        return name
    # A turn starts with words. A value may start with a number, code, a handle or a path.
    return name if not has_cjk(name) and matcher(r"[\"'“(*_]*[^\W\d_]").match(said) and _has_words(said, 3) else None


def speakers(lines: Sequence[str]) -> dict[str, int]:
    """How many of `lines` each speaker says, in order of appearance; empty unless the lines are a dialogue.

    A speaker appears more than once, and at least a fifth of the lines under the name read like speech; this tells
    names from the keys of a list. Together the speakers have most of the lines that are neither blank nor headings."""
    said: dict[str, list[bool]] = {}
    text = [line for line in lines if line.lstrip()[:1] not in ("", "#")]
    for name, words_said, _ in filter(None, map(_said, text)):
        said.setdefault(name, []).append(_is_speech(name, words_said))
    found = {name: len(turns) for name, turns in said.items() if len(turns) > 1 and sum(turns) * 5 >= len(turns)}
    return found if sum(found.values()) * 2 > len(text) else {}


def is_asked(text: str) -> bool:
    """Whether a text begins as the message of one who talks to an assistant: `User: …`."""
    return _label_of(text) in askers()


def is_message(text: str) -> bool:
    """Whether a text begins as the message of somebody in a transcript: `User: …`, `Assistant: …`."""
    return _label_of(text) in roles()


def _label_of(text: str) -> str:
    label, colon, _ = text[:_LABEL].replace("：", ":").partition(":")
    return label.strip("-*_ ").casefold() if colon else ""
