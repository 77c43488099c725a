"""The scenarios that every Holdfast client runs, with both clients of this package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.server import VECTORS, Server
from tests.vectors.runner import KEYS, Runner
from tests.vectors.side import Side
from tests.vectors.tasks import Tasks
from tests.vectors.threads import Threads


def _read(file: str) -> Any:
    return json.loads((VECTORS / file).read_text(encoding="utf-8"))


MANIFEST = _read("manifest.json")
FILES = {entry["file"]: _read(entry["file"])["scenarios"] for entry in MANIFEST["files"]}
SCENARIOS = [scenario for scenarios in FILES.values() for scenario in scenarios]


@pytest.fixture(scope="module", params=["threads", "asyncio"])
def side(request: pytest.FixtureRequest) -> Iterator[Side]:
    if request.param == "threads":
        yield Threads()
        return
    tasks = Tasks()
    yield tasks
    tasks.loop.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_scenario(scenario: dict[str, Any], server: Server, side: Side) -> None:
    Runner(scenario, server, side).run()


def test_manifest() -> None:
    assert MANIFEST["version"] == 1
    assert {entry["file"]: entry["scenarios"] for entry in MANIFEST["files"]} == {
        file: len(scenarios) for file, scenarios in FILES.items()
    }
    assert MANIFEST["scenarios"] == len(SCENARIOS)
    assert set(MANIFEST["verbs"]) == set(KEYS)
