"""Which value a setting has if more than one place gives it, and what a file inside a memory cannot do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_v2.configuration import SETTINGS, THRESHOLD, Configuration
from memory_v2.errors import InvalidSetting
from memory_v2.locations import persona_memory, project_folder, project_memory
from memory_v2.memory import Memory
from memory_v2.settings import Limits, Settings, configured


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".config" / "silica").mkdir(parents=True)
    return tmp_path


def user_says(home: Path, text: str) -> dict[str, str]:
    """Writes the user's file; returns the environment in which it is found."""
    (home / ".config" / "silica" / "silica.toml").write_text(text, "utf-8")
    return {"HOME": str(home)}


def memory_says(home: Path, text: str) -> Path:
    folder = home / "memory"
    folder.mkdir(exist_ok=True)
    (folder / "silica.toml").write_text(text, "utf-8")
    return folder


# order


def test_the_argument_goes_first_then_the_environment_then_the_memory_then_the_user(home: Path) -> None:
    user = user_says(home, 'size_threshold = 5000\nmodel = "some:model"\ntimezone = "Europe/Madrid"')
    folder = memory_says(home, "size_threshold = 4000")
    assert configured({}).find(THRESHOLD).origin == "default"
    assert configured(user).find(THRESHOLD).text == "5000"
    assert configured(user, folder).find(THRESHOLD).text == "4000"
    assert configured({**user, THRESHOLD.variable: "3000"}, folder).find(THRESHOLD).text == "3000"
    assert configured({**user, THRESHOLD.variable: ""}, folder).find(THRESHOLD).text == "4000"
    settings = Settings.from_environment(user, folder, "offline")
    assert (settings.threshold, settings.model, str(settings.timezone)) == (4_000, "offline", "Europe/Madrid")
    assert Settings.from_environment(user, folder).model == "some:model"


def test_everything_can_stand_in_the_users_file(home: Path) -> None:
    user = user_says(
        home,
        'path = "mine"\nagent = "hawk"\nmodel = "a:b"\nsize_threshold = 5000\ntraces = 3\nprices = "~/prices.json"\n'
        'timezone = "UTC"\ndense = false\nbackend = "s3"\n[limits]\nturns = 8\nmoney = 0.05\n'
        '[s3]\nbucket = "boats"\nprefix = "team"\nregion = "eu"\nendpoint = "http://127.0.0.1:9000"\ncache_ttl = 0\n',
    )
    settings = Settings.from_environment(user)
    assert settings.path == home / ".config" / "silica" / "mine"  # relative to its file, wherever silica is started
    assert settings.limits == Limits(turns=8, money=0.05)
    assert not settings.dense
    assert settings.s3 is not None
    assert (settings.s3.bucket, settings.s3.cache_ttl, settings.traces) == ("boats", 0, 3)
    chosen = configured(user)
    assert {chosen.find(one).origin for one in SETTINGS} == {str(home / ".config" / "silica" / "silica.toml")}


