#include "json.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16

struct reader {
  const unsigned char *at, *end;
  const char *why;
};

static struct json *value(struct reader *r, int depth);

static void *fail(struct reader *r, const char *why) {
  if (!r->why) r->why = why;
  return NULL;
}

static struct json *fresh(enum json_kind kind) {
  struct json *made = calloc(1, sizeof *made);
  if (!made) abort();
  made->kind = kind;
  return made;
}

static void space(struct reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

static int hex4(struct reader *r) {
  int code = 0;
  if (r->end - r->at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    unsigned char c = *r->at++;
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

static char *utf8(char *out, int code) {
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xc0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out++ = (char)(0xe0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  } else {
    *out++ = (char)(0xf0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 0x3f));
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  }
  return out;
}


size_t utf8_length(const unsigned char *p, const unsigned char *end) {
  size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;
  if (n == 0 || (size_t)(end - p) < n) return 0;
  for (size_t i = 1; i < n; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0;
  }
  if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)) return 0;
  return n;
}

/* The bytes up to the quote that ends a string: it has no more of its own. */
static size_t raw_length(const struct reader *r) {
  const unsigned char *p = r->at;
  while (p < r->end && *p != '"') p += *p == '\\' && p + 1 < r->end ? 2 : 1;
  return (size_t)(p - r->at);
}

static char *string(struct reader *r) {
  if (r->at >= r->end || *r->at != '"') return fail(r, "a string is missing");
  r->at++;
  char *text = malloc(raw_length(r) + 1), *out = text;
  if (!text) abort();
  while (r->at < r->end && *r->at != '"') {
    if (*r->at < 0x20) return fail(r, "a control character in a string");
    if (*r->at != '\\') {
      size_t n = utf8_length(r->at, r->end);
      if (n == 0) return fail(r, "a string is not UTF-8");
      memcpy(out, r->at, n);
      out += n;
      r->at += n;
      continue;
    }
    if (++r->at >= r->end) break;
    int code;
    switch (*r->at++) {
      case '"': *out++ = '"'; break;
      case '\\': *out++ = '\\'; break;
      case '/': *out++ = '/'; break;
      case 'b': *out++ = '\b'; break;
      case 'f': *out++ = '\f'; break;
      case 'n': *out++ = '\n'; break;
      case 'r': *out++ = '\r'; break;
      case 't': *out++ = '\t'; break;
      case 'u':
        code = hex4(r);
        if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
          r->at += 2;
          int low = hex4(r);
          code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00) : -1;
        }
        if (code <= 0 || (code >= 0xd800 && code < 0xe000)) return fail(r, "an escape that is no character, or NUL");
        out = utf8(out, code);
        break;
      default: return fail(r, "an unknown escape");
    }
  }
  if (r->at >= r->end) return fail(r, "a string does not end");
  r->at++;
  *out = 0;
  return text;
}

static size_t digits(struct reader *r) {
  size_t n = 0;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
    r->at++;
    n++;
  }
  return n;
}

static struct json *number(struct reader *r) {
  const unsigned char *from = r->at;
  if (*r->at == '-') r->at++;
  const unsigned char *whole = r->at;
  size_t n = digits(r);
  if (n == 0 || (n > 1 && *whole == '0')) return fail(r, "no number");
  if (r->at < r->end && *r->at == '.') {
    r->at++;
    if (digits(r) == 0) return fail(r, "no number");
  }
  if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
    r->at++;
    if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
    if (digits(r) == 0) return fail(r, "no number");
  }
  char text[64];
  if ((size_t)(r->at - from) >= sizeof text) return fail(r, "a number is too long");
  memcpy(text, from, (size_t)(r->at - from));
  text[r->at - from] = 0;
  struct json *made = fresh(JSON_NUMBER);
  made->number = strtod(text, NULL);
  return made;
}

static struct json *literal(struct reader *r, const char *word, enum json_kind kind) {
  size_t n = strlen(word);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return fail(r, "no value");
  r->at += n;
  return fresh(kind);
}

static struct json *several(struct reader *r, int depth, enum json_kind kind, unsigned char close) {
  struct json *made = fresh(kind), **last = &made->first;
  r->at++;
  space(r);
  if (r->at < r->end && *r->at == close) {
    r->at++;
    return made;
  }
  for (;;) {
    char *name = NULL;
    space(r);
    if (kind == JSON_OBJECT) {
      name = string(r);
      if (!name) return NULL;
      if (json_member(made, name)) return fail(r, "a name occurs twice");
      space(r);
      if (r->at >= r->end || *r->at++ != ':') return fail(r, "a colon is missing");
    }
    struct json *item = value(r, depth + 1);
    if (!item) return NULL;
    item->name = name;
    *last = item;
    last = &item->next;
    space(r);
    if (r->at >= r->end) return fail(r, "it ends too early");
    unsigned char c = *r->at++;
    if (c == close) return made;
    if (c != ',') return fail(r, "a comma is missing");
  }
}

static struct json *value(struct reader *r, int depth) {
  if (depth > DEPTH_MAX) return fail(r, "it is nested too deeply");
  space(r);
  if (r->at >= r->end) return fail(r, "it ends too early");
  switch (*r->at) {
    case '{': return several(r, depth, JSON_OBJECT, '}');
    case '[': return several(r, depth, JSON_ARRAY, ']');
    case '"': {
      char *text = string(r);
      if (!text) return NULL;
      struct json *made = fresh(JSON_STRING);
      made->text = text;
      return made;
    }
    case 't': return literal(r, "true", JSON_BOOL);
    case 'f': return literal(r, "false", JSON_BOOL);
    case 'n': return literal(r, "null", JSON_NULL);
    default: return number(r);
  }
}

struct json *json_read(const char *bytes, size_t length, const char **why) {
  struct reader r = {(const unsigned char *)bytes, (const unsigned char *)bytes + length, NULL};
  struct json *made = value(&r, 0);
  space(&r);
  if (made && r.at != r.end) made = fail(&r, "something follows the document");
  *why = r.why;
  return made;
}

struct json *json_member(const struct json *object, const char *name) {
  for (struct json *each = object->first; each; each = each->next) {
    if (strcmp(each->name, name) == 0) return each;
  }
  return NULL;
}
