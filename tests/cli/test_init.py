"""Connecting hosts from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .program import Ended, Program


@pytest.fixture
def hosts(program: Program) -> Program:
    """A home in which Claude Code and Codex are used."""
    (program.home / ".codex").mkdir()
    (program.home / ".claude.json").write_text('{\n  "numStartups": 3 // so far\n}\n')
    (program.home / ".codex" / "config.toml").write_text('model = "some" # mine\n')
    return program


def init(program: Program, *args: str, options: tuple[str, ...] = (), **env: str) -> Ended:
    return program.silica("memory", *options, "init", *args, env=env)


def files(home: Path) -> dict[str, bytes]:
    return {str(file.relative_to(home)): file.read_bytes() for file in home.rglob("*") if file.is_file()}


def test_it_shows_the_change_and_writes_nothing_until_it_is_told_to(hosts: Program) -> None:
    before = files(hosts.home)
    shown = init(hosts)
    assert shown.code == 0
    assert '"silica-memory": {' in shown.text
    assert "nothing was changed" in shown.err
    assert files(hosts.home) == before
    applied = init(hosts, "--apply", "--json")
    assert applied.json["hosts"] == ["claude-code", "codex"]
    assert {step["applied"] for step in applied.json["steps"]} == {True}
    assert "/hooks" in applied.err  # Codex wants a hook to be trusted
    assert {step["action"] for step in init(hosts, "--apply", "--json").json["steps"]} == {"skip"}
    undone = init(hosts, "--undo")
    assert undone.code == 0
    assert undone.text.count("take back ") == len(undone.text.splitlines()) == len(applied.json["steps"])
    assert files(hosts.home) == before
    assert "permission" not in undone.text  # it was never given
    nothing = init(hosts, "--undo", "--json").json
    assert (nothing["undone"], nothing["steps"]) == (False, [])


def test_where_no_host_is_found_it_says_where_it_looked_and_what_to_do(program: Program) -> None:
    assert init(program).code == 0
    applied = init(program, "--apply")
    assert applied.code == 3
    assert "init --apply --host claude-code (or claude-desktop, codex, " in applied.err
    assert f"looked for {program.home}/.claude, " in applied.err


def test_a_host_that_was_only_named_is_no_more_found_when_it_is_taken_back(program: Program) -> None:
    before = sorted(program.home.rglob("*"))
    assert init(program, "--apply", "--host", "claude-code").code == 0
    assert init(program, "--undo").code == 0
    assert sorted(program.home.rglob("*")) == before


def test_the_command_that_is_written_can_be_started_from_anywhere(hosts: Program) -> None:
    server = init(hosts, "--json").json["server"]
    assert Path(server[0]).is_absolute()
    assert Path(server[0]).is_file()
    assert server[-2:] == ["memory", "mcp"]


def test_the_hook_that_is_written_works(hosts: Program) -> None:
    memory = hosts.home / ".silica" / "memory_v2"
    memory.mkdir(parents=True)
    (memory / "memory.md").write_text("# Memory\n\nAda keeps the books.\n")
    init(hosts, "--apply")
    hooks = json.loads((hosts.home / ".claude" / "settings.json").read_text())["hooks"]["SessionStart"]
    words = hooks[0]["hooks"][0]["command"].partition(" memory ")[2].partition(" 2>")[0].split()
    ended = hosts.silica("memory", *words, stdin=b'{"cwd": "/"}')
    assert "Ada keeps the books." in ended.json["hookSpecificOutput"]["additionalContext"]


def test_only_the_hosts_that_are_named_are_connected_even_if_they_were_not_found(hosts: Program) -> None:
    init(hosts, "--apply", "--host", "cursor")
    assert (hosts.home / ".cursor" / "mcp.json").is_file()
    assert "silica" not in (hosts.home / ".claude.json").read_text()


def test_settings_that_mean_nothing_are_told_before_anything_is_written(hosts: Program) -> None:
    before = files(hosts.home)
    assert init(hosts, "--apply", SILICA_MEMORY_LIMITS="nonsense").code == 2
    assert files(hosts.home) == before


def test_a_folder_that_only_this_shell_knows_is_written_down(hosts: Program) -> None:
    where = str(hosts.home / "notes")
    assert init(hosts, "--json", SILICA_MEMORY_PATH="notes").json["server"][-3:] == ["--path", where, "mcp"]
    persona = init(hosts, "--json", "--apply", "--host", "copilot-cli", options=("--persona", "work"))
    assert persona.json["server"][-3:] == ["--persona", "work", "mcp"]
    assert "--allow-tool=silica-memory-work" in persona.err
    project = init(hosts, "--json", options=("--project", ".")).json["server"]
    assert project[-3:] == ["--project", str(hosts.home), "mcp"]
    both = init(hosts, "--json", options=("--project", "."), SILICA_MEMORY_PATH=where).json
    assert both["path"] == str(hosts.home / ".silica" / "memory")


def test_what_is_to_be_done_next_is_told_of_hosts_that_were_connected_and_of_no_others(hosts: Program) -> None:
    assert "the same command with --apply" in init(hosts, options=("--persona", "work")).err
    copilot = init(hosts, "--apply", "--host", "copilot-cli", options=("--project", ".")).err
    assert "Copilot CLI has no settings for a project" in copilot and "start a new session" not in copilot
    theirs = '{"mcpServers": {"silica-memory": {"command": "mine"}}}'
    (hosts.home / ".claude.json").write_text(theirs)
    applied = init(hosts, "--apply")
    assert applied.code == 4 and (hosts.home / ".claude.json").read_text() == theirs
    assert "Codex: start a new session" in applied.err and "Claude Code: start" not in applied.err


def test_the_agents_of_a_worktree_get_files_there_and_the_memory_of_the_repository(hosts: Program) -> None:
    from tests.test_configuration import linked_worktree

    tree = linked_worktree(hosts.home)
    applied = init(hosts, "--apply", "--json", options=("--project", str(tree)))
    repository = str(hosts.home / "boats")
    assert applied.json["server"][-3:] == ["--project", repository, "mcp"]
    assert "Claude Code: start a new session, and choose to approve the server" in applied.err  # Enter refuses it
    assert (tree / ".mcp.json").is_file()
    assert not (hosts.home / "boats" / ".mcp.json").exists()
    assert (hosts.home / "boats" / ".silica" / ".gitignore").read_text() == "*\n"
    assert init(hosts, "--undo", options=("--project", str(tree))).code == 0
    assert [file.name for file in tree.iterdir()] == [".git"]


def test_who_decides_is_written_down(hosts: Program) -> None:
    assert init(hosts, "--json", "--decide", "host").json["server"][-3:] == ["mcp", "--decide", "host"]


def test_a_terminal_is_asked_once_whether_agents_may_use_it_and_a_no_takes_that_back(hosts: Program) -> None:
    (hosts.home / ".gemini").mkdir()
    question = "May agents (Claude Code, Gemini CLI) use all tools of the memory without asking each time?"

    def asked(*args: str, answer: bytes = b"") -> tuple[bool, object, object]:
        ended = hosts.on_terminal("init", "--apply", *args, columns=300, keys=(b"]: ", answer))
        settings = json.loads((hosts.home / ".claude/settings.json").read_text())
        servers = json.loads((hosts.home / ".gemini/settings.json").read_text())["mcpServers"]
        return question in ended.text, settings.get("permissions"), servers["silica-memory"].get("trust")

    given = {"allow": ["mcp__silica-memory"]}
    assert asked(answer=b"y\n") == (True, given, True)
    assert asked() == (False, given, True)
    assert asked("--no-allow") == (False, None, False)
    assert asked(answer=b"n\n") == (True, None, False)
    ended = hosts.on_terminal("init", "--apply", "--host", "codex")  # which cannot be told
    assert (ended.code, question in ended.text) == (0, False)
    cannot = "none of these hosts reads from a file"
    assert cannot in init(hosts, "--apply", "--allow", "--host", "codex").err
    assert cannot not in init(hosts, "--apply", "--allow").err


def test_where_nobody_can_be_asked_it_is_told_which_agents_ask_before_each_tool(hosts: Program) -> None:
    asks = "Claude Code will ask you before each tool"
    assert asks in init(hosts, "--apply").err
    assert asks not in init(hosts, "--apply", "--allow").err
    assert asks not in init(hosts, "--apply").err  # it was allowed
    assert asks not in init(hosts, "--apply", "--no-allow").err


def test_what_another_host_uses_too_stays_when_one_is_undone(hosts: Program) -> None:
    skill = hosts.home / ".agents/skills/silica-memory/SKILL.md"
    init(hosts, "--apply", "--host", "codex", "--host", "gemini-cli")
    assert init(hosts, "--undo", "--host", "codex").code == 0
    assert skill.is_file() and "silica" not in (hosts.home / ".codex/config.toml").read_text()
    assert init(hosts, "--undo", "--host", "gemini-cli").code == 0
    assert not skill.exists()


def test_a_file_that_is_not_understood_is_left_alone_and_the_exit_code_says_so(hosts: Program) -> None:
    (hosts.home / ".claude.json").write_text("{ broken")
    shown = init(hosts)
    assert shown.code == 0
    assert ".claude.json: left alone: it is not JSON" in shown.err
    applied = init(hosts, "--apply", "--json")
    assert applied.code == 4
    actions = {Path(step["name"]).name: step["action"] for step in applied.json["steps"]}
    assert (actions[".claude.json"], actions["config.toml"]) == ("skip", "change")
    assert [Path(warning["path"]).name for warning in applied.json["warnings"]] == [".claude.json"]
    assert (hosts.home / ".claude.json").read_text() == "{ broken"


@pytest.mark.parametrize("text", ['{"mcpServers": {THEIRS}}', '{\n  "mcpServers": {\n    THEIRS\n  }\n}', "{THEIRS}"])
def test_the_keys_of_others_are_not_shown(hosts: Program, text: str) -> None:
    theirs = '"theirs": {"command": "x", "env": {"API_KEY": "sk-secret"}}'
    (hosts.home / ".claude.json").write_text(text.replace("THEIRS", theirs))
    shown = init(hosts).text
    assert "silica-memory" in shown
    assert "sk-secret" not in shown
