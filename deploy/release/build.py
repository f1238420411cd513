"""Builds a release inside a sandbox of Writ, from its inputs alone: the code of the effect that deploy/release/by-writ
asks for. There is no network.

in/sources.bundle    the commit, as a bundle of git
in/dependencies.*    an archive, in pieces: maven/, as it is installed, and repository/, all that the build resolves
"""

import os
import subprocess

PLACE = os.getcwd()
BUILD = "BUILD"


def run(*argv: str, **more: object) -> str:
    return subprocess.run(argv, check=True, text=True, stdout=subprocess.PIPE, **more).stdout.strip()


run("sh", "-c", "cat in/dependencies.* | tar x")
run("git", "-c", "advice.detachedHead=false", "clone", "-q", "in/sources.bundle", "writ")
jdk = run("bash", "-c", '. writ/config/launcher/jdk.sh && jdk_find "" && echo "$jdk"')
os.environ.update(
    HOME=PLACE,
    JAVA_HOME=jdk,
    MAVEN_OPTS=f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx1g -Duser.home={PLACE}"
    " --sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED",
)
# Not offline: the SBOM's plugin does nothing then. All is in the repository, and there is no network.
run(f"{PLACE}/maven/bin/mvn", f"-Dmaven.repo.local={PLACE}/repository", *BUILD.split(), cwd="writ")
print(run("sha256sum", *sorted(os.listdir("writ/target/release")), cwd="writ/target/release"))
