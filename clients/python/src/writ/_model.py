"""What callers pass in and get back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from ._crypto import PathLike, SigningKey, b64url, digest, from_b64
from ._errors import NoAnswer, NotBelieved, Refused, WritError
from ._json import canonicalize, parse, require_exact

Json = Union[None, bool, int, float, str, Sequence[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Agent:
    """Who holds a key: it signs its own requests, and what it reads."""

    tenant: str
    subject: str
    key: SigningKey

    @classmethod
    def load(
        cls, tenant: str, subject: str, key_file: PathLike, passphrase: Optional[bytes] = None
    ) -> Agent:
        return cls(tenant, subject, SigningKey.load(key_file, passphrase))


@dataclass(frozen=True)
class Token:
    """Who holds a bearer token: the server signs its requests, where it serves the surface `vouched`."""

    tenant: str
    subject: str
    token: str = field(repr=False)


@dataclass(frozen=True)
class Resources:
    """The ceiling that an effect declares."""

    cpu_ms: int
    memory_bytes: int
    output_bytes: int
    wall_ms: int

    def to_json(self) -> dict[str, int]:
        return {
            "cpu_ms": self.cpu_ms,
            "memory_bytes": self.memory_bytes,
            "output_bytes": self.output_bytes,
            "wall_ms": self.wall_ms,
        }


MODEST = Resources(cpu_ms=2000, memory_bytes=64 << 20, output_bytes=1 << 20, wall_ms=5000)


@dataclass(frozen=True)
class Input:
    """A file that an effect reads. Its content must be in the store: `put` makes one."""

    name: str
    digest: str
    size: int
    media_type: str

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "digest": self.digest,
            "size": self.size,
            "media_type": self.media_type,
        }


@dataclass(frozen=True)
class Operation:
    """An operation that the caller's roles may use. Schemas are JSON Schema."""

    tool: str
    version: str
    name: str
    default: bool
    description: str
    input: Mapping[str, Any]
    output: Optional[Mapping[str, Any]]
    sandbox: str
    resources: Resources


@dataclass(frozen=True)
class Effect:
    """What is to be done. What is left out policy and the tool's manifest complete."""

    tool: str
    params: Mapping[str, Any] = field(default_factory=dict)
    operation: Optional[str] = None
    version: Optional[str] = None
    inputs: Sequence[Input] = ()
    resources: Optional[Resources] = None
    sandbox: Optional[str] = None
    workspace_before: Optional[str] = None

    def stated(self) -> dict[str, Any]:
        """Its members that are not left out; GWY-062 for an integer that no double holds."""
        stated: dict[str, Any] = {"tool": self.tool, "params": dict(self.params)}
        for name in ("operation", "version", "sandbox", "workspace_before"):
            value = getattr(self, name)
            if value is not None:
                stated[name] = value
        if self.inputs:
            stated["inputs"] = [i.to_json() for i in sorted(self.inputs, key=lambda i: i.name)]
        if self.resources is not None:
            stated["resources"] = self.resources.to_json()
        require_exact(stated, "effect")
        return stated


