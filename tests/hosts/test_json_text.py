"""A value is put into a text of JSON, and every other byte stays as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.hosts.files import Unclear
from memory_v2.hosts.json_text import parse, value_at, with_item, with_object, with_value, without, without_item

KEYS = ("mcpServers", "silica")
SERVER = {"command": "/bin/silica", "args": ["memory", "mcp"]}

COMMENTED = """\
// My settings. Do not touch!
{
\t"theme": "dark", // at night
\t/* servers
\t   of the team */
\t"mcpServers": {
\t\t"github": {"command": "gh"}, // with a token
\t},
\t"last": [1, 2,],
}
"""


def is_ours(item: Any) -> bool:
    return isinstance(item, dict) and item.get("ours") is True


def kept(before: str, after: str) -> bool:
    """Whether all that was there is there still, in order."""
    rest = iter(after)
    return all(character in rest for character in before)


def test_comments_tabs_and_trailing_commas_stay() -> None:
    after = with_object(COMMENTED, KEYS, SERVER)
    assert value_at(after, KEYS) == SERVER
    lines = after.splitlines(keepends=True)
    added = [line for line in lines if line not in COMMENTED.splitlines(keepends=True)]
    assert "".join(line for line in lines if line not in added) == COMMENTED
    assert added[0] == '\t\t"silica": {\n'
    assert without(after, KEYS) == COMMENTED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "// nothing yet\n",
        "{}",
        "{ }",
        "{ // nothing yet\n}",
        '{"a":1}',
        '{"a": 1,}',
        '{"mcpServers": {}}',
        '\ufeff{\n  "a": 1\n}\n',
        '{\r\n  "a": 1 // one\r\n}\r\n',
        '{\n  "a": [1,\n 2] }',
        '{\n "mcpServers": {"x": {"command": "y"}\n }, "b": "// no comment"\n}',
        '{"mcpServers": {"silica": {"command": "/old/silica", "env": {"A": "B"}}}}',
        '{"mcpServers": 1, "mcpServers": {}}',
    ],
)
def test_a_server_is_put_into_whatever_style_a_file_has_and_only_once(text: str) -> None:
    after = with_object(text, KEYS, SERVER)
    found = value_at(after, KEYS)
    assert {**found, **SERVER} == found
    assert with_object(after, KEYS, SERVER) == after
    if "silica" not in text:
        assert kept(text.rstrip(" }\n\r") if text.endswith("}") else text.strip("{} "), after)
        assert value_at(without(after, KEYS), KEYS) is None
    else:
        assert found["env"] == {"A": "B"}
    if "\r\n" in text:
        assert "\n" not in after.replace("\r\n", "")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a"}',
        '{"a": }',
        '{"a": 1 "b": 2}',
        "{'a': 1}",
        '{"a": 1} x',
        "[1,,2]",
        '{"a": "unfinished}',
        '{"a": NaN}',
        "{/* unfinished",
        "nonsense",
        '{"mcpServers": []}',
        '{"mcpServers": "x"}',
        "[]",
        "1",
        "[" * 100_000,
    ],
)
def test_what_is_no_object_in_json_is_refused(text: str) -> None:
    with pytest.raises(Unclear):
        with_object(text, KEYS, SERVER)


def test_an_item_is_added_once_and_an_older_one_replaced() -> None:
    text = '{"hooks": {"start": [\n  {"theirs": 1}, // first\n  {"ours": true, "old": 1}\n]}}'
    item = {"ours": True, "new": 1}
    after = with_item(text, ("hooks", "start"), item, is_ours)
    assert value_at(after, ("hooks", "start")) == [{"theirs": 1}, item]
    assert "// first" in after
    assert with_item(after, ("hooks", "start"), item, is_ours) == after
    without_it = without_item(after, ("hooks", "start"), is_ours)
    assert value_at(without_it, ("hooks", "start")) == [{"theirs": 1}]
    assert "// first" in without_it
    with pytest.raises(Unclear, match="not a list"):
        with_item('{"hooks": {"start": {}}}', ("hooks", "start"), item, is_ours)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
STYLES = st.sampled_from([{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}, {"ensure_ascii": False}])


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4), STYLES, st.sampled_from(["x", "a.b", "ü"]))
def test_any_document_keeps_its_values_and_gets_its_bytes_back(
    document: dict[str, Any], style: dict[str, Any], name: str
) -> None:
    document = {key: value for key, value in document.items() if key != name} | {"": {"first": 1}}
    text = json.dumps(document, **style)
    keys = ("", name)
    after = with_value(text, keys, SERVER)
    assert json.loads(after) == document | {"": {"first": 1, name: SERVER}}
    assert parse(after).value == json.loads(after)
    assert json.loads(without(after, keys)) == document
    if "indent" in style:
        assert without(after, keys) == text
