"""A table is put into a text of TOML, and every other byte stays as it is."""

from __future__ import annotations

import tomllib

import pytest

from memory_v2.hosts.files import Unclear
from memory_v2.hosts.toml_text import Value, with_object, without

KEYS = ("mcp_servers", "silica-memory")
SERVER: dict[str, Value] = {
    "command": "C:\\Program Files\\silica.exe",
    "args": ["memory", "--path", "/a \"b\" 'c'", "mcp"],
}

COMMENTED = """\
# My settings. Do not touch!
model = "some" # at night

[mcp_servers.docs]  # of the team
command = "docs"
args = [
  "a", # first
]

[[hooks.Stop]]
note = '''
[mcp_servers.silica-memory]
'''
"""


def test_comments_and_layout_stay_and_the_table_goes_again() -> None:
    after = with_object(COMMENTED, KEYS, SERVER)
    assert after.startswith(COMMENTED)
    assert tomllib.loads(after)["mcp_servers"]["silica-memory"] == SERVER
    assert with_object(after, KEYS, SERVER) == after


@pytest.mark.parametrize("text", ["", "a = 1", "a = 1\r\n[b]\r\nc = 2\r\n", "[mcp_servers.docs]\ncommand = 'x'\n"])
def test_a_table_is_added_at_the_end_and_taken_out_again(text: str) -> None:
    after = with_object(text, KEYS, SERVER)
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["silica-memory"] == SERVER
    assert without(after, KEYS).rstrip() == text.rstrip()
    if "\r\n" in text:
        assert "\n" not in after.replace("\r\n", "")


def test_an_older_table_gets_the_new_values_and_keeps_its_own() -> None:
    text = (
        "[mcp_servers.'silica-memory'] # mine\nargs = [\n  'memory', # the verb\n  'mcp',\n]\n"
        "enabled = false\ncommand = '/old/silica'\n\n# about docs\n[mcp_servers.docs]\ncommand = 'docs'\n"
    )
    after = with_object(text, KEYS, SERVER)
    assert tomllib.loads(after)["mcp_servers"]["silica-memory"] == {**SERVER, "enabled": False}
    assert "# mine" in after
    assert after.endswith("enabled = false\n" + after.split("enabled = false\n")[1])
    assert "# about docs\n[mcp_servers.docs]\ncommand = 'docs'\n" in after
    left = without(after, KEYS)
    assert tomllib.loads(left) == {"mcp_servers": {"docs": {"command": "docs"}}}
    assert "# about docs" in left


@pytest.mark.parametrize(
    "text",
    [
        "# mine\nmcp_servers.silica-memory = { command = 'x' } # too\n",
        "# mine\n[mcp_servers] # too\nsilica-memory.command = 'x'\n",
    ],
)
def test_a_table_in_another_form_is_changed_where_it_is(text: str) -> None:
    after = with_object(text, KEYS, SERVER)
    assert tomllib.loads(after)["mcp_servers"]["silica-memory"] == SERVER
    assert after.startswith("# mine\n")
    assert "# too" in after
    assert "silica-memory" not in tomllib.loads(without(after, KEYS)).get("mcp_servers", {})


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        "mcp_servers = 1",
        "mcp_servers = { docs = { command = 'docs' } }",
        "[[mcp_servers.silica-memory]]\na = 1",
        "\ufeffa = 1",
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(Unclear):
        with_object(text, KEYS, SERVER)
