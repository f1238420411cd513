package dev.writ.replay.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.Sample;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code examples/receipts/verify.py} reads CBOR, COSE and the tree by libraries that are not ours,
 * and has the files and the log's public key alone.
 */
class AnotherProgramVerifiesReceiptsOfCoseTest {
  private static final String ORIGIN = "writ.example/log";
  private static final SigningKey LOG = TestKeys.key("log");
  private static final SigningKey EXPORTER = TestKeys.key("exporter");

  @TempDir static Path dir;

  private static TestHome home;
  private static Checkpoint earlier;
  private static Checkpoint now;
  private static byte[] bundle;

  private record Said(int status, String text) {}

  @BeforeAll
  static void run() {
    home = Sample.home(dir.resolve("home"));
    home.submit(home.ask("alice"));
    earlier = home.kernel().checkpoint();
    Sample.fill(home);
    Sample.close(home, "run-1");
    bundle = Sample.export(home);
    try (Bundle open = Bundle.of(bundle)) {
      now = open.checkpoint();
    }
  }

  @AfterAll
  static void end() {
    home.close();
  }

  private static SignedRoot signed(Checkpoint checkpoint) {
    return SignedRoot.sign(checkpoint, ORIGIN, LOG);
  }

  private static List<ExportedOutcome> outcomes() {
    List<ExportedOutcome> outcomes = new ArrayList<>();
    try (Bundle open = Bundle.of(bundle)) {
      ExportedOutcome.each(open, outcomes::add);
    }
    return outcomes;
  }

  private static MerkleProof path(long index, Checkpoint to) {
    return home.ledger().inclusionProof(index, to.size());
  }

  private static byte[] receipt(ExportedOutcome outcome) {
    return signed(now)
        .inclusion(outcome.index(), path(outcome.index(), now), outcome.event().toBytes());
  }

  private static byte[] statement(ExportedOutcome outcome, byte[] receipt) {
    return ScittStatements.statement(
        ORIGIN,
        outcome.decision().request(),
        outcome.envelope().toBytes(),
        Optional.of(receipt),
        EXPORTER);
  }

  private static Said verify(SigningKey log, byte[] file, String... options) throws Exception {
    Path written = Files.write(dir.resolve("file.cose"), file);
    List<String> command =
        new ArrayList<>(
            List.of(
                "/usr/bin/python3",
                "../examples/receipts/verify.py",
                new NoteKey(ORIGIN, log.verifyingKey()).toString(),
                written.toString()));
    command.addAll(List.of(options));
    Process python = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Said(python.waitFor(), said);
  }

  private static void requireRefused(Said said, String why) {
    assertThat(said.text()).isEqualTo("refused: " + why + "\n");
    assertThat(said.status()).isEqualTo(1);
  }

  private static byte[] changed(byte[] message, byte[] part) {
    for (int at = 0; at + part.length <= message.length; at++) {
      if (Arrays.equals(message, at, at + part.length, part, 0, part.length)) {
        byte[] other = message.clone();
        other[at] ^= 1;
        return other;
      }
    }
    throw new AssertionError("it is not in the message");
  }

  private static String issuer() throws IOException {
    String key = Base64.getEncoder().encodeToString(spki(EXPORTER.verifyingKey().bytes()));
    return Files.writeString(
            dir.resolve("issuer.pem"),
            "-----BEGIN PUBLIC KEY-----\n" + key + "\n-----END PUBLIC KEY-----\n")
        .toString();
  }

  /** RFC 8410. */
  private static byte[] spki(byte[] key) {
    byte[] head = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    byte[] whole = Arrays.copyOf(head, head.length + key.length);
    System.arraycopy(key, 0, whole, head.length, key.length);
    return whole;
  }

