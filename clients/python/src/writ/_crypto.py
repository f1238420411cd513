"""Digests, Ed25519 and P-256 keys, DSSE envelopes and the pinned keys (spec/envelope.md, spec/keys.md)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any, Mapping, Union

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from ._errors import NotBelieved, WrongFile
from ._json import canonicalize, parse

PathLike = Union[str, "os.PathLike[str]"]


def digest(data: bytes) -> str:
    """`sha256:` and the hexadecimal SHA-256 of bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def payload_type(kind: str) -> str:
    return f"application/vnd.writ.{kind}.v1+json"


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def from_b64(text: Any) -> bytes:
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (AttributeError, ValueError):
        raise NotBelieved("no base64") from None


def thumbprint(x: str) -> str:
    """The key id of an Ed25519 public key (RFC 7638)."""
    return b64url(hashlib.sha256(canonicalize({"crv": "Ed25519", "kty": "OKP", "x": x})).digest())


P256_HALF = 0x7FFFFFFF800000007FFFFFFFFFFFFFFFDE737D56D38BCF4279DCE5617E3192A8
"""(n - 1) / 2 of P-256: the greatest s that spec/signatures.md takes."""


def _algorithm(jwk: Mapping[str, Any]) -> str | None:
    """The algorithm of a pinned key, of those that this client has."""
    if jwk.get("kty") == "OKP" and jwk.get("crv") == "Ed25519":
        return "Ed25519"
    # With writ_rp_id it is a passkey, which signs other bytes.
    if jwk.get("kty") == "EC" and jwk.get("crv") == "P-256" and "writ_rp_id" not in jwk:
        return "ES256"
    return None


def _from_b64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _thumbprint_of(jwk: Mapping[str, Any]) -> str:
    names = ("crv", "kty", "x") if jwk["kty"] == "OKP" else ("crv", "kty", "x", "y")
    return b64url(hashlib.sha256(canonicalize({name: jwk[name] for name in names})).digest())


def _require_holds(jwk: Mapping[str, Any], signature: bytes, message: bytes) -> None:
    """Raises InvalidSignature where the key did not sign the message, ValueError for no key."""
    if jwk["kty"] == "OKP":
        Ed25519PublicKey.from_public_bytes(_from_b64url(jwk["x"])).verify(signature, message)
        return
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if len(signature) != 64 or s > P256_HALF:
        raise InvalidSignature
    x, y = (int.from_bytes(_from_b64url(jwk[name]), "big") for name in ("x", "y"))
    key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    key.verify(encode_dss_signature(r, s), message, ec.ECDSA(hashes.SHA256()))


class SigningKey:
    """An Ed25519 key that signs. Its representation shows the key id and nothing of the secret."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        raw = key.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw
        )
        self.x = b64url(raw)
        self.kid = thumbprint(self.x)

    @classmethod
    def load(cls, path: PathLike, passphrase: bytes | None = None) -> SigningKey:
        """Out of a PEM file (PKCS #8), as `writ key new` writes it. Raises OSError, WrongFile."""
        with open(path, "rb") as file:
            return cls._from(file.read(), passphrase, f"{os.fspath(path)}: ")

    @classmethod
    def from_pem(cls, pem: bytes, passphrase: bytes | None = None) -> SigningKey:
        """Out of the content of such a file. Raises WrongFile."""
        return cls._from(pem, passphrase, "")

    @classmethod
    def _from(cls, pem: bytes, passphrase: bytes | None, where: str) -> SigningKey:
        if pem.lstrip().startswith(b"-----BEGIN PUBLIC KEY"):
            raise WrongFile("CAN-074", f"{where}a public key, and a private one is needed")
        sealed = b"ENCRYPTED" in pem
        if sealed and not passphrase:
            raise WrongFile("CAN-077", f"{where}the key is encrypted: give its passphrase")
        try:
            key = serialization.load_pem_private_key(pem, passphrase if sealed else None)
        except UnsupportedAlgorithm as e:
            raise WrongFile("CAN-075", f"{where}{e}") from None
        except (TypeError, ValueError):
            if sealed:
                raise WrongFile(
                    "CAN-076", f"{where}the passphrase does not open it, or it is damaged"
                ) from None
            raise WrongFile("CAN-074", f"{where}no whole private key in PEM (PKCS #8)") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise WrongFile("CAN-075", f"{where}the key is not Ed25519, as this client needs it")
        return cls(key)

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)

    def __repr__(self) -> str:
        return f"SigningKey(kid={self.kid!r})"


