"""What the platform gives to tools in Python (spec/tool-package.md, Helpers): import writ_helpers."""
import os
import re

VERSION = 1


def secret(context, name):
    """The text of one of the tool's secrets."""
    paths = context.get("secrets", {})
    if name not in paths:
        raise LookupError(f"the tool declares no secret {name}")
    with open(paths[name], encoding="utf-8", newline="") as file:
        return file.read()


def artifact(context, name):
    """The path at which to write an artifact of this name."""
    if "artifacts" not in context:
        raise LookupError("the tool declares no artifacts")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", name):
        raise ValueError("no plain name of a file")
    return os.path.join(context["artifacts"], name)


def input(context, name):
    """The path of the input file of this name."""
    for path in context["inputs"]:
        if os.path.basename(path) == name:
            return path
    raise LookupError(f"the call has no input {name}")
