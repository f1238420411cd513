package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.testing.TestEngines;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A list of executables cannot be added to from inside, by bringing one along. */
class WhatIsListedIsAllThatRunsTest {
  private static TestEngines engines;

  @BeforeAll
  static void open() {
    engines = TestEngines.withContainers(Resolver.HOST);
  }

  @AfterAll
  static void close() {
    engines.close();
  }

  private static Command line(String line) {
    return Command.of("/usr/bin/sh", "-c", line);
  }

  private static Command listed(String line) {
    return line(line)
        .withExecutables(
            List.of("/usr/bin/chmod", "/usr/bin/cp", "/usr/bin/ls", "/usr/bin/sh", "/usr/bin/cat"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "runc"})
  void aProgramInTheWorkspaceDoesNotRun(String engine) throws Exception {
    byte[] program = Files.readAllBytes(Path.of("/usr/bin/uname"));
    try (Sandbox sandbox =
        engines
            .named(engine)
            .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")))) {
      sandbox.workspace().write("uname", program, true);
      assertThat(text(sandbox.exec(line("./uname -s")))).isEqualTo("Linux\n");
      Ended ended =
          sandbox.exec(
              listed(
                  "./uname -s; cp uname again && chmod 755 again && ./again -s;"
                      + " for l in /lib*/ld-linux*.so.* /lib/*/ld-linux*.so.*; do $l ./uname -s;"
                      + " done; cp uname /tmp/x && chmod 755 /tmp/x; /tmp/x -s; echo '#!/bin/sh' >"
                      + " s; chmod 755 s; ./s && echo script; echo data > file; cat file"));
      assertThat(text(ended)).isEqualTo("data\n");
      assertThat(new String(ended.stderr().bytes(), StandardCharsets.UTF_8)).contains("uname");
      assertThat(text(sandbox.exec(line("./again -s; cat file")))).isEqualTo("Linux\ndata\n");
      assertThat(sandbox.workspace().read("file", 10)).asString().isEqualTo("data\n");
    }
  }

  /** Brings a copy of its interpreter along, and of its C library, to wherever it may write. */
  private static final String BRING_ALONG =
      """
      import ctypes, os, re, subprocess
      program = open("/usr/bin/python3", "rb").read()
      library = re.search(r"\\S*/libc\\.so\\.6", open("/proc/self/maps").read()).group()
      loader = re.search(r"\\S*/ld-linux\\S*", open("/proc/self/maps").read()).group()
      script = b"#!/usr/bin/python3\\nprint('a script ran')\\n"

      def run(*argv, **more):
          try:
              subprocess.run([*argv, "-c", "print('%s ran')" % argv[-1]], stderr=-3, **more)
          except OSError:
              pass

      def attempt(path, *fds):
          run(path, pass_fds=fds)
          run(loader, path, pass_fds=fds)

      for place in ("/dev/shm", "/run", "/tmp", "/workspace", "/dev", "/var/tmp", "/dev/mqueue"):
          try:
              for name, content in (("p", program), ("s", script), ("l", open(library, "rb").read())):
                  open(place + "/" + name, "wb").write(content)
                  os.chmod(place + "/" + name, 0o755)
          except OSError:
              continue
          print("wrote", place)
          attempt(place + "/p")
          attempt(place + "/s")
          try:
              ctypes.CDLL(place + "/l")
              print("mapped", place)
          except OSError:
              pass
          fd = os.open(place, os.O_TMPFILE | os.O_RDWR, 0o755)
          os.write(fd, program)
          attempt("/proc/self/fd/%d" % fd, fd)
          fd = os.open(place + "/p", os.O_RDONLY)
          attempt("/proc/self/fd/%d" % fd, fd)
          if os.fork() == 0:
              try:
                  os.execve(fd, ["p", "-c", "print('by its descriptor, it ran')"], {})
              except OSError:
                  os._exit(0)
          os.wait()
      for flags in (0, 1, 8, 16):
          try:
              print("memfd_create", os.memfd_create("p", flags))
          except OSError as e:
              assert e.errno == 38
      libc = ctypes.CDLL(None, use_errno=True)
      print("memfd_secret", libc.syscall(447, 0))
      """;

  @ParameterizedTest
  @CsvSource({
    "bubblewrap, restricted",
    "bubblewrap, default",
    "bubblewrap, privileged",
    "runc, restricted",
    "runc, privileged",
    "docker, restricted"
  })
  void whatAListedProgramBringsAlongDoesNotRun(String engine, String profile) {
    try (Sandbox sandbox =
        engines
            .named(engine)
            .create(SandboxSpec.of(TestEngines.newId(), Profile.named(profile)).asApproved())) {
      Command command =
          Command.of("/usr/bin/python3", "-c", BRING_ALONG)
              .withLimits(CgroupLimits.STANDARD.withMemoryBytes(512 << 20).withWallMs(60_000))
              .withExecutables(List.of("/usr/bin/python3"));
      Ended ended = sandbox.exec(command);
      String err = new String(ended.stderr().bytes(), StandardCharsets.UTF_8);
      assertThat(ended.succeeded()).as("%s %s", ended.reason(), err).isTrue();
      // The script names its interpreter, which is listed: it is the file that does not run.
      assertThat(text(ended))
          .isEqualTo("wrote /dev/shm\nwrote /tmp\nwrote /workspace\nmemfd_secret -1\n");
    }
  }

  private static String text(Ended ended) {
    return new String(ended.stdout().bytes(), StandardCharsets.UTF_8);
  }
}
