#!/usr/bin/env python3
"""Makes the stamped-* vectors of this folder: time stamps of the bundle two-calls.writ by OpenSSL's authority.

Run again it makes other ones that say the same: the keys are of the moment, and so are the times. The authority
certifies nobody else, and its key is thrown away.
"""
import base64
import hashlib
import json
import pathlib
import subprocess
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent
BUNDLE = "two-calls.writ"
LOG = "writ.example/log"
PURPOSE = "extendedKeyUsage=critical,timeStamping\n"
GRANTED = bytes([0x30, 3, 2, 1, 0])


class Authority:
    """A time stamp authority, and the one that certified it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.write("serial", b"01\n")
        self.write("tsa.conf", b"[tsa]\ndefault_tsa=one\n[one]\nserial=serial\nsigner_cert=tsa.pem\nsigner_key=tsa.key\n"
                               b"signer_digest=sha256\ndefault_policy=1.2.3.4.1\ndigests=sha256\ness_cert_id_alg=sha256\n")
        self.openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 "
                     "-subj /CN=test-authority-never-trust-it -keyout ca.key -out ca.pem")
        self.certify("tsa", PURPOSE, 30)

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def read(self, name):
        return (self.folder / name).read_bytes()

    def openssl(self, words):
        subprocess.run(["openssl", *words.split()], cwd=self.folder, check=True, capture_output=True)

    def certify(self, name, extensions, days):
        self.write(name + ".ext", extensions.encode())
        self.openssl(f"req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test-{name} -keyout {name}.key -out {name}.csr")
        self.openssl(f"x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days {days} -extfile {name}.ext -in {name}.csr -out {name}.pem")

    def stamp(self, note):
        self.write("note", note)
        self.openssl("ts -query -data note -sha256 -cert -out note.tsq")
        self.openssl("ts -reply -config tsa.conf -queryfile note.tsq -out note.tsr")
        return self.read("note.tsr")

    def signed_by(self, reply, name):
        """The same statement, signed by another key that this authority certified."""
        self.write("good.tsr", reply)
        self.openssl("ts -reply -in good.tsr -token_out -out good.tst")
        self.openssl("cms -verify -noverify -inform DER -in good.tst -out info.der")
        self.openssl("cms -sign -binary -nodetach -cades -nosmimecap -md sha256 -econtent_type id-smime-ct-TSTInfo "
                     f"-in info.der -signer {name}.pem -inkey {name}.key -outform DER -out again.tst")
        body = GRANTED + self.read("again.tst")
        return bytes([0x30, 0x82]) + len(body).to_bytes(2, "big") + body


def checkpoint(folder, size, root):
    """A checkpoint by the log's test key, whose secret is SHA-256 of "test key log"."""
    key, text, found = (pathlib.Path(folder, name) for name in ("log.der", "log.txt", "log.sig"))
    key.write_bytes(bytes.fromhex("302e020100300506032b657004220420") + hashlib.sha256(b"test key log").digest())
    body = f"{LOG}\n{size}\n{base64.b64encode(root).decode()}\n"
    text.write_text(body)
    public = subprocess.run(["openssl", "pkey", "-inform", "DER", "-in", key, "-pubout", "-outform", "DER"],
                            check=True, capture_output=True).stdout[-32:]
    subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", key, "-keyform", "DER", "-rawin", "-in", text, "-out", found],
                   check=True, capture_output=True)
    name = hashlib.sha256(LOG.encode() + bytes([10, 1]) + public).digest()[:4]
    return f"{body}\n\u2014 {LOG} {base64.b64encode(name + found.read_bytes()).decode()}\n"


def vector(name, about, expect, reply, authority, **more):
    (HERE / f"stamped-{name}.tsr").write_bytes(reply)
    vector_of(name, about, expect, f"stamped-{name}.tsr", authority, **more)


def vector_of(name, about, expect, reply, authority, **more):
    body = {"about": about, "expect": expect, "op": "bundle.stamped",
            "input": {"bundle_file": BUNDLE, "stamp_file": reply, "tsa_ca_file": authority, **more}}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    (HERE / f"stamped-{name}.json").write_text(text + "\n")


def generated(reply, folder):
    """The time of a stamp in seconds since 1970, as OpenSSL reads it."""
    path = pathlib.Path(folder, "read.tsr")
    path.write_bytes(reply)
    text = subprocess.run(["openssl", "ts", "-reply", "-in", path, "-text"], check=True, capture_output=True, text=True).stdout
    at = next(line for line in text.splitlines() if line.startswith("Time stamp: ")).removeprefix("Time stamp: ")
    return int(subprocess.run(["date", "-u", "-d", at, "+%s"], check=True, capture_output=True, text=True).stdout)


def main():
    note = zipfile.ZipFile(HERE / BUNDLE).read("log/checkpoint.txt")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        authority, stranger = Authority(one), Authority(two)
        (HERE / "stamped-authority.pem").write_bytes(authority.read("ca.pem"))
        (HERE / "stamped-stranger.pem").write_bytes(stranger.read("ca.pem"))
        good = authority.stamp(note)
        size = int(note.split(b"\n")[1])
        vector("holds", "the bundle's checkpoint was stamped by an authority that is believed",
               {"size": size, "stamps": [{"by": "CN=test-tsa", "time": generated(good, one)}]}, good, "stamped-authority.pem")
        vector_of("by-nobody-believed", "the stamp is by an authority that is not believed",
                  {"code": "RPL-089"}, "stamped-holds.tsr", "stamped-stranger.pem")
        vector("of-other-bytes", "what was stamped is the checkpoint with one line feed more",
               {"code": "RPL-088"}, authority.stamp(note + b"\n"), "stamped-authority.pem")
        authority.certify("expired", PURPOSE, -1)
        vector("by-an-expired-certificate", "the certificate had expired when it stamped",
               {"code": "RPL-089"}, authority.signed_by(good, "expired"), "stamped-authority.pem")
        authority.certify("without-purpose", "basicConstraints=CA:FALSE\n", 30)
        vector("without-its-purpose", "the certificate is not for time stamps",
               {"code": "RPL-089"}, authority.signed_by(good, "without-purpose"), "stamped-authority.pem")
        vector("cut-short", "a byte of the reply is missing", {"code": "RPL-087"}, good[:-1], "stamped-authority.pem")
        later = checkpoint(one, size + 1, hashlib.sha256(b"").digest())
        vector("later-without-a-proof", "the stamp is of a larger checkpoint, and nothing shows that it continues this log",
               {"code": "RPL-088"}, authority.stamp(later.encode()), "stamped-authority.pem", checkpoint=later)


main()
