"""How the answers of a scenario are compared with what it expects; test/vectors/README.md says what meets what."""

from __future__ import annotations

from typing import Any, cast

_NEAR = 0.001


def unmet(expected: Any, actual: Any, path: str = "$") -> list[str]:
    """Where a value does not meet an expectation: one line each."""
    wrong = [f"{path} is {actual!r}, not {expected!r}"]
    if expected is None:
        return [] if actual is None else wrong
    if expected == "*":
        return wrong if actual is None or actual == "" else []
    if isinstance(expected, list):
        items = cast("list[Any]", expected)
        if not items and actual is None:
            return []
        if not isinstance(actual, list) or len(cast("list[Any]", actual)) != len(items):
            return wrong
        return [fault for at, item in enumerate(items) for fault in unmet(item, actual[at], f"{path}.{at}")]
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return wrong
        fields, found = cast("dict[str, Any]", expected), cast("dict[str, Any]", actual)
        return [fault for key, item in fields.items() for fault in unmet(item, found.get(key), f"{path}.{key}")]
    if isinstance(expected, bool | str):
        return [] if type(actual) is type(expected) and actual == expected else wrong
    is_number = isinstance(actual, int | float) and not isinstance(actual, bool)
    return [] if is_number and abs(actual - expected) <= _NEAR else wrong


class Bindings:
    """What steps have bound, and what stands for it."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def bind(self, names: dict[str, str], answer: Any) -> None:
        """Gives names to the parts of an answer that lie at some paths."""
        for name, path in names.items():
            self._values[name] = _at(answer, path)

    def fill(self, value: Any) -> Any:
        """The value with every `$name.path` in it filled in."""
        if isinstance(value, str) and value.startswith("$"):
            name, _, path = value[1:].partition(".")
            return _at(self._values[name], path)
        if isinstance(value, list):
            return [self.fill(item) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in cast("dict[str, Any]", value).items()}
        return value


def _at(value: Any, path: str) -> Any:
    if not path:
        return value
    key, _, rest = path.partition(".")
    return _at(value[int(key)] if isinstance(value, list) else value[key], rest)
