package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestRequest;
import dev.writ.verify.bundle.Sample;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is done is dropped: a long run replays in a small heap. {@code -Dwrit.replay.events=100000}
 * and {@code -Dwrit.replay.heap=256m} measure it.
 */
class ALongRunNeedsNoMoreMemoryTest {
  private static final int EVENTS = Integer.getInteger("writ.replay.events", 7_000);
  private static final String HEAP = System.getProperty("writ.replay.heap", "64m");
  private static final int CALLERS = 8;

  /** A page of the bundle has it in base64, a third longer: it is never whole in memory. */
  private static final String HEAP_OF_REPORT = System.getProperty("writ.report.heap", "32m");

  @TempDir static Path dir;

  private static Path bundle;

  @BeforeAll
  static void runOnce() throws Exception {
    bundle = dir.resolve("run.writ");
    try (TestHome home = Sample.home(dir.resolve("home"))) {
      home.clock.stepping(Duration.ofMillis(1));
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        String tool = i % 2 == 0 ? "calc" : "mail";
        threads.add(Thread.ofVirtual().start(() -> ask(home, tool)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      Sample.close(home, "run-1");
      Files.write(bundle, Sample.bundle(home, Sample.RUN));
    }
  }

  @Test
  void in_a_bounded_heap() throws Exception {
    String out = run(HEAP, ReplayFile.class, "unverified");
    assertThat(out)
        .contains("\"state\":\"COMPLETE\"", EVENTS / 7 / CALLERS * CALLERS + " effects: through");
  }

  @Test
  void nor_does_its_report() throws Exception {
    Path page = dir.resolve("page.html");
    run(HEAP_OF_REPORT, ReportFile.class, page.toString());
    assertThat(Files.size(page)).isGreaterThan(Files.size(bundle) * 4 / 3);
  }

  private static String run(String heap, Class<?> program, String argument) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName(),
                bundle.toString(),
                argument)
            .redirectError(Redirect.INHERIT)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
    return out;
  }

  private static void ask(TestHome home, String tool) {
    for (int i = 0; i < EVENTS / 7 / CALLERS; i++) {
      home.submit(request(home, tool));
    }
  }

  private static TestRequest request(TestHome home, String tool) {
    synchronized (home.clock) {
      return home.ask("alice").tool(tool);
    }
  }
}
