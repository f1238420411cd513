package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.testing.TestEngines;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A list of executables cannot be added to from inside, by bringing one along. */
class WhatIsListedIsAllThatRunsTest {
  private static TestEngines engines;

  @BeforeAll
  static void open() {
    engines = TestEngines.open();
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
        engines.named(engine).create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")))) {
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

  private static String text(Ended ended) {
    return new String(ended.stdout().bytes(), StandardCharsets.UTF_8);
  }
}
