"""The two clients. They differ in how they wait; what they do is in _api.py."""

from __future__ import annotations

import asyncio
import threading
import time
from types import TracebackType
from typing import Any, AsyncIterator, Iterator, Mapping, Optional, Sequence, TypeVar, Union

from ._api import OUTPUT_BYTES_MAX, Api, Call, Chain, Flow, Pause, RunIsOver, Settings, events_of
from ._crypto import Pinned
from ._errors import NoAnswer, Refused, WritError
from ._http import Address, Loop, Threads
from ._model import (
    Agent,
    Effect,
    Event,
    Input,
    Operation,
    Outcome,
    Prepared,
    Request,
    ServerSentEvents,
    Token,
    Waiting,
)

T = TypeVar("T")


class Client:
    """A client of a server of Writ. Thread safe.

    An `Agent` signs its own requests; for a `Token` the server signs (surface `vouched`). In both cases an outcome is believed only
    where the pinned keys have signed it and it is about what was asked.
    """

    def __init__(
        self,
        url: str,
        who: Union[Agent, Token],
        pinned: Pinned,
        *,
        settings: Settings = Settings(),
        ca_file: Optional[str] = None,
    ) -> None:
        self.who = who
        self._api = Api(who, pinned, settings)
        self._http = Threads(Address(url, ca_file), settings.answer_within)
        self._closed = threading.Event()

    def _run(self, flow: Flow[T]) -> T:
        try:
            wanted = next(flow)
            while True:
                try:
                    if isinstance(wanted, Pause):
                        if self._closed.wait(wanted.seconds):
                            raise NoAnswer("the client was closed", sent=True)
                        wanted = flow.send(None)
                    else:
                        wanted = flow.send(self._http.send(wanted))
                except WritError as e:
                    wanted = flow.throw(e)
        except StopIteration as done:
            value: T = done.value
            return value

    def operations(self, run: Optional[str] = None) -> list[Operation]:
        """The operations that this caller's roles may use."""
        return self._run(self._api.operations(run))

    def call(
        self,
        tool: Union[str, Effect],
        params: Optional[Mapping[str, Any]] = None,
        *,
        run: str = "main",
        operation: Optional[str] = None,
        key: Optional[str] = None,
        inputs: Sequence[Input] = (),
        consumes: Sequence[str] = (),
        retention: str = "keep",
        wait: float = 0.0,
    ) -> Outcome:
        """Has an effect judged and done.

        key: names the task that this is part of. The same key and effect again, from any process, gives the stored outcome; without
        one each call is an effect of its own, which this call repeats safely where an answer gets lost.
        wait: how long to wait for an approval, in seconds.
        """
        effect = (
            tool
            if isinstance(tool, Effect)
            else Effect(tool, params or {}, operation, inputs=inputs)
        )
        outcome = self._run(self._api.call(run, effect, key, consumes, retention))
        return self.wait(outcome, wait) if wait and outcome.waits else outcome

    def request(
        self,
        effect: Effect,
        *,
        run: str = "main",
        key: Optional[str] = None,
        consumes: Sequence[str] = (),
        retention: str = "keep",
        evidence: Sequence[str] = (),
    ) -> Request:
        """Signs a request without sending it. Kept on disk, it can be sent by whoever comes after a crash, and runs once."""
        prepared = self._run(
            self._api.prepare(run, effect, key, consumes, retention, evidence)
        )
        return self.sign(prepared)

    def prepare(
        self,
        effect: Effect,
        *,
        run: str = "main",
        key: Optional[str] = None,
        consumes: Sequence[str] = (),
        retention: str = "keep",
        evidence: Sequence[str] = (),
    ) -> Prepared:
        """A request that is not signed yet. Its `challenge` is what a mandate is bound to; `sign` signs it."""
        return self._run(self._api.prepare(run, effect, key, consumes, retention, evidence))

    def sign(self, prepared: Prepared, *, mandate: Optional[str] = None) -> Request:
        """Signs a prepared request, with a mandate that is bound to it where one is given, for `submit`."""
        return self._api.sign(prepared, mandate)

    def submit(self, request: Request) -> Outcome:
        """Submits a signed request; sent again it gets its stored outcome."""
        return self._run(self._api.submit(request))

    def again(self, outcome: Outcome) -> Outcome:
        """The same request once more: after its approval it is executed."""
        return self._run(self._api.again(outcome))

    def wait(self, outcome: Outcome, timeout: float) -> Outcome:
        """Waits for an approval or a rejection, at most `timeout` seconds; what then holds."""
        return self._run(self._api.wait(outcome, timeout))

    def cancel(self, request_id: str) -> None:
        """Interrupts the running effect of a request. It ends in its receipt all the same."""
        self._run(self._api.cancel(request_id))

    def put(
        self, data: bytes, name: str = "data", media_type: str = "application/octet-stream"
    ) -> Input:
        """Stores content, which an effect can then name as an input."""
        return self._run(self._api.put(data, name, media_type))

    def blob(
        self, digest: str, *, of: Optional[str] = None, bytes_max: int = OUTPUT_BYTES_MAX
    ) -> bytes:
        """Content by its digest; `of` is a receipt or request that names it and that the caller may read."""
        return self._run(self._api.blob(digest, of, bytes_max))

    def get(self, path: str) -> dict[str, Any]:
        """JSON that the caller may read, for example /v1/runs. Nothing of it is signed."""
        return self._run(self._api.get_json(path))

    def events(
        self, run: str, *, after: Optional[int] = None
    ) -> Iterator[Event]:
        """The run's events as they are committed, until it is closed. A connection that breaks is taken up where it broke."""
        chain = Chain(after)
        failed_at: Optional[float] = None
        while True:
            try:
                blocks = ServerSentEvents()
                for piece in self._http.stream(self._api.following(run, chain.last)):
                    failed_at = None  # a run may be quiet for long
                    for event in events_of(blocks.feed(piece), chain):
                        yield event
                        if event.kind == "run.closed":
                            return
            except RunIsOver:
                return
            except (NoAnswer, Refused) as e:
                if isinstance(e, Refused) and e.status not in (429, 503):
                    raise
            failed_at = failed_at or time.monotonic()
            if time.monotonic() - failed_at > self._api.settings.retry_for:
                raise NoAnswer("the events ended, and the run is open", sent=True)
            if self._closed.wait(0.2):
                return

    def close_run(self, run: str) -> str:
        """Ends a run that this key opened; the checkpoint that covers its end."""
        return self._run(self._api.close_run(run))

    def bundle(self, run: str, *, bytes_max: int = 1 << 30) -> bytes:
        """The run in one file, for `writ verify`."""
        return self._run(self._api.bundle(run, bytes_max))

    def waiting(self) -> list[Waiting]:
        """What waits for approval, for approvers."""
        return self._run(self._api.waiting())

    def approve(self, waiting: Waiting, role: str, *, valid_s: float = 3600) -> str:
        """Approves exactly this request, under the policy that `waiting` names."""
        return self._run(self._api.decide(waiting, role, "approve", valid_s))

    def reject(self, waiting: Waiting, role: str, *, valid_s: float = 3600) -> str:
        """Rejects a request, finally."""
        return self._run(self._api.decide(waiting, role, "reject", valid_s))

    def close(self) -> None:
        self._closed.set()
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class AsyncClient:
    """The same for asyncio. Cancelling a task abandons its call; what was sent may still be done, once."""

    def __init__(
        self,
        url: str,
        who: Union[Agent, Token],
        pinned: Pinned,
        *,
        settings: Settings = Settings(),
        ca_file: Optional[str] = None,
    ) -> None:
        self.who = who
        self._api = Api(who, pinned, settings)
        self._http = Loop(Address(url, ca_file), settings.answer_within)

    async def _run(self, flow: Flow[T]) -> T:
        try:
            wanted: Union[Call, Pause] = next(flow)
            while True:
                try:
                    if isinstance(wanted, Pause):
                        await asyncio.sleep(wanted.seconds)
                        wanted = flow.send(None)
                    else:
                        wanted = flow.send(await self._http.send(wanted))
                except WritError as e:
                    wanted = flow.throw(e)
        except StopIteration as done:
            value: T = done.value
            return value

    async def operations(self, run: Optional[str] = None) -> list[Operation]:
        """As `Client.operations`."""
        return await self._run(self._api.operations(run))

    async def call(
        self,
        tool: Union[str, Effect],
        params: Optional[Mapping[str, Any]] = None,
        *,
        run: str = "main",
        operation: Optional[str] = None,
        key: Optional[str] = None,
        inputs: Sequence[Input] = (),
        consumes: Sequence[str] = (),
        retention: str = "keep",
        wait: float = 0.0,
    ) -> Outcome:
        """As `Client.call`."""
        effect = (
            tool
            if isinstance(tool, Effect)
            else Effect(tool, params or {}, operation, inputs=inputs)
        )
        outcome = await self._run(self._api.call(run, effect, key, consumes, retention))
        return await self.wait(outcome, wait) if wait and outcome.waits else outcome

    async def request(
        self,
        effect: Effect,
        *,
        run: str = "main",
        key: Optional[str] = None,
        consumes: Sequence[str] = (),
        retention: str = "keep",
        evidence: Sequence[str] = (),
    ) -> Request:
        """As `Client.request`."""
        prepared = await self._run(
            self._api.prepare(run, effect, key, consumes, retention, evidence)
        )
        return self.sign(prepared)

    async def prepare(
        self,
        effect: Effect,
        *,
        run: str = "main",
        key: Optional[str] = None,
        consumes: Sequence[str] = (),
        retention: str = "keep",
        evidence: Sequence[str] = (),
    ) -> Prepared:
        """As `Client.prepare`."""
        return await self._run(self._api.prepare(run, effect, key, consumes, retention, evidence))

    def sign(self, prepared: Prepared, *, mandate: Optional[str] = None) -> Request:
        """As `Client.sign`. Nothing is sent."""
        return self._api.sign(prepared, mandate)

    async def submit(self, request: Request) -> Outcome:
        """As `Client.submit`."""
        return await self._run(self._api.submit(request))

    async def again(self, outcome: Outcome) -> Outcome:
        """As `Client.again`."""
        return await self._run(self._api.again(outcome))

    async def wait(self, outcome: Outcome, timeout: float) -> Outcome:
        """As `Client.wait`."""
        return await self._run(self._api.wait(outcome, timeout))

    async def cancel(self, request_id: str) -> None:
        """As `Client.cancel`."""
        await self._run(self._api.cancel(request_id))

    async def put(
        self, data: bytes, name: str = "data", media_type: str = "application/octet-stream"
    ) -> Input:
        """As `Client.put`."""
        return await self._run(self._api.put(data, name, media_type))

    async def blob(
        self, digest: str, *, of: Optional[str] = None, bytes_max: int = OUTPUT_BYTES_MAX
    ) -> bytes:
        """As `Client.blob`."""
        return await self._run(self._api.blob(digest, of, bytes_max))

    async def get(self, path: str) -> dict[str, Any]:
        """As `Client.get`."""
        return await self._run(self._api.get_json(path))

    async def events(
        self, run: str, *, after: Optional[int] = None
    ) -> AsyncIterator[Event]:
        """As `Client.events`."""
        chain = Chain(after)
        failed_at: Optional[float] = None
        while True:
            try:
                blocks = ServerSentEvents()
                async for piece in self._http.stream(self._api.following(run, chain.last)):
                    failed_at = None  # a run may be quiet for long
                    for event in events_of(blocks.feed(piece), chain):
                        yield event
                        if event.kind == "run.closed":
                            return
            except RunIsOver:
                return
            except (NoAnswer, Refused) as e:
                if isinstance(e, Refused) and e.status not in (429, 503):
                    raise
            failed_at = failed_at or time.monotonic()
            if time.monotonic() - failed_at > self._api.settings.retry_for:
                raise NoAnswer("the events ended, and the run is open", sent=True)
            await asyncio.sleep(0.2)

    async def close_run(self, run: str) -> str:
        """As `Client.close_run`."""
        return await self._run(self._api.close_run(run))

    async def bundle(self, run: str, *, bytes_max: int = 1 << 30) -> bytes:
        """As `Client.bundle`."""
        return await self._run(self._api.bundle(run, bytes_max))

    async def waiting(self) -> list[Waiting]:
        """As `Client.waiting`."""
        return await self._run(self._api.waiting())

    async def approve(self, waiting: Waiting, role: str, *, valid_s: float = 3600) -> str:
        """As `Client.approve`."""
        return await self._run(self._api.decide(waiting, role, "approve", valid_s))

    async def reject(self, waiting: Waiting, role: str, *, valid_s: float = 3600) -> str:
        """As `Client.reject`."""
        return await self._run(self._api.decide(waiting, role, "reject", valid_s))

    async def close(self) -> None:
        self._http.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()