  @Test
  void eachOutcomeHasAReceiptThatProvesItsEvent() throws Exception {
    List<Event> events = new ArrayList<>();
    List<byte[]> receipts = new ArrayList<>();
    try (Bundle open = Bundle.of(bundle)) {
      FileFormat.of(
              FileFormat.COSE_RECEIPT,
              Optional.empty(),
              Optional.of(new CoseReceipts(AnotherProgramVerifiesReceiptsOfCoseTest::signed)))
          .each(
              open,
              (event, receipt) -> {
                events.add(event);
                receipts.add(receipt);
              });
    }
    List<ExportedOutcome> outcomes = outcomes();
    assertThat(events).isEqualTo(outcomes.stream().map(ExportedOutcome::event).toList());
    for (int i = 0; i < receipts.size(); i++) {
      assertThat(receipts.get(i)).as("from a bundle").isEqualTo(receipt(outcomes.get(i)));
      Said said = verify(LOG, receipts.get(i));
      assertThat(said.text())
          .isEqualTo(
              "verified: event %d of %d is %s of %s\n"
                  .formatted(
                      outcomes.get(i).index(),
                      now.size(),
                      events.get(i).kind(),
                      events.get(i).body()));
      assertThat(said.status()).isZero();
    }
  }

  @Test
  void anyChangeOfAReceiptIsRefused() throws Exception {
    ExportedOutcome outcome = outcomes().getFirst();
    byte[] receipt = receipt(outcome);
    String other = "the root that the receipt leads to is not signed by that key";
    Digest sibling = path(outcome.index(), now).hashes().getLast();
    requireRefused(verify(LOG, changed(receipt, sibling.bytes())), other);
    requireRefused(verify(LOG, changed(receipt, outcome.event().toBytes())), other);
    byte[] signature = Arrays.copyOfRange(receipt, receipt.length - 64, receipt.length);
    requireRefused(verify(LOG, changed(receipt, signature)), other);
    requireRefused(verify(TestKeys.key("guardian"), receipt), "the receipt names another key");
    requireRefused(
        verify(LOG, changed(receipt, ORIGIN.getBytes(StandardCharsets.UTF_8))),
        "the receipt is of another log");
  }

  /** Whoever has the path to one root cannot pass it off with the signature of another one. */
  @Test
  void aRootOfAnotherSizeIsRefused() throws Exception {
    ExportedOutcome outcome = outcomes().getFirst();
    byte[] event = outcome.event().toBytes();
    byte[] mixed = signed(earlier).inclusion(outcome.index(), path(outcome.index(), now), event);
    assertThat(verify(LOG, mixed).text()).startsWith("refused: ");
    byte[] whole = receipt(outcome);
    byte[] size = ("urn:writ:checkpoint:" + now.size()).getBytes(StandardCharsets.US_ASCII);
    byte[] renamed = whole.clone();
    int at = indexOf(whole, size) + size.length - 1;
    renamed[at] ^= 1;
    requireRefused(verify(LOG, renamed), "the receipt is of another size");
  }

  private static int indexOf(byte[] whole, byte[] part) {
    return new String(whole, StandardCharsets.ISO_8859_1)
        .indexOf(new String(part, StandardCharsets.ISO_8859_1));
  }

  @Test
  void aStatementIsBoundToItsOwnReceipt() throws Exception {
    ExportedOutcome one = outcomes().getFirst();
    ExportedOutcome two = outcomes().get(1);
    byte[] statement = statement(one, receipt(one));
    Said said = verify(LOG, statement, "--issuer", issuer());
    assertThat(said.text())
        .isEqualTo(
            "verified: document %s is named by event %d of %d\nverified: the issuer's signature\n"
                .formatted(one.id().hex(), one.index(), now.size()));
    assertThat(said.status()).isZero();

    requireRefused(verify(LOG, statement(one, receipt(two))), "the receipt is of another document");
    byte[] payload = one.envelope().toBytes();
    requireRefused(
        verify(LOG, changed(statement, payload), "--issuer", issuer()),
        "Expecting value: line 1 column 1 (char 0)");
    byte[] withoutReceipt =
        ScittStatements.statement(
            ORIGIN, one.decision().request(), payload, Optional.empty(), EXPORTER);
    assertThat(verify(LOG, withoutReceipt).status()).isEqualTo(1);
    assertThat(statement)
        .as("the receipt is outside of what is signed")
        .startsWith(Arrays.copyOf(withoutReceipt, 20))
        .endsWith(
            Arrays.copyOfRange(withoutReceipt, withoutReceipt.length - 64, withoutReceipt.length));
  }

