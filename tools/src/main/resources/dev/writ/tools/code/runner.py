# Runs one call's code in a __main__ of its own and writes what came of it to a file, a line about
# it and then the value:
# argv is VALUE-FILE LIMIT SESSION-FILE; stdin begins with the code's length, eight hexadecimal
# digits, and the code in UTF-8. The rest of stdin is the code's own.
import sys

sys.path[:] = [place for place in sys.path if place]  # a json.py in the workspace is not ours
import ast
import json
import linecache
import math
import os
import pickle
import traceback
import types

NAME = "<code>"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
DEFINED = (type, types.FunctionType, types.BuiltinFunctionType)
VERSION = sys.version.split()[0]
VALUE_FILE, LIMIT, SESSION_FILE = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def read_exactly(count):
    parts = []
    while count:
        part = os.read(0, count)
        if not part:
            raise SystemExit("the code is incomplete")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def fits_json(value, depth=0):
    """Whether JSON says the value whole: 2**53 - 1 is the largest integer that all readers keep."""
    if value is None or isinstance(value, (bool, str)):
        return True
    if isinstance(value, int):
        return abs(value) < 2**53
    if isinstance(value, float):
        return math.isfinite(value)
    if depth == 60:
        return False
    if isinstance(value, (list, tuple)):
        return all(fits_json(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return all(
            isinstance(key, str) and fits_json(item, depth + 1) for key, item in value.items()
        )
    return False


def described(value, dumps=json.dumps):
    """The state of the value, and its text where there is one."""
    try:
        text = dumps(value, allow_nan=False) if fits_json(value) else None
    except Exception:
        text = None
    if text is None:
        return "not-json", ""
    return ("too-large", "") if len(text) > LIMIT else ("json", text)


def write_new(path, data):
    """Beside its place first, so that what is there stays until all of the new is."""
    part = path + ".new"
    try:
        os.unlink(part)
    except FileNotFoundError:
        pass
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
    os.rename(part, path)


class Session:
    """Names of __main__ that last: what defines them, as source; other values, pickled."""

    def __init__(self, path):
        self.path = path
        self.definitions = {}
        self.kept = []
        self.lost = []

    def load(self, names):
        if not self.path:
            return
        try:
            with open(self.path, "rb") as file:
                saved = pickle.load(file)
        except FileNotFoundError:
            return
        except Exception:
            raise SystemExit("the session's state cannot be read: " + self.path) from None
        self.definitions = dict(saved["definitions"])
        todo = [("definition", key, text) for key, text in self.definitions.items()]
        todo += [("value", name, data) for name, data in saved["values"].items()]
        # A default may need a value, a value may need a class: whoever fails comes again.
        while todo:
            failed = [one for one in todo if not self.restore(names, *one)]
            if len(failed) == len(todo):
                break
            todo = failed
        self.lost = [key for kind, key, _ in todo if kind == "value"]

    @staticmethod
    def restore(names, kind, key, data):
        try:
            if kind == "definition":
                exec(compile(data, NAME, "exec", dont_inherit=True), names)
            else:
                names[key] = pickle.loads(data)
            return True
        except Exception:
            return False

    def note(self, tree):
        if not self.path:
            return
        for node in tree.body:
            if isinstance(node, DEFINITIONS) and getattr(node, "module", "") != "__future__":
                text = ast.unparse(node)
                key = getattr(node, "name", None) or text
                self.definitions.pop(key, None)
                self.definitions[key] = text

    def defined(self):
        """The names that the definitions bind."""
        names = set()
        for text in self.definitions.values():
            for node in ast.parse(text).body:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    names.update((one.asname or one.name).split(".")[0] for one in node.names)
                else:
                    names.add(node.name)
        return names

    def save(self, names):
        if not self.path:
            return
        values = {}
        defined = self.defined()
        for name, value in list(names.items()):
            if name.startswith("__") or isinstance(value, types.ModuleType):
                continue
            if name in defined and isinstance(value, DEFINED):
                continue
            try:
                data = pickle.dumps(value, protocol=4)
                pickle.loads(data)
                values[name] = data
            except Exception:
                self.lost.append(name)
        try:
            write_new(
                self.path,
                pickle.dumps({"definitions": self.definitions, "values": values}, protocol=4),
            )
            self.kept = sorted(values)
        except OSError:
            self.lost.extend(values)
        self.lost = sorted(set(self.lost))


def own_frames(error):
    """The traceback without the runner's own frames at its beginning."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != NAME:
        frame = frame.tb_next
    return frame


def run(source, names, session):
    tree = compile(source, NAME, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    session.note(tree)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, NAME, "exec", dont_inherit=True), names)
    if last is None:
        return "absent", ""
    return described(eval(compile(last, NAME, "eval", dont_inherit=True), names))


def main(dumps=json.dumps):
    code = read_exactly(int(read_exactly(8), 16)).decode("utf-8")
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv[:] = ["code"]
    os.environ.pop("FAKETIME_SHARED", None)  # it names a process number
    os.environ["PWD"] = os.getcwd()  # not every engine sets it
    sys.path.insert(0, os.getcwd())
    linecache.cache[NAME] = (len(code), None, code.splitlines(True), NAME)
    sys.stdout.reconfigure(line_buffering=True)
    session = Session(SESSION_FILE)
    session.load(module.__dict__)
    process = os.getpid()
    state, text = "absent", ""
    status = None
    try:
        state, text = run(code, module.__dict__, session)
    except SystemExit:
        raise
    except BaseException as error:
        traceback.print_exception(type(error), error, own_frames(error))
        status = 1
    finally:
        if os.getpid() == process:
            session.save(module.__dict__)
            found = {"state": state, "version": VERSION}
            found["kept"], found["lost"] = session.kept, session.lost
            try:
                write_new(VALUE_FILE, (dumps(found) + "\n" + text).encode("ascii"))
            except OSError:
                pass  # the workspace is full: there is no value then
    if status is not None:
        sys.exit(status)


main()
