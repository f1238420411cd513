package dev.writ.ledger.witness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.merkle.NodeSource;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.SignedNote;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a witness answers to a log that goes on, stands still, goes back, or forks. */
class AWitnessCosignsOneHistoryTest {
  private static final String ORIGIN = "writ.example/log";
  private static final String NAME = "witness.example/w1";
  private static final Instant NOW = Instant.parse("2026-11-21T12:00:05Z");
  private static final SigningKey LOG = key(1);
  private static final SigningKey KEY = key(2);
  private static final MerkleProof NONE = new MerkleProof(List.of());

  @TempDir Path dir;

  private static SigningKey key(int seed) {
    byte[] secret = new byte[32];
    Arrays.fill(secret, (byte) seed);
    return SigningKey.ed25519(secret);
  }

  private Witness witness(Disk disk) {
    return Witness.of(
        WitnessStore.open(dir, disk), NAME, KEY, List.of(new NoteKey(ORIGIN, LOG.verifyingKey())));
  }

  private Witness witness() {
    return witness(Disk.REAL);
  }

  /** A history; another one from some leaf on is another word. */
  private static List<Digest> leaves(int size, int fork, String other) {
    List<Digest> leaves = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      String leaf = (i < fork ? "leaf " : other) + i;
      leaves.add(Merkle.leafHash(leaf.getBytes(StandardCharsets.UTF_8)));
    }
    return leaves;
  }

  private static List<Digest> leaves(int size) {
    return leaves(size, size, "");
  }

  private static Checkpoint checkpoint(List<Digest> leaves) {
    return Checkpoint.sign(ORIGIN, leaves.size(), Merkle.root(leaves), LOG);
  }

  private static byte[] ask(int old, List<Digest> leaves) {
    return new AddCheckpoint(
            old,
            Merkle.consistencyProof(NodeSource.ofLeaves(leaves), old, leaves.size()),
            checkpoint(leaves))
        .toBytes();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The checkpoint with what the witness answered, as a client puts them together. */
  private static Cosignature cosignature(Witness witness, List<Digest> leaves, WitnessAnswer ok) {
    assertThat(ok.status()).as(ok.text()).isEqualTo(200);
    String note = new String(checkpoint(leaves).toBytes(), StandardCharsets.UTF_8) + ok.text();
    return Cosignature.of(Checkpoint.parse(bytes(note)), witness.key()).orElseThrow();
  }

  @Test
  void aLogThatGoesOnIsCosigned() {
    try (Witness witness = witness()) {
      assertThat(cosignature(witness, leaves(3), witness.add(ask(0, leaves(3)), NOW)).at())
          .isEqualTo(NOW);
      Instant later = NOW.plusSeconds(9);
      assertThat(cosignature(witness, leaves(8), witness.add(ask(3, leaves(8)), later)).at())
          .isEqualTo(later);
      assertThat(witness.add(ask(8, leaves(8)), later).status()).as("again").isEqualTo(200);
    }
  }

  @Test
  void aLogWhoseKeysOthersSayGoesOnUnderTheNextOne() {
    NoteKey first = new NoteKey(ORIGIN, LOG.verifyingKey());
    NoteKey next = new NoteKey(ORIGIN, key(3).verifyingKey());
    NoteKey others = new NoteKey("other.example/log", key(3).verifyingKey());
    Checkpoint exchanged = Checkpoint.sign(ORIGIN, 3, Merkle.root(leaves(3)), key(3));
    byte[] asked = new AddCheckpoint(3, new MerkleProof(List.of()), exchanged).toBytes();
    try (Witness witness = witness()) {
      assertThat(witness.add(ask(0, leaves(3)), List.of(first), NOW).status()).isEqualTo(200);
      assertThat(witness.add(asked, List.of(first), NOW).status()).isEqualTo(403);
      assertThat(witness.add(asked, List.of(others), NOW).status()).isEqualTo(404);
      assertThat(witness.add(asked, List.of(first, next), NOW).status()).isEqualTo(200);
    }
  }

  @Test
  void whoseSizeIsAnotherIsToldTheSize() {
    try (Witness witness = witness()) {
      assertThat(witness.add(ask(2, leaves(3)), NOW).text()).as("never seen").isEqualTo("0\n");
      witness.add(ask(0, leaves(5)), NOW);
      for (int old : List.of(0, 3, 6)) {
        WitnessAnswer told = witness.add(ask(old, leaves(8)), NOW);
        assertThat(told).isEqualTo(new WitnessAnswer(409, "text/x.tlog.size", "5\n"));
      }
      assertThat(witness.add(ask(3, leaves(4)), NOW).text()).as("back").isEqualTo("5\n");
      assertThat(witness.add(ask(0, List.of()), NOW).text()).as("empty").isEqualTo("5\n");
    }
  }

  @Test
  void aForkIsRefusedAndWhatTheWitnessKnowsStays() {
    try (Witness witness = witness()) {
      witness.add(ask(0, leaves(5)), NOW);
      String kept = witness.latest(Witness.hash(ORIGIN)).text();
      for (int size : List.of(6, 8, 40)) {
        List<Digest> forked = leaves(size, 4, "fork ");
        assertThat(witness.add(ask(5, forked), NOW).status()).as(size + "").isEqualTo(422);
        // The proof of the real history does not make it another one.
        MerkleProof real = Merkle.consistencyProof(NodeSource.ofLeaves(leaves(size)), 5, size);
        byte[] mixed = new AddCheckpoint(5, real, checkpoint(forked)).toBytes();
        assertThat(witness.add(mixed, NOW).status()).as(size + "").isEqualTo(422);
      }
      assertThat(witness.latest(Witness.hash(ORIGIN)).text()).isEqualTo(kept);
      assertThat(witness.add(ask(5, leaves(8)), NOW).status()).isEqualTo(200);
    }
  }

  @Test
  void anotherRootOfTheSameSizeIsKeptAsTheProof() throws IOException {
    Path proof = dir.resolve("forks").resolve(Witness.hash(ORIGIN));
    try (Witness witness = witness()) {
      witness.add(ask(0, leaves(5)), NOW);
      byte[] stranger =
          new AddCheckpoint(5, NONE, Checkpoint.sign(ORIGIN, 5, Merkle.root(leaves(6)), key(9)))
              .toBytes();
      assertThat(witness.add(stranger, NOW).status()).isEqualTo(403);
      assertThat(proof).as("anybody can sign as nobody").doesNotExist();
      List<Digest> forked = leaves(5, 4, "fork ");
      assertThat(witness.add(ask(5, forked), NOW).status()).isEqualTo(422);
      assertThat(proof).hasBinaryContent(checkpoint(forked).toBytes());
      witness.add(ask(5, leaves(5, 2, "other ")), NOW);
      assertThat(proof).as("the first").hasBinaryContent(checkpoint(forked).toBytes());
    }
  }

  @Test
  void aSizeThatIsSmallerThanTheOldOneIsMalformed() {
    try (Witness witness = witness()) {
      witness.add(ask(0, leaves(5)), NOW);
      byte[] back = new AddCheckpoint(5, NONE, checkpoint(leaves(4))).toBytes();
      assertThat(witness.add(back, NOW).status()).isEqualTo(400);
    }
  }

  @Test
  void aLogOfSizeZeroHasTheRootOfNoLeaves() {
    try (Witness witness = witness()) {
      byte[] other =
          new AddCheckpoint(0, NONE, Checkpoint.sign(ORIGIN, 0, Digest.sha256(new byte[1]), LOG))
              .toBytes();
      assertThat(witness.add(other, NOW).status()).isEqualTo(422);
      assertThat(witness.add(ask(0, List.of()), NOW).status()).isEqualTo(200);
      assertThat(witness.add(other, NOW).status()).isEqualTo(422);
      MerkleProof some = new MerkleProof(List.of(Digest.sha256()));
      byte[] proof = new AddCheckpoint(0, some, checkpoint(leaves(3))).toBytes();
      assertThat(witness.add(proof, NOW).status()).as("a proof from nothing").isEqualTo(422);
    }
  }

  @Test
  void onlyTheLogsOwnSignatureCounts() {
    try (Witness witness = witness()) {
      Checkpoint other = Checkpoint.sign("other.example/log", 3, Merkle.root(leaves(3)), LOG);
      assertThat(witness.add(new AddCheckpoint(0, NONE, other).toBytes(), NOW).status())
          .isEqualTo(404);
      Checkpoint good = checkpoint(leaves(3));
      Checkpoint stranger = Checkpoint.sign(ORIGIN, 3, Merkle.root(leaves(3)), key(9));
      assertThat(witness.add(new AddCheckpoint(0, NONE, stranger).toBytes(), NOW).status())
          .isEqualTo(403);
      byte[] spoiled = good.note().signatures().getFirst().idAndBytes();
      spoiled[20] ^= 1;
      Checkpoint forged = good.with(List.of(new SignedNote.Signature(ORIGIN, spoiled)));
      assertThat(witness.add(new AddCheckpoint(0, NONE, forged).toBytes(), NOW).status())
          .as("a bad one beside a good one")
          .isEqualTo(403);
      Checkpoint both = good.with(stranger.note().signatures());
      assertThat(witness.add(new AddCheckpoint(0, NONE, both).toBytes(), NOW).status())
          .isEqualTo(200);
      assertThat(
              Checkpoint.parse(bytes(witness.latest(Witness.hash(ORIGIN)).text()))
                  .note()
                  .signatures())
          .as("the log's, and its own")
          .hasSize(2);
    }
  }

  @Test
  void whatIsNoRequestIsMalformed() {
    String note = new String(checkpoint(leaves(3)).toBytes(), StandardCharsets.UTF_8);
    String hash = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
    try (Witness witness = witness()) {
      for (String body :
          List.of(
              "",
              "\n\n" + note,
              note,
              "old 0\n" + note,
              "old\n\n" + note,
              "old 00\n\n" + note,
              "old -1\n\n" + note,
              "old 9007199254740992\n\n" + note,
              "old 99999999999999999999\n\n" + note,
              "new 0\n\n" + note,
              "old 0 \n\n" + note,
              "old 0\r\n\n" + note,
              "old 0\nAAAA\n\n" + note,
              "old 0\n" + hash.replace("=", "") + "\n" + note,
              "old 0\n" + hash.repeat(64) + "\n" + note,
              "old 0\n\nno note",
              "old 0\n\n" + note.replace("\n3\n", "\n03\n"))) {
        assertThat(witness.add(bytes(body), NOW).status()).as(body).isEqualTo(400);
      }
      assertThat(witness.add(bytes("old 0"), NOW).text())
          .startsWith(LedgerError.WITNESS_REQUEST.code());
      assertThat(witness.add(bytes("old 0\n" + hash.repeat(63) + "\n" + note), NOW).status())
          .as("63 hashes are a form, and no proof")
          .isEqualTo(422);
      assertThat(witness.add(bytes("old 0\n\n" + note), NOW).status()).isEqualTo(200);
    }
  }

  @Test
  void itKnowsAfterARestartWhatItCosigned() {
    try (Witness witness = witness()) {
      witness.add(ask(0, leaves(5)), NOW);
    }
    try (Witness witness = witness()) {
      assertThat(witness.add(ask(0, leaves(5, 1, "fork ")), NOW).text()).isEqualTo("5\n");
      assertThat(witness.add(ask(5, leaves(5, 1, "fork ")), NOW).status()).isEqualTo(422);
      Checkpoint kept = Checkpoint.parse(bytes(witness.latest(Witness.hash(ORIGIN)).text()));
      kept.verify(ORIGIN, LOG.verifyingKey());
      assertThat(kept.size()).isEqualTo(5);
      assertThat(witness.latest(Witness.hash("other")).status()).isEqualTo(404);
    }
  }

  @Test
  void aClockThatGoesBackDoesNotTakeBackWhatWasSeen() {
    try (Witness witness = witness()) {
      witness.add(ask(0, leaves(5)), NOW);
    }
    try (Witness witness = witness()) {
      WitnessAnswer later = witness.add(ask(5, leaves(8)), NOW.minusSeconds(3600));
      assertThat(cosignature(witness, leaves(8), later).at()).isEqualTo(NOW);
    }
  }

  @Test
  void stateThatAnotherWroteOrDamagedIsRefusedAtTheStart() throws IOException {
    try (Witness witness = witness()) {
      witness.add(ask(0, leaves(5)), NOW);
    }
    Path state = dir.resolve("logs").resolve(Witness.hash(ORIGIN));
    String good = Files.readString(state);
    for (String damaged :
        List.of(
            "",
            good.replace("\n5\n", "\n4\n"),
            new String(checkpoint(leaves(5)).toBytes(), StandardCharsets.UTF_8),
            good.replace(ORIGIN, "other.example"))) {
      Files.writeString(state, damaged);
      assertThatThrownBy(this::witness)
          .isInstanceOfSatisfying(
              WritException.class,
              e -> assertThat(e.code()).as(damaged).isEqualTo(LedgerError.WITNESS_STATE));
    }
  }

  @Test
  void oneProcessHasTheDirectory() {
    try (Witness witness = witness()) {
      assertThatThrownBy(this::witness)
          .isInstanceOfSatisfying(
              WritException.class, e -> assertThat(e.code()).isEqualTo(LedgerError.WITNESS_BUSY));
      assertThat(witness.add(ask(0, leaves(5)), NOW).status()).isEqualTo(200);
    }
  }

  /** A sync that failed leaves it open what is on the disk: nothing is signed on top of that. */
  @Test
  void nothingIsSignedThatCouldNotBeStoredNorAnythingAfterIt() {
    boolean[] broken = {false};
    Disk disk =
        new Disk() {
          @Override
          public void sync(FileChannel channel, Path file) throws IOException {
            if (broken[0]) {
              throw new SyncFailed(file, new IOException("of this test"));
            }
            Disk.super.sync(channel, file);
          }
        };
    try (Witness witness = witness(disk)) {
      witness.add(ask(0, leaves(5)), NOW);
      broken[0] = true;
      assertThatThrownBy(() -> witness.add(ask(5, leaves(8)), NOW))
          .isInstanceOf(UncheckedIOException.class);
      broken[0] = false;
      assertThatThrownBy(() -> witness.add(ask(5, leaves(9)), NOW))
          .isInstanceOf(UncheckedIOException.class);
    }
    try (Witness witness = witness()) {
      assertThat(witness.add(ask(5, leaves(9)), NOW).status()).isEqualTo(200);
    }
  }

  /** A log that is known may still send what nobody else would. */
  @Test
  void theLargestNoteIsKeptInAFormThatIsReadAgain() {
    Checkpoint small = checkpoint(leaves(3));
    SignedNote.Signature line = small.note().signatures().getFirst();
    byte[] many = new AddCheckpoint(0, NONE, small.with(Collections.nCopies(63, line))).toBytes();
    String text = checkpoint(leaves(4)).note().text();
    String more = "x".repeat(AddCheckpoint.BYTES_MAX - text.length() - 300);
    Checkpoint large = Checkpoint.parse(SignedNote.sign(text + more + "\n", ORIGIN, LOG).toBytes());
    MerkleProof proof = Merkle.consistencyProof(NodeSource.ofLeaves(leaves(4)), 3, 4);
    try (Witness witness = witness()) {
      assertThat(witness.add(many, NOW).status()).isEqualTo(200);
    }
    try (Witness witness = witness()) {
      assertThat(witness.add(new AddCheckpoint(3, proof, large).toBytes(), NOW).status())
          .isEqualTo(200);
    }
    try (Witness witness = witness()) {
      assertThat(witness.add(ask(4, leaves(8)), NOW).status()).isEqualTo(200);
      byte[] beyond = Arrays.copyOf(ask(8, leaves(9)), AddCheckpoint.BYTES_MAX + 1);
      assertThat(witness.add(beyond, NOW).status()).isEqualTo(400);
    }
  }

  @Test
  void eachKeyOfALogMaySignAlone() {
    try (Witness witness =
        Witness.of(
            WitnessStore.open(dir, Disk.REAL),
            NAME,
            KEY,
            List.of(
                new NoteKey(ORIGIN, LOG.verifyingKey()),
                new NoteKey(ORIGIN, key(3).verifyingKey())))) {
      assertThat(witness.add(ask(0, leaves(3)), NOW).status()).isEqualTo(200);
      Checkpoint rotated = Checkpoint.sign(ORIGIN, 3, Merkle.root(leaves(3)), key(3));
      assertThat(witness.add(new AddCheckpoint(3, NONE, rotated).toBytes(), NOW).status())
          .isEqualTo(200);
      assertThat(Cosignature.of(rotated, witness.key())).as("not the witness's").isEmpty();
    }
  }
}
