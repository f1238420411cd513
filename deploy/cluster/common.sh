# What up, down and strike share: names, ports, and how a process of the cluster is started and ended.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # names that the others use; names that cluster.env has
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=${here%/deploy/cluster}
databases="db1 db2 db3"
gateways="gw1 gw2 gw3"
lease_ms=${WRIT_CLUSTER_LEASE_MS:-4000}

say() {
  echo "cluster: $*" >&2
}

die() {
  say "$*"
  exit 6
}

# Sets `dir`, and reads what `up` wrote down about the cluster in it.
open_cluster() {
  dir=$(cd "$1" 2>/dev/null && pwd -P) || die "there is no folder $1"
  [ -r "$dir/cluster.env" ] || die "$dir has no cluster; make one: deploy/cluster/up $1"
  # shellcheck source=/dev/null
  . "$dir/cluster.env"
}

# The newest PostgreSQL of this machine.
postgres_bin() {
  local newest
  newest=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
  [ -x "$newest/postgres" ] || die "there is no PostgreSQL here: apt-get install postgresql"
  echo "$newest"
}

# What PostgreSQL's programs are started with: its server refuses to run as root.
as_postgres=()
[ "$(id -u)" -ne 0 ] || as_postgres=(setpriv --reuid=nobody --regid=nogroup --clear-groups)

# The last digit of a name.
number() {
  echo "${1#"${1%?}"}"
}

# Ports: the base and 1 to 4 are the databases and the object store; each gateway N has the base, 10 N, and
# 1 to 3 for its lines to the databases, 4 to the store, 5 its callers, 6 the other gateways behind the line 7.
port() {
  case $1 in
    db?) echo $((base + $(number "$1"))) ;;
    s3) echo $((base + 4)) ;;
    gw?) echo $((base + 10 * $(number "$1") + $2)) ;;
    *) die "there is no $1 in a cluster" ;;
  esac
}

# start NAME COMMAND...: in a session of its own, so that all of it can be stopped at once
start() {
  local name=$1
  shift
  is_up "$name" && die "$name runs already"
  setsid "$@" </dev/null >>"$dir/log/$name" 2>&1 &
  echo $! >"$dir/run/$name"
}

is_up() {
  [ -s "$dir/run/$1" ] && kill -0 -- "-$(cat "$dir/run/$1")" 2>/dev/null
}

# signal NAME SIGNAL: to all of its processes; one that has ended is no fault
signal() {
  is_up "$1" || return 0
  kill -s "$2" -- "-$(cat "$dir/run/$1")" 2>/dev/null || true
}

# stop NAME SIGNAL: and waits until nothing of it is left
stop() {
  local name=$1
  signal "$name" "$2"
  signal "$name" CONT
  until_true "$name has ended" not is_up "$name"
  rm -f "$dir/run/$name"
}

not() {
  ! "$@"
}

# until_true WHAT COMMAND...: two minutes at most
until_true() {
  local what=$1 tries=0
  shift
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 1200 ] || die "not within two minutes: $what; look at $dir/log"
    sleep 0.1
  done
}

# sql NAME STATEMENT: as the superuser
sql() {
  PGCONNECT_TIMEOUT=5 "$(postgres_bin)/psql" -X -q -A -t -v ON_ERROR_STOP=1 \
    "host=127.0.0.1 port=$(port "$1") user=postgres dbname=postgres" -c "$2"
}

answers() {
  sql "$1" 'SELECT 1' >/dev/null 2>&1
}

start_database() {
  start "$1" "${as_postgres[@]}" "$(postgres_bin)/postgres" -D "$dir/$1" \
    -c listen_addresses=127.0.0.1 -c "port=$(port "$1")" -c "unix_socket_directories=" \
    -c shared_buffers=32MB -c dynamic_shared_memory_type=mmap -c max_wal_size=256MB
  until_true "$1 answers" answers "$1"
}

# conninfo NAME PRIMARY: how a standby connects
conninfo() {
  echo "host=127.0.0.1 port=$(port "$2") user=postgres application_name=$1"
}

# copy_database NAME PRIMARY: in place of all that it has
copy_database() {
  rm -rf "${dir:?}/$1"
  install -d -m 0700 "$dir/$1"
  [ "$(id -u)" -ne 0 ] || chown nobody:nogroup "$dir/$1"
  "${as_postgres[@]}" "$(postgres_bin)/pg_basebackup" --pgdata="$dir/$1" --dbname="$(conninfo "$1" "$2")" \
    --checkpoint=fast --no-sync --write-recovery-conf
}

# Which of the databases is written to; more than one after a mistake.
primary() {
  local name
  for name in $databases; do
    if [ "$(sql "$name" 'SELECT pg_is_in_recovery()' 2>/dev/null)" = f ]; then
      echo "$name"
    fi
  done
}

follows_all() {
  [ "$(sql "$1" "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")" -eq 2 ]
}

# relay NAME FROM TO: a line that can be cut
start_relay() {
  start "$1" socat "TCP-LISTEN:$2,bind=127.0.0.1,reuseaddr,fork" "TCP:127.0.0.1:$3"
}

start_gateway() {
  start "$1" env "WRIT_SANDBOX_DIR=$dir/sandbox/$1" "$top/writ" --home "$dir/$1" serve
}

is_healthy() {
  curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$(port "$1" 5)/health" 2>/dev/null
}

# Answers for itself, and says that the cell has an owner.
is_ready() {
  curl -fsS -m 5 -o /dev/null "http://127.0.0.1:$(port "$1" 5)/ready" 2>/dev/null
}
