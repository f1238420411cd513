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

# Ports: the base and 1 to 4 are the databases and the object store, 5 and 9 etcd, 6 to 8 Patroni of each database; each gateway N has the base, 10 N, and
# 1 to 3 for its lines to the databases, 4 to the store, 5 its callers, 6 the other gateways behind the line 7.
port() {
  case $1 in
    db?) echo $((base + $(number "$1"))) ;;
    s3) echo $((base + 4)) ;;
    etcd) echo $((base + ${2:-9})) ;;
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

# Where a database has its files. Patroni replaces the whole folder where it copies it anew, so the one above is its own.
data_of() {
  echo "$dir/$1${patroni:+/data}"
}

# signal NAME SIGNAL: to all of its processes; one that has ended is no fault
signal() {
  local server
  is_up "$1" || return 0
  kill -s "$2" -- "-$(cat "$dir/run/$1")" 2>/dev/null || true
  # PostgreSQL's processes have sessions of their own, and under Patroni the server has one, too.
  if [[ $1 == db? ]] && server=$(head -n 1 "$(data_of "$1")/postmaster.pid" 2>/dev/null); then
    kill -s "$2" "$server" 2>/dev/null || true
    [ "$2" = QUIT ] || pkill "-$2" -P "$server" || true
  fi
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

# The file system of its own that a database, a gateway's home or the object store has after `up --bounded`.
folder_of() {
  case $1 in
    s3) echo "$dir/contents" ;;
    *) echo "$dir/$1" ;;
  esac
}

# make_disk NAME BYTES: with what its folder has
make_disk() {
  local image=$dir/disks/$1 folder
  folder=$(folder_of "$1")
  mkdir -p "$folder"
  truncate -s "$2" "$image"
  mkfs.ext4 -q -m 0 -d "$folder" "$image"
  mount -o loop "$image" "$folder" || die "no file system can be mounted here: leave --bounded out"
  rmdir "$folder/lost+found"
}

# Sets `by_clock`: what the processes of NAME are started with. After `up --clocks` they have a clock of their own, which
# `strike clock` sets; timed waits go by the machine's monotonic clock, as where somebody sets a real clock.
clock_of() {
  by_clock=()
  [ -z "$clocks" ] || by_clock=(env LD_PRELOAD="$clocks" FAKETIME_TIMESTAMP_FILE="$dir/clock/$1" FAKETIME_NO_CACHE=1
    FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_FORCE_MONOTONIC_FIX=0 NO_FAKE_STAT=1)
}

# set_clock NAME SECONDS: so far from the machine's
set_clock() {
  echo "$2" >"$dir/clock/$1.next"
  chmod 0644 "$dir/clock/$1.next"
  mv "$dir/clock/$1.next" "$dir/clock/$1"
}

start_database() {
  if [ -n "$patroni" ]; then
    start "$1" "${as_postgres[@]}" patroni "$dir/patroni/$1.yml"
    until_true "$1 answers" answers "$1"
    return
  fi
  clock_of "$1"
  start "$1" "${as_postgres[@]}" "${by_clock[@]}" "$(postgres_bin)/postgres" -D "$dir/$1" \
    -c listen_addresses=127.0.0.1 -c "port=$(port "$1")" -c "unix_socket_directories=" \
    -c shared_buffers=32MB -c dynamic_shared_memory_type=mmap -c max_wal_size=256MB \
    -c wal_keep_size=256MB # a slow standby is not left behind for good
  until_true "$1 answers" answers "$1"
}

# What Patroni has to know of a database. A commit is acknowledged when a standby has it; with none there is no commit.
# Whoever was the primary and has what the new one has not is copied anew.
patroni_of() {
  cat <<END
scope: cluster
name: $1
restapi: { listen: "127.0.0.1:$((base + 5 + $(number "$1")))", connect_address: "127.0.0.1:$((base + 5 + $(number "$1")))" }
etcd3: { host: "127.0.0.1:$(port etcd)" }
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_slots: false
      parameters: { max_wal_size: 256MB, shared_buffers: 32MB, dynamic_shared_memory_type: mmap }
  initdb: [ { encoding: UTF8 }, { locale: C }, no-sync ]
postgresql:
  listen: "127.0.0.1:$(port "$1")"
  connect_address: "127.0.0.1:$(port "$1")"
  data_dir: "$(data_of "$1")"
  bin_dir: "$(postgres_bin)"
  pgpass: "$dir/patroni/$1.pgpass"
  remove_data_directory_on_diverged_timelines: true
  remove_data_directory_on_rewind_failure: true
  authentication:
    superuser: { username: postgres, password: none }
    replication: { username: postgres, password: none }
  pg_hba: [ "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust" ]
  parameters: { unix_socket_directories: "" }
END
}

start_etcd() {
  start etcd "${as_postgres[@]}" etcd --data-dir "$dir/etcd" \
    --listen-client-urls "http://127.0.0.1:$(port etcd)" --advertise-client-urls "http://127.0.0.1:$(port etcd)" \
    --listen-peer-urls "http://127.0.0.1:$(port etcd 5)" --initial-advertise-peer-urls "http://127.0.0.1:$(port etcd 5)" \
    --initial-cluster "default=http://127.0.0.1:$(port etcd 5)"
  until_true "etcd answers" curl -fs -m 2 -o /dev/null "http://127.0.0.1:$(port etcd)/health"
}

# conninfo NAME PRIMARY: how a standby connects
conninfo() {
  echo "host=127.0.0.1 port=$(port "$2") user=postgres application_name=$1"
}

# copy_database NAME PRIMARY: in place of all that it has
copy_database() {
  [ ! -d "${dir:?}/$1" ] || find "$dir/$1" -mindepth 1 -delete
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

has_primary() {
  [ "$(primary | wc -w)" -eq 1 ]
}

follows_all() {
  # A connection that was lost may still be shown beside the one in its place.
  [ "$(sql "$1" "SELECT count(DISTINCT application_name) FROM pg_stat_replication
    WHERE state = 'streaming' AND application_name LIKE 'db_'")" -eq 2 ]
}

# NAME FROM TO: a line that can be cut
start_relay() {
  start "$1" socat "TCP-LISTEN:$2,bind=127.0.0.1,reuseaddr,fork" "TCP:127.0.0.1:$3"
}

# The same to a database, whose answer to a COMMIT can be lost.
start_database_line() {
  start "$1" python3 "$here/line.py" "$2" "$3"
}

start_gateway() {
  clock_of "$1"
  start "$1" "${by_clock[@]}" env "WRIT_SANDBOX_DIR=$dir/sandbox/$1" "$top/writ" --home "$dir/$1" serve
}

is_healthy() {
  curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$(port "$1" 5)/health" 2>/dev/null
}

# Answers for itself, and says that the cell has an owner.
is_ready() {
  curl -fsS -m 5 -o /dev/null "http://127.0.0.1:$(port "$1" 5)/ready" 2>/dev/null
}
