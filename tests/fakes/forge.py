"""A forge that speaks both wires, GitHub's below /api/v3 and GitLab's below /api/v4, and git's own
smart HTTP by `git http-backend`; real HTTP, on loopback.

async with a_forge() as forge:
    forge.add("ann/tools")
    forge.add_pull("ann/tools", "work", title="…")
    forge.url, forge.asked; forge.answers["/repos/ann/tools/pulls"] = Raw(b"", 429)
"""

import base64
import json
import subprocess
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import h11
import trio

from tests.fakes.tool_server import Raw, request, respond

TOKEN = "forge-token-0123456789-abcdefgh"
JSON = {"content-type": "application/json"}
DIFF = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n-one\n+two\n+three\n"
LIMITED = json.dumps({"message": "API rate limit exceeded"}).encode()


@dataclass
class FakeRepository:
    id: int
    path: str
    parent: str | None = None
    pulls: list = field(default_factory=list)


@dataclass
class FakeForge:
    root: Path  # of the repositories that git serves
    url: str = ""
    tokens: set = field(default_factory=lambda: {TOKEN})
    repositories: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)  # (method, path with query, headers)
    answers: dict = field(default_factory=dict)  # path below the API, or of git: Raw, or a callable
    pause: object = None  # awaited before any answer
    limit: int | None = None  # so many more requests to the API, then the primary limit
    reset_at: float = 0.0

    @property
    def github(self):
        return f"github={self.url}"

    @property
    def gitlab(self):
        return f"gitlab={self.url}"

    @property
    def host(self):
        return urlsplit(self.url).netloc

    def add(self, path, *, parent=None):
        """A repository, for the API and for git: with one commit on `main`."""
        self.repositories[path] = FakeRepository(len(self.repositories) + 1, path, parent)
        bare = self.root / f"{path}.git"
        bare.mkdir(parents=True)
        git(bare, "init", "-q", "--bare", "-b", "main")
        git(bare, "config", "http.receivepack", "true")
        tree = git(bare, "mktree")
        commit = git(bare, "commit-tree", "-m", "begin", tree.strip())
        git(bare, "update-ref", "refs/heads/main", commit.strip())
        return bare

    def add_pull(self, path, branch, *, of=None, **more):
        """A pull request of a branch of `of`, or of the repository itself."""
        repository = self.repositories[path]
        pull = {
            "number": len(repository.pulls) + 1,
            "branch": branch,
            "of": of or path,
            "title": "A change",
            "state": "open",
            "draft": False,
            "reviews": [],
            "author": "ann",
            **more,
        }
        repository.pulls.append(pull)
        return pull

    def paths(self):
        return [urlsplit(target).path for _, target, _ in self.asked]

    async def serve(self, stream):
        connection = h11.Connection(h11.SERVER)
        async with stream:
            try:
                while True:
                    head, body = await request(stream, connection)
                    if head is None:
                        return
                    answer = await self._answer(head, body)
                    if answer is None:  # the forge hangs up
                        return
                    await respond(stream, connection, answer)
                    connection.start_next_cycle()
            except (h11.RemoteProtocolError, h11.LocalProtocolError, trio.BrokenResourceError):
                pass

    async def _answer(self, head, body):
        target, method = head.target.decode(), head.method.decode()
        headers = {name.decode(): value.decode() for name, value in head.headers}
        self.asked.append((method, target, headers))
        if self.pause is not None:
            await self.pause()
        parts = urlsplit(target)
        for prefix, api in (("/api/v3", self._github), ("/api/v4", self._gitlab)):
            if parts.path.startswith(prefix):
                return self._of_api(parts, prefix, headers, api)
        if parts.path in self.answers:
            return _given(self.answers[parts.path])
        if self._password(headers) not in self.tokens:
            return Raw(b"", 401, {"www-authenticate": 'Basic realm="forge"'})
        return await trio.to_thread.run_sync(
            partial(_git_http, self.root, method, parts, headers, body)
        )

    def _of_api(self, parts, prefix, headers, api):
        path = parts.path.removeprefix(prefix)
        if headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return Raw(b'{"message": "Bad credentials"}', 401)
        if self.limit is not None:
            if self.limit <= 0:
                limits = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(self.reset_at)}
                return Raw(LIMITED, 403, JSON | limits)
            self.limit -= 1
        if unquote(path) in self.answers:
            return _given(self.answers[unquote(path)])
        if path == "/user":
            return Raw(b'{"login": "ann"}')
        found = api(path, parse_qs(parts.query), headers)
        if isinstance(found, Raw):
            return found
        return Raw(b"{}", 404) if found is None else Raw(json.dumps(found).encode())

    def _password(self, headers):
        _, _, pair = headers.get("authorization", "").partition(" ")
        return base64.b64decode(pair).decode().partition(":")[2]

    # GitHub's

    def _github(self, path, query, headers):
        _, _, owner, name, *rest = path.split("/")
        repository = self.repositories.get(f"{owner}/{name}")
        if repository is None:
            return None
        wants_diff = headers["accept"].endswith(".diff")
        match rest:
            case []:
                parent = {"full_name": repository.parent} if repository.parent else None
                return {"default_branch": "main", "parent": parent}
            case ["pulls"]:
                [head] = query["head"]
                return [
                    _github_pull(self.url, pull)
                    for pull in reversed(repository.pulls)
                    if head == f"{pull['of'].partition('/')[0]}:{pull['branch']}"
                ]
            case ["pulls", number, *what]:
                pull = repository.pulls[int(number) - 1]
                if wants_diff:
                    return Raw(DIFF.encode())
                return pull["reviews"] if what else _github_pull(self.url, pull)
            case ["compare", _]:
                return Raw(DIFF.encode())
        return None

    # GitLab's

    def _gitlab(self, path, query, headers):
        _, _, quoted, *rest = path.split("/")
        repository = self.repositories.get(unquote(quoted))
        if repository is None:
            return None
        match rest:
            case []:
                parent = {"path_with_namespace": repository.parent} if repository.parent else None
                return {
                    "id": repository.id,
                    "default_branch": "main",
                    "forked_from_project": parent,
                }
            case ["merge_requests"]:
                [branch] = query["source_branch"]
                return [
                    self._merge_request(pull)
                    for pull in reversed(repository.pulls)
                    if pull["branch"] == branch
                ]
            case ["merge_requests", number, *what]:
                pull = repository.pulls[int(number) - 1]
                return self._of_merge_request(pull, what)
            case ["repository", "compare"]:
                return {"diffs": [_CHANGED]}
        return None

    def _of_merge_request(self, pull, what):
        match what:
            case ["approvals"]:
                approvers = [
                    {"user": {"username": review["user"]["login"]}}
                    for review in pull["reviews"]
                    if review["state"] == "APPROVED"
                ]
                return {"approved": True, "approved_by": approvers}
            case ["commits"]:
                return [{}, {}]
            case ["diffs"]:
                return [_CHANGED]
        return self._merge_request(pull)

    def _merge_request(self, pull):
        states = [review["state"] for review in pull["reviews"]]
        refused = "requested_changes" if "CHANGES_REQUESTED" in states else "mergeable"
        return {
            "iid": pull["number"],
            "web_url": f"{self.url}/x/-/merge_requests/{pull['number']}",
            "title": pull["title"],
            "state": "opened" if pull["state"] == "open" else pull["state"],
            "draft": pull["draft"],
            "author": {"username": pull["author"], "avatar_url": "javascript:alert(1)"},
            "source_branch": pull["branch"],
            "target_branch": "main",
            "source_project_id": self.repositories[pull["of"]].id,
            "detailed_merge_status": refused,
            "reviewers": [],
        }


