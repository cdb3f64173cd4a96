"""The conversations of ChatGPT and of Claude, as both export them: a zip file or its folder, with `conversations.json`.

Each conversation is a document with its title and its day; what was said is below who said it, in the order of the
branch that was shown last. Attachments, tools and drafts that were left are no part of it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_v2.errors import UsageError
from memory_v2.files.listing import LeftOut
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.text.slug import slug

NAME = "conversations"
FILE = "conversations.json"
MESSAGES = "chat_messages"
"""The key of what was said, in the export of Claude; ChatGPT has a tree, below `mapping`."""
MAX_BYTES = 1_000_000_000
"""How large the file may be that is read, in bytes: years of talk have some hundred million."""
_SPEAKERS = {"user": "User", "human": "User", "assistant": "Assistant"}
"""Who is quoted; what the system and tools said is not."""


def detect(folder: Path) -> str:
    """By the file with the conversations, if it has any."""
    return FILE if (folder / FILE).is_file() and any(map(_is_conversation, _read(folder))) else ""


def is_zip(path: Path) -> bool:
    """Whether a file is the zip file of such an export."""
    return path.suffix.lower() == ".zip" and zipfile.is_zipfile(path)


def scan(place: Path) -> Scan:
    """Each conversation is a document, by its day. Raises `UsageError` if the file is no such export."""
    documents, left_out = [], []
    for number, chat in enumerate(_read(place)):
        name = f"{FILE}#{_text(chat, 'id', 'conversation_id', 'uuid') or number}" if isinstance(chat, dict) else FILE
        said = list(_said(chat)) if _is_conversation(chat) else []
        if not said:
            left_out.append(LeftOut(name, "a conversation without a word", is_expected=True))
            continue
        title = _text(chat, "title", "name") or "A conversation"
        began = _moment(chat.get("create_time") or chat.get("created_at"))
        text = f"# {title}\n\n" + "".join(f"**{speaker}:**\n\n{words.strip()}\n\n" for speaker, words in said)
        month = f"{began:%Y-%m}/" if began else ""
        place_of = f"{NAME}/{month}{slug(title) or 'conversation'}"
        documents.append(SourceDocument(name, text, place_of, title, day=began and began.date()))
    return Scan(NAME, sorted(documents, key=lambda document: document.name), left_out)


def _read(place: Path) -> Sequence[Any]:
    """What the file of the conversations holds."""
    try:
        if place.is_dir():
            data = (place / FILE).read_bytes()
        else:
            with zipfile.ZipFile(place) as archive:
                inside = next((one for one in archive.infolist() if one.filename.rpartition("/")[2] == FILE), None)
                if inside is None or inside.file_size > MAX_BYTES:
                    raise UsageError(f"{place} has no {FILE} that can be read")
                data = archive.read(inside)
        conversations = json.loads(data)
    except (OSError, ValueError, RecursionError, zipfile.BadZipFile) as error:
        raise UsageError(f"the conversations in {place} cannot be read: {error}") from error
    return conversations if isinstance(conversations, list) else []


def _is_conversation(chat: object) -> bool:
    return isinstance(chat, dict) and (isinstance(chat.get("mapping"), dict) or isinstance(chat.get(MESSAGES), list))


def _said(chat: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Who said what, in order: of ChatGPT's tree of messages the branch that ends in the current one."""
    messages = chat.get(MESSAGES)
    if not isinstance(messages, list):
        nodes, branch, key = chat["mapping"], list[Any](), chat.get("current_node")
        while isinstance(node := nodes.get(key), dict) and len(branch) <= len(nodes):
            branch.append(node.get("message"))
            key = node.get("parent")
        messages = branch[::-1]
    for message in messages:
        if isinstance(message, dict):
            author = message.get("author")
            speaker = _SPEAKERS.get(_text(author, "role") if isinstance(author, dict) else _text(message, "sender"))
            if speaker and (words := _words(message)):
                yield speaker, words


def _words(message: Mapping[str, Any]) -> str:
    """The text of a message."""
    content = message.get("content")
    parts = content.get("parts") if isinstance(content, dict) else content
    texts = [part for part in parts if isinstance(part, str | dict)] if isinstance(parts, list) else []
    said = (part if isinstance(part, str) else _text(part, "text") for part in texts)
    return "\n\n".join(filter(None, map(str.strip, said))) or _text(message, "text").strip()


def _text(chat: Mapping[str, Any], *keys: str) -> str:
    return next((value for key in keys if isinstance(value := chat.get(key), str) and value.strip()), "")


def _moment(value: object) -> datetime | None:
    """A moment as both write them: seconds, or a text."""
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
