package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.SignedNote;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointsAndNamesTest {
  @TempDir Path home;

  @Test
  void a_checkpoint_stands_behind_what_was_enqueued_before_it_and_is_signed_once_for_a_size() {
    try (Ledger ledger = Ledger.create(config(home))) {
      Checkpoint empty = ledger.checkpoint();
      assertThat(empty.size()).isZero();
      assertThat(empty.root()).isEqualTo(Merkle.EMPTY_ROOT);
      ledger.append(opening("a"));
      ledger.append(step(ledger, run("a"), "two"));
      Checkpoint two = ledger.checkpoint();
      assertThat(two.size()).isEqualTo(2);
      assertThat(two.root()).isEqualTo(ledger.root());
      two.verify(Fixture.ORIGIN, Fixture.LOG_KEY.verifyingKey());
      assertThat(ledger.checkpoint().toBytes()).isEqualTo(two.toBytes());
      ledger.append(step(ledger, run("a"), "three")).await();
      assertThat(ledger.latestCheckpoint().orElseThrow().toBytes()).isEqualTo(two.toBytes());
      assertThat(ledger.checkpoint(1)).isEmpty();
      assertThat(ledger.checkpoint(2).map(Checkpoint::size)).contains(2L);
      assertThat(ledger.checkpointCovering(1).map(Checkpoint::size)).contains(2L);
      assertThat(ledger.checkpointCovering(3)).isEmpty();
      Checkpoint three = ledger.checkpoint();
      Merkle.verifyConsistency(
          2, two.root(), 3, three.root(), ledger.consistencyProof(two.size(), three.size()));
      List<Long> sizes = new ArrayList<>();
      ledger.checkpoints(checkpoint -> sizes.add(checkpoint.size()));
      assertThat(sizes).containsExactly(0L, 2L, 3L);
      Refused.with(LedgerError.INDEX_RANGE, () -> ledger.inclusionProof(0, 4));
      Refused.with(LedgerError.INDEX_RANGE, () -> ledger.inclusionProof(3, 3));
      Refused.with(LedgerError.INDEX_RANGE, () -> ledger.consistencyProof(1, 4));
      Refused.with(LedgerError.INDEX_RANGE, () -> ledger.root(4));
      Refused.with(LedgerError.INDEX_RANGE, () -> ledger.eventsByIndex(0, 4, (i, e) -> {}));
    }
  }

  @Test
  void a_new_log_key_signs_the_same_size_anew() {
    LedgerConfig before = config(home);
    try (Ledger ledger = Ledger.create(before)) {
      ledger.append(opening("a")).await();
      ledger.checkpoint();
    }
    LedgerConfig rotated =
        new LedgerConfig(
            before.dir(), before.anchor(), before.origin(), Fixture.key(5), before.clock());
    try (Ledger ledger = Ledger.open(rotated)) {
      ledger.checkpoint().verify(Fixture.ORIGIN, Fixture.key(5).verifyingKey());
    }
  }

  @Test
  void index_tables_hold_rows_in_order_and_apart_from_each_other() {
    try (Ledger ledger = Ledger.create(config(home))) {
      Batch batch = new Batch();
      for (String key : List.of("b", "a", "ab", "a\u0000x", "\u00e4", "")) {
        batch.put("t", key, Fixture.bytes(key));
      }
      batch.put("tt", "a", new byte[0]).put("t", "gone", new byte[1]).delete("t", "gone");
      ledger.append(batch).await();
      assertThat(keys(ledger, "t", "")).containsExactly("", "a", "a\u0000x", "ab", "b", "\u00e4");
      assertThat(keys(ledger, "t", "a")).containsExactly("a", "a\u0000x", "ab");
      assertThat(keys(ledger, "tt", "")).containsExactly("a");
      assertThat(ledger.get("t", "gone")).isEmpty();
      List<String> first = new ArrayList<>();
      ledger.scan(
          "t",
          "",
          (key, value) -> {
            first.add(key);
            return first.size() < 2;
          });
      assertThat(first).containsExactly("", "a");
      ledger.append(new Batch().delete("t", "a")).await();
      assertThat(ledger.get("t", "a")).isEmpty();
      Refused.with(LedgerError.NAME, () -> new Batch().put("a\u0000b", "k", new byte[0]));
      Refused.with(LedgerError.NAME, () -> new Batch().put("t", "\udc00", new byte[0]));
    }
  }

  private static List<String> keys(LedgerView view, String table, String prefix) {
    List<String> keys = new ArrayList<>();
    view.scan(
        table,
        prefix,
        (key, value) -> {
          assertThat(value).isEqualTo(table.equals("t") ? Fixture.bytes(key) : new byte[0]);
          return keys.add(key);
        });
    return keys;
  }

  @Test
  void the_first_envelope_of_a_document_stays() {
    try (Ledger ledger = Ledger.create(config(home))) {
      var first = Fixture.document("x");
      var second = Envelope.signBytes(first.payloadType(), first.payload(), Fixture.key(3));
      ledger.append(new Batch().document(first).document(second));
      ledger.append(new Batch().document(second)).await();
      assertThat(ledger.document(first.id()).orElseThrow().toBytes()).isEqualTo(first.toBytes());
      ledger.append(new Batch().document(second)).await();
      assertThat(ledger.document(first.id()).orElseThrow().toBytes()).isEqualTo(first.toBytes());
    }
  }

  @Test
  void an_event_reads_back_from_its_bytes() {
    Event event =
        Fixture.first("a")
            .next(
                "k", Fixture.digest("b"), Fixture.AT.plusNanos(999), Optional.of("0f".repeat(32)));
    assertThat(Event.parse(event.toBytes())).isEqualTo(event);
    assertThat(event.at()).as("cut to milliseconds").isEqualTo(Fixture.AT);
    Refused.with("CAN-012", () -> Event.parse(Fixture.bytes(" {}")));
    Refused.with("CAN-020", () -> Event.parse(Fixture.bytes("{}")));
    String text = new String(event.toBytes(), StandardCharsets.UTF_8);
    Refused.with(
        "CAN-021", () -> Event.parse(Fixture.bytes(text.replace("{\"at\"", "{\"a\":1,\"at\""))));
  }

  @Test
  void a_note_key_is_one_of_ed25519() {
    SigningKey quantum = SigningKey.mlDsa65(new byte[32]);
    Refused.with(LedgerError.KEY_TEXT, () -> new NoteKey("log.example", quantum.verifyingKey()));
    Refused.with(
        LedgerError.KEY_TEXT, () -> Checkpoint.sign("log.example", 1, Digest.sha256(), quantum));
  }

  @Test
  void note_keys_read_back_and_others_are_refused() {
    NoteKey key = new NoteKey("writ.example/log", Fixture.LOG_KEY.verifyingKey());
    assertThat(NoteKey.parse(key.toString())).isEqualTo(key);
    String go = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    assertThat(NoteKey.parse(go).toString()).isEqualTo(go);
    for (String bad :
        List.of(
            "",
            "a+b",
            go.replace("c74f20a3", "c74f20a4"),
            go.replace("c74f20a3", "C74F20A3"),
            go.replace("+AR", "+Ag"),
            go + "=",
            "Peter Neumann" + go.substring(12))) {
      Refused.with(LedgerError.KEY_TEXT, () -> NoteKey.parse(bad));
    }
    String note =
        "If you think cryptography is the answer to your problem,\n"
            + "then you don't know what your problem is.\n\n"
            + "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXg"
            + "KvqfqdngotpRZb6KE6RyyBwJnAM=\n";
    SignedNote.parse(Fixture.bytes(note)).verify(NoteKey.parse(go));
    Refused.with(
        LedgerError.NOTE_SIGNATURE,
        () ->
            SignedNote.parse(Fixture.bytes(note.replace("don't", "do"))).verify(NoteKey.parse(go)));
  }

  @Test
  void every_code_is_one_refusal() {
    TreeSet<String> codes = new TreeSet<>();
    for (LedgerError error : LedgerError.values()) {
      assertThat(codes.add(error.code())).as(error.code()).isTrue();
      assertThat(error.code()).matches("LED-0\\d\\d");
      assertThat(error.meaning()).isNotBlank().doesNotEndWith(".");
      assertThat(error.remedy()).isNotBlank().endsWith(".");
    }
  }
}
