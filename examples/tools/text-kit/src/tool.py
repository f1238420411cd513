"""Small transforms of text and JSON."""

LEAVES_MAX = 20_000


def lines(input, context):
    rows = input["text"].split("\n")
    for step in input["steps"]:
        rows = STEPS[step](rows)
    return {"text": "\n".join(rows), "lines": len(rows)}


STEPS = {
    "trim": lambda rows: [row.strip() for row in rows],
    "drop-empty": lambda rows: [row for row in rows if row],
    "sort": sorted,
    "unique": lambda rows: list(dict.fromkeys(rows)),
    "reverse": lambda rows: rows[::-1],
    "upper": lambda rows: [row.upper() for row in rows],
    "lower": lambda rows: [row.lower() for row in rows],
    "number": lambda rows: [f"{at}\t{row}" for at, row in enumerate(rows, 1)],
}


def json_select(input, context):
    pointer = input["pointer"]
    if pointer and not pointer.startswith("/"):
        raise ValueError("a JSON Pointer is empty or begins with a slash")
    value = input["value"]
    for part in pointer.split("/")[1:]:
        key = unescaped(part)
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and is_index(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return {"found": False}
    return {"found": True, "value": value}


def unescaped(part):
    rest = part.replace("~0", "").replace("~1", "")
    if "~" in rest:
        raise ValueError("in a JSON Pointer, ~ is followed by 0 or 1")
    return part.replace("~1", "/").replace("~0", "~")


def is_index(key):
    """RFC 6901: digits of ASCII without leading zeros; more than nine are no index of any array here."""
    return key.isascii() and key.isdigit() and len(key) < 10 and (key == "0" or key[0] != "0")


def json_merge(input, context):
    return {"value": merged(input["target"], input["patch"])}


def merged(target, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def json_flatten(input, context):
    leaves = []
    flatten("", input["value"], leaves)
    return {"leaves": leaves}


def flatten(pointer, value, leaves):
    if isinstance(value, dict) and value:
        for key in sorted(value):
            flatten(pointer + "/" + key.replace("~", "~0").replace("/", "~1"), value[key], leaves)
    elif isinstance(value, list) and value:
        for at, item in enumerate(value):
            flatten(f"{pointer}/{at}", item, leaves)
    elif len(leaves) == LEAVES_MAX:
        raise ValueError(f"more than {LEAVES_MAX} leaves")
    else:
        leaves.append({"pointer": pointer, "value": value})
