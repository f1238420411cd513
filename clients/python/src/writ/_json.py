"""Canonical JSON (RFC 8785), as spec/canonical-json.md has it."""

from __future__ import annotations

import json
import math
from typing import Any

from ._errors import NotBelieved

DEPTH_MAX = 128
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def canonicalize(value: Any) -> bytes:
    """The one form of a JSON value, in UTF-8. Numbers are IEEE doubles, whatever Python calls them."""
    out: list[str] = []
    _write(value, out, 0)
    try:
        return "".join(out).encode("utf-8")
    except UnicodeEncodeError:
        raise NotBelieved("half of a surrogate pair in a text") from None


def require_exact(value: Any, path: str, depth: int = 0) -> None:
    """Refuses an integer that a double does not hold in what a program states."""
    if depth > DEPTH_MAX:
        return  # canonicalize refuses it
    if isinstance(value, int):
        try:
            held = int(float(value)) == value
        except OverflowError:
            held = False
        if not held:
            raise NotBelieved(f"{path}: no double holds {value}; send it as a string")
    elif isinstance(value, dict):
        for key, item in value.items():
            require_exact(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            require_exact(item, f"{path}[{i}]", depth + 1)


def parse(data: bytes) -> Any:
    """Reads strict JSON: UTF-8, no name twice, no number that a double cannot hold, 128 levels."""
    try:
        return _checked(
            json.loads(
                data.decode("utf-8"),
                object_pairs_hook=_object,
                parse_float=_float,
                parse_int=_int,
                parse_constant=_constant,
            ),
            0,
        )
    except (ValueError, RecursionError) as e:
        raise NotBelieved(f"no JSON: {e}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object names a key twice")
    return members


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number beyond all doubles")
    if number == 0 and any(c in "123456789" for c in text.lower().split("e")[0]):
        raise ValueError("a number that is not zero and whose double is")
    return number


def _int(text: str) -> int | float:
    if len(text) > 16:
        return _float(text)
    return int(text)


def _constant(text: str) -> Any:
    raise ValueError(f"JSON has no {text}")


def _checked(value: Any, depth: int) -> Any:
    if depth >= DEPTH_MAX and isinstance(value, (dict, list)):
        raise ValueError("deeper than 128 levels")
    if isinstance(value, str):
        _text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _text(key)
            _checked(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _checked(item, depth + 1)
    return value


def _text(text: str) -> None:
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError("half of a surrogate pair in a text")


def _write(value: Any, out: list[str], depth: int) -> None:
    if depth >= DEPTH_MAX and isinstance(value, (dict, list, tuple)):
        raise NotBelieved("deeper than 128 levels")
    if value is None:
        out.append("null")
    elif value is True:
        out.append("true")
    elif value is False:
        out.append("false")
    elif isinstance(value, str):
        out.append(_quoted(value))
    elif isinstance(value, (int, float)):
        out.append(_number(value))
    elif isinstance(value, dict):
        out.append("{")
        for i, key in enumerate(sorted(value, key=_order)):
            if i:
                out.append(",")
            out.append(_quoted(key))
            out.append(":")
            _write(value[key], out, depth + 1)
        out.append("}")
    elif isinstance(value, (list, tuple)):
        out.append("[")
        for i, item in enumerate(value):
            if i:
                out.append(",")
            _write(item, out, depth + 1)
        out.append("]")
    else:
        raise NotBelieved(f"no JSON value: {type(value).__name__}")


def _order(key: Any) -> bytes:
    """By UTF-16 code units (RFC 8785, 3.2.3)."""
    if not isinstance(key, str):
        raise NotBelieved(f"a key that is no text: {type(key).__name__}")
    return key.encode("utf-16-be", "surrogatepass")


def _quoted(text: str) -> str:
    parts = ['"']
    for c in text:
        if c in _ESCAPES:
            parts.append(_ESCAPES[c])
        elif c < " ":
            parts.append(f"\\u{ord(c):04x}")
        else:
            parts.append(c)
    parts.append('"')
    return "".join(parts)


def _number(value: int | float) -> str:
    """ECMAScript's Number::toString (RFC 8785, 3.2.2.3)."""
    try:
        number = float(value)
    except OverflowError:
        raise NotBelieved("a number beyond all doubles") from None
    if not math.isfinite(number):
        raise NotBelieved(f"JSON has no {number}")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = (whole + fraction).lstrip("0")
    # The value is 0.digits × 10^point.
    point = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    shown = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{sign}{shown}e{'+' if power > 0 else '-'}{abs(power)}"
