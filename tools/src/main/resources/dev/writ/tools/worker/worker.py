"""Runs one operation of a Python tool: the worker side of the protocol in spec/tool-package.md.

argv: the entry file, the folder of the package. What the tool prints goes to standard error; the
frames have a descriptor that the tool's code does not know.
"""
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


def load(entry, package):
    sys.path[:0] = [os.path.join(package, os.path.dirname(entry)), os.path.join(package, "vendor")]
    spec = importlib.util.spec_from_file_location("tool", os.path.join(package, entry))
    module = importlib.util.module_from_spec(spec)
    sys.modules["tool"] = module
    spec.loader.exec_module(module)
    return module


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
        write("result", output=output)
    except BaseException as error:
        fail("Failed", error)
    leave()


main()
