"""A workspace on the disk with real repositories in it, and what looks at them."""

import os
import subprocess
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from adapters.workspaces.commands.bubblewrap import HiddenPaths
from adapters.workspaces.commands.process_groups import open_lifeline
from adapters.workspaces.commands.processes import open_processes
from adapters.workspaces.commands.sandbox import Bubblewrap, Unconfined, program_of
from adapters.workspaces.git.runner import GitRunner
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.store import WorkspaceRow

OURS = {"PATH": os.environ["PATH"]}
ROW = WorkspaceRow(UUID(int=7), "work", "t", 4096, 4096, 512, 600)
_WHO = {
    f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


def git(directory, *words):
    """Run git as the agent's commands would, and return what it says."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *words],
        cwd=directory,
        env={**OURS, **_WHO, "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def put(directory, **files):
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def repository(directory, **files):
    """Make a repository with these files committed."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "-q", "-b", "main")
    put(directory, **(files or {"a.txt": "one\ntwo\nthree\n"}))
    git(directory, "add", ".")
    git(directory, "commit", "-q", "-m", "first")
    return directory


@dataclass
class Ground:
    workspaces: LocalWorkspaces
    runner: GitRunner

    @property
    def home(self):
        return Path(self.workspaces.home(ROW.id))

    async def look(self, root):
        return await self.runner.look(ROW, str(root))


@asynccontextmanager
async def a_ground(top, registry=None, *, sandboxed=True):
    program = program_of(OURS)
    sandbox = Unconfined()
    if sandboxed and program is not None:
        sandbox = Bubblewrap(program, hidden=HiddenPaths((str(top),)))
    async with open_processes() as table, open_lifeline() as lifeline:
        workspaces = LocalWorkspaces(
            top / "workspaces", registry, table=table, sandbox=sandbox, environ=OURS
        )
        paths = workspaces.paths(ROW.id)
        for path in (paths.home, paths.tmp):
            os.makedirs(path, exist_ok=True)
        yield Ground(workspaces, GitRunner(workspaces, lifeline))
