#!/bin/sh
# Builds agent-task as one static program: build.sh FILE. It needs gcc and the C library's static form.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
cd "$here"
exec "${CC:-gcc}" -std=c11 -O2 -Wall -Wextra -Werror -static -s -Wl,--build-id=none -o "$1" \
  agent-task.c json.c result.c sha256.c spec.c
