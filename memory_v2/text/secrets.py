"""Likely secrets in a text: keys, tokens, passwords. They are told, masked, and never blocked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_v2.text.days import DAY
from memory_v2.text.words import matcher, shorten

SHOWN = 4
"""How many characters of a secret are shown at most, for its owner to know it by; of a short one a quarter."""

MAX_OPENING = 80
"""The length of the beginning of a text, in characters, by which a person knows it."""

KINDS: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[\s\S]){0,20000}"),
    ("Anthropic API key", r"\bsk-ant-[\w-]{16,}"),
    ("OpenAI API key", r"\bsk-(?!ant-)(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}"),
    ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})"),
    ("GitLab token", r"\bglpat-[\w-]{20,}"),
    ("Google API key", r"\bAIza[\w-]{30,}"),
    ("Slack token", r"\bxox[abeoprs]-[\w-]{10,}"),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("Telegram bot token", r"\b\d{8,10}:AA[\w-]{30,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("PyPI token", r"\bpypi-[\w-]{50,}"),
    ("SendGrid key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    ("JSON web token", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    ("password in an address", r"(?<=://)[^\s/:@'\"<>`]{0,60}:(?P<value>[^\s/:@'\"<>`]{3,100})(?=@[\w.\[-])"),
    (
        "password or token",
        r"(?i:(?<![a-z])(?:api[_ -]?key|access[_ -]?key|auth[_ -]?key|private[_ -]?key|secret(?:[_ -]?key)?"
        r"|token|bearer|passwords?|passwd|passphrase|passcode|pwd|kennwort|passwort|contraseña|senha|mot de passe)"
        r"(?:[_-][a-z0-9]+){0,4})[\"'`*_]*(?:\s{0,2}(?:[:=]|=>|:=)|\sis)[*_]*\s{0,4}[\"'`]?(?P<value>[^\s\"'`<>]{6,200})",
    ),
)
"""What a secret looks like, by kind. Where only a part is the secret, it is the group `value`."""

_NO_VALUE = re.compile(
    r"[\W_]*(?:x{3,}|\*{3,}|\.{3,}|…|your|my[-_]|example|sample|placeholder|change[-_]?me|redacted|forgotten|dummy"
    r"|process\.env|os\.environ|env[.:(\[]|getenv|self\.|config|settings|https?:|\$|%|\{|\[\[|\(|/|~|\\)",
    re.I,
)
"""How a value begins that stands for a secret, or says where it is."""
_AMOUNT = re.compile(rf"[\d,.]{{1,6}}[kKmM]?|{DAY}|\d{{1,2}}:\d\d")
_LAST = ".,;:!?)]}*_"


@dataclass(frozen=True, slots=True)
class Secret:
    """A likely secret: its kind, its line in the text (from 1), its first characters, and where it is in the text."""

    kind: str
    line: int
    shown: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"line {self.line} of the text seems to hold a secret ({self.kind}: {self.shown})"

    def to_dict(self) -> dict[str, str | int]:
        """As JSON documents have it."""
        return {"kind": self.kind, "line": self.line, "shown": self.shown}


def find_secrets(text: str) -> list[Secret]:
    """The likely secrets of a text, in order; what looks like two kinds is told once."""
    found: list[Secret] = []
    for start, end, kind in sorted(_spans(text), key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1].end:
            line = 1 + len(re.findall(r"\r\n|\r|\n", text[:start]))
            found.append(Secret(kind, line, mask(text[start:end]), start, end))
    return found


def masked(text: str) -> str:
    """The text with all but the first characters of each likely secret left out."""
    for secret in reversed(find_secrets(text)):
        text = text[: secret.start] + secret.shown + text[secret.end :]
    return text


def opening(text: str) -> str:
    """The beginning of a text, for a person to know it by, with its secrets masked."""
    return shorten(masked(text), MAX_OPENING)


def mask(secret: str) -> str:
    """The first characters of a secret."""
    return secret[: min(SHOWN, len(secret) // 4)] + "…"


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    for kind, pattern in KINDS:
        for match in matcher(pattern).finditer(text):
            if "value" not in match.re.groupindex:
                yield match.start(), match.end(), kind
            elif _is_value(value := match["value"].rstrip(_LAST)):
                yield match.start("value"), match.start("value") + len(value), kind


def _is_value(value: str) -> bool:
    """Whether this is a secret rather than a word about one: it has a digit or a sign among its letters."""
    if len(value) < 3 or _NO_VALUE.match(value) or _AMOUNT.fullmatch(value):
        return False
    return any(c.isdigit() for c in value) or re.search(r"[^\w\s.,;:/()’-]", value) is not None
