package dev.writ.verify.bundle;

import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.Answer;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** An installation whose log key is enrolled, and bundles of its runs, whole and forged. */
public final class Sample {
  public static final RunId RUN = new RunId(TestKeys.TENANT, "run-1");
  static final RunId OTHER = new RunId(TestKeys.TENANT, "run-2");

  private Sample() {}

  public static TestHome home(Path dir) {
    TestHome home = TestHome.create(dir, TestPolicy.YAML);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    return home;
  }

  /** One effect, and the run is closed. */
  public static byte[] small(Path dir) {
    try (TestHome home = home(dir)) {
      home.submit(home.ask("alice"));
      close(home, "run-1");
      return export(home);
    }
  }

  /** Everything that a run can have, closed. */
  public static void fill(TestHome home) {
    home.submit(home.ask("alice").params("{\"n\":7}"));
    home.submit(home.ask("alice").tool("mail"));
    home.submit(home.ask("alice").operation("text").dropOutput());
    var input = "some input".getBytes(StandardCharsets.UTF_8);
    var put =
        home.kernel()
            .contents()
            .put(TestKeys.TENANT, new ByteArrayInputStream(input), "text/plain");
    home.submit(home.ask("alice").input("a.txt", put.digest(), input.length));
    home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
    var pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    home.approve(pay, "rita");
    home.submit(pay);
    home.clock.forward(Duration.ofSeconds(3));
    Answer other = home.submit(home.ask("alice").run("run-2"));
    home.submit(home.ask("alice").consumes(other.served().orElseThrow().id()));
  }

  public static void close(TestHome home, String run) {
    home.kernel().closeRun(home.close(TestKeys.TENANT, run, "alice"));
  }

  public static byte[] export(TestHome home) {
    return export(home.ledger(), home, RUN);
  }

  public static byte[] export(LedgerView ledger, TestHome home, RunId run) {
    return BundleExport.of(ledger, run, packages(home), BundleExport.Options.WHOLE);
  }

  /** Exports a run, verified; an open one at a new checkpoint. */
  public static byte[] bundle(TestHome home, RunId run) {
    return bundle(home, run, BundleExport.Options.WHOLE);
  }

  private static byte[] bundle(TestHome home, RunId run, BundleExport.Options options) {
    home.kernel().checkpoint();
    byte[] bundle = BundleExport.of(home.ledger(), run, packages(home), options);
    verify(bundle);
    return bundle;
  }

  /** What a replay reads of {@link #bundle}. */
  public static RecordedRun recording(TestHome home, RunId run) {
    return Bundle.of(bundle(home, run));
  }

  /** The same without blobs or tools. */
  public static RecordedRun recording(TestHome home, RunId run, boolean blobs, boolean tools) {
    return Bundle.of(bundle(home, run, new BundleExport.Options(blobs, tools, Optional.empty())));
  }

  /** With a proof for a kept checkpoint. */
  static byte[] export(TestHome home, Checkpoint kept) {
    return BundleExport.of(
        home.ledger(),
        RUN,
        packages(home),
        new BundleExport.Options(true, true, Optional.of(kept)));
  }

  public static BundleExport.Packages packages(TestHome home) {
    return BundleExport.Packages.of(home.tools);
  }

  static BundleVerifier.Verified verify(byte[] bundle) {
    return BundleVerifier.verify(bundle, BundleVerifier.Options.pinned(pins()), _ -> {});
  }

  /** What an auditor holds. */
  public static Trust pins() {
    return Trust.of(
        List.of(
            TestKeys.trusted("operator", KeyRole.OPERATOR, Optional.empty()),
            TestKeys.trusted("log", KeyRole.LOG, Optional.empty())));
  }

  static VerifyingKey key(String name) {
    return TestKeys.key(name).verifyingKey();
  }

  /** The bundle with other entries, and checksums that fit. */
  static byte[] forge(byte[] bundle, UnaryOperator<TreeMap<String, byte[]>> change) {
    return forge(bundle, change, manifest -> manifest);
  }

  static byte[] forge(
      byte[] bundle,
      UnaryOperator<TreeMap<String, byte[]>> change,
      UnaryOperator<BundleManifest> restate) {
    TreeMap<String, byte[]> entries = change.apply(Packed.read(bundle));
    BundleManifest old = BundleManifest.read(Jcs.parse(entries.get(BundleEntryNames.MANIFEST)));
    entries.put(BundleEntryNames.MANIFEST, Jcs.write(restate.apply(old).toJson()));
    return Packed.write(entries);
  }

  /** Changes the lines of a journal. */
  static UnaryOperator<TreeMap<String, byte[]>> lines(
      String journal, UnaryOperator<List<String>> change) {
    return entries -> {
      List<String> lines =
          new ArrayList<>(
              new String(entries.get(journal), StandardCharsets.UTF_8).lines().toList());
      StringBuilder text = new StringBuilder();
      change.apply(lines).forEach(line -> text.append(line).append('\n'));
      entries.put(journal, text.toString().getBytes(StandardCharsets.UTF_8));
      return entries;
    };
  }

  static boolean isReceipt(String line) {
    return line.contains(EventKind.RECEIPT_SIGNED);
  }
}
