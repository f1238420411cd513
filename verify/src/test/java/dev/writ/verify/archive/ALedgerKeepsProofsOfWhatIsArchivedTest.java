package dev.writ.verify.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.ledger.archive.ArchiveFolder;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bytes of a ledger before and after its runs are archived, and of the archive. */
class ALedgerKeepsProofsOfWhatIsArchivedTest {
  private static final List<Integer> EFFECTS = ArchiveFigures.effects(60);
  private static final int OF_A_RUN = 100;
  private static final int OUTPUT = ArchiveFigures.outputBytes(20_000);

  @TempDir Path dir;

  private static long bytes(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  @Test
  void before_and_after() throws IOException {
    for (int effects : EFFECTS) {
      measure(effects);
    }
  }

  private void measure(int effects) throws IOException {
    String policy = TestPolicy.YAML + "retention: { rules: [], archive_after_s: 0 }\n";
    try (TestHome home = TestHome.create(dir.resolve("home-" + effects), policy)) {
      home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      Random random = new Random(7);
      byte[] content = new byte[OUTPUT / 4 * 3];
      for (int n = 0; n < effects; n++) {
        random.nextBytes(content);
        String text = Base64.getEncoder().encodeToString(content);
        home.driver.does("mail", Behaviours.gives(text, "text/plain"));
        home.submit(home.ask("alice").tool("mail").operation("text").run("run-" + n / OF_A_RUN));
      }
      ArchiveFolder folder =
          new ArchiveFolder(Files.createDirectory(dir.resolve("archive-" + effects)));
      folder.begin();
      RunArchive archive = new RunArchive(home.ledger(), folder, Sample.packages(home));
      TreeMap<RunId, ArchivedBundle> runs = new TreeMap<>();
      for (int run = 0; run * OF_A_RUN < effects; run++) {
        Sample.close(home, "run-" + run);
      }
      Path data = home.ledgerConfig().dir();
      long before = bytes(data);
      Instant now = home.kernel().now();
      long began = System.nanoTime();
      for (int run = 0; run * OF_A_RUN < effects; run++) {
        RunId id = new RunId(TestKeys.TENANT, "run-" + run);
        runs.put(id, archive.store(id, home.kernel().system(), now));
      }
      ContentRetention.Deleted moved =
          home.kernel().contents().archive(runs, archive::earlier, now);
      double seconds = (System.nanoTime() - began) / 1e9;
      long after = bytes(data);
      assertThat(moved.bytes()).isGreaterThanOrEqualTo((long) effects * OUTPUT);
      assertThat(after).isLessThan(before - (long) effects * OUTPUT / 2);
      assertThat(home.fsck().problems()).isEmpty();
      System.out.println(
          effects
              + " effects: "
              + before
              + " bytes on disk, "
              + after
              + " after "
              + moved
              + " in "
              + seconds
              + " s; the archive has "
              + bytes(dir.resolve("archive-" + effects)));
    }
  }
}
