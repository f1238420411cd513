"""Signs files in the form of Sigstore's bundle, version 0.3, with a key that verifiers are given by other means.

    sigstore.py KEY.pem STATEMENT FILE...

For each FILE it writes FILE.sigstore.json, with a signature of the file's bytes. For STATEMENT, an in-toto statement
named NAME.json, it writes NAME.sigstore.json, with the statement in a DSSE envelope. openssl signs (ECDSA, SHA-256).
"""

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path

IN_TOTO = "application/vnd.in-toto+json"


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def signature(key: str, message: bytes) -> bytes:
    command = ["openssl", "dgst", "-sha256", "-sign", key]
    return subprocess.run(command, input=message, stdout=subprocess.PIPE, check=True).stdout


def hint(key: str) -> str:
    """Which key it is: the SHA-256 of its public half in DER."""
    command = ["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"]
    return b64(hashlib.sha256(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout).digest())


def bundle(key: str, content: dict) -> str:
    whole = {
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": hint(key)}},
        **content,
    }
    return json.dumps(whole, indent=2, sort_keys=True) + "\n"


def of_file(key: str, path: Path) -> str:
    data = path.read_bytes()
    return bundle(
        key,
        {
            "messageSignature": {
                "messageDigest": {
                    "algorithm": "SHA2_256",
                    "digest": b64(hashlib.sha256(data).digest()),
                },
                "signature": b64(signature(key, data)),
            }
        },
    )


def pre_authentication(payload: bytes) -> bytes:
    """What DSSE signs: type and payload, each with its length before it."""
    return b"DSSEv1 %d %s %d %s" % (len(IN_TOTO), IN_TOTO.encode("ascii"), len(payload), payload)


def of_statement(key: str, path: Path) -> str:
    payload = path.read_bytes()
    return bundle(
        key,
        {
            "dsseEnvelope": {
                "payload": b64(payload),
                "payloadType": IN_TOTO,
                "signatures": [{"sig": b64(signature(key, pre_authentication(payload)))}],
            }
        },
    )


if __name__ == "__main__":
    own_key, statement, *files = sys.argv[1:]
    Path(statement).with_suffix(".sigstore.json").write_text(of_statement(own_key, Path(statement)), "utf-8")
    for each in files:
        if each != statement:
            Path(each + ".sigstore.json").write_text(of_file(own_key, Path(each)), "utf-8")
