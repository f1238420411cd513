"""The client itself, without any input or output: what is sent, and what is believed of the answer.

Each method is a generator that yields what it wants done (a `Call` or a `Pause`) and is sent the answer, so that the client with
threads and the one with asyncio are the same program.
"""

from __future__ import annotations

import datetime
import random
import secrets
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Callable, Generator, Iterable, Mapping, Optional, Sequence, TypeVar, Union

from ._crypto import Pinned, SigningKey, b64url, digest, from_b64, sign
from ._errors import NoAnswer, NotBelieved, Refused, WritError
from ._json import canonicalize, parse
from ._model import (
    MODEST,
    Agent,
    Effect,
    Event,
    Input,
    Operation,
    Outcome,
    Prepared,
    Request,
    Resources,
    Token,
    Waiting,
    media_type,
    refusal,
)

OUTPUT_BYTES_MAX = 64 << 20

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One HTTP request."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Optional[bytes] = None
    bytes_max: int = 32 << 20


@dataclass(frozen=True)
class Reply:
    """Its answer; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Pause:
    """To wait, in seconds."""

    seconds: float


Flow = Generator[Union[Call, Pause], Optional[Reply], T]


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


@dataclass(frozen=True)
class Settings:
    """How a client behaves.

    retry_for: how long, in seconds, a call is repeated that may be; 0 for never.
    answer_within: how long one answer may take, in seconds; with threads how long it may take to begin, and each 64 KiB of it.
    now: the time, for what is signed.
    """

    retry_for: float = 30.0
    answer_within: float = 120.0
    now: Callable[[], datetime.datetime] = _now


class Api:
    def __init__(self, who: Union[Agent, Token], pinned: Pinned, settings: Settings) -> None:
        self.who = who
        self.pinned = pinned
        self.settings = settings

    # Sending

    def exchange(self, call: Callable[[], Call], *, repeatable: bool) -> Flow[Reply]:
        """Sends a call until it is answered. One that may not be repeated is sent again only where it never arrived or where the
        server says that it did nothing."""
        until = time.monotonic() + self.settings.retry_for
        attempt = 0
        while True:
            attempt += 1
            again = min(5.0, 0.1 * 2**attempt) * random.uniform(0.5, 1.0)
            try:
                reply = yield call()
                assert reply is not None
                refused = _refused(reply)
                if refused is None:
                    return reply
                if not isinstance(refused, Refused) or not _passing(refused, repeatable):
                    raise refused
                failure: Exception = refused
                stated = reply.headers.get("retry-after", "")
                if stated.isdigit():
                    again = max(again, float(stated))
            except NoAnswer as e:
                if e.sent and not repeatable:
                    raise
                failure = e
            if time.monotonic() + again > until:
                raise failure
            yield Pause(again)

    def time(self, seconds: float = 0) -> str:
        at = self.settings.now() + datetime.timedelta(seconds=seconds)
        return at.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + (
            f"{at.microsecond // 1000:03d}Z"
        )

    def authorization(self) -> dict[str, str]:
        """The header of somebody who reads: the token, or a document that the key has just signed."""
        if isinstance(self.who, Token):
            return {"Authorization": f"Bearer {self.who.token}"}
        access = {
            "tenant": self.who.tenant,
            "audience": self.pinned.origin,
            "issued_at": self.time(),
            "expires_at": self.time(60),
        }
        envelope = sign("access", access, self.who.key)
        return {"Authorization": f"Writ {b64url(canonicalize(envelope))}"}

    def get(self, path: str, bytes_max: int = 32 << 20) -> Flow[Reply]:
        return self.exchange(
            lambda: Call("GET", path, self.authorization(), bytes_max=bytes_max), repeatable=True
        )

    def get_json(self, path: str) -> Flow[dict[str, Any]]:
        reply = yield from self.get(path)
        return _object(reply.body)

    def post(
        self, path: str, body: bytes, *, repeatable: bool, token: bool = False
    ) -> Flow[Reply]:
        def call() -> Call:
            headers = self.authorization() if token else {}
            return Call("POST", path, {**headers, "Content-Type": "application/json"}, body)

        return self.exchange(call, repeatable=repeatable)

    # Effects

    def operations(self, run: Optional[str]) -> Flow[list[Operation]]:
        query = "" if run is None else f"?run={_part(run)}"
        listed = yield from self.get_json(f"/v1/tools{query}")
        return [
            Operation(
                tool=tool["toolId"],
                version=tool["toolVersion"],
                name=operation["name"],
                default=tool["default"],
                description=operation["input"].get("description", ""),
                input=operation["input"],
                output=operation.get("output"),
                sandbox=operation["sandbox"],
                resources=Resources(**operation["resources"]),
            )
            for tool in listed["tools"]
            for operation in tool["operations"]
        ]

    def complete(self, effect: Effect, run: str) -> Flow[dict[str, Any]]:
        """The whole effect. What is in doubt is left for the Guardian to refuse."""
        stated = effect.stated()
        stated.setdefault("inputs", [])
        needed = ("operation", "version", "sandbox", "resources")
        if all(name in stated for name in needed):
            return stated
        operations = yield from self.operations(run)
        known = [
            o
            for o in operations
            if o.tool == effect.tool
            and (o.version == effect.version if effect.version else o.default)
            and effect.operation in (None, o.name)
        ]
        if len(known) == 1:
            found = known[0]
            least = {
                name: min(value, getattr(found.resources, name))
                for name, value in MODEST.to_json().items()
            }
            filled: dict[str, Any] = {
                "operation": found.name,
                "version": found.version,
                "sandbox": found.sandbox,
                "resources": least,
            }
        else:
            filled = {
                "operation": "call",
                "version": "not listed",
                "sandbox": "none",
                "resources": MODEST.to_json(),
            }
        return {**filled, **stated}

    def prepare(
        self,
        run: str,
        effect: Effect,
        key: Optional[str],
        consumes: Sequence[str],
        retention: str,
        evidence: Sequence[str],
    ) -> Flow[Prepared]:
        self._signer()
        whole = yield from self.complete(effect, run)
        document: dict[str, Any] = {
            "tenant": self.who.tenant,
            "run": run,
            "subject": self.who.subject,
            "effect": whole,
            "consumes": list(consumes),
            "nonce": secrets.token_hex(16),
            "retention": retention,
            "context": {},
            "evidence": list(evidence),
            "delegations": [],
        }
        if key is not None:
            document["idempotency_key"] = key
        return Prepared(document)

    def _signer(self) -> SigningKey:
        if not isinstance(self.who, Agent):
            raise TypeError("a token signs nothing: use call")
        return self.who.key

    def sign(self, prepared: Prepared, mandate: Optional[str] = None) -> Request:
        key = self._signer()
        document = {**prepared.document, "requested_at": self.time()}
        if mandate is None:
            return Request(sign("request", document, key))
        brought = sign("mandate", {"mandate": mandate}, key)
        document["evidence"] = [*document["evidence"], digest(from_b64(brought["payload"]))]
        return Request(sign("request", document, key), (brought,))

    def submit(self, request: Request) -> Flow[Outcome]:
        body = request.to_bytes()
        answer = yield from self._effect(lambda: self.post("/v1/effects", body, repeatable=True))
        return (yield from self._with_output(self.believed(answer, request)))

    def call(
        self, run: str, effect: Effect, key: Optional[str], consumes: Sequence[str], retention: str
    ) -> Flow[Outcome]:
        if isinstance(self.who, Agent):
            prepared = yield from self.prepare(run, effect, key, consumes, retention, ())
            return (yield from self.submit(self.sign(prepared)))
        # A key of our own binds the answer to this call, and lets it be repeated.
        stated_key = key if key is not None else f"once-{secrets.token_hex(16)}"
        body = canonicalize(
            {
                "run": run,
                "effect": effect.stated(),
                "idempotency_key": stated_key,
                "consumes": list(consumes),
                "retention": retention,
            }
        )
        answer = yield from self._effect(
            lambda: self.post("/v1/vouched-effects", body, repeatable=True, token=True)
        )
        request = self.vouched(answer, run, effect, stated_key)
        return (yield from self._with_output(self.believed(answer, request)))

    def again(self, outcome: Outcome) -> Flow[Outcome]:
        """The same request once more: after an approval it is executed, after that its stored outcome is told."""
        if isinstance(self.who, Agent):
            return (yield from self.submit(outcome.request))
        path = f"/v1/vouched-effects/{outcome.request_id}"
        answer = yield from self._effect(
            lambda: self.exchange(
                lambda: Call("POST", path, self.authorization()), repeatable=True
            )
        )
        return (yield from self._with_output(self.believed(answer, outcome.request)))

    def _effect(self, send: Callable[[], Flow[Reply]]) -> Flow[dict[str, Any]]:
        """Asks again where a stage refused because what was decided is no longer in force: it is then judged anew."""
        for _ in range(3):
            try:
                reply = yield from send()
                return _object(reply.body)
            except Refused as e:
                if e.code not in ("EXE-107", "EXE-111", "EXE-201"):
                    raise
        reply = yield from send()
        return _object(reply.body)

    def wait(self, outcome: Outcome, timeout: float) -> Flow[Outcome]:
        """Until the request waits no more, or the time is over; then what came of it."""
        until = time.monotonic() + timeout
        while outcome.waits:
            left = max(0.0, until - time.monotonic())
            # What comes later than this client listens is no answer.
            asked = int(min(50, left, self.settings.answer_within / 2))
            path = f"/v1/requests/{outcome.request_id}/outcome?wait_s={asked}"
            state = yield from self.get_json(path)
            if state.get("state") != "pending":
                outcome = yield from self.again(outcome)
            elif left <= 0:
                break
            elif asked == 0:
                yield Pause(min(left, 1.0))
        return outcome

    def cancel(self, request_id: str) -> Flow[None]:
        yield from self.exchange(
            lambda: Call("POST", f"/v1/executions/{request_id}/cancel", self.authorization()),
            repeatable=False,
        )

    # What is believed

    def believed(self, answer: Mapping[str, Any], request: Request) -> Outcome:
        """The outcome, where pinned keys have signed it and it is about this request."""
        asked = request.document
        at = self.time()
        effect = digest(canonicalize(asked["effect"]))
        decision = self.pinned.verify(answer.get("decision"), "decision", "guardian", at)
        _require(decision.document.get("effect") == effect, "the decision is on another effect")
        _require(
            decision.document.get("tenant") == asked["tenant"]
            and decision.document.get("subject") == asked["subject"],
            "the decision is on another subject",
        )
        # Under an idempotency key the stored outcome may be another request's, for the same effect.
        _require(
            "idempotency_key" in asked or decision.document.get("request") == request.id,
            "the decision is on another request",
        )
        verdict = decision.document.get("verdict")
        if "receipt" not in answer:
            _require(verdict != "ALLOW", "it was allowed, and there is no receipt")
            guidance = answer.get("guidance")
            return Outcome(
                request,
                decision.id,
                decision.document,
                guidance=guidance if isinstance(guidance, dict) else None,
            )
        receipt = self.pinned.verify(answer["receipt"], "receipt", "executor", at)
        _require(verdict == "ALLOW", "there is a receipt of what was not allowed")
        _require(receipt.document.get("effect") == effect, "the receipt is of another effect")
        _require(
            receipt.document.get("decision") == decision.id, "the receipt is of another decision"
        )
        _require(
            receipt.document.get("request") == decision.document.get("request"),
            "the receipt is of another request",
        )
        content = _content(answer.get("output"))
        if content is not None:
            stated = receipt.document.get("output") or {}
            _require(stated.get("digest") == digest(content), "the output is not the receipt's")
        return Outcome(
            request,
            decision.id,
            decision.document,
            receipt.id,
            receipt.document,
            content,
            answer.get("repeated") is True,
        )

    def vouched(self, answer: Mapping[str, Any], run: str, effect: Effect, key: str) -> Request:
        """The request that the server has signed for us, where it is the one that we stated."""
        signed = self.pinned.verify(answer.get("request"), "request", "surface", self.time())
        document = signed.document
        _require(
            document.get("tenant") == self.who.tenant
            and document.get("subject") == self.who.subject,
            f"the server knows the token as {document.get('tenant')}/{document.get('subject')}, "
            f"this client says {self.who.tenant}/{self.who.subject}",
        )
        _require(document.get("idempotency_key") == key, "the server asked under another key")
        for name, value in effect.stated().items():
            _require(
                canonicalize(document["effect"].get(name)) == canonicalize(value),
                f"the server asked for another effect: {name}",
            )
        return Request(answer["request"])

    def _with_output(self, outcome: Outcome) -> Flow[Outcome]:
        """Large outputs are not in the answer; they are read at their own address."""
        stated = (outcome.receipt or {}).get("output")
        if outcome.output is not None or not stated or not outcome.receipt.get("retained"):  # type: ignore[union-attr]
            return outcome
        if stated["size"] > OUTPUT_BYTES_MAX:
            return outcome
        content = yield from self.content(
            f"/v1/receipts/{outcome.receipt_id}/output", stated["digest"], stated["size"]
        )
        return Outcome(
            outcome.request,
            outcome.decision_id,
            outcome.decision,
            outcome.receipt_id,
            outcome.receipt,
            content,
            outcome.repeated,
        )

    # Content

    def content(self, path: str, wanted: str, bytes_max: int) -> Flow[bytes]:
        reply = yield from self.get(path, bytes_max)
        _require(digest(reply.body) == wanted, "the content has another digest")
        return reply.body

    def put(self, data: bytes, name: str, media_type: str) -> Flow[Input]:
        named = digest(data)
        reply = yield from self.exchange(
            lambda: Call(
                "PUT",
                f"/v1/blobs/{named}",
                {**self.authorization(), "Content-Type": media_type},
                data,
            ),
            repeatable=True,
        )
        _require(_object(reply.body).get("digest") == named, "other content is stored")
        return Input(name, named, len(data), media_type)

    def blob(self, wanted: str, of: Optional[str], bytes_max: int) -> Flow[bytes]:
        query = "" if of is None else f"?of={_part(of)}"
        return self.content(f"/v1/blobs/{wanted}{query}", wanted, bytes_max)

    # Runs

    def close_run(self, run: str) -> Flow[str]:
        """Ends a run that this key opened; the checkpoint that covers its end."""
        if not isinstance(self.who, Agent):
            raise TypeError("a token closes no run: policy says when those of surfaces close")
        document = {"tenant": self.who.tenant, "run": run, "requested_at": self.time()}
        body = canonicalize(sign("run-close", document, self.who.key))
        reply = yield from self.post(f"/v1/runs/{_part(run)}/close", body, repeatable=False)
        return reply.body.decode("utf-8")

    def bundle(self, run: str, bytes_max: int) -> Flow[bytes]:
        reply = yield from self.get(f"/v1/runs/{_part(run)}/bundle", bytes_max)
        return reply.body

    def following(self, run: str, after: Optional[int]) -> Call:
        headers = {**self.authorization(), "Accept": "text/event-stream"}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        return Call("GET", f"/v1/runs/{_part(run)}/events", headers)

    # Approving

    def waiting(self) -> Flow[list[Waiting]]:
        listed = yield from self.get_json("/v1/approvals")
        return [
            Waiting(
                w["request_id"], w["run"], w["subject"], w["effect"], w["effect_digest"], w["policy"]
            )
            for w in listed["waiting"]
        ]

    def decide(self, waiting: Waiting, role: str, verdict: str, valid_s: float) -> Flow[str]:
        """Signs an approval or a rejection; the verdict that the request has from then on."""
        if not isinstance(self.who, Agent):
            raise TypeError("a token approves nothing")
        effect = digest(canonicalize(dict(waiting.effect)))
        _require(effect == waiting.effect_digest, "the effect that is shown is not the one named")
        document = {
            "tenant": self.who.tenant,
            "approver": self.who.subject,
            "role": role,
            "request": waiting.request_id,
            "effect": effect,
            "policy": waiting.policy,
            "verdict": verdict,
            "approved_at": self.time(),
            "expires_at": self.time(valid_s),
        }
        body = canonicalize(sign("approval", document, self.who.key))
        reply = yield from self.post("/v1/approvals", body, repeatable=False)
        return str(_object(reply.body).get("verdict"))


class RunIsOver(Exception):
    """The end of a run is told again to whoever has seen all of it."""


class Chain:
    """Checks that events continue one another; the events themselves are unsigned (spec/journal.md)."""

    def __init__(self, after: Optional[int]) -> None:
        self.last = after
        self._id: Optional[str] = None

    def take(self, data: str) -> Event:
        document = parse(data.encode("utf-8"))
        _require(isinstance(document, dict), "an event is no object")
        seq = document["seq"]
        if self._id is None and seq == self.last and document.get("kind") == "run.closed":
            raise RunIsOver
        _require(seq == (0 if self.last is None else self.last + 1), "events are missing")
        _require(self._id in (None, document.get("prev")), "an event continues another one")
        self.last = seq
        self._id = digest(canonicalize(document))
        return Event(seq, document["kind"], document["body"], document["at"], document)


def _refused(reply: Reply) -> Optional[WritError]:
    """Why it is no answer. Nothing that somebody else says tells that the work was done; 403 without a problem is a denial, with
    its decision."""
    content_type = reply.headers.get("content-type")
    known = reply.status in (200, 201, 202, 206, 403)
    if known and media_type(content_type) not in ("application/problem+json", "text/html"):
        return None
    return refusal(reply.status, content_type, reply.body)


def _passing(refused: Refused, repeatable: bool) -> bool:
    """Whether the refusal is of the moment. 503 GWY-038 may come after the work was done."""
    if refused.status == 409 and refused.code == "EXE-109":
        return repeatable
    if refused.status not in (429, 503):
        return False
    return repeatable or refused.code != "GWY-038"


def _require(holds: bool, found: str) -> None:
    if not holds:
        raise NotBelieved(found)


def _object(body: bytes) -> dict[str, Any]:
    value = parse(body)
    if not isinstance(value, dict):
        raise NotBelieved("the answer is no object")
    return value


def _content(output: Any) -> Optional[bytes]:
    if not isinstance(output, dict):
        return None
    if "json" in output:
        return canonicalize(output["json"])
    if "text" in output:
        return str(output["text"]).encode("utf-8")
    return from_b64(output["base64"]) if "base64" in output else None


def _part(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def events_of(blocks: Iterable[tuple[str, str]], chain: Chain) -> Iterable[Event]:
    for _, data in blocks:
        yield chain.take(data)