_CHANGED = {
    "old_path": "a.txt",
    "new_path": "a.txt",
    "new_file": False,
    "deleted_file": False,
    "diff": "@@ -1 +1,2 @@\n-one\n+two\n+three\n",
}


def _github_pull(url, pull):
    return {
        "number": pull["number"],
        "html_url": f"{url}/x/pull/{pull['number']}",
        "title": pull["title"],
        "state": "closed" if pull["state"] == "merged" else pull["state"],
        "merged_at": "2026-01-01T00:00:00Z" if pull["state"] == "merged" else None,
        "draft": pull["draft"],
        "user": {"login": pull["author"], "avatar_url": f"{url}/ann.png"},
        "head": {"ref": pull["branch"]},
        "base": {"ref": "main"},
        "additions": 2,
        "deletions": 1,
        "changed_files": 1,
        "commits": 2,
    }


def _given(answer):
    return answer() if callable(answer) else answer


def a_review(who, state):
    return {"user": {"login": who}, "state": state}


def git(where, *words, said=""):
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@test",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@test",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    done = subprocess.run(
        ["git", *words],
        cwd=where,
        env=identity,
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _git_http(root, method, parts, headers, body):
    variables = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REMOTE_USER": "ann",
        "REQUEST_METHOD": method,
        "PATH_INFO": parts.path,
        "QUERY_STRING": parts.query,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    done = subprocess.run(
        ["git", "http-backend"], env=variables, input=body, capture_output=True, check=False
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = int(fields.pop("Status", "200 OK").split()[0])
    return Raw(content, status, {name.lower(): value for name, value in fields.items()})


@asynccontextmanager
async def a_forge(root):
    forge = FakeForge(Path(root))
    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        forge.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.start_soon(trio.serve_listeners, forge.serve, [listener])
        yield forge
        nursery.cancel_scope.cancel()
