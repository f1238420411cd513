"""Makes the wheel by the standard library alone, the same bytes each time. A PEP 517 backend: `pip install clients/python` uses it.

    python3 clients/python/build_wheel.py [FOLDER]      FOLDER/writ_client-VERSION-py3-none-any.whl (default: target)
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent
NAME = "writ_client"


def _version() -> str:
    text = (HERE / "src/writ/__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    assert found is not None
    return found.group(1)


def _metadata(version: str) -> str:
    return (
        "Metadata-Version: 2.1\n"
        "Name: writ-client\n"
        f"Version: {version}\n"
        "Summary: A client of Writ: signs, submits, and believes only what pinned keys have signed.\n"
        "License: Apache-2.0\n"
        "Requires-Python: >=3.10\n"
        "Requires-Dist: cryptography >=38\n"
        "Provides-Extra: langchain\n"
        'Requires-Dist: langchain-core >=1 ; extra == "langchain"\n'
        "Description-Content-Type: text/markdown\n"
        "\n" + (HERE / "README.md").read_text("utf-8")
    )


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    version = _version()
    info = f"{NAME}-{version}.dist-info"
    sources = HERE / "src"
    files = {
        str(path.relative_to(sources)): path.read_bytes()
        for path in sources.rglob("*")
        if path.is_file() and path.suffix in (".py", ".typed")
    }
    files[f"{info}/METADATA"] = _metadata(version).encode("utf-8")
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: writ\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = f"{info}/RECORD"
    files[record] = (
        "".join(f"{name},{_hash(data)},{len(data)}\n" for name, data in sorted(files.items()))
        + f"{record},,\n"
    ).encode("utf-8")
    wheel = f"{NAME}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in [*sorted(n for n in files if n != record), record]:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return wheel


def _hash(data: bytes) -> str:
    raw = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return "sha256=" + raw.rstrip(b"=").decode("ascii")


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "target")
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / build_wheel(str(folder)))
