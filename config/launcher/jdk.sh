# shellcheck shell=bash disable=SC2034 # jdk is used by who sources this
# Sourced by writ and check. Sets jdk to the home of a JDK 25 or newer, or says what is missing.

# The feature release of the JDK in folder $1, in jdk_release; fails where there is no whole JDK.
# It reads the file named release, because starting each java to ask it would take too long.
jdk_release_of() {
  jdk_release=0
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
  local line
  while IFS= read -r line; do
    case $line in
      JAVA_VERSION=*)
        line=${line#*\"}
        line=${line%%[!0-9]*}
        jdk_release=${line:-0}
        return 0
        ;;
    esac
  done <"$1/release"
  return 1
}

jdk_is_new_enough() {
  jdk_release_of "$1" && [ "$jdk_release" -ge 25 ]
}

# The home of the java on PATH, through links, in jdk_on_path, and that java's file in jdk_file.
jdk_follow_path() {
  local file target
  jdk_on_path=
  file=$(command -v java) || return 1
  while [ -L "$file" ]; do
    target=$(readlink "$file")
    case $target in
      /*) file=$target ;;
      *) file=$(dirname "$file")/$target ;;
    esac
  done
  jdk_file=$file
  jdk_on_path=$(cd "$(dirname "$file")/.." && pwd -P)
}

# Takes what file $1 remembers of an earlier search, if java on PATH is the very file that it was
# then: the search starts half a dozen processes. Needs bash 4, which tells where java is without one.
jdk_recall() {
  local named real home
  { read -r named && read -r real && read -r home; } 2>/dev/null <"$1" || return 1
  hash java 2>/dev/null || return 1
  [ -n "$named" ] && [ "${BASH_CMDS[java]:-}" = "$named" ] && [ "$named" -ef "$real" ] \
    && jdk_is_new_enough "$home" && jdk=$home
}

# Remembers in file $1, where its folder is there and can be written to.
jdk_remember() {
  local named
  named=$(command -v java) && [ -d "${1%/*}" ] && [ -w "${1%/*}" ] || return 0
  printf '%s\n' "$named" "$jdk_file" "$jdk" >"$1.$$" && mv -f "$1.$$" "$1"
}

# Sets jdk. With a file $1 it remembers there what it found, for the next time.
jdk_find() {
  jdk=
  if [ -z "${WRIT_JAVA_HOME:-}" ] && [ -z "${JAVA_HOME:-}" ] && [ -n "${1:-}" ]; then
    [ -r "$1" ] && jdk_recall "$1" && return 0
    jdk_file=
    jdk_search || return 1
    jdk_remember "$1"
  else
    jdk_search
  fi
}

jdk_search() {
  local home
  if [ -n "${WRIT_JAVA_HOME:-}" ]; then
    if jdk_is_new_enough "$WRIT_JAVA_HOME"; then
      jdk=$WRIT_JAVA_HOME
      return 0
    fi
    echo "writ: WRIT_JAVA_HOME=$WRIT_JAVA_HOME is no JDK 25 or newer. Correct it or unset it." >&2
    return 1
  fi
  if [ -n "${JAVA_HOME:-}" ] && jdk_is_new_enough "$JAVA_HOME"; then
    jdk=$JAVA_HOME
    return 0
  fi
  if jdk_follow_path && jdk_is_new_enough "$jdk_on_path"; then
    jdk=$jdk_on_path
    return 0
  fi
  # Where packages, Maven toolchains, SDKMAN, asdf, mise, IDEs and macOS put JDKs.
  for home in /usr/lib/jvm/* /usr/java/* /opt/*jdk* /opt/java/* \
    "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/* "${HOME:-}"/.m2/jdks/* \
    "${HOME:-}"/.asdf/installs/java/* "${HOME:-}"/.local/share/mise/installs/java/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    if jdk_is_new_enough "$home"; then
      jdk=$home
      return 0
    fi
  done
  if [ -x /usr/libexec/java_home ] && home=$(/usr/libexec/java_home -v 25+ 2>/dev/null) \
    && jdk_is_new_enough "$home"; then
    jdk=$home
    return 0
  fi
  jdk_missing
  return 1
}

jdk_missing() {
  {
    echo "writ: no JDK 25 or newer was found."
    echo "  Looked at: WRIT_JAVA_HOME, JAVA_HOME, java on PATH, /usr/lib/jvm, SDKMAN, ~/.jdks and the like."
    [ -z "${JAVA_HOME:-}" ] || echo "  JAVA_HOME=$JAVA_HOME is older, or no whole JDK."
    echo "  Install one (Debian: a temurin-25-jdk or openjdk-25-jdk package), or name it: WRIT_JAVA_HOME=/path/to/jdk"
  } >&2
}
