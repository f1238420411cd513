package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.SystemState;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.testing.Refusal;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ABundleIsTheSameBytesTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  @TempDir Path dir;

  @Test
  void aWholeClosedRunIsVerified() {
    try (TestHome home = Sample.home(dir)) {
      Sample.fill(home);
      Sample.close(home, "run-1");
      byte[] bundle = Sample.export(home);
      List<String> heard = new ArrayList<>();
      BundleVerifier.Verified verified =
          BundleVerifier.verify(bundle, BundleVerifier.Options.pinned(Sample.pins()), heard::add);
      assertThat(verified.pinned()).isTrue();
      assertThat(verified.manifest().closed()).isTrue();
      assertThat(heard).isEqualTo(verified.verified());
      assertThat(verified.verified())
          .contains(
              "6 receipts: lamport and prev",
              "6 dispatches: allowed, unexpired, once for each intent and request",
              "8 decisions: judged again to the same bytes",
              "3 tool manifests: of the packages that the intents name");
      assertThat(verified.notVerified()).anyMatch(line -> line.startsWith("1 outputs: not kept"));
      assertThat(verified.notVerified())
          .filteredOn(line -> line.contains("pinned"))
          .singleElement()
          .asString()
          .startsWith("5 keys that signed: not pinned");
    }
  }

  @Test
  void twiceAndFromACopiedLedgerAndAfterTheLogWentOn() throws Exception {
    byte[] first;
    try (TestHome home = Sample.home(dir.resolve("a"))) {
      Sample.fill(home);
      Sample.close(home, "run-1");
      first = Sample.export(home);
      assertThat(Sample.export(home)).isEqualTo(first);
      home.submit(home.ask("bob").run("run-3"));
      home.enrol(TestKeys.trusted("late", KeyRole.LOG, Optional.empty()));
      home.kernel().checkpoint();
      assertThat(Sample.export(home)).isEqualTo(first);
      try (LedgerView reader = Ledger.openReadOnly(home.ledgerConfig().dir())) {
        assertThat(Sample.export(reader, home, Sample.RUN)).isEqualTo(first);
      }
    }
    copy(dir.resolve("a"), dir.resolve("b"));
    try (TestHome other = Sample.home(dir.resolve("c"));
        LedgerView copied = Ledger.openReadOnly(dir.resolve("b").resolve("data"))) {
      assertThat(Sample.export(copied, other, Sample.RUN)).isEqualTo(first);
    }
  }

  private static void copy(Path from, Path to) throws Exception {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.sorted().toList()) {
        Path copy = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    }
  }

  @Test
  void ordinaryToolsUnpackIt() throws Exception {
    byte[] bundle = Sample.small(dir);
    TreeMap<String, byte[]> read = new TreeMap<>();
    try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(bundle))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        read.put(entry.getName(), zip.readAllBytes());
      }
    }
    var ours = Packed.read(bundle);
    assertThat(List.copyOf(read.keySet())).isEqualTo(List.copyOf(ours.keySet()));
    ours.forEach((name, bytes) -> assertThat(read.get(name)).as(name).isEqualTo(bytes));
  }

  @Test
  void anOpenRunIsMarkedOpenAndNeedsACheckpoint() {
    try (TestHome home = Sample.home(dir)) {
      home.submit(home.ask("alice"));
      Refusal.of(BundleError.NOT_COVERED, () -> Sample.export(home));
      home.kernel().checkpoint();
      byte[] bundle = Sample.export(home);
      BundleVerifier.Verified verified = OPINION.pinned(bundle);
      assertThat(verified.manifest().closed()).isFalse();
      assertThat(verified.notVerified()).anyMatch(line -> line.startsWith("the end of the run"));
      Refusal.of(
          BundleError.RUN_OPEN,
          () ->
              OPINION.verify(
                  bundle, new BundleVerifier.Options(Optional.empty(), Optional.empty(), true)));
      home.submit(home.ask("alice"));
      Refusal.of(BundleError.NOT_COVERED, () -> Sample.export(home));
    }
  }

  @Test
  void withoutBlobsAndToolsEverythingElseStillHolds() {
    try (TestHome home = Sample.home(dir)) {
      Sample.fill(home);
      Sample.close(home, "run-1");
      byte[] bundle =
          BundleExport.of(
              home.ledger(),
              Sample.RUN,
              Sample.packages(home),
              new BundleExport.Options(false, false, Optional.empty()));
      assertThat(Packed.read(bundle).keySet())
          .noneMatch(name ->
              name.startsWith(BundleEntryNames.BLOBS) || name.startsWith(BundleEntryNames.TOOLS));
      BundleVerifier.Verified verified = OPINION.pinned(bundle);
      assertThat(verified.verified()).noneMatch(line -> line.contains("blobs"));
      assertThat(verified.notVerified())
          .anyMatch(line -> line.matches("\\d+ blobs: left out.*"))
          .anyMatch(line -> line.equals("tool manifests and packages: left out"));
    }
  }

  @Test
  void whatIsNotThereIsRefusedAndNotLeftOut() {
    try (TestHome home = Sample.home(dir)) {
      home.submit(home.ask("alice"));
      home.kernel().checkpoint();
      Refusal.of(BundleError.RUN_UNKNOWN, () -> Sample.export(home.ledger(), home, Sample.OTHER));
      Refusal.of(
          BundleError.RUN_UNKNOWN, () -> Sample.export(home.ledger(), home, SystemState.RUN));
      LedgerView withoutBlobs =
          (LedgerView)
              java.lang.reflect.Proxy.newProxyInstance(
                  LedgerView.class.getClassLoader(),
                  new Class<?>[] {LedgerView.class},
                  (_, method, args) ->
                      method.getName().equals("hasBlob")
                          ? false
                          : method.invoke(home.ledger(), args));
      Refusal.of(BundleError.CONTENT_MISSING, () -> Sample.export(withoutBlobs, home, Sample.RUN));
      home.tools.remove("calc", "1.0.0");
      Refusal.of(BundleError.TOOL_MISSING, () -> Sample.export(home));
    }
  }
}
