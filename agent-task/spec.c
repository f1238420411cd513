#include "spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_SEC_MAX 2592000 /* 30 days */

static const char *const KNOWN[] = {"argv",    "artifacts", "case_id", "cwd",       "env",         "exec_id",
                                    "limits",  "role",      "subtask_id", "task_spec", "timeout_sec", NULL};

struct check {
  const struct json *document;
  char *detail;
  size_t size;
  int ok;
};

static void wrong(struct check *c, const char *field, const char *why) {
  if (c->ok) snprintf(c->detail, c->size, "%.80s: %s", field, why);
  c->ok = 0;
}

static const struct json *field(struct check *c, const char *name, enum json_kind kind, const char *what, int required) {
  const struct json *found = json_member(c->document, name);
  if (!found && required) wrong(c, name, "it is missing");
  if (found && found->kind != kind) {
    wrong(c, name, what);
    return NULL;
  }
  return found;
}

static const char *text(struct check *c, const char *name, int required) {
  const struct json *found = field(c, name, JSON_STRING, "it is no text", required);
  if (found && !*found->text) wrong(c, name, "it is empty");
  return found ? found->text : NULL;
}

static void all_texts(struct check *c, const char *name, const struct json *list) {
  for (const struct json *each = list ? list->first : NULL; each; each = each->next) {
    if (each->kind != JSON_STRING) wrong(c, name, "a value is no text");
  }
}

static void limits(struct check *c) {
  const struct json *found = field(c, "limits", JSON_OBJECT, "it is no object", 0);
  for (const struct json *each = found ? found->first : NULL; each; each = each->next) {
    int whole = each->kind == JSON_NUMBER && each->number > 0 && each->number < 9e15 && each->number == (double)(long long)each->number;
    if (strcmp(each->name, "cpu") == 0) {
      if (each->kind != JSON_NUMBER || !(each->number > 0)) wrong(c, "limits/cpu", "it is no number above 0");
    } else if (strcmp(each->name, "mem_mb") == 0) {
      if (!whole) wrong(c, "limits/mem_mb", "it is no integer above 0");
    } else {
      wrong(c, each->name, "it is no field of limits");
    }
  }
}

/* Relative, and in normal form: it leads nowhere else. */
static int is_relative(const char *path) {
  if (!*path || *path == '/') return 0;
  for (const char *at = path;; at++) {
    size_t n = strcspn(at, "/");
    if (n == 0 || (n == 1 && *at == '.') || (n == 2 && at[0] == '.' && at[1] == '.')) return 0;
    at += n;
    if (!*at) return 1;
  }
}

int spec_read(const struct json *document, struct task_spec *spec, char *detail, size_t size) {
  struct check c = {document, detail, size, 1};
  memset(spec, 0, sizeof *spec);
  if (document->kind != JSON_OBJECT) {
    wrong(&c, "the document", "it is no object");
    return 0;
  }
  for (const struct json *each = document->first; each; each = each->next) {
    const char *const *name = KNOWN;
    while (*name && strcmp(*name, each->name) != 0) name++;
    if (!*name) wrong(&c, each->name, "it is no field of a TaskSpec");
  }
  const struct json *version = field(&c, "task_spec", JSON_NUMBER, "it is no number", 1);
  if (version && version->number != 1) wrong(&c, "task_spec", "the version is not 1");
  text(&c, "role", 1);
  spec->case_id = text(&c, "case_id", 1);
  spec->exec_id = text(&c, "exec_id", 0);
  spec->subtask_id = text(&c, "subtask_id", 0);
  spec->cwd = text(&c, "cwd", 0);
  if (spec->cwd && *spec->cwd != '/') wrong(&c, "cwd", "it is no absolute path");
  const struct json *timeout = field(&c, "timeout_sec", JSON_NUMBER, "it is no number", 0);
  if (timeout) {
    spec->timeout_sec = timeout->number >= 1 && timeout->number <= TIMEOUT_SEC_MAX ? (long)timeout->number : 0;
    if (!spec->timeout_sec || (double)spec->timeout_sec != timeout->number) wrong(&c, "timeout_sec", "it is no integer from 1 to 2592000");
  }
  limits(&c);
  spec->env = field(&c, "env", JSON_OBJECT, "it is no object", 0);
  all_texts(&c, "env", spec->env);
  for (const struct json *each = spec->env ? spec->env->first : NULL; each; each = each->next) {
    if (!*each->name || strchr(each->name, '=')) wrong(&c, "env", "a name is empty or has a =");
  }
  spec->artifacts = field(&c, "artifacts", JSON_ARRAY, "it is no list", 0);
  all_texts(&c, "artifacts", spec->artifacts);
  for (const struct json *each = spec->artifacts ? spec->artifacts->first : NULL; c.ok && each; each = each->next) {
    if (!is_relative(each->text)) wrong(&c, "artifacts", "a path is not relative, or not in normal form");
  }
  const struct json *argv = field(&c, "argv", JSON_ARRAY, "it is no list", 1);
  all_texts(&c, "argv", argv);
  if (argv && (!argv->first || (c.ok && !*argv->first->text))) wrong(&c, "argv", "there is no program");
  if (!c.ok) return 0;
  size_t count = 0;
  for (const struct json *each = argv->first; each; each = each->next) count++;
  spec->argv = calloc(count + 1, sizeof *spec->argv);
  if (!spec->argv) abort();
  count = 0;
  for (const struct json *each = argv->first; each; each = each->next) spec->argv[count++] = each->text;
  return 1;
}