  @Test
  void aReceiptProvesThatTheLogContinuesACheckpointThatSomebodyKept() throws Exception {
    byte[] receipt =
        signed(now)
            .consistency(
                earlier.size(), home.ledger().consistencyProof(earlier.size(), now.size()));
    Path kept = Files.write(dir.resolve("kept.note"), earlier.toBytes());
    Said said = verify(LOG, receipt, "--kept", kept.toString());
    assertThat(said.text())
        .isEqualTo(
            "verified: the log of size %d continues that of size %d\n"
                .formatted(now.size(), earlier.size()));
    Checkpoint forged = Checkpoint.sign(ORIGIN, earlier.size(), Digest.sha256(new byte[] {1}), LOG);
    Files.write(kept, forged.toBytes());
    assertThat(verify(LOG, receipt, "--kept", kept.toString()).status()).isEqualTo(1);
    assertThatThrownBy(() -> signed(now).consistency(now.size(), new MerkleProof(List.of())))
        .hasMessageStartingWith("LED-041");
  }

  /** The log's key signs no root that it has not signed as a checkpoint of this log. */
  @Test
  void nothingIsSignedThatIsNoCheckpointOfThisKeyAndLog() {
    Checkpoint others = Checkpoint.sign(ORIGIN, now.size(), now.root(), TestKeys.key("guardian"));
    assertThatThrownBy(() -> signed(others)).hasMessageStartingWith("LED-053");
    assertThat(((Ledger) home.ledger()).signed(others)).isEmpty();
    Checkpoint elsewhere = Checkpoint.sign("other.example/log", now.size(), now.root(), LOG);
    assertThatThrownBy(() -> signed(elsewhere)).hasMessageStartingWith("LED-054");
    Checkpoint forged = Checkpoint.sign(ORIGIN, now.size(), Digest.sha256(new byte[] {1}), LOG);
    assertThatThrownBy(() -> ((Ledger) home.ledger()).signed(forged))
        .hasMessageStartingWith("LED-042");
    assertThat(home.kernel().signedRoot(1).checkpoint().toBytes()).isEqualTo(earlier.toBytes());
  }

  @Test
  void aServerSignsTheLeastCheckpointThatCoversAndNothingByARevokedKey() {
    try (TestHome other = Sample.home(dir.resolve("other"))) {
      other.submit(other.ask("alice"));
      Checkpoint made = other.kernel().signedRoot(1).checkpoint();
      assertThat(made.size()).as("one is made").isEqualTo(other.ledger().treeSize());
      other.submit(other.ask("alice").params("{\"n\":2}"));
      long size = other.ledger().treeSize();
      assertThat(size).isGreaterThan(made.size());
      assertThat(other.kernel().signedRoot(size).checkpoint().size()).isEqualTo(size);
      for (long covered : List.of(1L, made.size())) {
        assertThat(other.kernel().signedRoot(covered).checkpoint().toBytes())
            .isEqualTo(made.toBytes());
      }
      other.revoke("log");
      assertThatThrownBy(() -> other.kernel().signedRoot(1)).hasMessageStartingWith("EXE-912");
    }
  }

  /** The page's example is what this code writes. */
  @Test
  void theExampleOfThePageIsAReceipt() throws Exception {
    Matcher block =
        Pattern.compile("```text receipt\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("../spec/export.md")));
    assertThat(block.find()).isTrue();
    byte[] event = "{\"an\":\"event\"}".getBytes(StandardCharsets.UTF_8);
    Digest leaf = Digest.sha256(new byte[] {0}, event);
    Digest sibling = Digest.sha256(new byte[] {0}, "another".getBytes(StandardCharsets.UTF_8));
    Digest root = Digest.sha256(new byte[] {1}, leaf.bytes(), sibling.bytes());
    byte[] receipt =
        signed(Checkpoint.sign(ORIGIN, 2, root, LOG))
            .inclusion(0, new MerkleProof(List.of(sibling)), event);
    assertThat(block.group(1).replaceAll("\\s", "")).isEqualTo(HexFormat.of().formatHex(receipt));
  }
}
