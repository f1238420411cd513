/* A strict JSON reader (RFC 8259, unique names) for one document of bounded size and depth. */
#ifndef AGENT_TASK_JSON_H
#define AGENT_TASK_JSON_H

#include <stddef.h>

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
  enum json_kind kind;
  char *name;  /* of a member, UTF-8 without NUL */
  char *text;  /* of a string, the same */
  double number;
  struct json *first; /* items or members, in order */
  struct json *next;
};

/* The document; NULL where it is malformed, and then *why says so. Never freed: the process is short. */
struct json *json_read(const char *bytes, size_t length, const char **why);

/* Length of the UTF-8 sequence at p, 0 where there is none. */
size_t utf8_length(const unsigned char *p, const unsigned char *end);

/* A member of an object, or NULL. */
struct json *json_member(const struct json *object, const char *name);

#endif
