"""The server that the tests run against: that of the test vectors, whose connections can be made to fail."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import Any
from uuid import uuid4

from holdfast import Holdfast, v1

REPOSITORY = Path(__file__).resolve().parents[3]
VECTORS = REPOSITORY / "test" / "vectors"

# Whatever proxy the machine has, it is not for the loopback.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Server:
    """One Holdfast on a database of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["node", "--import", "tsx", str(VECTORS / "serve.ts")],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self._process.wait()} before it was ready")
        announced: dict[str, str] = json.loads(line)
        self.url = announced["url"]
        self.faulty_url = announced["faultyUrl"]
        self.owner_token = announced["ownerToken"]
        self._control_url = announced["controlUrl"]

    def act(self, **step: Any) -> None:
        """Tells the server to do something; test/vectors/README.md says what there is."""
        with _open(urllib.request.Request(self._control_url, json.dumps(step).encode()), timeout=60):
            pass

    def stop(self) -> None:
        """Ends it, and waits for that."""
        self._process.communicate(timeout=60)


class Board:
    """A project of its own, with an agent, in ENFORCE."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.project = f"python-{uuid4()}"
        self.owner = Holdfast(server.url, server.owner_token)
        self.owner.projects.create_project(
            project=self.project, settings=v1.ProjectSettings(enforcement=v1.ENFORCEMENT_ENFORCE)
        )
        self.token = self.token_of("ada")

    def token_of(self, principal: str) -> str:
        """Makes a token of an agent."""
        made = self.owner.projects.create_token(
            project=self.project,
            principal=principal,
            kind=v1.PRINCIPAL_KIND_AGENT,
            role=v1.ROLE_AGENT,
        )
        return made.token

    def task(self, title: str = "task", **fields: Any) -> str:
        """Creates a task and answers its id."""
        return self.owner.tasks.create_task(project=self.project, title=title, **fields).task.id

    def state(self, task_id: str) -> str:
        """The state of the task's newest lease: RELEASED, …"""
        lease = self.owner.leases.get_lease(project=self.project, task_id=task_id).lease
        return v1.LeaseState.Name(lease.state).removeprefix("LEASE_STATE_")

    def events(self, kind: v1.EventKind) -> list[v1.Event]:
        """What happened, of one kind."""
        return list(self.owner.history.list_history(project=self.project, kinds=[kind]).events)


def environment() -> dict[str, str]:
    """For child processes."""
    return {**os.environ, "PYTHONUNBUFFERED": "1"}
