#!/usr/bin/env python3
"""Writes the Merkle vectors of this folder, from the recursive definitions of RFC 9162 alone.

It shares nothing with the Java code: MTH, PATH and PROOF are written here as the RFC writes them.
The eight leaves are those of the certificate-transparency reference tests, and the roots that those
tests publish are asserted below. Run it here; it must change nothing.
"""
import base64
import hashlib
import json
import pathlib

HERE = pathlib.Path(__file__).parent
LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657",
          "606162636465666768696a6b6c6d6e6f"]
# Published roots of the first n leaves (certificate-transparency, merkle tree tests).
PUBLISHED = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def sha(data):
    return hashlib.sha256(data).digest()


def split(n):
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def mth(d):
    if not d:
        return sha(b"")
    if len(d) == 1:
        return sha(b"\x00" + d[0])
    k = split(len(d))
    return sha(b"\x01" + mth(d[:k]) + mth(d[k:]))


def path(m, d):
    if len(d) == 1:
        return []
    k = split(len(d))
    if m < k:
        return path(m, d[:k]) + [mth(d[k:])]
    return path(m - k, d[k:]) + [mth(d[:k])]


def subproof(m, d, b):
    if m == len(d):
        return [] if b else [mth(d)]
    k = split(len(d))
    if m <= k:
        return subproof(m, d[:k], b) + [mth(d[k:])]
    return subproof(m - k, d[k:], False) + [mth(d[:k])]


def text(data):
    return base64.b64encode(data).decode()


def write(name, about, op, given, expect):
    body = {"about": about, "op": "merkle." + op, "input": given, "expect": expect}
    (HERE / (name + ".json")).write_text(json.dumps(body, indent=2) + "\n")


D = [bytes.fromhex(leaf) for leaf in LEAVES]
OK = {"valid": True}


def error(code):
    return {"code": code}


for n in range(9):
    root = mth(D[:n])
    assert root.hex() == PUBLISHED[n], n
    write(f"root-{n}", f"root of the first {n} reference leaves", "root",
          {"entries_b64": [text(leaf) for leaf in D[:n]]}, {"root_b64": text(root)})
for n, leaf in enumerate(D):
    write(f"leaf-{n}", f"a leaf of {len(leaf)} bytes: the prefix 0x00", "leaf",
          {"entry_b64": text(leaf)}, {"leaf_hash_b64": text(mth([leaf]))})


def inclusion(m, n):
    return {"leaf_hash_b64": text(mth([D[m]])), "index": m, "size": n,
            "proof_b64": [text(h) for h in path(m, D[:n])], "root_b64": text(mth(D[:n]))}


def consistency(m, n):
    proof = [] if m == 0 else subproof(m, D[:n], True)
    return {"size1": m, "root1_b64": text(mth(D[:m])), "size2": n,
            "root2_b64": text(mth(D[:n])), "proof_b64": [text(h) for h in proof]}


for m, n in [(0, 1), (0, 8), (5, 8), (2, 3), (1, 5), (6, 7), (4, 5), (7, 8)]:
    write(f"inclusion-{m}-of-{n}", f"leaf {m} is in the tree of {n}", "inclusion",
          inclusion(m, n), OK)
for m, n in [(0, 5), (1, 1), (8, 8), (1, 8), (6, 8), (2, 5), (3, 7), (4, 8), (7, 8)]:
    write(f"consistency-{m}-to-{n}", f"the tree of {n} continues that of {m}",
          "consistency", consistency(m, n), OK)

ZERO = text(bytes(32))


def bad(name, about, vector, code, **changes):
    write("refused-" + name, about, name.split("-")[0], {**vector, **changes}, error(code))


INC = inclusion(5, 8)
bad("inclusion-truncated", "the last hash of the proof is missing", INC, "LED-041",
    proof_b64=INC["proof_b64"][:-1])
bad("inclusion-trailing", "a hash follows the whole proof", INC, "LED-041",
    proof_b64=INC["proof_b64"] + [ZERO])
bad("inclusion-leading", "a hash precedes the whole proof", INC, "LED-041",
    proof_b64=[ZERO] + INC["proof_b64"])
bad("inclusion-empty", "the proof is empty", INC, "LED-041", proof_b64=[])
bad("inclusion-other-hash", "a hash of the proof is another", INC, "LED-042",
    proof_b64=[ZERO] + INC["proof_b64"][1:])
bad("inclusion-swapped", "two hashes of the proof are swapped", INC, "LED-042",
    proof_b64=[INC["proof_b64"][1], INC["proof_b64"][0], INC["proof_b64"][2]])
bad("inclusion-other-index", "the proof is of the leaf beside it", INC, "LED-042", index=4)
bad("inclusion-index-is-size", "the position is behind the tree", INC, "LED-040", index=8)
bad("inclusion-empty-tree", "an empty tree has no leaf", INC, "LED-040", index=0, size=0, proof_b64=[])
bad("inclusion-other-root", "the root is another tree's", INC, "LED-042", root_b64=text(mth(D[:7])))
bad("inclusion-other-entry", "the entry is another", INC, "LED-042", leaf_hash_b64=text(mth([b"\xff"])))
bad("inclusion-node-as-leaf", "an inner node passed off as an entry: RFC 6962 prefixes prevent it",
    {"index": 0, "size": 2, "proof_b64": [text(mth(D[2:4]))], "root_b64": text(mth(D[:4]))},
    "LED-042", leaf_hash_b64=text(mth([mth(D[:1]) + mth(D[1:2])])))

CON = consistency(3, 7)
bad("consistency-truncated", "the last hash of the proof is missing", CON, "LED-041",
    proof_b64=CON["proof_b64"][:-1])
bad("consistency-trailing", "a hash follows the whole proof", CON, "LED-041",
    proof_b64=CON["proof_b64"] + [ZERO])
bad("consistency-empty", "the proof between two sizes is empty", CON, "LED-041", proof_b64=[])
bad("consistency-other-hash", "a hash of the proof is another", CON, "LED-042",
    proof_b64=CON["proof_b64"][:-1] + [ZERO])
bad("consistency-swapped-roots", "the two roots are swapped", CON, "LED-042",
    root1_b64=CON["root2_b64"], root2_b64=CON["root1_b64"])
bad("consistency-shrinking", "the later tree is smaller", CON, "LED-040", size1=7, size2=3)
bad("consistency-same-size-other-root", "one size, two roots: a fork",
    consistency(8, 8), "LED-042", root1_b64=ZERO)
bad("consistency-same-size-proof", "a proof where none may be", consistency(8, 8), "LED-041",
    proof_b64=[ZERO])
bad("consistency-from-empty-proof", "a proof from the empty tree", consistency(0, 5), "LED-041",
    proof_b64=[ZERO])
bad("consistency-from-empty-root", "the empty tree has one root only", consistency(0, 5),
    "LED-042", root1_b64=ZERO)
bad("consistency-power-of-two-old-root", "the old tree is whole in the new one, its root is not",
    consistency(4, 8), "LED-042", root1_b64=ZERO)
bad("inclusion-hash-short", "a hash of the proof has 31 bytes", INC, "CAN-040",
    proof_b64=[text(bytes(31))] + INC["proof_b64"][1:])
bad("inclusion-too-many", "65 hashes: no tree is so deep", INC, "LED-041", proof_b64=[ZERO] * 65)
