package dev.writ.verify.bundle;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;

/** A closed run of many effects of a pure tool, and its bundle; always the same bytes. */
final class LongRun {
  private static final String POLICY =
      TestPolicy.YAML
          .replace("limit: 100000,", "limit: 100000000,")
          .replace("limit: 1000000000,", "limit: 100000000000000,");

  private LongRun() {}

  /** Other runs come between, so that its events are in many ranges of the log. */
  static void write(Path home, int effects, Path bundle) throws IOException {
    try (TestHome installation = TestHome.create(home, POLICY);
        FileChannel out =
            FileChannel.open(
                bundle,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      installation.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      for (int i = 0; i < effects; i++) {
        installation.clock.forward(Duration.ofMillis(10));
        installation.submit(installation.ask("alice").params("{\"n\":" + i + "}"));
        if (i % 50 == 0) {
          installation.submit(installation.ask("bob").run("other-" + i));
        }
      }
      Sample.close(installation, "run-1");
      BundleExport.write(
          installation.ledger(),
          Sample.RUN,
          Sample.packages(installation),
          BundleExport.Options.WHOLE,
          out);
    }
  }

  /** {@code HOME EFFECTS BUNDLE}: for measuring by hand. */
  public static void main(String[] args) throws IOException {
    long start = System.nanoTime();
    write(Path.of(args[0]), Integer.parseInt(args[1]), Path.of(args[2]));
    System.out.println(
        Files.size(Path.of(args[2]))
            + " bytes, "
            + (System.nanoTime() - start) / 1_000_000
            + " ms");
  }
}
