package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestSetup;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.WayBack;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.bundle.Sample;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ledgers that the releases of their time wrote, in {@code formats/format-N.zip}: the same two runs
 * in each format. They open, are sound, are exported, verified and replayed, and go on.
 *
 * <p>A further format gets a file of its own, made by the last release that writes it; the earlier
 * files stay as they are.
 */
class ALedgerOfEachFormatOpensVerifiesAndReplaysTest {
  private static final int EVENTS = 73;
  private static final Digest ROOT =
      Digest.parse("sha256:1f6f5025bd67e87eb9563458d0bc9ccf27ab17c8bd69ed041a04153119917aa9");
  private static final Digest LARGE =
      Digest.sha256("a large input ".repeat(5000).getBytes(StandardCharsets.UTF_8));
  private static final int CURRENT = 3;

  @TempDir Path dir;

  private void unpack(int format) throws IOException {
    try (InputStream in = getClass().getResourceAsStream("/formats/format-" + format + ".zip");
        ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path file = dir.resolve(entry.getName());
        Files.createDirectories(file.getParent());
        Files.write(file, zip.readAllBytes());
      }
    }
    Files.createDirectories(dir.resolve("data/blobs/new"));
  }

  private Path data() {
    return dir.resolve("data");
  }

  /** A minute after the last event. */
  private TestHome started() {
    return TestSetup.in(dir).seed(2).start(TestHome.START.plusSeconds(64)).open();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void it_is_read_audited_exported_verified_and_replayed(int format) throws Exception {
    unpack(format);
    assertThat(WayBack.format(data())).isEqualTo(format);
    try (LedgerView view = Ledger.openReadOnly(data())) {
      assertThat(view.treeSize()).isEqualTo(EVENTS);
      assertThat(view.root()).isEqualTo(ROOT);
      assertThat(view.blobSize(LARGE)).isEqualTo(70_000);
    }
    assertThat(WayBack.format(data())).as("readers change nothing").isEqualTo(format);
    try (TestHome home = started()) {
      home.clock.stepping(Duration.ofMillis(7));
      assertThat(home.fsck().problems()).isEmpty();
      assertThat(WayBack.format(data())).isEqualTo(CURRENT);
      assertThat(
              Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {})
                  .problems())
          .isEmpty();
      Replayed.completely(home, Sample.RUN);
      Replayed.completely(home, new RunId("acme", "run-2"));
      assertThat(home.ledger().treeSize()).isEqualTo(EVENTS);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void an_upgrade_that_was_only_started_is_undone(int format) throws Exception {
    unpack(format);
    started().close();
    assertThat(WayBack.kept(data()).orElseThrow().isOpen()).isTrue();
    assertThat(WayBack.back(data(), dir.resolve("anchor.json"))).isEqualTo(format);
    try (LedgerView view = Ledger.openReadOnly(data())) {
      assertThat(view.root()).isEqualTo(ROOT);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void it_goes_on(int format) throws Exception {
    unpack(format);
    try (TestHome home = started()) {
      home.clock.stepping(Duration.ofMillis(7));
      Answer answer = home.submit(home.ask("alice").run("run-3"));
      assertThat(answer.decision().verdict()).isEqualTo(Verdict.ALLOW);
      assertThat(home.fsck().problems()).isEmpty();
      Replayed.completely(home, new RunId("acme", "run-3"));
      assertThat(home.ledger().root(EVENTS)).isEqualTo(ROOT);
    }
  }
}
