#!/usr/bin/env python3
"""Writes the checkpoint vectors of this folder. Needs the openssl command for Ed25519.

It shares nothing with the Java code. The two foreign vectors come from the Go checksum database and
the documentation of golang.org/x/mod/sumdb/note, signed by keys that are not ours. Run it here; it
must change nothing.
"""
import base64
import hashlib
import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
ORIGIN = "writ.example/log"
ROOT = base64.b64encode(hashlib.sha256(b"").digest()).decode()


def openssl(*args):
    return subprocess.run(["openssl", *args], check=True, capture_output=True).stdout


class Key:
    def __init__(self, seed):
        self.der = bytes.fromhex("302e020100300506032b657004220420") + bytes([seed]) * 32

    def run(self, *args, message=b""):
        with tempfile.TemporaryDirectory() as folder:
            key, text = pathlib.Path(folder, "key"), pathlib.Path(folder, "text")
            key.write_bytes(self.der)
            text.write_bytes(message)
            return openssl(*[{"KEY": str(key), "TEXT": str(text)}.get(a, a) for a in args])

    def public(self):
        return self.run("pkey", "-inform", "DER", "-in", "KEY", "-pubout", "-outform", "DER")[-32:]

    def sign(self, text):
        return self.run("pkeyutl", "-sign", "-inkey", "KEY", "-keyform", "DER", "-rawin",
                        "-in", "TEXT", message=text.encode())

    def id(self, name):
        return hashlib.sha256(name.encode() + b"\n\x01" + self.public()).digest()[:4]

    def vkey(self, name):
        return f"{name}+{self.id(name).hex()}+" + base64.b64encode(b"\x01" + self.public()).decode()

    def line(self, text, name=ORIGIN, id_of=None):
        raw = (id_of or self.id(name)) + self.sign(text)
        return f"\u2014 {name} {base64.b64encode(raw).decode()}\n"


LOG, OTHER = Key(1), Key(9)
VKEY = LOG.vkey(ORIGIN)
TEXT = f"{ORIGIN}\n42\n{ROOT}\n"
NOTE = TEXT + "\n" + LOG.line(TEXT)


