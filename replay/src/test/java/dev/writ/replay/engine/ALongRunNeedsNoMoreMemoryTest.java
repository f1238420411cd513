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

  @TempDir Path dir;

  @Test
  void in_a_bounded_heap() throws Exception {
    Path bundle = dir.resolve("run.writ");
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
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + HEAP,
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                ReplayFile.class.getName(),
                bundle.toString(),
                "unverified")
            .redirectError(Redirect.INHERIT)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
    assertThat(out)
        .contains("\"state\":\"COMPLETE\"", EVENTS / 7 / CALLERS * CALLERS + " effects: through");
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
