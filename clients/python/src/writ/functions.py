"""Functions of the agent's own process, judged before they run and reported after (spec/client.md, 12).

What the receipts prove is that the call was permitted and what the agent says came of it. The kernel neither ran the function nor keeps
anybody from calling it directly: what must not be avoidable belongs behind the kernel, as a tool.

    @governed(client, key=lambda order, amount: order)
    def refund(order: str, amount: float) -> str: ...
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import Any, Callable, Generic, Optional, TypeVar, Union, cast

from ._clients import AsyncClient, Client
from ._crypto import digest
from ._errors import Denied, NotBelieved, PermittedBefore
from ._json import canonicalize
from ._model import Effect, Outcome

F = TypeVar("F", bound=Callable[..., Any])

TOOL = "function"


@dataclass(frozen=True)
class GovernedCall:
    """What came of a governed call: the permit, and the report that consumed it."""

    permit: Outcome
    report: Outcome


def governed(
    client: Union[Client, AsyncClient],
    *,
    name: Optional[str] = None,
    run: str = "main",
    key: Optional[Callable[..., str]] = None,
    wait: float = 0.0,
    reported: Optional[Callable[[GovernedCall], None]] = None,
) -> Callable[[F], F]:
    """Governs a function; one that is `async` with an `AsyncClient`, any other with a `Client`.

    name: as policy knows it, in `params.function`; the function's own where it is left out.
    key: names a call by its arguments, for calls that must not happen twice.
    wait: how long to wait for an approval, in seconds.
    reported: is told the permit and the report of each call.

    The arguments must be JSON. Raises `Denied` where the function was not let run, `PermittedBefore` where it may have run before.
    """

    def decorate(function: F) -> F:
        call = _Call(function, name or function.__name__, run, key, wait, reported)
        if inspect.iscoroutinefunction(function):
            if not isinstance(client, AsyncClient):
                raise TypeError("an async function is governed by an AsyncClient")
            asynchronous = client

            @functools.wraps(function)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                effect, named = call.permit(args, kwargs)
                permit = call.permitted(
                    await asynchronous.call(effect, run=run, key=named, wait=wait), named
                )
                try:
                    value = await function(*args, **kwargs)
                except Exception as e:
                    report = call.report(permit, "raised", type(e).__name__)
                    call.done(permit, await asynchronous.call(report, **call.terms(permit)))
                    raise
                report = call.report(permit, "returned", value)
                call.done(permit, await asynchronous.call(report, **call.terms(permit)))
                return value

            return cast(F, awaited)
        if not isinstance(client, Client):
            raise TypeError("a function that is not async is governed by a Client")
        threaded = client

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            effect, named = call.permit(args, kwargs)
            permit = call.permitted(threaded.call(effect, run=run, key=named, wait=wait), named)
            try:
                value = function(*args, **kwargs)
            except Exception as e:
                report = call.report(permit, "raised", type(e).__name__)
                call.done(permit, threaded.call(report, **call.terms(permit)))
                raise
            report = call.report(permit, "returned", value)
            call.done(permit, threaded.call(report, **call.terms(permit)))
            return value

        return cast(F, called)

    return decorate


class _Call(Generic[F]):
    def __init__(
        self,
        function: F,
        name: str,
        run: str,
        key: Optional[Callable[..., str]],
        wait: float,
        reported: Optional[Callable[[GovernedCall], None]],
    ) -> None:
        self._signature = inspect.signature(function)
        self._name = name
        self._run = run
        self._key = key
        self._reported = reported

    def permit(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Effect, Optional[str]]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        params = {"function": self._name, "arguments": dict(bound.arguments)}
        canonicalize(params)  # what is no JSON cannot be judged
        key = None if self._key is None else f"{self._name}/{self._key(*args, **kwargs)}"
        return Effect(TOOL, params, "permit"), key

    @staticmethod
    def permitted(outcome: Outcome, key: Optional[str]) -> Outcome:
        if not outcome.succeeded:
            raise Denied(outcome)
        if key is not None and outcome.repeated:
            raise PermittedBefore(outcome)
        return outcome

    def report(self, permit: Outcome, ended: str, value: Any) -> Effect:
        try:
            result = canonicalize(value)
        except NotBelieved:
            result = str(value).encode("utf-8", "replace")
        params = {
            "function": self._name,
            "permit": permit.receipt_id,
            "ended": ended,
            "result": digest(result),
        }
        return Effect(TOOL, params, "report")

    def terms(self, permit: Outcome) -> dict[str, Any]:
        return {"run": self._run, "consumes": [permit.receipt_id]}

    def done(self, permit: Outcome, report: Outcome) -> None:
        if self._reported is not None:
            self._reported(GovernedCall(permit, report))
