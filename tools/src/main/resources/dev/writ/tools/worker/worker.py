"""Runs one operation of a Python tool: the worker side of the protocol in spec/tool-package.md.

argv: the entry file, the folder of the package. What the tool prints goes to standard error; the
frames have a descriptor that the tool's code does not know.
"""
import base64
import importlib.machinery
import importlib.util
import json
import os
import struct
import sys
import traceback

PROTOCOL = 1
frames_in = os.fdopen(os.dup(0), "rb")
frames_out = os.fdopen(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)


def write(kind, **members):
    frame = {"protocol": PROTOCOL, "kind": kind, **members}
    body = json.dumps(frame, ensure_ascii=False, allow_nan=False).encode("utf-8", "strict")
    frames_out.write(struct.pack(">I", len(body)) + body)
    frames_out.flush()


def leave():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # the tool closed it
    os._exit(0)


def fail(kind, error):
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    traceback.print_exception(type(error), error, error.__traceback__)
    write("incident", incident=kind, message=text[:500].encode("utf-8", "replace").decode())
    leave()


class Source(importlib.machinery.SourceFileLoader):
    """The file whose text was reviewed: UTF-8 whatever it declares, and never what was compiled before."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return compile(self.get_data(path).decode("utf-8", "strict"), path, "exec", dont_inherit=True)


def finders(package, libraries):
    """Modules come out of the sources of the package and out of Python's own library, and of nothing else."""
    machinery = importlib.machinery
    own = [(Source, machinery.SOURCE_SUFFIXES)]
    python = [
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
    ]

    def finder(path):
        for folders, loaders in (([package], own), (libraries, python)):
            if any(path == folder or path.startswith(folder + "/") for folder in folders):
                return machinery.FileFinder(path, *loaders)
        raise ImportError("no module is loaded from there", path=path)

    return finder


class Helpers:
    """The module that the platform provides; a package's own module of that name comes before it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "writ_helpers":
            return None
        file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "writ_helpers.py")
        return importlib.util.spec_from_file_location(name, file)


def load(entry, package):
    libraries = [path for path in sys.path if os.path.isdir(path)]
    sys.path_hooks[:] = [finders(package, libraries)]
    sys.path_importer_cache.clear()
    sys.meta_path.append(Helpers)
    sys.path[:] = [os.path.join(package, os.path.dirname(entry)), os.path.join(package, "vendor"), *libraries]
    path = os.path.join(package, entry)
    spec = importlib.util.spec_from_file_location("tool", path, loader=Source("tool", path))
    module = importlib.util.module_from_spec(spec)
    sys.modules["tool"] = module
    spec.loader.exec_module(module)
    return module


def result(output, media_type):
    """The members of the result: bytes, or text in UTF-8, where the operation's media type is not JSON."""
    if media_type is None:
        return {"output": output}
    content = output.encode("utf-8", "strict") if isinstance(output, str) else bytes(memoryview(output))
    return {"media_type": media_type, "base64": base64.b64encode(content).decode("ascii")}


def main():
    sys.dont_write_bytecode = True
    entry, package = sys.argv[1:3]
    try:
        tool = load(entry, package)
    except BaseException as error:
        fail("DependencyLoadFailure", error)
    write("ready")
    head = frames_in.read(4)
    if len(head) < 4:
        leave()
    call = json.loads(frames_in.read(struct.unpack(">I", head)[0]))
    try:
        operation = getattr(tool, call["operation"].replace("-", "_"))
        output = operation(call["input"], call["context"])
        write("result", **result(output, call.get("media_type")))
    except BaseException as error:
        fail("Failed", error)
    leave()


main()
