package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The two verifiers on whatever a kernel writes, and on what a forger writes who holds every key:
 * one field of one document changed, signed again, and everything that names it made to fit.
 */
class BothVerifiersSayTheSameTest {
  private static final int SEEDS = Integer.getInteger("writ.audit.seeds", 2);
  private static final int STEP = Boolean.getBoolean("writ.exhaustive") ? 1 : 29;
  private static final SecondOpinion OPINION = new SecondOpinion();

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private static TestHome home(Path dir) {
    TestHome home = TestHome.create(dir, Forgers.POLICY);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.clock.stepping(Duration.ofMillis(3));
    return home;
  }

  private static TreeSet<RunId> runs(TestHome home) {
    TreeSet<RunId> runs = new TreeSet<>(Comparator.comparing(RunId::toString));
    home.log().stream()
        .map(Event::runId)
        .filter(run -> !run.tenant().equals("writ"))
        .forEach(runs::add);
    return runs;
  }

  @Test
  void onWhateverAKernelWrote(@TempDir Path dir) {
    int taken = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      try (TestHome home = home(dir.resolve("seed" + seed))) {
        System.out.println("writ.seed=" + seed);
        Forgers.schedule(home, seed, 60);
        home.kernel().checkpoint();
        for (RunId run : runs(home)) {
          byte[] bundle = Sample.export(home.ledger(), home, run);
          assertThat(OPINION.verify(bundle, BundleVerifier.Options.UNPINNED).pinned()).isFalse();
          taken++;
        }
      }
    }
    assertThat(taken).isGreaterThan(SEEDS * 3);
  }

  /** Signed documents of the run and of the system run, each once. */
  private static List<Envelope> documents(TestHome home) {
    TreeSet<Digest> seen = new TreeSet<>();
    List<Envelope> documents = new ArrayList<>();
    for (Event event : home.log()) {
      if (seen.add(event.body())) {
        home.ledger().document(event.body()).ifPresent(documents::add);
      }
    }
    return documents;
  }

  @Test
  void onOneFieldForgedAndAllElseMadeToFit(@TempDir Path dir) {
    int forged = 0;
    try (TestHome home = home(dir.resolve("home"))) {
      home.submit(home.ask("alice").key("k1"));
      home.driver.does("mail", Behaviours.fails());
      home.submit(home.ask("alice").tool("mail").params("{\"n\":2}"));
      var pay = home.ask("alice").tool("pay").sign();
      home.submit(pay);
      home.approve(pay, "rita");
      home.submit(pay);
      home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
      home.kernel().checkpoint();
      int at = 0;
      for (Envelope document : documents(home)) {
        for (Forgery.Change change : Forgery.changes(document)) {
          if (at++ % STEP == 0) {
            forged += forge(home, document, change, dir.resolve("forged" + at)) ? 1 : 0;
          }
        }
      }
    }
    System.out.println(forged + " forgeries, each signed by whom it says");
    assertThat(forged).isGreaterThan(15);
  }

  /** Whether a bundle came of it; an export refuses what it cannot read. */
  private static boolean forge(TestHome home, Envelope document, Forgery.Change change, Path dir) {
    LedgerConfig config =
        new LedgerConfig(
            dir,
            dir.resolveSibling(dir.getFileName() + ".anchor"),
            TestHome.ORIGIN,
            TestKeys.key("log"),
            home.clock);
    byte[] bundle;
    try {
      Forgers.rewrite(home.ledger(), document.id(), _ -> change.document(), config);
      try (var reader = Ledger.openReadOnly(config.dir())) {
        bundle = Sample.export(reader, home, Sample.RUN);
      }
    } catch (WritException e) {
      return false;
    }
    OPINION.about(document.payloadType() + " " + change.what(), bundle);
    return true;
  }
}
