package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Await;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.Trees;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Commands that are stopped by a signal in the middle of their work: their temporary files hold
 * what a data directory protects, such as a whole run or ledger, and are gone with them.
 */
class AStoppedCommandLeavesNothingInTmpTest {
  @TempDir Path dir;
  private Path tmp;

  @BeforeEach
  void makeTmp() throws IOException {
    // Users of sandboxes have to pass through it.
    tmp = Files.createTempDirectory(Path.of("/tmp"), "st");
    Files.setPosixFilePermissions(tmp, PosixFilePermissions.fromString("rwx--x--x"));
  }

  @AfterEach
  void removeTmp() {
    Mounts.below(tmp).forEach(Mounts::unmount);
    Trees.remove(tmp);
  }

  /** In a process of its own whose temporary directory is {@code tmp}. */
  private ProcessBuilder writ(String... arguments) {
    List<String> command = new ArrayList<>(OwnProcess.writ(arguments));
    command.add(1, "-Djava.io.tmpdir=" + tmp);
    // Where this runs in the background of a shell it ignores SIGINT, and so would every child.
    command.addAll(0, List.of("env", "--default-signal=INT,TERM,HUP"));
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(dir.resolve("err").toFile());
    builder.environment().put("WRIT_HOME", dir.resolve("home").toString());
    builder.environment().remove("WRIT_WARM_UP_S");
    return builder;
  }

  private void done(String... arguments) {
    Run run =
        Run.of(
            Stream.concat(Stream.of("--home", home()), Stream.of(arguments))
                .toArray(String[]::new));
    assertThat(run.status()).as(run.err()).isZero();
  }

  private String home() {
    return dir.resolve("home").toString();
  }

  private List<String> left() throws IOException {
    try (Stream<Path> files = Files.list(tmp)) {
      return files
          .map(file -> file.getFileName().toString().replaceAll("[0-9]+$", ""))
          .sorted()
          .toList();
    }
  }

  private static void signal(String signal, Process process) throws Exception {
    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
  }

  private Path named(String file) throws Exception {
    Path pipe = dir.resolve(file);
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    return pipe;
  }

  /** A browser that says its number and then nothing. */
  private Path browser(Path pipe) throws IOException {
    Path script = dir.resolve("browser");
    Files.writeString(script, "#!/bin/sh\necho $$ >" + pipe + "\nexec tail -f /dev/null\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return script;
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143", "HUP, 129"})
  void aReportThatIsBeingPrinted(String signal, int status) throws Exception {
    done("demo");
    Path pipe = named("pipe");
    ProcessBuilder builder = writ("report", "demo", "--pdf", dir.resolve("demo.pdf").toString());
    builder.environment().put("WRIT_CHROMIUM", browser(pipe).toString());
    Process report = builder.start();
    try {
      long browser = Long.parseLong(Files.readString(pipe).strip());
      assertThat(left()).containsExactly("writ-chromium", "writ-report", "writ-runs");
      ProcessHandle handle = ProcessHandle.of(browser).orElseThrow();
      signal(signal, report);
      assertThat(report.waitFor()).isEqualTo(status);
      handle.onExit().join();
    } finally {
      report.destroyForcibly();
    }
    assertThat(left()).isEmpty();
    assertThat(dir.resolve("err")).isEmptyFile();
    assertThat(dir.resolve("demo.pdf")).doesNotExist();
  }

  /** Its keys would stay beside its place, and its anchor would keep the next one from it. */
  @Test
  void aHomeThatIsBeingMade() throws Exception {
    Process init = writ("init").start();
    try {
      Await.until(() -> Files.exists(dir.resolve("home.partial")) || !init.isAlive());
      signal("INT", init);
      init.waitFor();
    } finally {
      init.destroyForcibly();
    }
    if (Files.notExists(dir.resolve("home"))) {
      try (Stream<Path> files = Files.list(dir)) {
        assertThat(files).containsExactly(dir.resolve("err"));
      }
      done("init");
    }
    done("fsck");
  }

  /** Its directory in /tmp has a file system of its own, where the host lets it mount one. */
  @Test
  void aToolThatIsBeingTested() throws Exception {
    Path project = dir.resolve("waits");
    done("tool", "new", "python", project.toString());
    try (Stream<Path> files = Files.walk(project)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".py")).toList()) {
        Files.writeString(file, "import sys, time\nwhile True:\n    time.sleep(1)\n");
      }
    }
    Path out = dir.resolve("out");
    Process test = writ("tool", "test", project.toString()).redirectOutput(out.toFile()).start();
    try {
      List<ProcessHandle> sandbox = List.of();
      while (sandbox.isEmpty()) {
        assertThat(test.isAlive()).as(Files.readString(out)).isTrue();
        sandbox = test.descendants().filter(AStoppedCommandLeavesNothingInTmpTest::isTool).toList();
        Thread.sleep(1);
      }
      assertThat(left()).contains("writ");
      signal("INT", test);
      assertThat(test.waitFor()).isEqualTo(130);
      sandbox.forEach(process -> process.onExit().join());
    } finally {
      test.destroyForcibly();
    }
    assertThat(Mounts.below(tmp)).isEmpty();
    assertThat(left()).isEmpty();
    assertThat(dir.resolve("err")).isEmptyFile();
  }

  private static boolean isTool(ProcessHandle process) {
    return process.info().command().orElse("").contains("python");
  }

  /** While it exercises itself, too; and reading certificates leaves nothing of Vert.x. */
  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143"})
  void aServerThatHasJustStarted(String signal, int status) throws Exception {
    done("init");
    Process openssl =
        new ProcessBuilder(
                ("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
                        + " -subj /CN=here -keyout own.key -out own.pem")
                    .split(" "))
            .directory(dir.resolve("home").toFile())
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("openssl").toFile())
            .start();
    assertThat(openssl.waitFor()).as(Files.readString(dir.resolve("openssl"))).isZero();
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1, tls: own, certificate: own.pem, key: own.key }
        """);
    ProcessBuilder builder = writ("serve", "--port", "0");
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    builder.environment().put("WRIT_WARM_UP_S", "600");
    Process server = builder.start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).startsWith("listening on https://");
      signal(signal, server);
      assertThat(server.waitFor()).isEqualTo(status);
    } finally {
      server.destroyForcibly();
    }
    assertThat(left()).isEmpty();
  }
}
