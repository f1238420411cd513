# shellcheck shell=bash disable=SC2034 # used by who sources this
# Sourced by the scripts of a release, from any folder. Sets top, version, epoch, out, name, JAVA_HOME and what a build
# depends on beside the sources: one locale, one time zone, one mask.
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=${here%/deploy/release}
out=$top/target/release
version=$(sed -n '/<artifactId>writ</{n;s/.*<version>\(.*\)<.*/\1/p;q}' "$top/pom.xml")
# Every time in an artifact is this one; nothing says when it was built.
epoch=$(date -u -d "$(sed -n 's/.*<project.build.outputTimestamp>\(.*\)<.*/\1/p' "$top/pom.xml")" +%s)
export SOURCE_DATE_EPOCH=$epoch
name=writ-$version

say() {
  echo "release: $*" >&2
}

# The commands of spec/install.md between two marks.
page() {
  local commands
  commands=$(sed -n "/<!-- $1 -->/,/<!-- \/$1 -->/p" "$top/spec/install.md" | grep -v '^ *```\|^ *<!--')
  [ -n "$commands" ] || { say "spec/install.md has no commands marked $1"; exit 1; }
  echo "$commands"
}

# Sets JAVA_HOME to a JDK that Writ can be built with.
jdk_home() {
  # shellcheck source=config/launcher/jdk.sh
  . "$top/config/launcher/jdk.sh"
  jdk_find "" || exit 6
  export JAVA_HOME=$jdk
}

# Files of a folder as a tar archive: names in order, one time, one owner, modes by who may execute. $1 folder, then names in it.
archive() {
  tar -C "$1" --sort=name --format=gnu --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    -cf - "${@:2}"
}

# How Maven is called for a release. It leaves out what takes long and has no part in what is installed: the Javadoc in the
# Maven repository is not compared.
# shellcheck disable=SC2034
build="-q -B -ntp -Dmaven.test.skip -Denforcer.skip -Dforbiddenapis.skip -Dmaven.javadoc.skip -Prelease -pl cli,adapters,testkit,client -am package"
