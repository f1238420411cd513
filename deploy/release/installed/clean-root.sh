# shellcheck shell=bash
# Sourced by the tests here, with the folder of a release as their argument. A clean root is a Debian 12 with systemd, the
# programs that sandboxes need and python3, made by debootstrap from where this machine's apt gets its packages: it has no JDK,
# no network, and nothing of this project but the release, at /release.
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

release=$(cd "$1" && pwd -P)
clean_root=localhost/writ-clean-root:latest
# No more than most hosts let who starts a container have.
limits=(--ulimit nofile=4096:4096 --ulimit nproc=4096:4096)

# Makes the image of the clean root, unless it is there.
clean_root() {
  ! podman image exists "$clean_root" || return 0
  local root site
  # shellcheck disable=SC2016 # apt's own variables
  site=$(apt-get indextargets --format '$(SITE)' | grep '/debian/*$' | sort -u | sed -n 1p)
  [ -n "$site" ] || { say "apt of this machine knows no archive of Debian's"; exit 6; }
  root=$(mktemp -d)
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,bubblewrap,socat,python3-minimal,curl \
    --keyring=/usr/share/keyrings/debian-archive-keyring.gpg bookworm "$root" "$site" >"$top/target/debootstrap.log" 2>&1 \
    || { tail -n 5 "$top/target/debootstrap.log" >&2; exit 6; }
  tar -C "$root" -cf - . | podman import -q - "$clean_root" >/dev/null
  rm -rf "$root"
}

# Runs a shell script in a clean root, as root.
in_clean_root() {
  clean_root
  podman run --rm -i "${limits[@]}" --network none -v "$release:/release:ro" "$clean_root" /bin/sh -eu -c "$1"
}
