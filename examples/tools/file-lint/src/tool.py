"""Looks over the text files of a workspace. Links are not followed; what is no text is skipped and counted."""
import ast
import fnmatch
import json
import os
import stat
import warnings

ROOT = "/workspace"
FILES_MAX = 5_000
FILE_BYTES_MAX = 4 << 20
FINDINGS_MAX = 1_000
DEPTH_MAX = 32


def lint(input, context):
    top = os.path.normpath(os.path.join(ROOT, input.get("path", ".")))
    if top != ROOT and not top.startswith(ROOT + "/"):
        raise ValueError("path leads out of the workspace")
    if os.path.realpath(top) != top or not os.path.isdir(top):
        raise ValueError("path is no folder of the workspace")
    findings, files, skipped = [], 0, 0
    for path in walk(top, input.get("ignore", [])):
        if files == FILES_MAX:
            raise ValueError(f"more than {FILES_MAX} files; name a smaller folder")
        files += 1
        text = read(path)
        if text is None:
            skipped += 1
        else:
            findings += check(os.path.relpath(path, ROOT), text, input.get("line_length", 120))
        if len(findings) > FINDINGS_MAX:
            break
    return {
        "files": files,
        "skipped": skipped,
        "truncated": len(findings) > FINDINGS_MAX,
        "findings": findings[:FINDINGS_MAX],
    }


def walk(folder, ignore, depth=0):
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        shown = os.path.relpath(entry.path, ROOT)
        if entry.name == ".git" or any(fnmatch.fnmatchcase(shown, pattern) for pattern in ignore):
            continue
        if entry.is_dir(follow_symlinks=False) and depth < DEPTH_MAX:
            yield from walk(entry.path, ignore, depth + 1)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def read(path):
    """Text, or nothing for what is none, is too large or is not to be had."""
    try:
        at = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(at, "rb") as file:
        if not stat.S_ISREG(os.fstat(at).st_mode):
            return None
        data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def check(path, text, line_length):
    found = []

    def say(line, rule, what):
        if len(found) <= FINDINGS_MAX:
            name = path.encode("utf-8", "replace").decode()
            found.append({"path": name, "line": line, "rule": rule, "found": what})

    if text.startswith("\ufeff"):
        say(1, "byte-order-mark", "the file begins with U+FEFF")
    if "\r\n" in text:
        say(text[: text.index("\r\n")].count("\n") + 1, "line-ending", "CRLF")
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        row = line[:-1] if line.endswith("\r") else line
        if row != row.rstrip():
            say(number, "trailing-space", f"{len(row) - len(row.rstrip())} characters")
        if len(row) > line_length:
            say(number, "line-length", f"{len(row)} characters, at most {line_length}")
        if row.startswith(("<<<<<<< ", ">>>>>>> ")) or row == "=======" and not path.endswith((".md", ".rst")):
            say(number, "merge-conflict", row[:7])
    if text and not text.endswith("\n"):
        say(len(lines), "no-final-newline", "the last line does not end")
    elif text.endswith("\n\n"):
        say(len(lines) - 1, "blank-end", "empty lines at the end")
    syntax(path, text, say)
    return found


def syntax(path, text, say):
    try:
        if path.endswith(".json"):
            json.loads(text)
        elif path.endswith(".py"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(text)
    except (SyntaxError, ValueError) as error:
        # Its place alone: the words differ from one Python to the next.
        say(max(1, getattr(error, "lineno", None) or 1), "syntax", "it cannot be parsed")
    except (RecursionError, MemoryError):
        say(1, "syntax", "nested too deeply")
