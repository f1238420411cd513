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

# The home of the java on PATH, through links, in jdk_on_path.
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
  jdk_on_path=$(cd "$(dirname "$file")/.." && pwd -P)
}

jdk_find() {
  local home
  jdk=
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
