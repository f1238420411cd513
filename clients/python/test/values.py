"""Which integers are refused before anything is signed or sent, and what a refusal of the server says."""

import os
import pathlib
import tempfile

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

import writ
from writ.adapters.openai import Toolbox

REFUSED = [2**53 + 1, -(2**53) - 1, 123456789012345680000, 10**400]
HELD = [2**53 - 1, 2**53, 2**70, -(2**53), True, 1e21, 0.1]

for number in REFUSED:
    try:
        writ.Effect("js", {"list": [0, {"id": number}]}).stated()
    except writ.NotBelieved as e:
        told = str(e)
        assert "GWY-062" in told and "effect.params.list[1].id" in told and "string" in told, told
    else:
        raise AssertionError(number)
for number in HELD:
    writ.Effect("js", {"list": [0, number]}).stated()
assert writ.canonicalize(2**53 + 1) == b"9007199254740992", "what is read may have any number"
refused = writ.Refused(404, {"code": "GWY-011", "title": "nothing answers to that path", "detail": ""})
assert str(refused) == "GWY-011 nothing answers to that path", refused
refused = writ.Refused(409, {"code": "EXE-901", "title": "the run is closed", "detail": "acme/main"})
assert str(refused) == "EXE-901 the run is closed: acme/main", refused


class Offering:
    """One operation, of which no call may be sent."""

    def operations(self, run):
        least = writ.Resources(1, 1, 1, 1)
        return [writ.Operation("js", "1.0.0", "eval", True, "", {}, None, "wasm", least)]


toolbox = Toolbox(Offering())
for written, wanted in [
    ("{", "no JSON"),
    ("[1]", "no object"),
    ('{"id": 123456789012345680000}', "send it as a string"),
    ('{"x": NaN}', "JSON has no nan"),
    ('{"x": "\\ud800"}', "surrogate"),
]:
    said = toolbox.answer({"id": "1", "function": {"name": "js", "arguments": written}})["content"]
    assert said.startswith("The arguments ") and wanted in said, said


def pem(key, sealed=None):
    cipher = (
        serialization.BestAvailableEncryption(sealed) if sealed else serialization.NoEncryption()
    )
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, cipher
    )


def public(key):
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


ours = ed25519.Ed25519PrivateKey.generate()
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "named")

    def wrong(content, code, wanted, load):
        path.write_bytes(content)
        try:
            load()
        except writ.WrongFile as e:
            assert e.code == code and str(path) in str(e) and wanted in str(e), e
        else:
            raise AssertionError(content)

    for content, code, wanted in [
        (b"", "CAN-003", "no JSON"),
        (pem(ours), "CAN-003", "no JSON"),
        (b"\xff{}", "CAN-003", "no JSON"),
        (b"[" * 100_000, "CAN-003", "no JSON"),
        (b"[]", "CAN-022", "no object"),
        (b'{"origin":"o"}', "CAN-020", "'origin'"),
        (b"{}", "CAN-020", "nothing"),
        (b'{"keys":{}}', "CAN-022", "no list"),
        (b'{"keys":["k"]}', "CAN-022", "no list"),
        (b'{"keys":[],"writ_required_algorithms":1}', "CAN-022", "no object"),
        (b'{"keys":[{"kid":"k"},{"kid":"k"}]}', "CAN-056", "twice"),
    ]:
        wrong(content, code, wanted, lambda: writ.Pinned.load(path, "o"))
    for content, passphrase, code, wanted in [
        (b"", None, "CAN-074", "PEM"),
        (b'{"keys":[]}', None, "CAN-074", "PEM"),
        (pem(ours)[:60], None, "CAN-074", "PEM"),
        (public(ours), None, "CAN-074", "public"),
        (pem(ec.generate_private_key(ec.SECP256R1())), None, "CAN-075", "Ed25519"),
        (pem(ours, b"open"), None, "CAN-077", "passphrase"),
        (pem(ours, b"open"), b"shut", "CAN-076", "passphrase"),
    ]:
        wrong(content, code, wanted, lambda: writ.Agent.load("t", "s", path, passphrase))
    path.write_bytes(pem(ours))
    assert writ.Agent.load("t", "s", path, b"of other files").key.kid
    path.write_bytes(pem(ours, b"open"))
    assert writ.Agent.load("t", "s", path, b"open").key.kid
    for load in (lambda p: writ.Pinned.load(p, "o"), writ.SigningKey.load):
        try:
            load(os.path.join(folder, "nowhere"))
        except FileNotFoundError as e:
            assert "nowhere" in str(e)
        else:
            raise AssertionError("nowhere")
print(f"{len(REFUSED)} refused")
