"""Which memory a verb works with: the one that the options before it choose, opened and recovered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_v2.cli.output import tell, working
from memory_v2.cli.show import BEGIN, files_that_are_no_pages
from memory_v2.errors import PageNotFound, SilicaError, UsageError
from memory_v2.locations import (
    PROJECT_MEMORY,
    keep_out_of_git,
    persona_memory,
    project_folder,
    project_memory,
    worktree,
)
from memory_v2.tree.path import similar_paths

if TYPE_CHECKING:
    from memory_v2.memory import Memory


@dataclass(frozen=True, slots=True)
class ChosenMemory:
    """The options before the verb. `path` is the folder that they choose, if any; `project` is the project's folder,
    and `checkout` the worktree of it that was named."""

    path: str | None
    model: str | None
    project: Path | None = None
    persona: str | None = None
    checkout: Path | None = None

    @property
    def option(self) -> str:
        """The option that chose the folder."""
        return "--project" if self.project else "--persona" if self.persona else "--path"

    @property
    def name(self) -> str:
        """What an agent with several memories may call this one; empty for a folder."""
        project = self.project and f"the memory of the project {self.project.name}"
        return project or (f"the memory of the persona {self.persona}" if self.persona else "")

    @classmethod
    def from_options(
        cls, path: str | None, model: str | None, project: Path | None, persona: str | None
    ) -> ChosenMemory:
        """The memory of the one option that is given. Raises `UsageError`, `InvalidSetting`."""
        options = (("--path", path), ("--project", project), ("--persona", persona))
        given = [name for name, value in options if value is not None]
        if len(given) > 1:
            raise UsageError(f"give {' or '.join(given)}: each of them chooses the memory")
        checkout = project and worktree(project)
        project = project and project_folder(project)
        folder = persona_memory(persona) if persona is not None else project and project_memory(project)
        path = str(folder) if folder else path
        return cls(path, model, project, persona, checkout)

    @contextmanager
    def opened(self, **options: Any) -> Iterator[Memory]:
        """The memory. One that is made for a project stays out of its repository, as `init` has it."""
        from memory_v2.memory import Memory  # the verbs of `silica notes` need none

        is_new = self.project is not None and not (self.project / PROJECT_MEMORY).exists()
        try:
            with Memory.open(self.path, options.pop("model", self.model), **options) as memory:
                yield memory
        finally:
            if self.project is not None and is_new:
                keep_out_of_git(self.project)

    @contextmanager
    def recovered(self, path: str | None = None) -> Iterator[Memory]:
        """The memory, or that at `path`, after interrupted operations are finished. A page that is not found is told
        with what to do about it."""
        chosen = ChosenMemory(path, self.model) if path else self
        with chosen.opened() as memory:
            with working("finishing what was interrupted"):
                recovered = memory.recover()
            for done in recovered:  # told first, so that nobody does it again
                tell(str(done))
            for waiting in memory.waiting():
                tell(waiting)
            try:
                yield memory
            except PageNotFound as error:
                with suppress(SilicaError):  # a hint is not worth another error
                    pages = memory.storage.list_files()
                    error.similar = similar_paths(error.path, pages)
                    error.hint = "" if pages else files_that_are_no_pages(memory) or BEGIN
                raise
