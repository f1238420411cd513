/*
 * agent-task: runs one TaskSpec and leaves one TaskResult (spec/task.md).
 *
 *   agent-task [--spec FILE] --result FILE      the spec from standard input where no file is named
 *
 * Built statically, so that a container needs nothing else: see build.sh.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "result.h"
#include "sha256.h"

#define GRACE_MS 5000 /* from SIGTERM to SIGKILL */
#define DRAIN_MS 500  /* for output of a process that survives the command */

enum { TIMED_OUT = 124, REFUSED = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

/* A stream of the command: what was read of it and not yet passed on. */
struct stream {
  int in, out;
  unsigned char bytes[4096]; /* no more than a pipe takes at once, so that a write never blocks after poll */
  size_t from, to;
  struct tail *tail;
};

static long long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static char *read_spec(const char *path, size_t *length) {
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  char *bytes = malloc(SPEC_BYTES_MAX + 1);
  if (!bytes) abort();
  size_t n = 0;
  while (file >= 0 && n <= SPEC_BYTES_MAX) {
    ssize_t more = read(file, bytes + n, SPEC_BYTES_MAX + 1 - n);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return NULL;
    if (more == 0) break;
    n += (size_t)more;
  }
  if (file < 0 || n > SPEC_BYTES_MAX) return NULL;
  if (path) close(file);
  *length = n;
  return bytes;
}

static void child(const struct task_spec *spec, int out, int err, int failed, const sigset_t *mask) {
  int nothing = open("/dev/null", O_RDONLY);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing runs that nobody attends */
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, mask, NULL);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  if (nothing < 0) close(STDIN_FILENO); /* a container without /dev */
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const struct json *each = spec->env ? spec->env->first : NULL; each; each = each->next) setenv(each->name, each->text, 1);
  execvp(spec->argv[0], spec->argv);
  int why = errno;
  if (write(failed, &why, sizeof why) < 0) _exit(NOT_FOUND);
  _exit(NOT_FOUND);
}

/* Passes on what it can without blocking; 0 at the stream's end. */
static int step(struct stream *s, short events) {
  if (s->from < s->to) {
    if (events & (POLLOUT | POLLERR | POLLHUP | POLLNVAL)) {
      ssize_t n = write(s->out, s->bytes + s->from, s->to - s->from);
      s->from = n > 0 ? s->from + (size_t)n : s->to; /* whoever read it has gone: the tail is kept all the same */
    }
    return 1;
  }
  if (!(events & (POLLIN | POLLERR | POLLHUP))) return 1;
  ssize_t n = read(s->in, s->bytes, sizeof s->bytes);
  if (n < 0 && errno == EINTR) return 1;
  if (n <= 0) return 0;
  s->from = 0;
  s->to = (size_t)n;
  tail_add(s->tail, s->bytes, s->to);
  return 1;
}

/* Waits for the command's end, and ends it where its time is over or somebody asks. */
static int attend(pid_t pid, const struct task_spec *spec, int signals, struct stream streams[2], struct task_result *result) {
  long long end = spec->timeout_sec ? now_ms() + spec->timeout_sec * 1000LL : -1, kill_at = -1, drained = -1;
  int open[2] = {1, 1}, status = 0, running = 1;
  while (running || ((open[0] || open[1]) && now_ms() < drained)) {
    long long next = running ? (kill_at >= 0 ? kill_at : end) : drained;
    long long left = next < 0 ? -1 : next - now_ms();
    struct pollfd fds[3] = {{signals, POLLIN, 0}, {-1, 0, 0}, {-1, 0, 0}};
    for (int i = 0; i < 2; i++) {
      int pending = streams[i].from < streams[i].to;
      if (open[i]) fds[i + 1] = (struct pollfd){pending ? streams[i].out : streams[i].in, pending ? POLLOUT : POLLIN, 0};
    }
    poll(fds, 3, left < 0 && next >= 0 ? 0 : left > 60000 ? 60000 : (int)left);
    for (int i = 0; i < 2; i++) {
      if (open[i] && fds[i + 1].revents) open[i] = step(&streams[i], fds[i + 1].revents);
    }
    struct signalfd_siginfo info;
    if ((fds[0].revents & POLLIN) && read(signals, &info, sizeof info) == sizeof info && info.ssi_signo != SIGCHLD && running && kill_at < 0) {
      result->ended = "cancelled";
      kill(-pid, SIGTERM);
      kill_at = now_ms() + GRACE_MS;
    }
    pid_t gone;
    int how;
    while ((gone = waitpid(-1, &how, WNOHANG)) > 0) { /* also those that the command left behind */
      if (gone == pid) {
        status = how;
        running = 0;
        kill(-pid, SIGKILL);
        drained = now_ms() + DRAIN_MS;
      }
    }
    if (running && kill_at < 0 && end >= 0 && now_ms() >= end) {
      result->ended = "timeout";
      kill(-pid, SIGTERM);
      kill_at = now_ms() + GRACE_MS;
    } else if (running && kill_at >= 0 && now_ms() >= kill_at) {
      kill(-pid, SIGKILL);
      kill_at = now_ms() + GRACE_MS;
    }
  }
  return status;
}

