"""Runs the scenarios of test/vectors; its README.md says what each verb means."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from tests.server import Server
from tests.vectors.calculations import calculate
from tests.vectors.matching import Bindings, unmet
from tests.vectors.requests import options_of
from tests.vectors.side import Holding, Side, Watching
from tests.vectors.told import error_json, news_json

_STEP = 30.0
_REPEAT = 0.1

# The keys of each verb's steps, besides `do`. A key that is not here must fail: it would be ignored.
KEYS: dict[str, set[str]] = {
    "call": {"as", "rpc", "request", "answer", "error", "bind", "repeat"},
    "hold": {"as", "held", "wanted", "ttlMs", "waitMs", "background", "answer", "error", "bind"},
    "holds": {"held", "answer", "bind"},
    "write": {"held", "write", "request", "answer", "error"},
    "renewed": {"held", "times"},
    "stopped": {"held", "error"},
    "leave": {"held", "releaseNote", "throwing", "error"},
    "work": {"as", "next", "tasks", "result", "failing", "titles"},
    "watch": {"as", "watch", "options"},
    "news": {"watch", "news", "bind"},
    "unwatch": {"watch", "error"},
    "server": {"act", "project"},
    "calculate": {"function", "input", "output"},
}


class Runner:
    """Runs one scenario with one of the clients."""

    def __init__(self, scenario: dict[str, Any], server: Server, side: Side) -> None:
        self._scenario = scenario
        self._server = server
        self._side = side
        self._bindings = Bindings()
        self._clients: dict[str, Any] = {}
        self._tokens: dict[str, str] = {}
        self._held: dict[str, Holding] = {}
        self._watches: dict[str, Watching] = {}
        self._verbs: dict[str, Callable[[dict[str, Any]], None]] = {
            "call": self._call,
            "hold": self._hold,
            "holds": self._holds,
            "write": self._write,
            "renewed": self._renewed,
            "stopped": self._stopped,
            "leave": self._leave,
            "work": self._work,
            "watch": self._watch,
            "news": self._news,
            "unwatch": self._unwatch,
            "server": self._tell_server,
            "calculate": self._calculate,
        }

    def run(self) -> None:
        """Fails when a step does."""
        try:
            self._prepare()
            for at, step in enumerate(self._scenario["steps"], 1):
                started = time.monotonic()
                try:
                    unknown = step.keys() - KEYS[step["do"]] - {"do"}
                    assert not unknown, f"the runner does not know {unknown}"
                    self._verbs[step["do"]](step)
                    assert time.monotonic() - started < _STEP, "it took too long"
                except Exception as error:
                    raise AssertionError(f"step {at}, {step}: {error!r}") from error
        finally:
            self._end()

    def _prepare(self) -> None:
        principals = self._scenario["principals"]
        if not principals:
            return
        project = f"vectors-{uuid4()}"
        self._bindings.bind({"project": ""}, project)
        owner = self._clients["owner"] = self._side.client(self._server.url, self._server.owner_token, "run-1")
        settings = self._scenario.get("settings", {})
        self._side.call(owner, "ProjectService/CreateProject", {"project": project, "settings": settings})
        for principal, having in principals.items():
            request = {"project": project, "principal": principal, "kind": having["kind"], "role": having["role"]}
            self._tokens[principal] = self._side.call(owner, "ProjectService/CreateToken", request)["token"]

    def _end(self) -> None:
        for watching in self._watches.values():
            watching.close()
        self._server.act(act="heal")
        for holding in self._held.values():
            with contextlib.suppress(Exception):
                holding.leave()
        for client in self._clients.values():
            self._side.close(client)

    def _client(self, named: str) -> Any:
        if named not in self._clients:
            principal, _, execution = named.partition("/")
            faulty = self._scenario["principals"][principal].get("connection") == "faulty"
            url = self._server.faulty_url if faulty else self._server.url
            self._clients[named] = self._side.client(url, self._tokens[principal], execution or "run-1")
        return self._clients[named]

    def _call(self, step: dict[str, Any]) -> None:
        client, rpc = self._client(step["as"]), step["rpc"]
        request = self._bindings.fill(step["request"])
        while True:
            try:
                return self._check(step, lambda: self._side.call(client, rpc, request))
            except AssertionError:
                if not step.get("repeat"):
                    raise
            time.sleep(_REPEAT)

    def _hold(self, step: dict[str, Any]) -> None:
        ttl = step["ttlMs"] / 1000 if "ttlMs" in step else None
        wanted = self._bindings.fill(step["wanted"])
        holding = self._side.hold(self._client(step["as"]), wanted, ttl, step.get("waitMs", 0) / 1000)
        self._held[step["held"]] = holding
        if step.get("background"):
            holding.sent()
        else:
            self._check(step, holding.begun)

    def _holds(self, step: dict[str, Any]) -> None:
        self._check(step, self._held[step["held"]].begun)

    def _write(self, step: dict[str, Any]) -> None:
        request = self._bindings.fill(step["request"])
        self._check(step, lambda: self._held[step["held"]].write(step["write"], request))

    def _renewed(self, step: dict[str, Any]) -> None:
        self._held[step["held"]].renewed(step["times"])

    def _stopped(self, step: dict[str, Any]) -> None:
        self._expect(step["error"], error_json(self._held[step["held"]].stopped()))

    def _leave(self, step: dict[str, Any]) -> None:
        holding = self._held.pop(step["held"])
        self._check(step, lambda: holding.leave(step.get("throwing"), step.get("releaseNote")))

    def _work(self, step: dict[str, Any]) -> None:
        wanted = self._bindings.fill(step["next"])
        client, failing = self._client(step["as"]), step.get("failing", {})
        self._expect(step["titles"], self._side.work(client, wanted, step["tasks"], step["result"], failing))

    def _watch(self, step: dict[str, Any]) -> None:
        options = options_of(self._bindings.fill(step["options"]))
        self._watches[step["watch"]] = self._side.watch(self._client(step["as"]), options)

    def _news(self, step: dict[str, Any]) -> None:
        watching, last = self._watches[step["watch"]], None
        for expected in self._bindings.fill(step["news"]):
            while True:
                news = watching.next()
                assert news is not None, "the watch has ended"
                last = news_json(news)
                if last["kind"] == expected["kind"] or last["kind"] not in ("checkpoint", "renewed"):
                    break
            self._expect(expected, last)
        self._bindings.bind(step.get("bind", {}), last)

    def _unwatch(self, step: dict[str, Any]) -> None:
        watching = self._watches.pop(step["watch"])

        def end() -> None:
            if "error" not in step:
                watching.close()
            while (news := watching.next()) is not None:
                assert news.kind in ("checkpoint", "renewed"), f"unexpected: {news}"

        self._check(step, end)

    def _tell_server(self, step: dict[str, Any]) -> None:
        filled = self._bindings.fill(step)
        self._server.act(**{key: value for key, value in filled.items() if key != "do"})

    def _calculate(self, step: dict[str, Any]) -> None:
        self._expect(step["output"], calculate(step["function"], step["input"]))

    def _check(self, step: dict[str, Any], act: Callable[[], Any]) -> None:
        """Compares what comes with what a step expects, and binds what it names."""
        try:
            answer = act()
        except Exception as error:
            told = error_json(error)
            assert "error" in step, f"it failed: {told}"
            self._expect(step["error"], told)
            return
        assert "error" not in step, f"it succeeded: {answer}"
        self._expect(step.get("answer", {}), answer or {})
        self._bindings.bind(step.get("bind", {}), answer)

    def _expect(self, expected: Any, actual: Any) -> None:
        faults = unmet(self._bindings.fill(expected), actual)
        assert not faults, "\n".join(faults)
