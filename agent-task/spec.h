/* A TaskSpec (spec/task.md), read and checked. */
#ifndef AGENT_TASK_SPEC_H
#define AGENT_TASK_SPEC_H

#include "json.h"

#define SPEC_BYTES_MAX (1 << 20)

struct task_spec {
  const char *exec_id, *case_id, *subtask_id, *cwd; /* NULL where absent */
  long timeout_sec;                                 /* 0 where absent */
  char **argv;                                      /* ends with NULL */
  const struct json *env;                           /* an object, or NULL */
  const struct json *artifacts;                     /* an array, or NULL */
};

/* 1 where the document is a TaskSpec; else 0, and detail (of that size) says which field is wrong. */
int spec_read(const struct json *document, struct task_spec *spec, char *detail, size_t size);

#endif
