package dev.writ.verify.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.retention.ArchivedContents;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.ledger.archive.ArchiveFolder;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.Sample;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that archives a run is killed before any of its writes. Every content is then in the
 * ledger or in a whole bundle, and the next attempt comes to the same end.
 */
class AKilledArchivingLosesNothingTest {
  private static final long SEED = 4711;
  private static final int POINTS = 5;
  private static final String ALLOWED =
      TestPolicy.YAML
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention: { rules: [], archive_after_s: 0 }
          """;

  @TempDir Path dir;
  private final List<Digest> contents = new ArrayList<>();
  private byte[] bundle;

  @BeforeEach
  void fill() {
    try (TestHome home = TestHome.create(dir.resolve("home"), ALLOWED)) {
      home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      Sample.fill(home);
      Sample.close(home, "run-1");
      Sample.close(home, "run-2");
      bundle = Sample.export(home);
    }
    try (Bundle open = Bundle.of(bundle)) {
      for (int entry = 0; entry < open.entries(); entry++) {
        if (open.entryName(entry).startsWith("blobs/")) {
          contents.add(
              Digest.parse("sha256:" + open.entryName(entry).substring("blobs/".length())));
        }
      }
    }
    assertThat(contents).isNotEmpty();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path file : all.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  private void killed(Path home, Path archive, int at) throws Exception {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            InterruptedArchiving.class.getName(),
            home.toString(),
            archive.toString(),
            Integer.toString(at));
    int status =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("log").toFile())
            .start()
            .waitFor();
    assertThat(status)
        .as(at + ": " + Files.readString(dir.resolve("log")))
        .isEqualTo(InterruptedArchiving.KILLED);
  }

  private void everyBundleIsWhole(Path archive) throws IOException {
    new ArchiveFolder(archive)
        .visit(name -> {
          assertThat(name).isEqualTo(Digest.sha256(bundle));
          assertThat(new ArchiveReader(new ArchiveFolder(archive)).fetch(name).file()).isNotNull();
        });
  }

  /** Returns how many are in the ledger. */
  private long everyContentIsThere(TestHome home, Path archive) throws IOException {
    ArchivedContents read = new ArchiveReader(new ArchiveFolder(archive));
    long inTheLedger = 0;
    for (Digest content : contents) {
      if (home.ledger().hasBlob(content)) {
        inTheLedger++;
        assertThat(Digest.sha256(home.ledger().blob(content, 1 << 20))).isEqualTo(content);
        continue;
      }
      try (InputStream in =
          read.find(home.ledger(), content, TestKeys.TENANT).orElseThrow().content()) {
        assertThat(Digest.sha256(in.readAllBytes())).isEqualTo(content);
      }
    }
    return inTheLedger;
  }

  private static void isSound(TestHome home) {
    assertThat(home.fsck().problems()).isEmpty();
    assertThat(
            Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {})
                .problems())
        .isEmpty();
  }

  private Path archive(String name) throws IOException {
    Path archive = Files.createDirectory(dir.resolve(name));
    new ArchiveFolder(archive).begin();
    return archive;
  }

  @Test
  void before_any_write() throws Exception {
    Path counted = dir.resolve("counted");
    copy(dir.resolve("home"), counted);
    InterruptedArchiving counting = new InterruptedArchiving(-1, () -> {});
    long stays;
    try (TestHome home = InterruptedArchiving.open(counted)) {
      Path archive = archive("counted-archive");
      counting.archive(home, archive);
      stays = everyContentIsThere(home, archive);
      assertThat(stays).as("what run-2 uses, too").isLessThan(contents.size());
    }
    TreeSet<Integer> points = new TreeSet<>();
    if (System.getProperty("writ.campaign", "").equals("long")) {
      for (int at = 0; at < counting.count(); at++) {
        points.add(at);
      }
    }
    SplittableRandom random = new SplittableRandom(SEED);
    while (points.size() < Math.min(POINTS, counting.count())) {
      points.add(random.nextInt(counting.count()));
    }
    points.add(counting.count() - 1);
    for (int at : points) {
      Path place = dir.resolve("home-" + at);
      copy(dir.resolve("home"), place);
      Path archive = archive("archive-" + at);
      killed(place, archive, at);
      everyBundleIsWhole(archive);
      try (TestHome home = InterruptedArchiving.open(place)) {
        everyContentIsThere(home, archive);
        isSound(home);
        InterruptedArchiving.move(home, new ArchiveFolder(archive), Sample.RUN);
        assertThat(everyContentIsThere(home, archive)).as("point " + at).isEqualTo(stays);
        assertThat(ArchivedRuns.bundle(home.ledger(), Sample.RUN)).contains(Digest.sha256(bundle));
        isSound(home);
        assertThat(statedTwice(home)).isEmpty();
      }
      everyBundleIsWhole(archive);
    }
  }

  /** Contents that two statements name at the same event. */
  private static List<Deletion.Item> statedTwice(TestHome home) {
    TreeSet<Deletion.Item> seen = new TreeSet<>();
    List<Deletion.Item> twice = new ArrayList<>();
    home.events(Deletion.RUN.tenant(), Deletion.RUN.run())
        .forEach(event ->
            Deletion.read(home.document(event.body()).document())
                .contents()
                .forEach(item -> {
                  if (!seen.add(item)) {
                    twice.add(item);
                  }
                }));
    return twice;
  }
}
