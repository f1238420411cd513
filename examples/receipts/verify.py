#!/usr/bin/env python3
"""Verifies receipts of COSE (RFC 9942) of a Writ log, and statements of SCITT (RFC 9943) that carry
one, from the files and the log's public key alone. It shares no code with Writ.

    verify.py VKEY FILE.cose              a receipt, or a statement with receipts
    verify.py VKEY FILE.cose --issuer PEM the statement's own signature, too
    verify.py VKEY consistency.cose --kept NOTE

VKEY is what `writ checkpoint --vkey` prints. It needs python3-cbor2 and python3-cryptography.
"""
import argparse
import base64
import hashlib
import json
import sys

import cbor2
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
)

COSE_SIGN1, EDDSA, RFC9162_SHA256 = 18, -8, 1
ALG, KID, CWT_CLAIMS, RECEIPTS, VDS, VDP = 1, 4, 15, 394, 395, 396
INCLUSION, CONSISTENCY = -1, -2
EVENT = -0x57524955


class Refused(Exception):
    """Why something does not verify."""


def require(holds, why):
    if not holds:
        raise Refused(why)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def node(left, right):
    return sha256(b"\1", left, right)


def inclusion_root(leaf, index, size, path):
    """The root to which a path leads (RFC 9162, 2.1.3.2)."""
    require(index < size, f"there is no leaf {index} of {size}")
    fn, sn, root = index, size - 1, leaf
    for sibling in path:
        require(sn != 0, "the path is too long")
        if fn & 1 or fn == sn:
            root = node(sibling, root)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            root = node(root, sibling)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, "the path is too short")
    return root


def consistency_roots(size1, root1, size2, path):
    """The roots at both sizes, calculated from a path between them (RFC 9162, 2.1.4.2)."""
    require(0 < size1 < size2 and path, f"nothing leads from size {size1} to {size2}")
    path = [root1] + path if size1 & (size1 - 1) == 0 else path
    fn, sn = size1 - 1, size2 - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    old = new = path[0]
    for hash_ in path[1:]:
        require(sn != 0, "the path is too long")
        if fn & 1 or fn == sn:
            old, new = node(hash_, old), node(hash_, new)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            new = node(new, hash_)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, "the path is too short")
    return old, new


class LogKey:
    """A log's name and key, from the text form of C2SP signed notes."""

    def __init__(self, vkey):
        self.origin, _, key = vkey.strip().split("+", 2)
        raw = base64.b64decode(key, validate=True)
        require(raw[:1] == b"\1" and len(raw) == 33, "the key is not Ed25519")
        self.key = Ed25519PublicKey.from_public_bytes(raw[1:])


def kid(key):
    """The thumbprint of a key (RFC 7638), as `kid` has it."""
    x = base64.urlsafe_b64encode(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).rstrip(b"=")
    jwk = b'{"crv":"Ed25519","kty":"OKP","x":"' + x + b'"}'
    return base64.urlsafe_b64encode(sha256(jwk)).rstrip(b"=")


def message(data):
    """The four items of a COSE_Sign1, its protected header read."""
    tagged = cbor2.loads(data)
    require(isinstance(tagged, cbor2.CBORTag) and tagged.tag == COSE_SIGN1, "it is no COSE_Sign1")
    require(cbor2.dumps(tagged) == data, "there is more in the file, or in another encoding")
    protected, unprotected, payload, signature = tagged.value
    return protected, cbor2.loads(protected), unprotected, payload, signature


def require_signed(key, protected, payload, signature, what):
    try:
        key.verify(signature, cbor2.dumps(["Signature1", protected, b"", payload]))
    except InvalidSignature:
        raise Refused(f"{what} is not signed by that key") from None


class Receipt:
    """A receipt whose root and signature are not verified yet."""

    def __init__(self, data, log):
        protected, header, self.unprotected, payload, signature = message(data)
        require(header.get(ALG) == EDDSA, "the receipt's algorithm is not EdDSA")
        require(header.get(VDS) == RFC9162_SHA256, "the tree is not RFC9162_SHA256")
        require(header.get(KID) == kid(log.key), "the receipt names another key")
        require(payload is None, "the receipt's payload is not detached")
        claims = header.get(CWT_CLAIMS, {})
        require(claims.get(1) == "urn:writ:log:" + log.origin, "the receipt is of another log")
        self.subject = claims.get(2)
        self.sign = lambda root: require_signed(
            log.key, protected, root, signature, "the root that the receipt leads to"
        )

    def proof(self, kind):
        proofs = self.unprotected[VDP].get(kind, [])
        require(len(proofs) == 1, "the receipt has no such proof, or several")
        return cbor2.loads(proofs[0])

    def event(self):
        """The event that is in the log, with its place and the log's size."""
        size, index, path = self.proof(INCLUSION)
        require(self.subject == f"urn:writ:checkpoint:{size}", "the receipt is of another size")
        entry = self.unprotected[EVENT]
        self.sign(inclusion_root(sha256(b"\0", entry), index, size, path))
        return json.loads(entry), index, size

    def continues(self, kept_size, kept_root):
        size1, size2, path = self.proof(CONSISTENCY)
        require(self.subject == f"urn:writ:checkpoint:{size2}", "the receipt is of another size")
        require(size1 == kept_size, f"the receipt begins at size {size1}, not {kept_size}")
        old, new = consistency_roots(size1, kept_root, size2, path)
        require(old == kept_root, "the log had another root then")
        self.sign(new)
        return size2


def statement(data, log, issuer):
    protected, header, unprotected, payload, signature = message(data)
    document = sha256(base64.b64decode(json.loads(payload)["payload"], validate=True)).hex()
    if issuer:
        require_signed(issuer, protected, payload, signature, "the statement")
    receipts = unprotected[RECEIPTS]
    require(receipts, "the statement has no receipt")
    for receipt in receipts:
        event, index, size = Receipt(receipt, log).event()
        require(event["body"] == "sha256:" + document, "the receipt is of another document")
        print(f"verified: document {document} is named by event {index} of {size}")
    print("verified: the issuer's signature" if issuer else "not verified: the issuer's signature")


def main():
    options = argparse.ArgumentParser(description="Verifies receipts of a Writ log.")
    options.add_argument("vkey")
    options.add_argument("file")
    options.add_argument("--issuer", help="the public key of who signed a statement, in PEM")
    options.add_argument("--kept", help="a checkpoint that you kept")
    given = options.parse_args()
    with open(given.file, "rb") as file:
        data = file.read()
    try:
        log = LogKey(given.vkey)
        if given.kept:
            with open(given.kept, encoding="utf-8") as note:
                origin, size, root = note.read().split("\n")[:3]
            require(origin == log.origin, "the kept checkpoint is of another log")
            later = Receipt(data, log).continues(int(size), base64.b64decode(root, validate=True))
            print(f"verified: the log of size {later} continues that of size {size}")
        elif VDS in message(data)[1]:
            event, index, size = Receipt(data, log).event()
            print(f"verified: event {index} of {size} is {event['kind']} of {event['body']}")
        else:
            issuer = None
            if given.issuer:
                with open(given.issuer, "rb") as pem:
                    issuer = load_pem_public_key(pem.read())
            statement(data, log, issuer)
    except (Refused, KeyError, TypeError, ValueError, AttributeError) as why:
        print(f"refused: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
