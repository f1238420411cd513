#!/usr/bin/env python3
"""An adapter for `writ conform`: canonicalize and digest, with the standard library alone."""
import base64, decimal, hashlib, json, re, sys
CHARS = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*'
END = re.compile(r"\Z")  # each token, and what is left of it where the text ends inside
STRING = re.compile(CHARS + '"'), re.compile(CHARS + r"(\\(u[0-9a-fA-F]{0,3})?)?\Z")
NUMBER = (re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![0-9.eE])"),
          re.compile(r"[-0-9.]*([eE][+-]?)?\Z"))
WORD = re.compile("true|false|null"), re.compile(r"(t|tr|tru|f|fa|fal|fals|n|nu|nul)?\Z")
class Refused(Exception): pass
def token(s, i, form):
    found = form[0].match(s, i)
    if found: return found.group(), found.end()
    zero = re.match("-?0[0-9]", s[i:i + 3])
    raise Refused("CAN-005" if zero else "CAN-011" if form[1].match(s, i) else "CAN-003")
def number(literal):  # as ECMAScript writes it: RFC 8785, 3.2.2.3
    value = float(literal)
    if abs(value) == float("inf"): raise Refused("CAN-007")
    if value == 0 and re.search("[1-9]", re.split("[eE]", literal)[0]): raise Refused("CAN-014")
    sign, digits, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    d, n = "".join(map(str, digits)), len(digits) + exponent
    if 0 < n <= 21: d = d.ljust(n, "0") if len(d) <= n else d[:n] + "." + d[n:]
    elif -6 < n <= 0: d = "0." + "0" * -n + d
    else: d = d[0] + "." * (len(d) > 1) + d[1:] + "e%+d" % (n - 1)
    return "0" if value == 0 else "-" * sign + d
def string(s, i):
    raw, i = token(s, i, STRING)
    if re.search("[\ud800-\udfff]", json.loads(raw)): raise Refused("CAN-002")
    return json.dumps(json.loads(raw), ensure_ascii=False), i
def space(s, i): return re.compile(r"[ \t\r\n]*").match(s, i).end()
def value(s, i, depth=0):  # the canonical form of the value that begins at i, and where it ends
    if s[i:i + 1] == '"': return string(s, i)
    if re.match("[-0-9]", s[i:i + 1]): text, i = token(s, i, NUMBER); return number(text), i
    if s[i:i + 1] not in ("{", "["): return token(s, i, WORD)
    if depth == 128: raise Refused("CAN-008")
    close, members, i = {"{": "}", "[": "]"}[s[i]], {}, space(s, i + 1)
    while s[i:i + 1] != close:
        if members: i = space(s, token(s, i, (re.compile(","), END))[1])
        key, i = string(s, i) if close == "}" else (len(members), i)
        if key in members: raise Refused("CAN-004")
        if close == "}": i = space(s, token(s, space(s, i), (re.compile(":"), END))[1])
        members[key], i = value(s, i, depth + 1)
        i = space(s, i)
    if close == "]": return "[" + ",".join(members.values()) + "]", i + 1
    keys = sorted(members, key=lambda key: json.loads(key).encode("utf-16-be"))
    return "{" + ",".join(key + ":" + members[key] for key in keys) + "}", i + 1
def canonicalize(given):
    try: s = base64.b64decode(given["json_b64"]).decode()
    except UnicodeDecodeError as e: raise Refused("CAN-011" if "end of" in e.reason else "CAN-001")
    if s[:1] == "\ufeff": raise Refused("CAN-010")
    form, i = value(s, space(s, 0))
    if space(s, i) != len(s): raise Refused("CAN-006")
    return {"canonical_b64": base64.b64encode(form.encode()).decode(), **digest(form.encode())}
def digest(data): return {"digest": "sha256:" + hashlib.sha256(data).hexdigest()}
OPS = {"canonicalize": canonicalize, "digest": lambda g: digest(base64.b64decode(g["bytes_b64"]))}
for asked in map(json.loads, sys.stdin.buffer):
    try: answer = {"ok": True, "output": OPS[asked["op"]](asked["input"])}
    except Refused as e: answer = {"ok": False, "code": str(e), "message": ""}
    except KeyError: answer = {"ok": False, "code": "unsupported", "message": ""}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
