package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.verify.bundle.Sample;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clock and seed are inputs: the same bundle gives the same report, byte for byte, under another
 * system date, time zone, locale, charset, hash seed, number of processors, garbage collector, and
 * with the compiler off.
 */
class TheHostDoesNotCountTest {
  private static final List<Path> FAKETIME =
      List.of(
          Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"),
          Path.of("/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"));

  @TempDir Path dir;

  private Path bundle() throws IOException {
    try (TestHome home = Sample.home(dir.resolve("home"))) {
      home.clock.stepping(Duration.ofMillis(7));
      Sample.fill(home);
      home.driver.does("mail", Behaviours.fails());
      home.submit(home.ask("alice").tool("mail").params("{\"text\":\"İıß…\",\"x\":1e21}"));
      Sample.close(home, "run-1");
      return Files.write(dir.resolve("run.writ"), Sample.bundle(home, Sample.RUN));
    }
  }

  private static String replay(Path bundle, String date, List<String> options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-cp",
            System.getProperty("java.class.path"),
            ReplayFile.class.getName(),
            bundle.toString()));
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
    builder.environment().put("LC_ALL", "C");
    if (!date.isEmpty()) {
      builder.environment().put("LD_PRELOAD", faketime().toString());
      builder.environment().put("FAKETIME", date);
      builder.environment().put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
      builder
          .environment()
          .put("FAKETIME_FORCE_MONOTONIC_FIX", "0"); // else timed waits return at once
    }
    Process process = builder.start();
    byte[] out = process.getInputStream().readAllBytes();
    assertThat(process.waitFor()).as(options.toString()).isZero();
    return new String(out, StandardCharsets.UTF_8);
  }

  private static Path faketime() {
    return FAKETIME.stream()
        .filter(Files::exists)
        .findFirst()
        .orElseThrow(() -> new AssertionError("libfaketime is not here; see check"));
  }

  @Test
  void the_report_is_the_same_bytes() throws Exception {
    Path bundle = bundle();
    String first = replay(bundle, "", List.of("-XX:+UseSerialGC"));
    assertThat(first).contains("\"state\":\"COMPLETE\"");
    TreeMap<String, List<String>> others = new TreeMap<>();
    others.put(
        "@1999-12-31 23:59:58",
        List.of(
            "-XX:+UseZGC",
            "-Xint",
            "-XX:ActiveProcessorCount=1",
            "-Duser.timezone=America/St_Johns"));
    others.put(
        "@2041-02-28 12:00:00",
        List.of(
            "-XX:+UseG1GC",
            "-XX:ActiveProcessorCount=8",
            "-Duser.timezone=Pacific/Kiritimati",
            "-Duser.language=tr",
            "-Duser.country=TR",
            "-Dfile.encoding=COMPAT",
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:hashCode=2"));
    others.put(
        "",
        List.of(
            "-XX:+UseParallelGC",
            "-XX:ActiveProcessorCount=3",
            "-Duser.language=ar",
            "-Duser.country=EG",
            "-Dfile.encoding=UTF-8",
            "-Dstdout.encoding=UTF-16",
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:hashCode=1"));
    for (var other : others.entrySet()) {
      assertThat(replay(bundle, other.getKey(), other.getValue()))
          .as(other.toString())
          .isEqualTo(first);
    }
  }
}
