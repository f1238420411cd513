package dev.writ.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.testing.TestHome;
import dev.writ.executor.testing.TestKeys;
import dev.writ.executor.testing.TestPolicy;
import dev.writ.ledger.Checkpoint;
import dev.writ.ledger.LedgerError;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A checkpoint that somebody kept, from before the bundle's or from after it. */
class OneHistoryOfTheLogIsShownTest {
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
  static void end() {
    home.close();
  }

  private static Checkpoint checkpoint() {
    home.kernel().checkpoint();
    return home.ledger().latestCheckpoint().orElseThrow();
  }

  private static BundleVerifier.Verified against(byte[] bundle, Checkpoint kept) {
    return BundleVerifier.verify(
        bundle,
        new BundleVerifier.Options(Optional.of(Sample.pins()), Optional.of(kept), true),
        _ -> {});
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
    Checkpoint same = Checkpoint.parse(Packed.read(whole).get(Layout.CHECKPOINT));
    assertThat(Sample.export(home, same)).isEqualTo(whole);
    assertThat(against(whole, same).verified()).anyMatch(l -> l.startsWith("the kept checkpoint"));
    Checkpoint forked = signed(same.size(), Digest.sha256(), "log");
    WritException refusal = Refusal.of(ReplayError.FORK, () -> against(whole, forked));
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
      WritException refusal = Refusal.of(ReplayError.FORK, () -> against(bundle, forked));
      Checkpoint own = Checkpoint.parse(Packed.read(bundle).get(Layout.CHECKPOINT));
      assertThat(refusal.found()).contains(own.root().toString(), forked.root().toString());
      Refusal.of(ReplayError.FORK, () -> Sample.export(home, forked));
    }
  }

  @Test
  void aProofThatIsDamagedTooLongOrTooShortIsRefused() {
    byte[] bundle = Sample.export(home, earlier);
    Consistency real = Consistency.read(Jcs.parse(Packed.read(bundle).get(Layout.CONSISTENCY)));
    List<Digest> path = real.path().hashes();
    List<Digest> longer = new java.util.ArrayList<>(path);
    longer.add(path.getFirst());
    List<Digest> other = new java.util.ArrayList<>(path);
    other.set(0, Digest.sha256());
    for (List<Digest> forged : List.of(path.subList(1, path.size()), longer, other)) {
      Consistency proof =
          new Consistency(
              real.size1(), real.size2(), new dev.writ.ledger.merkle.MerkleProof(forged));
      byte[] changed =
          Sample.forge(
              bundle,
              entries -> {
                entries.put(Layout.CONSISTENCY, Jcs.write(proof.toJson()));
                return entries;
              });
      Refusal.of(ReplayError.FORK, () -> against(changed, earlier));
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
    Refusal.of(ReplayError.CHECKPOINT_KEY, () -> against(bundle, mallory));
    Checkpoint ahead = signed(later.size() + 1, later.root(), "log");
    Refusal.of(ReplayError.CHECKPOINT_AHEAD, () -> Sample.export(home, ahead));
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
      Refusal.of(ReplayError.FORK, () -> Sample.export(other, later));
      byte[] bundle = Sample.export(other, other.ledger().latestCheckpoint().orElseThrow());
      Checkpoint own = other.ledger().latestCheckpoint().orElseThrow();
      assertThat(against(bundle, own).verified()).anyMatch(line -> line.contains("one history"));
      Refusal.of(ReplayError.FORK, () -> against(bundle, signed(own.size(), later.root(), "log")));
    }
  }
}
