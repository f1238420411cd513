/* A TaskResult (spec/task.md): canonical JSON (RFC 8785), written whole or not at all. */
#ifndef AGENT_TASK_RESULT_H
#define AGENT_TASK_RESULT_H

#include <time.h>

#include "spec.h"

#define TAIL_CHARS_MAX 4000
#define TAIL_BYTES_MAX (4 * TAIL_CHARS_MAX)

/* The end of what a command wrote to one stream. */
struct tail {
  unsigned char bytes[2 * TAIL_BYTES_MAX];
  size_t length;
};

void tail_add(struct tail *tail, const unsigned char *bytes, size_t length);

struct task_result {
  const struct task_spec *spec; /* NULL where it was refused */
  const char *digest;           /* of the spec's bytes, 64 hexadecimal digits; NULL where there are none */
  const char *ended;
  const char *code, *detail; /* NULL where nothing was refused */
  int exit_code;
  struct timespec started, finished; /* CLOCK_REALTIME */
  long long duration_ms;
  struct tail out, err;
};

/* Whether a result can be written there. That of an earlier task is removed. */
int result_place(const char *path);

/* Writes it to a file beside, syncs, renames, and syncs the directory; 0 where that fails. */
int result_write(const struct task_result *result, const char *path);

#endif