def pre_auth_encoding(type_: str, payload: bytes) -> bytes:
    kind = type_.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(kind: str, document: Mapping[str, Any], key: SigningKey) -> dict[str, Any]:
    """Signs a document; the result is its envelope."""
    payload = canonicalize(dict(document))
    type_ = payload_type(kind)
    sig = key.sign(pre_auth_encoding(type_, payload))
    return {
        "payload": b64(payload),
        "payloadType": type_,
        "signatures": [{"keyid": key.kid, "sig": b64(sig)}],
    }


@dataclass(frozen=True)
class Verified:
    """A document that a pinned key has signed."""

    id: str
    document: dict[str, Any]
    kid: str


class Pinned:
    """The public keys that are believed, obtained from elsewhere than the server, and the log's name."""

    def __init__(
        self,
        keys: list[dict[str, Any]],
        origin: str,
        required_algorithms: Mapping[str, list[str]] = {},
    ) -> None:
        self.origin = origin
        self._keys = {key.get("kid"): key for key in keys}
        if len(self._keys) != len(keys):
            raise NotBelieved("a key is pinned twice")
        self._required = dict(required_algorithms)

    @classmethod
    def load(cls, path: PathLike, origin: str) -> Pinned:
        """Out of a trust file, trust.jwks. Raises OSError, WrongFile."""
        with open(path, "rb") as file:
            content = file.read()
        wrong = f"{os.fspath(path)} is no trust file (trust.jwks)"
        try:
            trust = json.loads(content)
        except (ValueError, RecursionError) as e:
            raise WrongFile("CAN-003", f"{wrong}: no JSON: {e}") from None
        if not isinstance(trust, dict):
            raise WrongFile("CAN-022", f"{wrong}: no object")
        if "keys" not in trust:
            found = ", ".join(repr(name) for name in list(trust)[:5]) or "nothing"
            raise WrongFile("CAN-020", f"{wrong}: it has no keys, but {found}")
        keys, required = trust["keys"], trust.get("writ_required_algorithms", {})
        if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
            raise WrongFile("CAN-022", f"{wrong}: its keys are no list of objects")
        if not isinstance(required, dict):
            raise WrongFile("CAN-022", f"{wrong}: its writ_required_algorithms are no object")
        try:
            return cls(keys, origin, required)
        except NotBelieved:
            raise WrongFile("CAN-056", f"{wrong}: a key is pinned twice") from None

    def verify(self, envelope: Any, kind: str, role: str, at: str) -> Verified:
        """Verifies an envelope: of this kind, signed by one holder of this role whose keys are in force at `at`."""
        if not isinstance(envelope, dict) or envelope.get("payloadType") != payload_type(kind):
            raise NotBelieved(f"it is no {kind}")
        required = self._required.get(role)
        if required not in (None, ["Ed25519"], ["ES256"]):
            raise NotBelieved(
                f"documents of a {role} need {required}; this client has one of Ed25519 and ES256"
            )
        either = required or ["Ed25519", "ES256"]
        payload = from_b64(envelope.get("payload"))
        signatures = envelope.get("signatures")
        if not isinstance(signatures, list) or len(signatures) != 1:
            raise NotBelieved("not exactly one signature")
        keyid = signatures[0].get("keyid")
        jwk = self._keys.get(keyid)
        if jwk is None:
            raise NotBelieved(f"key {keyid} is not pinned")
        if _algorithm(jwk) not in either:
            raise NotBelieved(f"key {keyid} is not {' or '.join(either)}")
        if _thumbprint_of(jwk) != keyid:
            raise NotBelieved(f"key {keyid} has another thumbprint")
        if jwk.get("writ_role") != role:
            raise NotBelieved(f"key {keyid} is of role {jwk.get('writ_role')}")
        if (
            "writ_revoked_at" in jwk
            or not jwk.get("writ_not_before", "") <= at
            or ("writ_not_after" in jwk and not at < jwk["writ_not_after"])
        ):
            raise NotBelieved(f"key {keyid} is not in force")
        try:
            _require_holds(
                jwk,
                from_b64(signatures[0].get("sig")),
                pre_auth_encoding(envelope["payloadType"], payload),
            )
        except (InvalidSignature, ValueError):
            raise NotBelieved(f"the signature of key {keyid} does not hold") from None
        document = parse(payload)
        if not isinstance(document, dict) or canonicalize(document) != payload:
            raise NotBelieved("the payload is not canonical")
        return Verified(digest(payload), document, keyid)
