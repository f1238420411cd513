package dev.writ.verify.bundle;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.ledger.archive.ArchiveFolder;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.archive.RunArchive;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeMap;

/** Bundles of a run whose contents are not in them, for every reason that there is. */
public final class GoneContents {
  private static final String STORAGE = "storage: { bytes_max: 100000, unnamed_s: 60 }\n";
  private static final String RULES =
      TestPolicy.YAML
          + STORAGE
          + """
          retention:
            rules:
              - { name: letters, contents: [outputs], match: { tool: mail }, keep_s: 60 }
            sealed: { contents: [inputs, outputs, observations, artifacts], by: subject }
          """;
  private static final String ARCHIVED =
      TestPolicy.YAML + STORAGE + "retention: { rules: [], archive_after_s: 3600 }\n";

  private GoneContents() {}

  /**
   * An output that a rule has deleted, one that was dropped, and what else there was erased by
   * order; after that a denied request with an input, and an effect of which everything is kept.
   */
  public static byte[] deletedAndErased(Path dir) {
    try (TestHome home = TestHome.create(dir, RULES)) {
      home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      home.submit(withInput(home, home.ask("alice"), "of alice"));
      home.submit(home.ask("alice").tool("mail"));
      home.submit(home.ask("alice").operation("text").dropOutput());
      home.clock.forward(Duration.ofSeconds(61));
      home.kernel().contents().retain(home.kernel().now());
      ErasureOrder alice =
          new ErasureOrder(TestKeys.TENANT, Optional.of("alice"), Optional.empty());
      home.kernel().change(home.change(EventKind.CONTENTS_ERASED, alice.toJson()));
      TestRequest denied = home.ask("alice").tool("mail").params("{\"forbidden\":1}");
      home.submit(withInput(home, denied, "of nobody"));
      home.submit(home.ask("alice").params("{\"n\":5}"));
      Sample.close(home, "run-1");
      return Sample.export(home);
    }
  }

  private static TestRequest withInput(TestHome home, TestRequest request, String text) {
    byte[] file = text.getBytes(StandardCharsets.UTF_8);
    var put =
        home.kernel().contents().put(TestKeys.TENANT, new ByteArrayInputStream(file), "text/plain");
    return request.input("a.txt", put.digest(), file.length);
  }

  /**
   * A home whose policy lets {@link Sample#RUN} be archived, with everything that a run can have.
   */
  public static TestHome archivable(Path dir) {
    TestHome home = TestHome.create(dir, ARCHIVED);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    Sample.fill(home);
    Sample.close(home, "run-1");
    return home;
  }

  /** Moves the contents of {@link Sample#RUN} to an archive. */
  public static void archive(TestHome home, Path folder) {
    home.clock.forward(Duration.ofSeconds(3600));
    ArchiveFolder archive = new ArchiveFolder(created(folder));
    archive.begin();
    RunArchive runs = new RunArchive(home.ledger(), archive, Sample.packages(home));
    Instant now = home.kernel().now();
    TreeMap<RunId, ArchivedBundle> stored = new TreeMap<>();
    stored.put(Sample.RUN, runs.store(Sample.RUN, home.kernel().system(), now));
    home.kernel().contents().archive(stored, runs::earlier, now);
  }

  private static Path created(Path folder) {
    try {
      return Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What is left of a run after all of it was archived. */
  public static byte[] archived(Path dir) {
    try (TestHome home = archivable(dir.resolve("home"))) {
      archive(home, dir.resolve("archive"));
      return Sample.export(home);
    }
  }
}
