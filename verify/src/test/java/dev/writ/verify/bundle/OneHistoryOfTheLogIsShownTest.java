package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.testing.Refusal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A checkpoint that somebody kept, from before the bundle's or from after it. */
class OneHistoryOfTheLogIsShownTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static TestHome home;
  private static Checkpoint earlier;
  private static Checkpoint later;

  @BeforeAll
  static void live(@TempDir Path dir) {
    home = Sample.home(dir);
    home.submit(home.ask("bob").run("before"));
    earlier = checkpoint();
    home.submit(home.ask("alice"));
    Sample.close(home, "run-1");
    home.submit(home.ask("bob").run("after"));
    later = checkpoint();
  }

  @AfterAll
  static void end(@TempDir Path dir) {
    home.close();
    OPINION.compare(dir);
  }

  private static Checkpoint checkpoint() {
    home.kernel().checkpoint();
    return home.ledger().latestCheckpoint().orElseThrow();
  }

  private static BundleVerifier.Verified against(byte[] bundle, Checkpoint kept) {
    return OPINION.verify(
        bundle, new BundleVerifier.Options(Optional.of(Sample.pins()), Optional.of(kept), true));
  }

  private static byte[] withConsistency(byte[] bundle, byte[] consistency) {
    return Sample.forge(
        bundle,
        entries -> {
          entries.put(BundleEntryNames.CONSISTENCY, consistency);
          return entries;
        });
  }

  private static byte[] proof(long size1, long size2, List<Digest> path) {
    return Jcs.write(new Consistency(size1, size2, new MerkleProof(path)).toJson());
  }

  @Test
  void bothDirectionsAreProven() {
    for (Checkpoint kept : List.of(earlier, later)) {
      byte[] bundle = Sample.export(home, kept);
      assertThat(against(bundle, kept).verified())
          .anyMatch(line -> line.startsWith("the kept checkpoint of size " + kept.size() + ": of"));
      assertThat(against(bundle, kept).notVerified())
          .noneMatch(line -> line.contains("consistent"));
      assertThat(Sample.verify(bundle).pinned()).as("without the note").isTrue();
    }
  }

  @Test
  void withoutAProofBetweenTheseSizesItIsSaidNotToBeVerified() {
    for (byte[] bundle : List.of(Sample.export(home), Sample.export(home, later))) {
      assertThat(against(bundle, earlier).notVerified())
          .anyMatch(line -> line.contains("consistent with the kept checkpoint of size "));
      assertThat(against(bundle, earlier).verified()).noneMatch(line -> line.contains("kept"));
    }
  }

  @Test
  void ofTheSameSizeRootsAreComparedAndNoProofIsAdded() {
    byte[] whole = Sample.export(home);
    Checkpoint same = Checkpoint.parse(Packed.read(whole).get(BundleEntryNames.CHECKPOINT));
    assertThat(Sample.export(home, same)).isEqualTo(whole);
    assertThat(against(whole, same).verified()).anyMatch(l -> l.startsWith("the kept checkpoint"));
    Checkpoint forked = signed(same.size(), Digest.sha256(), "log");
    WritException refusal = Refusal.of(BundleError.FORK, () -> against(whole, forked));
    assertThat(refusal.found()).contains(same.root().toString(), forked.root().toString());
  }

  private static Checkpoint signed(long size, Digest root, String key) {
    return Checkpoint.sign(TestHome.ORIGIN, size, root, TestKeys.key(key));
  }

  @Test
  void aForkedHistoryIsRefusedWithBothRoots() {
    for (Checkpoint kept : List.of(earlier, later)) {
      byte[] bundle = Sample.export(home, kept);
      Checkpoint forked = signed(kept.size(), Digest.sha256(new byte[] {1}), "log");
      WritException refusal = Refusal.of(BundleError.FORK, () -> against(bundle, forked));
      Checkpoint own = Checkpoint.parse(Packed.read(bundle).get(BundleEntryNames.CHECKPOINT));
      assertThat(refusal.found()).contains(own.root().toString(), forked.root().toString());
      Refusal.of(BundleError.FORK, () -> Sample.export(home, forked));
    }
  }

  @Test
  void aProofThatIsDamagedTooLongOrTooShortIsRefused() {
    byte[] bundle = Sample.export(home, earlier);
    Consistency real =
        Consistency.read(Jcs.parse(Packed.read(bundle).get(BundleEntryNames.CONSISTENCY)));
    List<Digest> path = real.path().hashes();
    List<Digest> longer = new ArrayList<>(path);
    longer.add(path.getFirst());
    List<Digest> other = new ArrayList<>(path);
    other.set(0, Digest.sha256());
    byte[] damaged = withConsistency(bundle, proof(real.size1(), real.size2(), other));
    Refusal.of(BundleError.FORK, () -> against(damaged, earlier));
    for (List<Digest> forged : List.of(path.subList(1, path.size()), longer)) {
      byte[] changed = withConsistency(bundle, proof(real.size1(), real.size2(), forged));
      Refusal.of(BundleError.CONSISTENCY_FORM, () -> against(changed, earlier));
      Refusal.of(BundleError.CONSISTENCY_FORM, () -> OPINION.pinned(changed));
    }
  }

  /** No byte of a bundle is skipped because nobody asked what it is for. */
  @Test
  void theProofIsReadAlsoWhereNoNoteIsGiven() {
    byte[] bundle = Sample.export(home);
    long size = Checkpoint.parse(Packed.read(bundle).get(BundleEntryNames.CHECKPOINT)).size();
    List<Digest> none = List.of();
    for (byte[] other :
        List.of(
            proof(size, size, none),
            proof(size + 5, size, none),
            proof(size + 1, size + 2, none),
            proof(size, size + 1, none),
            proof(0, size, List.of(Digest.sha256())))) {
      byte[] changed = withConsistency(bundle, other);
      Refusal.of(BundleError.CONSISTENCY_FORM, () -> OPINION.pinned(changed));
    }
    OPINION.pinned(withConsistency(bundle, proof(0, size, none)));
    String good = new String(proof(0, size, none), StandardCharsets.UTF_8);
    for (String other :
        List.of(
            "",
            "nonsense",
            "[]",
            good + " ",
            good.replace("\"path\"", "\"Path\""),
            good.replace("[]", "[\"sha256:00\"]"),
            good.replace("\"size1\":0", "\"size1\":-1"),
            good.replace("\"size1\":0", "\"size1\":0.5"),
            good.replace("\"size1\":0", "\"size1\":9007199254740992"))) {
      byte[] changed = withConsistency(bundle, other.getBytes(StandardCharsets.UTF_8));
      assertThat(Refusal.any(() -> OPINION.pinned(changed)))
          .as(other)
          .startsWith("CAN-0")
          .contains(BundleEntryNames.CONSISTENCY);
    }
  }

  @Test
  void aNoteOfAnotherLogAnotherKeyOrALargerLog(@TempDir Path dir) {
    Checkpoint foreign =
        Checkpoint.sign("other/log", earlier.size(), earlier.root(), TestKeys.key("log"));
    byte[] bundle = Sample.export(home, earlier);
    Refusal.of(LedgerError.CHECKPOINT_ORIGIN, () -> against(bundle, foreign));
    Refusal.of(LedgerError.CHECKPOINT_ORIGIN, () -> Sample.export(home, foreign));
    Checkpoint mallory = signed(earlier.size(), earlier.root(), "mallory");
    Refusal.of(BundleError.CHECKPOINT_KEY, () -> against(bundle, mallory));
    Checkpoint ahead = signed(later.size() + 1, later.root(), "log");
    Refusal.of(BundleError.CHECKPOINT_AHEAD, () -> Sample.export(home, ahead));
  }

  /** The same installation, put back to its state at the earlier checkpoint, and gone on. */
  @Test
  void aLedgerThatWasPutBackShowsTheFork(@TempDir Path dir) {
    try (TestHome other = TestHome.create(dir, TestPolicy.YAML)) {
      other.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      other.submit(other.ask("bob").run("before"));
      other.submit(other.ask("alice"));
      other.submit(other.ask("alice"));
      Sample.close(other, "run-1");
      other.submit(other.ask("bob").run("after"));
      other.kernel().checkpoint();
      Refusal.of(BundleError.FORK, () -> Sample.export(other, later));
      byte[] bundle = Sample.export(other, other.ledger().latestCheckpoint().orElseThrow());
      Checkpoint own = other.ledger().latestCheckpoint().orElseThrow();
      assertThat(against(bundle, own).verified()).anyMatch(line -> line.contains("one history"));
      Refusal.of(BundleError.FORK, () -> against(bundle, signed(own.size(), later.root(), "log")));
    }
  }
}