def test_the_older_names_of_variables_count_where_the_newer_are_not_set(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    older = {"MEMORY_V2_LOCAL_PATH": str(home / "notes"), "MEMORY_V2_SIZE_THRESHOLD": "4096"}
    settings = Settings.from_environment(older)
    assert (settings.path, settings.threshold) == (home / "notes", 4096)
    assert Settings.from_environment({**older, "SILICA_MEMORY_SIZE_THRESHOLD": "2048"}).threshold == 2048
    assert caplog.text.count("MEMORY_V2_SIZE_THRESHOLD is an older name of SILICA_MEMORY_SIZE_THRESHOLD") == 1


def test_the_configuration_folder_is_where_the_environment_says(home: Path) -> None:
    (home / "elsewhere" / "silica").mkdir(parents=True)
    (home / "elsewhere" / "silica" / "silica.toml").write_text("traces = 7")
    user = user_says(home, "traces = 3")
    assert Settings.from_environment(user).traces == 3
    assert Settings.from_environment({**user, "XDG_CONFIG_HOME": str(home / "elsewhere")}).traces == 7


# a memory of a stranger


@pytest.mark.parametrize(
    "line",
    [
        'model = "anthropic:expensive"',
        'path = "/etc"',
        "limits = { money = 1000 }",
        'prices = "/etc/passwd"',
        "traces = 0",
        'backend = "s3"',
        's3 = { bucket = "theirs", endpoint = "http://theirs.example" }',
        's3.endpoint = "http://theirs.example"',
        'api_key = "sk-theirs"',
        'anthropic = { base_url = "http://theirs.example" }',
    ],
)
def test_a_file_inside_a_memory_sets_no_model_endpoint_key_or_cost(home: Path, line: str) -> None:
    folder = memory_says(home, line)
    assert Settings.from_environment({}, folder) == Settings(folder)
    chosen = configured({}, folder)
    assert chosen.ignored
    assert all(chosen.find(one).origin in ("default", "--path") for one in SETTINGS)


def test_what_is_ignored_is_told(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    Memory.open(memory_says(home, 'model = "a:b"'))
    assert "model in" in caplog.text
    assert "ignored" in caplog.text


def test_the_file_of_a_memory_is_no_page_and_stays_as_it_is(home: Path) -> None:
    folder = memory_says(home, "size_threshold = 2048  # small pages\n")
    memory = Memory.open(folder)
    memory.write("\n".join(f"- Fact number {number} about boats and harbours." for number in range(60)))
    assert len(memory.list_files()) > 1  # the threshold is that of the file
    assert not memory.check()
    assert (folder / "silica.toml").read_text() == "size_threshold = 2048  # small pages\n"


# what is not right


@pytest.mark.parametrize(
    "text",
    ["model = ", 'modle = "offline"', "model = 2026-01-01", "traces = true", "limits = [1]", "s3 = 3", "traces = 'x'"],
)
def test_a_file_that_is_not_right_is_named(home: Path, text: str) -> None:
    with pytest.raises(InvalidSetting, match=r"silica\.toml"):
        Settings.from_environment(user_says(home, text))


def test_a_setting_of_a_file_that_means_nothing_is_told_by_its_key(home: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"size_threshold in .*must be at least 2048"):
        Settings.from_environment({}, memory_says(home, "size_threshold = 5"))


def test_a_file_that_is_no_file_or_no_text_is_refused_and_not_waited_for(home: Path) -> None:
    folder = home / "memory"
    folder.mkdir()
    os.mkfifo(folder / "silica.toml")
    with pytest.raises(InvalidSetting, match="is not a file"):
        configured({}, folder)
    (folder / "silica.toml").unlink()
    (folder / "silica.toml").write_bytes(b"timezone = '\xff'")
    with pytest.raises(InvalidSetting, match="not TOML"):
        configured({}, folder)


def test_without_a_home_there_is_no_file_of_the_user() -> None:
    assert Configuration({}, {}).files == []


# scopes


def test_a_persona_has_a_folder_of_its_own_and_its_name_leads_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert persona_memory("work") == tmp_path / ".silica" / "personas" / "work" / "memory_v2"
    for name in ("", "..", "../x", "a/b", "a\\b", "-x", ".x", "a\n", "x" * 49):
        with pytest.raises(InvalidSetting):
            persona_memory(name)


def test_a_folder_of_a_project_belongs_to_its_repository(tmp_path: Path) -> None:
    (tmp_path / "boats" / ".git").mkdir(parents=True)
    deep = tmp_path / "boats" / "src" / "hull"
    deep.mkdir(parents=True)
    assert project_folder(deep) == tmp_path / "boats"
    assert project_memory(deep) == tmp_path / "boats" / ".silica" / "memory"
    alone = tmp_path / "alone"
    alone.mkdir()
    assert project_folder(alone) == alone


def linked_worktree(tmp_path: Path, back: Path | None = None) -> Path:
    """A worktree of the repository `boats`, as git makes it."""
    own = tmp_path / "boats" / ".git" / "worktrees" / "fix"
    own.mkdir(parents=True)
    tree = tmp_path / "fix"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{back or tree / '.git'}\n")
    (own / "commondir").write_text("../..\n")
    return tree


def test_the_worktrees_of_a_repository_share_one_memory(tmp_path: Path) -> None:
    assert project_memory(linked_worktree(tmp_path)) == project_memory(tmp_path / "boats")


def test_a_folder_that_claims_to_be_a_worktree_of_another_repository_does_not_get_its_memory(tmp_path: Path) -> None:
    tree = linked_worktree(tmp_path, back=tmp_path / "another" / ".git")
    assert project_folder(tree) == tree


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "boats" / ".git" / "modules" / "sail").mkdir(parents=True)
    sail = tmp_path / "boats" / "sail"
    sail.mkdir()
    (sail / ".git").write_text("gitdir: ../.git/modules/sail\n")
    assert project_folder(sail) == sail