@dataclass(frozen=True)
class Request:
    """A signed request. Sent again it is the same request, so keep it where an answer may get lost."""

    envelope: Mapping[str, Any]
    evidence: Sequence[Mapping[str, Any]] = ()
    """Envelopes that go with it, such as that of a mandate."""

    @property
    def id(self) -> str:
        return digest(from_b64(self.envelope["payload"]))

    @property
    def document(self) -> dict[str, Any]:
        document = parse(from_b64(self.envelope["payload"]))
        if not isinstance(document, dict):
            raise NotBelieved("it is no request")
        return document

    def to_bytes(self) -> bytes:
        """What is sent: the envelope, or that and its evidence."""
        if not self.evidence:
            return canonicalize(dict(self.envelope))
        return canonicalize(
            {"evidence": [dict(each) for each in self.evidence], "request": dict(self.envelope)}
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Request:
        sent = parse(data)
        with_evidence = isinstance(sent, dict) and "request" in sent
        envelope = sent["request"] if with_evidence else sent
        evidence = sent.get("evidence", []) if with_evidence else []
        if not isinstance(evidence, list) or not all(
            isinstance(each, dict) and "payload" in each for each in [envelope, *evidence]
        ):
            raise NotBelieved("it is no envelope")
        return cls(envelope, tuple(evidence))


@dataclass(frozen=True)
class Prepared:
    """A request that is not signed yet (spec/mandate.md)."""

    document: Mapping[str, Any]

    @property
    def challenge(self) -> str:
        """What the nonce of the key binding of a mandate has to be."""
        asked = {name: self.document[name] for name in ("nonce", "run", "subject", "tenant")}
        asked["effect"] = digest(canonicalize(self.document["effect"]))
        return b64url(hashlib.sha256(canonicalize(asked)).digest())


@dataclass(frozen=True)
class Outcome:
    """What came of a request, as the pinned keys have signed it.

    `repeated` is the server's word alone: that the effect had been done before this call.
    `output` is absent where there is none, or where it was not retained.
    `guidance` is unsigned: what was missing where it was not allowed (spec/guidance.md).
    """

    request: Request
    decision_id: str
    decision: Mapping[str, Any]
    receipt_id: Optional[str] = None
    receipt: Optional[Mapping[str, Any]] = None
    output: Optional[bytes] = None
    repeated: bool = False
    guidance: Optional[Mapping[str, Any]] = None

    @property
    def help(self) -> list[str]:
        """What would help, in sentences for people and models; empty where nothing is known."""
        return [str(line) for line in (self.guidance or {}).get("help", ())]

    @property
    def request_id(self) -> str:
        """Of the request that was decided; under an idempotency key that may be an earlier one."""
        return str(self.decision["request"])

    @property
    def verdict(self) -> str:
        """`ALLOW`, `DENY` or `ESCALATE`."""
        return str(self.decision["verdict"])

    @property
    def waits(self) -> bool:
        """Whether an approval is missing and nothing was done."""
        return self.receipt is None and self.verdict == "ESCALATE"

    @property
    def status(self) -> Optional[str]:
        """`succeeded`, `failed`, `timed_out`, `killed`, `in_doubt`; none where nothing was dispatched."""
        return None if self.receipt is None else str(self.receipt["status"])

    @property
    def succeeded(self) -> bool:
        return self.status == "succeeded"

    @property
    def code(self) -> Optional[str]:
        """Why not: the decision's or the receipt's code."""
        code = self.decision.get("code") or (self.receipt or {}).get("code")
        return None if code is None else str(code)

    @property
    def reason(self) -> str:
        """For people: the check that refused, or what the receipt says."""
        if self.receipt is not None:
            return " ".join(
                str(t) for t in (self.receipt["reason"], self.receipt["message"]) if t
            )
        for check in self.decision.get("checks", ()):
            if check.get("outcome") in ("refuse", "escalate"):
                return str(check.get("detail", ""))
        return ""

    @property
    def text(self) -> str:
        """The output as text."""
        return self._bytes().decode("utf-8")

    def json(self) -> Any:
        """The output as JSON."""
        return parse(self._bytes())

    def _bytes(self) -> bytes:
        if self.output is None:
            raise NotBelieved(f"there is no output: {self.verdict} {self.status or ''} {self.reason}")
        return self.output


@dataclass(frozen=True)
class Event:
    """An event of a run (spec/journal.md)."""

    seq: int
    kind: str
    body: str
    at: str
    document: Mapping[str, Any]


@dataclass(frozen=True)
class Waiting:
    """A request that waits for an approval, as an approver sees it."""

    request_id: str
    run: str
    subject: str
    effect: Mapping[str, Any]
    effect_digest: str
    policy: str


class ServerSentEvents:
    """Takes pieces of a text/event-stream and gives its events (id, data)."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> Iterator[tuple[str, str]]:
        self._rest += piece
        if len(self._rest) > 1 << 20:
            raise NotBelieved("an event of more than 1 MiB")
        while b"\n\n" in self._rest:
            block, self._rest = self._rest.split(b"\n\n", 1)
            last, data = "", []
            for line in block.decode("utf-8").split("\n"):
                name, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name == "id":
                    last = value
                elif name == "data":
                    data.append(value)
            if data:
                yield last, "\n".join(data)


def media_type(header: Optional[str]) -> str:
    """Of a Content-Type, without its parameters."""
    return (header or "").split(";")[0].strip().lower()


def refusal(status: int, content_type: Optional[str], body: bytes) -> WritError:
    """What an answer says that is none: a problem, or the word of something that is no Writ."""
    problem = None
    if media_type(content_type) == "application/problem+json":
        try:
            problem = json.loads(body)
        except ValueError:
            pass
    if isinstance(problem, dict):
        return Refused(status, problem)
    found = f"status {status} of something that is no Writ"
    return NoAnswer(found, sent=True) if status >= 500 else NotBelieved(found)
