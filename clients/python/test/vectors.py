"""Holds the client's canonical JSON, digests, encodings and checks of envelopes to golden-vectors. Says how many of each it was held to.

An envelope that the vectors accept the client may refuse where it needs more than one of Ed25519 and ES256; one that they refuse it must not take.
"""

from __future__ import annotations

import base64
import collections
import json
import sys
from pathlib import Path
from typing import Any, Optional

from writ import Pinned, WritError, canonicalize, digest
from writ._crypto import payload_type, pre_auth_encoding
from writ._json import parse

ROLES = {"receipt": "executor", "decision": "guardian", "intent": "guardian", "request": "agent", "approval": "approver"}


def canonical(given: dict[str, Any]) -> dict[str, str]:
    data = canonicalize(parse(base64.b64decode(given["json_b64"])))
    return {"canonical_b64": base64.b64encode(data).decode("ascii"), "digest": digest(data)}


def digested(given: dict[str, Any]) -> dict[str, str]:
    return {"digest": digest(base64.b64decode(given["bytes_b64"]))}


def encoded(given: dict[str, Any]) -> dict[str, str]:
    data = pre_auth_encoding(given["payload_type"], base64.b64decode(given["payload_b64"]))
    return {"pae_b64": base64.b64encode(data).decode("ascii")}


def trusted(given: dict[str, Any]) -> Optional[dict[str, str]]:
    kind = next((k for k in ROLES if payload_type(k) == given["payload_type"]), None)
    if kind is None:
        return None
    pinned = Pinned(given["keys"], "log", given.get("required_algorithms", {}))
    if "envelope" in given:
        envelope = given["envelope"]
    else:
        data = base64.b64decode(given["envelope_b64"])
        envelope = parse(data)
    return {"id": pinned.verify(envelope, kind, ROLES[kind], given["at"]).id}


OPERATIONS = {
    "canonicalize": canonical,
    "digest": digested,
    "dsse.pae": encoded,
    "trust.verify": trusted,
}


def main() -> None:
    held: dict[str, int] = collections.Counter()
    wrong = []
    for path in sorted(Path(sys.argv[1]).rglob("*.json")):
        vector = json.loads(path.read_text("utf-8"))
        if not isinstance(vector, dict) or vector.get("op") not in OPERATIONS:
            continue
        found: Any
        try:
            found = OPERATIONS[vector["op"]](vector["input"])
        except WritError as e:
            found = e
        if found is None:
            continue
        held[vector["op"]] += 1
        expected = vector["expect"]
        if isinstance(found, WritError):
            refuses = "code" in expected
            text = json.dumps(vector["input"])
            required = vector["input"].get("required_algorithms", {})
            more = (
                "ML-DSA-65" in text
                or "writ_rp_id" in text
                or any(len(algorithms) > 1 for algorithms in required.values())
            )
            fits = refuses or (vector["op"] == "trust.verify" and more)
        else:
            fits = all(expected.get(name) == value for name, value in found.items())
        if not fits:
            wrong.append(f"{path}: {found}, not {expected}")
    print("\n".join(wrong))
    print(json.dumps(held, sort_keys=True))
    sys.exit(1 if wrong else 0)


main()