def write(name, about, note, expect, vkey=VKEY, origin=ORIGIN):
    body = {"about": about, "op": "checkpoint.verify",
            "input": {"note": note, "vkey": vkey, "origin": origin},
            "expect": expect}
    (HERE / (name + ".json")).write_text(
        json.dumps(body, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def accepted(size, root=ROOT, extensions=()):
    return {"size": size, "root_b64": root, "extensions": list(extensions)}


def refused(name, about, code, note, **more):
    write("refused-" + name, about, note, {"code": code}, **more)


def signed(text, key=LOG):
    return text + "\n" + key.line(text)


write("plain", "origin, size, root, one signature", NOTE, accepted(42))
EMPTY = f"{ORIGIN}\n0\n{ROOT}\n"
write("empty-log", "a log without entries has size 0", signed(EMPTY), accepted(0))
LARGEST = f"{ORIGIN}\n9007199254740991\n{ROOT}\n"
write("size-largest", "the largest size is 2^53 - 1", signed(LARGEST), accepted(2**53 - 1))
EXT = TEXT + "extension one\n"
write("extension", "extension lines are tolerated and signed", signed(EXT),
      accepted(42, extensions=["extension one"]))
write("cosigned", "signatures of unknown keys are ignored, before and after ours",
      TEXT + "\n" + OTHER.line(TEXT, "witness.example/w") + LOG.line(TEXT)
      + OTHER.line(TEXT, "witness.example/x"), accepted(42))
write("same-name-other-key", "a key that shares the name alone is unknown, and ignored",
      TEXT + "\n" + OTHER.line(TEXT) + LOG.line(TEXT), accepted(42))
write("same-id-other-name", "a key that shares the id alone is unknown, and ignored",
      TEXT + "\n" + OTHER.line(TEXT, "witness.example/w", LOG.id(ORIGIN)) + LOG.line(TEXT),
      accepted(42))
write("foreign-go-sumdb", "a tree head of sum.golang.org: origin and key name differ",
      "go.sum database tree\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
      "\u2014 sum.golang.org Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGz"
      "Gku9nTo+zyWE+xeMcTOAYQ8=\n",
      accepted(20852163, "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="),
      vkey="sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
      origin="go.sum database tree")

refused("unsigned-by-us", "only another key signed", "LED-053",
        TEXT + "\n" + OTHER.line(TEXT, "witness.example/w"))
refused("forged", "our name and id over another key's signature", "LED-052",
        TEXT + "\n" + OTHER.line(TEXT, ORIGIN, LOG.id(ORIGIN)))
refused("forged-beside-good", "a bad signature of ours beside a good one spoils the note",
        "LED-052",
        TEXT + "\n" + LOG.line(TEXT) + OTHER.line(TEXT, ORIGIN, LOG.id(ORIGIN)))
refused("size-changed", "the size was changed after signing", "LED-052",
        NOTE.replace("\n42\n", "\n43\n"))
refused("root-changed", "the root was changed after signing", "LED-052",
        NOTE.replace(ROOT, base64.b64encode(bytes(32)).decode()))
refused("extension-added", "a line was added after signing", "LED-052",
        NOTE.replace(ROOT + "\n", ROOT + "\nmore\n"))
refused("other-origin", "a checkpoint of another log under the same key", "LED-054", NOTE,
        origin="writ.example/other")
refused("signature-short", "a signature of 63 bytes", "LED-052",
        TEXT + "\n\u2014 " + ORIGIN + " "
        + base64.b64encode(LOG.id(ORIGIN) + bytes(63)).decode() + "\n")

for name, about, text in [
        ("two-lines", "the root is missing", f"{ORIGIN}\n42\n"),
        ("empty-extension", "an extension line is empty", TEXT + "\n"),
        ("origin-empty", "the origin is empty", f"\n42\n{ROOT}\n"),
        ("size-leading-zero", "the size has a leading zero", f"{ORIGIN}\n042\n{ROOT}\n"),
        ("size-signed", "the size has a sign", f"{ORIGIN}\n+42\n{ROOT}\n"),
        ("size-negative", "the size is negative", f"{ORIGIN}\n-1\n{ROOT}\n"),
        ("size-hex", "the size is not decimal", f"{ORIGIN}\n0x2a\n{ROOT}\n"),
        ("size-space", "the size has a space", f"{ORIGIN}\n42 \n{ROOT}\n"),
        ("size-2-53", "the size is 2^53, more than JSON's integers",
         f"{ORIGIN}\n9007199254740992\n{ROOT}\n"),
        ("size-huge", "the size is 2^63", f"{ORIGIN}\n9223372036854775808\n{ROOT}\n"),
        ("size-arabic-digits", "the size has digits that are not ASCII",
         f"{ORIGIN}\n\u0664\u0662\n{ROOT}\n"),
        ("root-short", "the root has 31 bytes",
         f"{ORIGIN}\n42\n{base64.b64encode(bytes(31)).decode()}\n"),
        ("root-unpadded", "the root's base64 has no padding", f"{ORIGIN}\n42\n{ROOT.rstrip('=')}\n"),
        ("root-spare-bits", "the root's base64 has spare bits set",
         f"{ORIGIN}\n42\n{ROOT[:-2]}V=\n"),
        ("root-url-base64", "the root is in the URL alphabet",
         f"{ORIGIN}\n42\n{base64.urlsafe_b64encode(bytes([255]) * 32).decode()}\n"),
]:
    refused(name, about, "LED-051", signed(text))

refused("no-separator", "there is no empty line before the signatures", "LED-050",
        TEXT + LOG.line(TEXT))
refused("no-signature", "there is no signature line", "LED-050", TEXT + "\n")
refused("no-final-newline", "the last line does not end", "LED-050", NOTE[:-1])
refused("carriage-return", "a control character in the text", "LED-050",
        signed(f"{ORIGIN}\r\n42\n{ROOT}\n"))
refused("hyphen", "a hyphen instead of the em dash", "LED-050", NOTE.replace("\u2014", "-"))
refused("trailing-line", "a line that is no signature follows", "LED-050", NOTE + "more\n")
refused("signature-not-base64", "a signature is not base64", "LED-050",
        TEXT + "\n\u2014 " + ORIGIN + " ???\n")
refused("signature-id-alone", "a signature has an id and nothing else", "LED-050",
        TEXT + "\n\u2014 " + ORIGIN + " " + base64.b64encode(LOG.id(ORIGIN)).decode() + "\n")
refused("name-plus", "a key name has a plus", "LED-050",
        TEXT + "\n" + LOG.line(TEXT, "a+b"))
refused("name-empty", "a key name is empty", "LED-050", TEXT + "\n" + LOG.line(TEXT, ""))
refused("two-spaces", "two spaces before the signature", "LED-050",
        NOTE.replace(ORIGIN + " ", ORIGIN + "  "))
