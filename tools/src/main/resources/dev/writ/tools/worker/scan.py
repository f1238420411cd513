"""What Python files refer to, read by Python's own parser; nothing of them is run.

Reads {path: text} from standard input, writes {references, unreadable}.
"""
import ast
import json
import sys

DYNAMIC = {
    "__import__", "code", "codeop", "compile", "ctypes", "eval", "exec", "imp", "importlib", "marshal",
    "pickle", "pkgutil", "runpy", "timeit", "zipimport",
}
CALLED = {"__import__", "compile", "eval", "exec"}
HIDDEN = {
    "__builtins__", "__loader__", "__spec__", "__subclasses__", "__globals__", "__code__",
    "__getattribute__", "__import__", "meta_path", "path_hooks", "path_importer_cache",
}
SPAWNS = {"system", "popen", "fork", "forkpty", "startfile"}
references = []
unreadable = []


def refer(path, node, name, dynamic=False):
    references.append({
        "path": path, "line": node.lineno, "column": node.col_offset + 1,
        "name": name, "dynamic": dynamic,
    })


def visit(path, tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                refer(path, node, alias.name, dynamic(alias.name))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            refer(path, node, "." * node.level + module, node.level == 0 and dynamic(module))
            for alias in node.names:
                if node.level == 0 and dynamic(f"{module}.{alias.name}"):
                    refer(path, node, f"{module}.{alias.name}", True)
            if module == "os":
                for alias in node.names:
                    spawning(path, node, alias.name)
        elif isinstance(node, ast.Name) and node.id in CALLED | HIDDEN:
            refer(path, node, node.id, True)
        elif isinstance(node, ast.Attribute):
            if node.attr in HIDDEN:
                refer(path, node, "." + node.attr, True)
            if isinstance(node.value, ast.Name) and node.value.id == "os":
                spawning(path, node, node.attr)


def dynamic(module):
    return module.split(".")[0] in DYNAMIC or module == "logging.config"


def spawning(path, node, name):
    if name in SPAWNS or name.startswith(("exec", "spawn", "posix_spawn")):
        refer(path, node, "subprocess")


for path, text in json.load(sys.stdin).items():
    try:
        visit(path, ast.parse(text, path))
    except (SyntaxError, ValueError, RecursionError) as error:
        unreadable.append(f"{path}: {error}"[:300])
json.dump({"references": references, "unreadable": unreadable}, sys.stdout)
