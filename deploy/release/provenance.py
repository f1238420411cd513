"""Prints the provenance of a release as an in-toto statement, with a predicate of SLSA provenance v1.

    provenance.py VERSION COMMIT JDK-RELEASE-FILE ARTIFACT...

It has no time and no name of a machine, so that two builds of the same sources print the same bytes. COMMIT is empty
where the sources are no git repository.
"""

import hashlib
import json
import re
import sys
from pathlib import Path


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def jdk(release: Path) -> dict:
    """The JDK that compiled and is inside the runtime image, by what its vendor says of it."""
    text = release.read_text("utf-8")

    def said(key: str) -> str:
        found = re.search(rf'^{key}="(.*)"$', text, re.MULTILINE)
        return found.group(1) if found else ""

    return {
        "name": f"{said('IMPLEMENTOR')} {said('IMPLEMENTOR_VERSION')} {said('JAVA_RUNTIME_VERSION')}".strip(),
        "digest": {"sha256": sha256(release)},
    }


def statement(version: str, commit: str, release: Path, artifacts: list[Path]) -> dict:
    sources = [{"name": "sources", "digest": {"gitCommit": commit}}] if commit else []
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": path.name, "digest": {"sha256": sha256(path)}} for path in sorted(artifacts)
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:writ:release:v1",
                "externalParameters": {"version": version, "command": "mvn -Prelease package"},
                "internalParameters": {},
                "resolvedDependencies": [*sources, jdk(release)],
            },
            "runDetails": {"builder": {"id": "urn:writ:builder:maven"}},
        },
    }


if __name__ == "__main__":
    made = statement(sys.argv[1], sys.argv[2], Path(sys.argv[3]), [Path(p) for p in sys.argv[4:]])
    print(json.dumps(made, indent=2, sort_keys=True))