static void refuse(struct task_result *result, const char *code, const char *detail, int exit_code) {
  result->ended = "refused";
  result->code = code;
  result->detail = detail;
  result->exit_code = exit_code;
}

static void run(const struct task_spec *spec, struct task_result *result) {
  int out[2], err[2], failed[2], why = 0;
  sigset_t mask, before;
  if (spec->cwd && chdir(spec->cwd) != 0) {
    refuse(result, "TSK-004", "cwd: no such directory", REFUSED);
    return;
  }
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigaddset(&mask, SIGTERM);
  sigaddset(&mask, SIGINT);
  sigaddset(&mask, SIGHUP);
  sigprocmask(SIG_BLOCK, &mask, &before);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int signals = signalfd(-1, &mask, SFD_CLOEXEC);
  if (signals < 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0) abort();
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) child(spec, out[1], err[1], failed[1], &before);
  close(out[1]);
  close(err[1]);
  close(failed[1]);
  if (pid < 0) {
    refuse(result, "TSK-005", "no process can be made", REFUSED);
    return;
  }
  setpgid(pid, pid); /* whichever of the two is first */
  if (read(failed[0], &why, sizeof why) == sizeof why) {
    waitpid(pid, NULL, 0);
    refuse(result, "TSK-005", why == ENOENT ? "argv: the program is not there" : "argv: the program cannot be executed",
           why == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
    return;
  }
  struct stream streams[2] = {{.in = out[0], .out = STDOUT_FILENO, .tail = &result->out}, {.in = err[0], .out = STDERR_FILENO, .tail = &result->err}};
  int status = attend(pid, spec, signals, streams, result);
  int timed_out = result->ended && strcmp(result->ended, "timeout") == 0;
  result->exit_code = timed_out ? TIMED_OUT : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (!result->ended) result->ended = WIFEXITED(status) ? "exited" : "signaled";
}

static int usage(void) {
  fputs("agent-task: TSK-001 usage: agent-task [--spec FILE] --result FILE\n", stderr);
  return REFUSED;
}

int main(int argc, char **argv) {
  static struct task_result result;
  struct task_spec spec;
  const char *from = NULL, *to = NULL, *why = NULL;
  char detail[256], hex[65];
  size_t length = 0;
  for (int i = 1; i < argc; i += 2) {
    const char **option = strcmp(argv[i], "--spec") == 0 ? &from : strcmp(argv[i], "--result") == 0 ? &to : NULL;
    if (!option || *option || i + 1 == argc) return usage();
    *option = argv[i + 1];
  }
  if (!to) return usage();
  if (*to != '/') { /* the command's directory is another one */
    char *here = getcwd(NULL, 0), *whole;
    if (!here || asprintf(&whole, "%s/%s", here, to) < 0) abort();
    to = whole;
  }
  if (!result_place(to)) {
    fputs("agent-task: TSK-006 the result cannot be written there\n", stderr);
    return REFUSED;
  }
  clock_gettime(CLOCK_REALTIME, &result.started);
  long long begin = now_ms();
  char *bytes = read_spec(from, &length);
  if (!bytes) {
    refuse(&result, "TSK-002", "the spec cannot be read, or is longer than 1 MiB", REFUSED);
  } else {
    struct sha256 digest;
    sha256_begin(&digest);
    sha256_add(&digest, bytes, length);
    sha256_end(&digest, hex);
    result.digest = hex;
    const struct json *document = json_read(bytes, length, &why);
    if (!document) {
      refuse(&result, "TSK-002", why, REFUSED);
    } else if (!spec_read(document, &spec, detail, sizeof detail)) {
      refuse(&result, "TSK-003", detail, REFUSED);
    } else {
      result.spec = &spec;
      run(&spec, &result);
    }
  }
  result.duration_ms = now_ms() - begin;
  clock_gettime(CLOCK_REALTIME, &result.finished);
  if (result.code) fprintf(stderr, "agent-task: %s %s\n", result.code, result.detail);
  if (!result_write(&result, to)) {
    fputs("agent-task: TSK-006 the result cannot be written\n", stderr);
    return REFUSED;
  }
  return result.exit_code;
}
