"""Tools of Writ for APIs in the style of OpenAI's function calling: definitions for the request, and answers for the model's tool
calls. Nothing of any SDK is needed: calls may be an SDK's objects or the dictionaries that they are made of."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from .._clients import AsyncClient, Client
from .._errors import NotBelieved
from .._json import canonicalize
from .._model import Effect, Operation, Outcome

Only = Callable[[Operation], bool]


def told(outcome: Outcome) -> str:
    """What a model is told of an outcome: the output, or why there is none."""
    if outcome.succeeded:
        if outcome.output is None:
            return f"Done; the output was not retained. Receipt: {outcome.receipt_id}."
        try:
            return outcome.text
        except UnicodeDecodeError:
            size = len(outcome.output)
            return f"Done: {size} bytes that are no text. Receipt: {outcome.receipt_id}."
    why = f"{outcome.code}: {outcome.reason}"
    if outcome.waits:
        waits = f"WAITS FOR APPROVAL, nothing was done: {why}. Request: {outcome.request_id}."
        return "\n".join([waits, *outcome.help])
    if outcome.receipt is not None:
        return f"FAILED: {outcome.status} {outcome.reason}. Receipt: {outcome.receipt_id}."
    return "\n".join([f"DENIED {why}. Signed denial: {outcome.decision_id}.", *outcome.help])


def named(operations: Iterable[Operation], only: Optional[Only] = None) -> dict[str, Operation]:
    """Operations by names that model APIs accept, each once: the default versions of those that `only` takes."""
    usable = [o for o in operations if o.default and (only is None or only(o))]
    by_name: dict[str, Operation] = {}
    for o in usable:
        several = sum(other.tool == o.tool for other in usable) > 1
        name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{o.tool}_{o.name}" if several else o.tool)[:64]
        if name in by_name:
            raise ValueError(f"two operations are named {name}: take fewer by only")
        by_name[name] = o
    return by_name


class _Toolbox:
    def __init__(self, operations: Mapping[str, Operation], run: str, wait: float) -> None:
        self.operations = operations
        self._run = run
        self._wait = wait

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """The definitions, for `tools` of a request."""
        return [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "description": operation.description,
                    "parameters": operation.input,
                },
            }
            for name, operation in self.operations.items()
        ]

    def _asked(self, call: Any) -> Union[str, tuple[Effect, dict[str, Any]]]:
        """The effect of a tool call and how it is called, or what the model is told instead."""
        function = _member(call, "function")
        operation = self.operations.get(_member(function, "name"))
        if operation is None:
            return f"There is no tool named {_member(function, 'name')}."
        try:
            params = json.loads(_member(function, "arguments") or "{}")
        except ValueError:
            return "The arguments are no JSON."
        if not isinstance(params, dict):
            return "The arguments are no object."
        effect = Effect(operation.tool, params, operation.name, operation.version)
        try:
            canonicalize(effect.stated())
        except NotBelieved as e:
            return f"The arguments cannot be sent: {e}."
        # The call's id is its idempotency key in the run: an answer that gets lost is not a second effect.
        # Some models name none of their calls, and would have all of them be one.
        named_by = _member(call, "id")
        key = f"{self._run}/{named_by}" if isinstance(named_by, str) and named_by.strip() else None
        return effect, {"run": self._run, "key": key, "wait": self._wait}


class Toolbox(_Toolbox):
    """Tools for a model, each call of which is an effect of Writ."""

    def __init__(
        self,
        client: Client,
        *,
        only: Optional[Only] = None,
        run: str = "main",
        wait: float = 0.0,
    ) -> None:
        super().__init__(named(client.operations(run), only), run, wait)
        self._client = client

    def answer(self, call: Any) -> dict[str, str]:
        """The message for one tool call of a model."""
        asked = self._asked(call)
        if not isinstance(asked, str):
            effect, terms = asked
            asked = told(self._client.call(effect, **terms))
        return {"role": "tool", "tool_call_id": _member(call, "id"), "content": asked}

    def answers(self, message: Any) -> list[dict[str, str]]:
        """The messages for all tool calls of a model's message, in their order."""
        return [self.answer(call) for call in _member(message, "tool_calls") or ()]


class AsyncToolbox(_Toolbox):
    """The same for asyncio: `await AsyncToolbox.of(client)`."""

    def __init__(
        self, client: AsyncClient, operations: Mapping[str, Operation], run: str, wait: float
    ) -> None:
        super().__init__(operations, run, wait)
        self._client = client

    @classmethod
    async def of(
        cls,
        client: AsyncClient,
        *,
        only: Optional[Only] = None,
        run: str = "main",
        wait: float = 0.0,
    ) -> AsyncToolbox:
        return cls(client, named(await client.operations(run), only), run, wait)

    async def answer(self, call: Any) -> dict[str, str]:
        """As `Toolbox.answer`."""
        asked = self._asked(call)
        if not isinstance(asked, str):
            effect, terms = asked
            asked = told(await self._client.call(effect, **terms))
        return {"role": "tool", "tool_call_id": _member(call, "id"), "content": asked}

    async def answers(self, message: Any) -> list[dict[str, str]]:
        """As `Toolbox.answers`."""
        return [await self.answer(call) for call in _member(message, "tool_calls") or ()]


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name)
