"""Made-up homes with files of each host: what is added, what stays, and what is taken out again."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from memory_v2.hosts import yaml_text
from memory_v2.hosts.connect import apply, plan, undo
from memory_v2.hosts.files import FileChange, Unclear
from memory_v2.hosts.host import Host, Launch, UserEnvironment, skill_text
from memory_v2.hosts.known import HOSTS

PROGRAM = ("/opt/silica/bin/silica",)
LAUNCH = Launch(PROGRAM, (), "silica-memory", "linux")
SERVER = {"command": PROGRAM[0], "args": ["memory", "mcp"]}
CONTEXT = f"{PROGRAM[0]} memory context --max-tokens 2000 --hook"
QUIET = "2>/dev/null || true"

FILES = {
    ".claude.json": (
        '{\n  "numStartups": 12,\n  "mcpServers": {\n    "github": {\n      "command": "gh"\n    }\n  }\n}\n'
    ),
    ".claude/settings.json": (
        '{\n  "permissions": {"allow": ["Bash(ls)"]},\n  "hooks": {\n    "SessionStart": [\n'
        '      {"hooks": [{"type": "command", "command": "date"}]}\n    ]\n  }\n}\n'
    ),
    ".config/Claude/claude_desktop_config.json": '{"mcpServers": {"files": {"command": "npx"}}}',
    ".codex/config.toml": '# mine\nmodel = "some"\n\n[mcp_servers.docs] # of the team\ncommand = "docs"\n',
    ".cursor/mcp.json": '// commented\n{\n\t"mcpServers": {\n\t\t"a": {"url": "http://127.0.0.1"}, // here\n\t},\n}\n',
    ".cursor/hooks.json": (
        '{\r\n  "version": 1,\r\n  "hooks": {\r\n    "stop": [{"command": "say done"}]\r\n  }\r\n}\r\n'
    ),
    ".config/Code/User/mcp.json": '{\n    "servers": {"x": {"url": "u"}},\n    "inputs": [] // none\n}',
    ".gemini/settings.json": '{\n  "theme": "dark",\n  "hooks": {"enabled": true}\n}\n',
    ".copilot/config.json": '{"banner": "never"}\n',
    ".copilot/mcp-config.json": '{\n  "mcpServers": {\n    "x": {"type": "http", "url": "u", "tools": ["*"]}\n  }\n}\n',
    ".qwen/settings.json": '{\n  "$version": 3 // theirs\n}\n',
    ".config/opencode/opencode.json": '{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
    ".cline/data/settings/cline_mcp_settings.json": '{"mcpServers": {"x": {"command": "x"}}}',
    ".continue/config.yaml": "name: mine # of Ada\n\nmcpServers:\n  - name: x\n    command: x\nmodels: []\n",
}


def user_at(home: Path, platform: str = "linux", **more: Any) -> UserEnvironment:
    return UserEnvironment(home, more.pop("environment", {}), platform, **more)


def lay(home: Path, files: Mapping[str, str] = FILES) -> None:
    for name, text in files.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())


def found(home: Path) -> dict[str, bytes]:
    return {str(file.relative_to(home)): file.read_bytes() for file in home.rglob("*") if file.is_file()}


def folders(home: Path) -> set[Path]:
    return {path for path in home.rglob("*") if path.is_dir()}


def here(user: UserEnvironment) -> list[Host]:
    return [host for host in HOSTS if host.is_here(user)]


def connected(user: UserEnvironment, launch: Launch = LAUNCH, hosts: list[Host] | None = None) -> list[FileChange]:
    chosen = here(user) if hosts is None else hosts
    return apply(plan(user, launch, chosen))


def taken_out(user: UserEnvironment, launch: Launch = LAUNCH) -> list[FileChange]:
    return undo(user, launch, HOSTS)


def without_comments(text: str) -> Any:
    from memory_v2.hosts.json_text import parse

    return parse(text).value


@pytest.fixture
def home(tmp_path: Path) -> Path:
    lay(tmp_path)
    return tmp_path


def test_every_host_that_is_there_is_found_and_no_other(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert here(user_at(home)) == list(HOSTS)
    assert here(user_at(tmp_path_factory.mktemp("empty"))) == []


def test_to_plan_writes_nothing(home: Path) -> None:
    before = found(home)
    assert all(change.diff() for change in plan(user_at(home), LAUNCH, HOSTS))
    assert found(home) == before


def test_each_host_gets_the_server_and_where_it_has_them_the_hook_and_the_skill(home: Path) -> None:
    connected(user_at(home))
    read = {name: data.decode() for name, data in found(home).items()}
    claude = json.loads(read[".claude.json"])
    assert claude["mcpServers"]["silica-memory"] == {"type": "stdio", **SERVER}
    assert claude["mcpServers"]["github"] == {"command": "gh"}
    groups = json.loads(read[".claude/settings.json"])["hooks"]["SessionStart"]
    assert groups[0]["hooks"][0]["command"] == "date"
    assert groups[1]["hooks"][0]["command"] == f"{CONTEXT} session-start {QUIET}"
    desktop = json.loads(read[".config/Claude/claude_desktop_config.json"])
    assert desktop["mcpServers"] == {"files": {"command": "npx"}, "silica-memory": SERVER}
    codex = tomllib.loads(read[".codex/config.toml"])
    assert codex["mcp_servers"] == {"docs": {"command": "docs"}, "silica-memory": SERVER}
    assert "SessionStart" in json.loads(read[".codex/hooks.json"])["hooks"]
    assert without_comments(read[".cursor/mcp.json"])["mcpServers"]["silica-memory"] == SERVER
    cursor = json.loads(read[".cursor/hooks.json"])
    assert cursor["version"] == 1
    assert cursor["hooks"]["sessionStart"] == [{"command": f"{CONTEXT} cursor {QUIET}", "timeout": 10}]
    vscode = without_comments(read[".config/Code/User/mcp.json"])
    assert vscode["servers"]["silica-memory"] == {"type": "stdio", **SERVER}
    gemini = json.loads(read[".gemini/settings.json"])
    assert gemini["mcpServers"] == {"silica-memory": SERVER}
    assert gemini["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] == 10_000
    copilot = json.loads(read[".copilot/mcp-config.json"])["mcpServers"]["silica-memory"]
    assert copilot == {"type": "local", **SERVER, "tools": ["*"]}
    started = json.loads(read[".copilot/hooks/silica-memory.json"])
    assert started["version"] == 1 and started["hooks"].keys() == {"sessionStart"}  # and not that of VS Code as well
    assert started["hooks"]["sessionStart"][0]["bash"] == f"{CONTEXT} copilot {QUIET}"
    qwen = without_comments(read[".qwen/settings.json"])
    assert (qwen["mcpServers"], qwen["hooks"].keys()) == ({"silica-memory": SERVER}, {"SessionStart"})
    opencode = json.loads(read[".config/opencode/opencode.json"])["mcp"]["silica-memory"]
    command = [PROGRAM[0], *SERVER["args"]]
    assert opencode == {"type": "local", "command": command, "enabled": True, "timeout": 60_000}  # not 5 seconds
    cline = json.loads(read[".cline/data/settings/cline_mcp_settings.json"])
    assert cline["mcpServers"]["silica-memory"] == {**SERVER, "timeout": 60}  # not 3 seconds
    assert yaml_text.value_at(read[".continue/config.yaml"], ("mcpServers", "silica-memory")) == SERVER
    for folder in (".claude", ".agents", ".cursor", ".qwen", ".cline"):
        assert read[f"{folder}/skills/silica-memory/SKILL.md"] == skill_text()


def test_what_was_there_stays_to_the_byte(home: Path) -> None:
    before = found(home)
    connected(user_at(home))
    after = found(home)
    for name, data in before.items():
        rest = iter(after[name])
        assert all(byte in rest for byte in data if byte not in b" \n"), name


def test_to_apply_again_changes_nothing(home: Path) -> None:
    connected(user_at(home))
    before = found(home)
    assert not any(change.is_change or change.problem for change in connected(user_at(home)))
    assert found(home) == before


OTHERS = ['["memory", "--path", "/mine", "mcp"]', '["-m", "memory_v2.cli", "memory", "mcp"]', '["run", "x"]', "null"]


@pytest.mark.parametrize("args", ['["memory", "mcp", "--wait", "900"]', *OTHERS])
def test_a_server_of_that_name_that_a_person_has_written_is_left_alone(home: Path, args: str) -> None:
    theirs = '{"mcpServers": {"silica-memory": {"command": "x", "args": ARGS, "env": {"A": "b"}}}}'.replace(
        "ARGS", args
    )
    codex = f'[mcp_servers.silica-memory]\ncommand = "x"\nargs = {args if args != "null" else "[]"}\n'
    lay(home, {".claude.json": theirs, ".codex/config.toml": codex})
    alone = {change.file.name: change.problem for change in connected(user_at(home)) if change.problem}
    assert alone.keys() == {".claude.json", "config.toml"}
    assert "rename or remove" in alone[".claude.json"]
    assert (home / ".claude.json").read_text() == theirs
    assert (home / ".codex/config.toml").read_text() == codex
    taken_out(user_at(home))
    assert (home / ".claude.json").read_text() == theirs
    assert (home / ".codex/config.toml").read_text() == codex


@pytest.mark.parametrize("program", ["/opt/silica/silica", "C:/my silica/silica.exe", "python3 -m memory_v2.cli"])
def test_a_hook_is_ours_whatever_the_installation_and_a_wrapper_of_a_persons_own_is_not(program: str) -> None:
    for quote in "", "'", '"':
        assert LAUNCH.is_hook({"command": f"{quote}{program}{quote} memory --path /x context --hook session-start"})
    assert not LAUNCH.is_hook({"command": "/usr/bin/my-silica memory context --hook session-start"})


def test_the_environment_that_a_person_has_added_stays_when_the_command_changes(home: Path) -> None:
    theirs = {"command": "/old/silica", "args": ["memory", "--path", "/old", "mcp"], "env": {"A": "b"}}
    lay(home, {".claude.json": json.dumps({"mcpServers": {"silica-memory": theirs}})})
    connected(user_at(home))
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["silica-memory"]
    assert server == {**theirs, **SERVER, "type": "stdio"}


@pytest.mark.parametrize("times", [1, 2])
def test_to_undo_brings_every_byte_and_every_folder_back(home: Path, times: int) -> None:
    before, were = found(home), folders(home)
    modes = {name: (home / name).stat().st_mode for name in before}
    for number in range(times):  # the second time the agent decides, and may
        connected(user_at(home), replace(LAUNCH, serving=("--decide", "host") * number, is_allowed=bool(number)))
    assert {name: (home / name).stat().st_mode for name in before} == modes
    assert not any(change.problem for change in taken_out(user_at(home)))
    assert (found(home), folders(home)) == (before, were)
    assert taken_out(user_at(home)) == []


def test_a_host_that_has_only_our_files_is_as_before(tmp_path: Path) -> None:
    lay(tmp_path, {".claude/x": "", ".codex/x": "", ".config/opencode/x": ""})
    before, were = found(tmp_path), folders(tmp_path)
    assert len(connected(user_at(tmp_path))) == 7
    assert not any(change.problem for change in taken_out(user_at(tmp_path)))
    assert (found(tmp_path), folders(tmp_path)) == (before, were)


def test_it_may_be_used_without_asking_where_the_host_can_be_told_so(home: Path) -> None:
    connected(user_at(home))
    done = {one.file: one.purposes for one in connected(user_at(home), replace(LAUNCH, is_allowed=True))}
    assert done[home / ".claude/settings.json"] == ("permission to use it",)  # and not the hook, which was there
    allow = json.loads((home / ".claude/settings.json").read_text())["permissions"]["allow"]
    assert allow == ["Bash(ls)", "mcp__silica-memory"]
    for name in (".gemini", ".qwen"):
        settings = without_comments((home / name / "settings.json").read_text())
        assert settings["mcpServers"]["silica-memory"]["trust"] is True


def test_a_hook_is_silent_where_the_program_is_gone(home: Path) -> None:
    connected(user_at(home))
    groups = json.loads((home / ".claude/settings.json").read_text())["hooks"]["SessionStart"]
    ended = subprocess.run(groups[1]["hooks"][0]["command"], shell=True, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_what_a_host_has_written_since_stays_when_it_is_undone(home: Path) -> None:
    connected(user_at(home))
    claude = home / ".claude.json"
    claude.write_text(claude.read_text().replace('"numStartups": 12', '"numStartups": 13'))
    settings = home / ".claude/settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"model": "opus"}))
    codex = home / ".codex/config.toml"
    codex.write_text(codex.read_text() + '\n[projects."/work"]\ntrust_level = "trusted"\n')
    taken_out(user_at(home))
    assert claude.read_text() == FILES[".claude.json"].replace("12", "13")
    assert json.loads(settings.read_text()) == json.loads(FILES[".claude/settings.json"]) | {"model": "opus"}
    assert codex.read_text() == FILES[".codex/config.toml"] + '\n[projects."/work"]\ntrust_level = "trusted"\n'


def test_a_file_that_was_deleted_since_stays_deleted(home: Path) -> None:
    connected(user_at(home))
    (home / ".cursor/mcp.json").unlink()
    assert not any(change.problem for change in taken_out(user_at(home)))
    assert not (home / ".cursor/mcp.json").exists()


def test_a_skill_that_a_person_has_changed_is_neither_overwritten_nor_deleted(home: Path) -> None:
    connected(user_at(home))
    skill = home / ".claude/skills/silica-memory/SKILL.md"
    skill.write_text("mine")
    connected(user_at(home))
    assert skill.read_text() == "mine"
    assert [change.file for change in taken_out(user_at(home)) if change.problem] == [skill]
    assert skill.read_text() == "mine"


def test_an_installation_in_another_folder_takes_the_place_of_the_old_one(home: Path) -> None:
    connected(user_at(home))
    connected(user_at(home), Launch(("/new env/python", "-m", "memory_v2.cli"), (), "silica-memory", "linux"))
    read = {name: data.decode() for name, data in found(home).items()}
    assert not [name for name, text in read.items() if "/opt/silica" in text]
    assert len(json.loads(read[".claude/settings.json"])["hooks"]["SessionStart"]) == 2
    taken_out(user_at(home))
    assert found(home) == {name: text.encode() for name, text in FILES.items()}


def test_another_folder_or_model_takes_the_place_of_the_old_one_too(home: Path) -> None:
    connected(user_at(home))
    elsewhere = Launch(PROGRAM, ("--path", "/my notes"), "silica-memory", "linux", ("--model", "some:model"))
    connected(user_at(home), elsewhere)
    groups = json.loads((home / ".claude/settings.json").read_text())["hooks"]["SessionStart"]
    assert [group["hooks"][0]["command"] for group in groups[1:]] == [elsewhere.hook("session-start")]
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert servers["silica-memory"]["args"] == ["memory", "--path", "/my notes", "--model", "some:model", "mcp"]


def test_two_memories_stand_side_by_side(home: Path) -> None:
    work = Launch(PROGRAM, ("--persona", "work"), "silica-memory-work", "linux")
    connected(user_at(home))
    connected(user_at(home), work)
    settings = json.loads((home / ".claude/settings.json").read_text())
    commands = [group["hooks"][0]["command"] for group in settings["hooks"]["SessionStart"]]
    assert commands[1:] == [
        f"{CONTEXT} session-start {QUIET}",
        f"{PROGRAM[0]} memory --persona work {CONTEXT[30:]} session-start {QUIET}",
    ]
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert servers["silica-memory-work"]["args"] == ["memory", "--persona", "work", "mcp"]
    assert "name: silica-memory-work\n" in (home / ".claude/skills/silica-memory-work/SKILL.md").read_text()
    taken_out(user_at(home), work)
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert servers.keys() == {"github", "silica-memory"}


# files that cannot be changed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude.json", b'{"mcpServers": {'),
        (".claude/settings.json", b'{"hooks": []}'),
        (".config/Claude/claude_desktop_config.json", b"\xff\xfe{\x00}\x00"),
        (".codex/config.toml", b"model = "),
        (".cursor/hooks.json", b'{"hooks": {"sessionStart": "x"}}'),
        (".gemini/settings.json", b"[]"),
        (".continue/config.yaml", b"mcpServers: {x: 1}\n"),
        (".continue/config.yaml", b"mcpServers: [\n"),
    ],
)
def test_a_file_that_is_not_understood_is_left_alone_and_the_others_are_not(home: Path, name: str, text: bytes) -> None:
    (home / name).write_bytes(text)
    changes = connected(user_at(home))
    alone = [change for change in changes if change.problem]
    assert [change.file for change in alone] == [home / name]
    assert not alone[0].diff()
    assert (home / name).read_bytes() == text
    assert sum(change.is_change for change in changes) == len(changes) - 1
    taken_out(user_at(home))
    assert found(home) == {one: data.encode() for one, data in FILES.items()} | {name: text}


def test_a_file_that_is_read_only_is_left_alone(home: Path) -> None:
    (home / ".claude.json").chmod(0o444)
    problems = {change.file.name: change.problem for change in connected(user_at(home)) if change.problem}
    assert problems == {".claude.json": "it is read-only"}


def test_a_link_stays_a_link_and_the_file_behind_it_is_changed(home: Path) -> None:
    dotfiles = home / "dotfiles"
    dotfiles.mkdir()
    (home / ".claude.json").rename(dotfiles / "claude.json")
    (home / ".claude.json").symlink_to(dotfiles / "claude.json")
    connected(user_at(home))
    assert (home / ".claude.json").is_symlink()
    assert "silica-memory" in (dotfiles / "claude.json").read_text()
    taken_out(user_at(home))
    assert (dotfiles / "claude.json").read_text() == FILES[".claude.json"]


def test_what_is_no_file_is_left_alone(home: Path) -> None:
    (home / ".claude.json").unlink()
    (home / ".claude.json").symlink_to(home / ".claude.json")
    (home / ".cursor/mcp.json").unlink()
    (home / ".cursor/mcp.json").mkdir()
    (home / ".gemini/settings.json").unlink()
    os.mkfifo(home / ".gemini/settings.json")
    alone = {change.file.name for change in connected(user_at(home)) if change.problem}
    assert alone == {".claude.json", "mcp.json", "settings.json"}


def test_a_file_that_changes_while_the_change_is_looked_at_is_left_alone(home: Path) -> None:
    user = user_at(home)
    changes = plan(user, LAUNCH, HOSTS)
    (home / ".claude.json").write_text("{}")
    alone = [change for change in apply(changes) if change.problem]
    assert [change.file.name for change in alone] == [".claude.json"]
    assert (home / ".claude.json").read_text() == "{}"


# where the files are


def test_on_windows_the_files_are_where_its_variables_say(tmp_path: Path) -> None:
    roaming = tmp_path / "Roaming"
    lay(roaming, {"Claude/claude_desktop_config.json": "{}", "Code/User/mcp.json": "{}"})
    user = user_at(tmp_path, "win32", environment={"APPDATA": str(roaming)})
    launch = Launch(("C:\\Program Files\\Silica\\silica.exe",), (), "silica-memory", "win32")
    assert [host.name for host in here(user)] == ["claude-desktop", "vscode"]
    connected(user, launch)
    servers = json.loads((roaming / "Claude/claude_desktop_config.json").read_text())["mcpServers"]
    assert servers["silica-memory"]["command"] == "C:\\Program Files\\Silica\\silica.exe"
    hook = json.loads((tmp_path / ".copilot/hooks/silica-memory.json").read_text())["hooks"]["SessionStart"][0]
    assert hook["command"].startswith('"C:/Program Files/Silica/silica.exe" memory context ')
    assert launch.is_hook(hook)
    taken_out(user, launch)
    assert not (tmp_path / ".copilot").exists()


def test_on_a_mac_the_files_are_in_the_library(tmp_path: Path) -> None:
    lay(tmp_path, {"Library/Application Support/Claude/claude_desktop_config.json": "{}"})
    assert [host.name for host in here(user_at(tmp_path, "darwin"))] == ["claude-desktop"]
    assert here(user_at(tmp_path)) == []


def test_folders_that_a_user_has_moved_are_found(tmp_path: Path) -> None:
    lay(tmp_path, {"cc/.claude.json": "{}", "cc/settings.json": "{}", "cx/config.toml": ""})
    moved = {"CLAUDE_CONFIG_DIR": str(tmp_path / "cc"), "CODEX_HOME": str(tmp_path / "cx")}
    connected(user_at(tmp_path, environment=moved))
    assert "silica-memory" in (tmp_path / "cc/.claude.json").read_text()
    assert "SessionStart" in (tmp_path / "cc/settings.json").read_text()
    assert "silica-memory" in (tmp_path / "cx/config.toml").read_text()


def test_no_link_leads_out_of_a_project_that_is_connected(home: Path) -> None:
    project, victim = home / "boats", home / "victim"
    lay(victim, {"theirs.json": "{}"})
    project.mkdir()
    (project / ".mcp.json").symlink_to(victim / "theirs.json")
    for name in (".cursor", ".claude", ".vscode", ".silica"):
        (project / name).symlink_to(victim)
    launch = Launch(PROGRAM, ("--project", str(project)), "silica-project-memory", "linux")
    user = user_at(home, project=project)
    before = found(victim)
    applied = apply(plan(user, launch, HOSTS))
    assert {one.problem for one in applied if one.file.relative_to(project).parts[0] in (".mcp.json", ".cursor")} == {
        "a symbolic link leads out of the project there; remove the link"
    }
    undo(user, launch, HOSTS)
    assert found(victim) == before and (project / ".cursor").is_symlink()


def test_a_project_gets_files_of_its_own_and_its_memory_stays_out_of_the_repository(home: Path) -> None:
    project = home / "boats"
    project.mkdir()
    before = found(home)
    launch = Launch(PROGRAM, ("--project", str(project)), "silica-project-memory", "linux")
    user = user_at(home, project=project)
    connected(user, launch)
    added = {name for name in found(home) if name not in before}
    assert added == {
        f"boats/{name}"
        for name in (
            ".mcp.json",
            ".claude/settings.local.json",
            ".claude/skills/silica-project-memory/SKILL.md",
            ".codex/config.toml",
            ".codex/hooks.json",
            ".agents/skills/silica-project-memory/SKILL.md",
            ".cursor/mcp.json",
            ".cursor/hooks.json",
            ".cursor/skills/silica-project-memory/SKILL.md",
            ".vscode/mcp.json",
            ".gemini/settings.json",
            ".qwen/settings.json",
            ".qwen/skills/silica-project-memory/SKILL.md",
            "opencode.json",
            ".silica/.gitignore",
        )
    }
    assert (project / ".silica/.gitignore").read_text() == "*\n"
    (project / ".silica/memory").mkdir()
    taken_out(user, launch)
    assert [path.name for path in project.rglob("*")] == [".silica", ".gitignore", "memory"]  # it holds a memory
    (project / ".silica/memory").rmdir()
    taken_out(user, launch)
    assert list(project.iterdir()) == [] and found(home) == before


@pytest.mark.parametrize(
    "text",
    [
        "name: mine",
        "mcpServers:\n- name: x\n  args: [a]\n",
        "mcpServers: # none\n\n    # mine\n    - command: y\n      name: x\r\n",
        "a: 1\r\nmcpServers:\r\n  - name: x\r\n",
        "mcpServers:\nmodels:\n  - name: silica\n",
    ],
)
def test_a_server_is_put_into_a_list_of_yaml_and_taken_out(text: str) -> None:
    keys = ("mcpServers", "silica")
    after = yaml_text.with_object(text, keys, SERVER)
    assert yaml_text.value_at(after, keys) == SERVER and yaml_text.with_object(after, keys, SERVER) == after
    newer = yaml_text.with_object(after, keys, {**SERVER, "command": "/new"})
    assert yaml_text.value_at(newer, keys) == {**SERVER, "command": "/new"}
    left = yaml_text.without(newer, keys)
    assert left.strip() == text.replace("mcpServers:\nmodels", "models").strip()
    with pytest.raises(Unclear, match="not written as a block"):
        yaml_text.without('mcpServers: [{"name": "silica"}]\n', keys)
    with pytest.raises(Unclear, match="start the host once"):
        yaml_text.with_object("\n", keys, SERVER)


# the skill


def test_the_skill_is_half_a_page_that_every_host_can_read() -> None:
    _, front, text = skill_text().split("---\n", 2)
    told = yaml.safe_load(front)
    assert told["name"] == "silica-memory"
    assert len(told["description"]) <= 1_024  # what hosts read of a description
    assert len(text.split()) < 350


def test_the_skill_of_a_persona_has_a_name_that_hosts_accept(home: Path) -> None:
    connected(user_at(home), Launch(PROGRAM, ("--persona", "My_Work"), "silica-memory-My_Work", "linux"))
    assert "\nname: silica-memory-my-work\n" in (home / ".claude/skills/silica-memory-my-work/SKILL.md").read_text()
