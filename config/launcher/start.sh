# shellcheck shell=sh disable=SC2034 # mode and terminals are used by who sources this
# Sourced by the launchers, of the tree (writ) and of a release (deploy/release/writ), with the arguments of the command
# line. Sets mode, the argument file to start with, and terminals, and exports what the JVM is to find. For any POSIX shell,
# without another process where that can be.

# In a folder that is not there any more no JVM starts, and says so with a stack trace. The second look is a process,
# and is taken where the first is in doubt.
# shellcheck disable=SC3013 # where a shell does not know -ef, the second look decides
if ! [ . -ef "${PWD:-}" ] 2>/dev/null && [ -z "$(pwd -P 2>/dev/null)" ]; then
  echo "writ: the current folder is not there any more. Change to one that is, such as: cd /" >&2
  exit 6
fi

# Commands that run long enough to be worth the optimizing compiler and the parallel collector.
long_commands=" bench conform "
# serve is one of those, and ends where its memory does.
# Commands that only read, and run long when a file they are given is large: more than 4 MiB.
# They read it piece by piece, in a small heap.
sized_commands=" verify replay report "
# The same for what reads the ledger.
ledger_commands=" audit export fsck "
# Commands that need little code, and so a small AOT cache. Groups are those of Build.java.
light_commands="  canon completion "

command=
large=false
skip=
home=${WRIT_HOME:-writ-data}
for word in "$@"; do
  case $skip in
    --home) home=$word ;;
  esac
  if [ -n "$skip" ]; then
    skip=
    continue
  fi
  # Both stand before the command or behind it.
  case $word in
    --home | --cell) skip=$word ;;
    --home=*) home=${word#--home=} ;;
    --) break ;;
    -*) ;;
    *) [ -n "$command" ] || command=$word ;;
  esac
done
mode=home
case $light_commands in
  *" $command "*) mode=light ;;
esac
case $command in
  log | receipts | runs | show) mode="read" ;;
  run | verify | version) mode=$command ;;
esac
case $sized_commands in
  *" $command "*)
    for word in "$@"; do
      [ -f "$word" ] || continue
      case $word in
        /*) file=$word ;;
        *) file=./$word ;;
      esac
      [ -z "$(find -L "$file" -size +8192 2>/dev/null)" ] || large=true
    done
    ;;
esac
case $ledger_commands in
  *" $command "*)
    [ -z "$(find -L "$home/ledger/db" -name '*.sst' -size +8192 -print -quit 2>/dev/null)" ] || large=true
    ;;
esac
case $long_commands in
  *" $command "*) mode=long ;;
esac
$large && mode=large
if [ "$command" = serve ]; then
  mode=serve
  # Two areas of native memory instead of eight for each processor, each with holes of its own.
  export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
fi

# What the JVM cannot see cheaply: which streams are terminals, and how wide they are.
terminals=
[ -t 0 ] && terminals=in
[ -t 1 ] && terminals=$terminals,out
[ -t 2 ] && terminals=$terminals,err
if [ -n "${terminals#in}" ] && [ -z "${COLUMNS:-}" ]; then
  size=$(stty size 2>/dev/null </dev/tty) && export COLUMNS="${size#* }"
fi

# The JVM reads words and names of files in the encoding of the locale. Without one (cron, systemd, a container),
# and with one that this host does not have (such as LC_CTYPE=UTF-8 from another system), every byte that is not
# ASCII would be another character, and that would be signed. C.UTF-8 is on each Linux.
if [ -d /proc/self ]; then
  case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
    C | POSIX | *[Uu][Tt][Ff]8* | *[Uu][Tt][Ff]-8*) export LC_ALL=C.UTF-8 ;;
  esac
fi

# RocksDB starts a shell to find out whose C library this is, unless it is told. Where there is no
# musl it is told so; where there is one it may ask.
if [ -z "${ROCKSDB_MUSL_LIBC:-}" ]; then
  musl=false
  for file in /lib/ld-musl-* /usr/lib/ld-musl-*; do
    [ -e "$file" ] && musl=true
  done
  $musl || export ROCKSDB_MUSL_LIBC=false
fi

if [ "$mode" = large ]; then
  # glibc would keep an arena for each thread, and much freed memory in each.
  export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
fi
