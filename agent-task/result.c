#define _GNU_SOURCE
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sha256.h"

void tail_add(struct tail *tail, const unsigned char *bytes, size_t length) {
  if (length > TAIL_BYTES_MAX) {
    bytes += length - TAIL_BYTES_MAX;
    length = TAIL_BYTES_MAX;
  }
  if (tail->length + length > sizeof tail->bytes) {
    size_t keep = TAIL_BYTES_MAX;
    memmove(tail->bytes, tail->bytes + tail->length - keep, keep);
    tail->length = keep;
  }
  memcpy(tail->bytes + tail->length, bytes, length);
  tail->length += length;
}

/* Characters from p on; bytes that are no UTF-8 are one each. */
static size_t characters(const unsigned char *p, const unsigned char *end) {
  size_t count = 0;
  while (p < end) {
    size_t n = utf8_length(p, end);
    p += n ? n : 1;
    count++;
  }
  return count;
}

static void put_text(FILE *out, const unsigned char *p, size_t length) {
  const unsigned char *end = p + length;
  putc('"', out);
  while (p < end) {
    size_t n = utf8_length(p, end);
    if (n == 0) {
      fputs("\xef\xbf\xbd", out);
      p++;
      continue;
    }
    if (n == 1 && (*p == '"' || *p == '\\')) {
      fprintf(out, "\\%c", *p);
    } else if (n == 1 && *p < 0x20) {
      const char *at = strchr("\bb\ff\nn\rr\tt", *p);
      if (*p && at) {
        fprintf(out, "\\%c", at[1]);
      } else {
        fprintf(out, "\\u%04x", *p);
      }
    } else {
      fwrite(p, 1, n, out);
    }
    p += n;
  }
  putc('"', out);
}

static void put_tail(FILE *out, const struct tail *tail) {
  const unsigned char *p = tail->bytes, *end = p + tail->length;
  if (tail->length > TAIL_BYTES_MAX) p = end - TAIL_BYTES_MAX;
  while (p > tail->bytes && p < end && (*p & 0xc0) == 0x80) p++; /* not in the middle of a character */
  for (size_t more = characters(p, end); more > TAIL_CHARS_MAX; more--) {
    size_t n = utf8_length(p, end);
    p += n ? n : 1;
  }
  put_text(out, p, (size_t)(end - p));
}

static void put_member(FILE *out, const char *name, const char *value) {
  if (value) {
    fprintf(out, ",\"%s\":", name);
    put_text(out, (const unsigned char *)value, strlen(value));
  }
}

static void put_time(FILE *out, const char *name, struct timespec at) {
  struct tm utc;
  char text[32];
  gmtime_r(&at.tv_sec, &utc);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  fprintf(out, ",\"%s\":\"%s.%03ldZ\"", name, text, at.tv_nsec / 1000000);
}

/* The types of seed 002. */
static const char *type(const char *path) {
  const char *file = strrchr(path, '/');
  file = file ? file + 1 : path;
  if (strcmp(file, "junit.xml") == 0) return "junit_xml";
  if (strcmp(file, "coverage.xml") == 0) return "coverage_xml";
  if (strcmp(file, "test-results.tar") == 0 || strncmp(path, "test-results/", 13) == 0) return "test_results";
  return "file";
}

/* Opens a file below a directory, through no symbolic link. */
static int open_below(const char *directory, const char *path) {
  int at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  char *copy = strdup(path), *rest = copy;
  if (!copy) abort();
  for (char *name = strsep(&rest, "/"); at >= 0 && name; name = strsep(&rest, "/")) {
    int next = openat(at, name, (rest ? O_PATH | O_DIRECTORY : O_RDONLY | O_NONBLOCK) | O_NOFOLLOW | O_CLOEXEC);
    close(at);
    at = next;
  }
  free(copy);
  return at;
}

static int put_artifact(FILE *out, const char *directory, const char *path, int first) {
  unsigned char buffer[65536];
  struct sha256 digest;
  struct stat about;
  char hex[65];
  long long size = 0;
  ssize_t n = -1;
  int file = open_below(directory, path);
  if (file < 0) return 0;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
    sha256_begin(&digest);
    while ((n = read(file, buffer, sizeof buffer)) > 0) {
      sha256_add(&digest, buffer, (size_t)n);
      size += n;
    }
  }
  close(file);
  if (n < 0) return 0;
  sha256_end(&digest, hex);
  fprintf(out, "%s{\"digest\":\"sha256:%s\",\"path\":", first ? "" : ",", hex);
  put_text(out, (const unsigned char *)path, strlen(path));
  fprintf(out, ",\"size\":%lld,\"type\":\"%s\"}", size, type(path));
  return 1;
}

static void put(FILE *out, const struct task_result *r) {
  const struct task_spec *spec = r->spec;
  int first = 1;
  fputs("{\"artifacts\":[", out);
  for (const struct json *each = spec && spec->artifacts ? spec->artifacts->first : NULL; each; each = each->next) {
    if (put_artifact(out, spec->cwd ? spec->cwd : ".", each->text, first)) first = 0;
  }
  putc(']', out);
  put_member(out, "case_id", spec ? spec->case_id : NULL);
  fprintf(out, ",\"duration_ms\":%lld", r->duration_ms);
  put_member(out, "ended", r->ended);
  if (r->code) {
    fprintf(out, ",\"error\":{\"code\":\"%s\",\"detail\":", r->code);
    put_text(out, (const unsigned char *)r->detail, strlen(r->detail));
    putc('}', out);
  }
  put_member(out, "exec_id", spec ? spec->exec_id : NULL);
  fprintf(out, ",\"exit_code\":%d", r->exit_code);
  put_time(out, "finished_at", r->finished);
  if (r->digest) fprintf(out, ",\"spec\":\"sha256:%s\"", r->digest);
  put_time(out, "started_at", r->started);
  fputs(",\"stderr_tail\":", out);
  put_tail(out, &r->err);
  fputs(",\"stdout_tail\":", out);
  put_tail(out, &r->out);
  put_member(out, "subtask_id", spec ? spec->subtask_id : NULL);
  fputs(",\"task_result\":1}", out);
}

static char *beside(const char *path) {
  char *part;
  if (asprintf(&part, "%s.part", path) < 0) abort();
  return part;
}

static int open_part(const char *part) {
  unlink(part); /* of a run that was killed */
  return open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
}

int result_place(const char *path) {
  struct stat about;
  char *part = beside(path);
  int here = lstat(path, &about) == 0;
  int file = here && (!S_ISREG(about.st_mode) || unlink(path) != 0) ? -1 : open_part(part);
  if (file >= 0) {
    close(file);
    unlink(part);
  }
  free(part);
  return file >= 0;
}

static int sync_directory(const char *path) {
  char *copy = strdup(path);
  if (!copy) abort();
  int directory = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int done = directory >= 0 && (fsync(directory) == 0 || errno == EINVAL); /* some file systems have none */
  if (directory >= 0) close(directory);
  free(copy);
  return done;
}

int result_write(const struct task_result *result, const char *path) {
  char *part = beside(path);
  int file = open_part(part);
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  int done = 0;
  if (out) {
    put(out, result);
    done = fflush(out) == 0 && !ferror(out) && fsync(file) == 0;
    done = fclose(out) == 0 && done && rename(part, path) == 0 && sync_directory(path);
    if (!done) unlink(part);
  }
  free(part);
  return done;
}
