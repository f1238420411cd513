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

    def id(self, name, kind=1):
        return hashlib.sha256(name.encode() + bytes([10, kind]) + self.public()).digest()[:4]

    def vkey(self, name, kind=1):
        return f"{name}+{self.id(name, kind).hex()}+" + base64.b64encode(bytes([kind]) + self.public()).decode()

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


# ---- cosignatures of witnesses (spec/witness.md)

W = "witness.example/w1"
WITNESS, AT = Key(20), 1795262405


def cosigned(text, time=AT, key=WITNESS, name=W, said=None, head="cosignature/v1\n", id_of=None):
    """`said` is the time of the line, where the signed one is another."""
    signature = key.sign(head + f"time {time}\n" + text)
    raw = (id_of or key.id(name, 4)) + (time if said is None else said).to_bytes(8, "big") + signature
    return f"\u2014 {name} {base64.b64encode(raw).decode()}\n"


def witnessed(name, about, note, expect, vkey=WITNESS.vkey(W, 4)):
    body = {"about": about, "op": "cosignature.verify", "input": {"note": note, "vkey": vkey},
            "expect": expect if isinstance(expect, dict) else {"code": expect}}
    (HERE / ("cosignature-" + name + ".json")).write_text(
        json.dumps(body, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def saw(time=AT):
    return {"time": time}


witnessed("plain", "a checkpoint of a log, cosigned by one witness", NOTE + cosigned(TEXT), saw())
witnessed("unsigned-by-the-log", "what the witness says does not depend on the log's own line",
          TEXT + "\n" + cosigned(TEXT), saw())
witnessed("extension", "extension lines are cosigned, too",
          EXT + "\n" + LOG.line(EXT) + cosigned(EXT), saw())
witnessed("twice", "of several cosignatures of one witness the earliest counts",
          NOTE + cosigned(TEXT, AT + 60) + cosigned(TEXT, AT) + cosigned(TEXT, AT + 30), saw())
witnessed("among-others", "lines of another witness and of another key are ignored",
          NOTE + cosigned(TEXT, key=OTHER, name="witness.example/w2")
          + cosigned(TEXT, key=OTHER) + cosigned(TEXT), saw())
witnessed("same-id-other-name", "a line that shares the id alone is of another key, and ignored",
          NOTE + cosigned(TEXT, key=OTHER, name="witness.example/w2", id_of=WITNESS.id(W, 4)) + cosigned(TEXT), saw())
witnessed("time-earliest", "the earliest time is 1", NOTE + cosigned(TEXT, 1), saw(1))
witnessed("time-latest", "the latest time is the end of the year 9999",
          NOTE + cosigned(TEXT, 253402300799), saw(253402300799))

witnessed("refused-none", "the witness has no line in the note", NOTE, "LED-053")
witnessed("refused-of-another", "another key cosigned under the name of the witness", NOTE + cosigned(TEXT, key=OTHER),
          "LED-053")
witnessed("refused-plain-signature", "a signature of the witness without a time, by the id of type 1",
          NOTE + WITNESS.line(TEXT, W), "LED-053")
witnessed("refused-type", "a plain signature under the id of a cosigner",
          NOTE + WITNESS.line(TEXT, W, WITNESS.id(W, 4)), "LED-052")
witnessed("refused-forged", "name and id of the witness over another key's cosignature",
          NOTE + cosigned(TEXT, key=OTHER, id_of=WITNESS.id(W, 4)), "LED-052")
witnessed("refused-forged-beside-good", "a bad cosignature beside a good one spoils the note",
          NOTE + cosigned(TEXT) + cosigned(TEXT, key=OTHER, id_of=WITNESS.id(W, 4)), "LED-052")
witnessed("refused-time-changed", "the time is a second later than the one that was signed",
          NOTE + cosigned(TEXT, said=AT + 1), "LED-052")
witnessed("refused-size-changed", "the size was changed after cosigning",
          NOTE.replace("\n42\n", "\n43\n") + cosigned(TEXT), "LED-052")
witnessed("refused-root-changed", "the root was changed after cosigning",
          NOTE.replace(ROOT, base64.b64encode(bytes(32)).decode()) + cosigned(TEXT), "LED-052")
witnessed("refused-extension-added", "a line was added after cosigning",
          EXT + "\n" + LOG.line(EXT) + cosigned(TEXT), "LED-052")
witnessed("refused-head", "the text of the witness begins with another word",
          NOTE + cosigned(TEXT, head="cosignature/v2\n"), "LED-052")
witnessed("refused-no-head", "the text of the witness is time and note alone", NOTE + cosigned(TEXT, head=""), "LED-052")
witnessed("refused-long", "a byte behind the signature", NOTE + "\u2014 " + W + " " + base64.b64encode(
    base64.b64decode(cosigned(TEXT).split(" ")[2]) + b"\0").decode() + "\n", "LED-052")
witnessed("refused-time-zero", "the time is 0, which says nothing", NOTE + cosigned(TEXT, 0), "LED-056")
witnessed("refused-time-10000", "the time is of the year 10000", NOTE + cosigned(TEXT, 253402300800), "LED-056")
witnessed("refused-time-2-53", "the time is 2^53 + 1", NOTE + cosigned(TEXT, 2**53 + 1), "LED-056")
witnessed("refused-time-2-63", "the time is 2^63", NOTE + cosigned(TEXT, 2**63), "LED-056")
witnessed("refused-key-of-a-log", "the key is in the form of a log's key", NOTE + cosigned(TEXT), "LED-055",
          vkey=WITNESS.vkey(W))
witnessed("refused-key-id", "the id in the key's form is that of type 1", NOTE + cosigned(TEXT), "LED-055",
          vkey=f"{W}+{WITNESS.id(W).hex()}+" + WITNESS.vkey(W, 4).split("+", 2)[2])
witnessed("refused-key-type", "the key is of type 6, ML-DSA-44, in 32 bytes", NOTE + cosigned(TEXT), "LED-055",
          vkey=WITNESS.vkey(W, 6))
witnessed("refused-note", "a note that is none", NOTE[:-1], "LED-050")
witnessed("refused-checkpoint", "a note that is no checkpoint", f"{ORIGIN}\n42\n\n" + cosigned(f"{ORIGIN}\n42\n"),
          "LED-051")
refused("key-of-a-witness", "the log's key is in the form of a witness's key", "LED-055", NOTE, vkey=LOG.vkey(ORIGIN, 4))
