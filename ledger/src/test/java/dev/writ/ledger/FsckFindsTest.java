package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.document;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each damage is written through RocksDB itself, so that no checksum below helps. */
class FsckFindsTest {
  private static final byte[] SMALL = Fixture.bytes("small blob");
  private static final byte[] LARGE = new byte[Batch.BLOB_BYTES_MAX + 1];

  @TempDir static Path made;
  @TempDir Path home;

  @BeforeAll
  static void make() throws IOException {
    try (Ledger ledger = Ledger.create(config(made))) {
      ledger.append(opening("a").blob(SMALL)).await();
      ledger.append(opening("b")).await();
      for (int i = 0; i < 6; i++) {
        ledger.append(step(ledger, run(i % 2 == 0 ? "a" : "b"), "step " + i)).await();
        if (i == 2) {
          ledger.checkpoint();
        }
      }
      BlobSink sink = ledger.newBlob();
      sink.write(LARGE);
      ledger.append(new Batch().blob(sink.finish()).put("t", "k", SMALL)).await();
      ledger.checkpoint();
    }
  }

  @BeforeEach
  void copy() throws IOException {
    try (var files = Files.walk(made)) {
      for (Path file : files.filter(f -> !f.equals(made)).toList()) {
        Files.copy(file, home.resolve(made.relativize(file).toString()));
      }
    }
  }

  private Fsck.Options options() {
    return Fsck.Options.of(config(home).dir())
        .withLogKey(Fixture.LOG_KEY.verifyingKey())
        .withAnchor(config(home).anchor());
  }

  /** Changes rows behind the ledger's back. */
  @FunctionalInterface
  interface Damage {
    void apply(Editor editor) throws Exception;
  }

  record Case(String name, String problem, Damage damage) {
    @Override
    public String toString() {
      return name;
    }
  }

  record Editor(Path home, Storage store, Write rows) {
    byte[] get(Family family, byte[] key) {
      return store.get(family, key).orElseThrow();
    }

    void put(Family family, byte[] key, byte[] value) {
      rows.put(family, key, value);
    }

    void delete(Family family, byte[] key) {
      assertThat(store.has(family, key)).isTrue();
      rows.delete(family, key);
    }

    void replaceInEvent(String run, long seq, String from, String to) {
      byte[] key = event(run, seq);
      byte[] row = get(Family.EVENTS, key);
      String text = new String(StoredForm.eventBytes(key, row), StandardCharsets.UTF_8);
      assertThat(text).contains(from);
      byte[] edited = text.replace(from, to).getBytes(StandardCharsets.UTF_8);
      put(
          Family.EVENTS,
          key,
          ByteBuffer.allocate(8 + edited.length).put(row, 0, 8).put(edited).array());
    }

    void flip(Family family, byte[] key, int at) {
      byte[] row = get(family, key);
      row[at] ^= 1;
      put(family, key, row);
    }

    Path blobFile() {
      String hex = Digest.sha256(LARGE).hex();
      return home.resolve("data/blobs").resolve(hex.substring(0, 2)).resolve(hex);
    }
  }

  private static byte[] runKey(String run) {
    return Keys.run(run(run));
  }

  private static byte[] event(String run, long seq) {
    return Keys.event(runKey(run), seq);
  }

  static List<Case> cases() {
    Family events = Family.EVENTS;
    Family log = Family.LOG;
    Family runs = Family.RUNS;
    Family documents = Family.DOCUMENTS;
    Family checkpoints = Family.CHECKPOINTS;
    byte[] small = Digest.sha256(SMALL).bytes();
    byte[] large = Digest.sha256(LARGE).bytes();
    byte[] some = document("step 2").id().bytes();
    return List.of(
        new Case(
            "an event edited",
            "log row \\d+: calculated node \\S+ at level 0, but \\S+ is stored",
            e -> e.replaceInEvent("a", 1, "receipt.signed", "receipt.forged")),
        new Case(
            "an event edited, seen from the next",
            "event acme/a 2: calculated prev \\S+, but the event has \\S+",
            e -> e.replaceInEvent("a", 1, "receipt.signed", "receipt.forged")),
        new Case(
            "an event edited, seen from the checkpoint",
            "checkpoint 8: calculated root \\S+, but checkpoint claims \\S+",
            e -> e.replaceInEvent("a", 1, "receipt.signed", "receipt.forged")),
        new Case(
            "an event edited, seen from the anchor",
            "anchor: calculated root \\S+, but anchor claims \\S+",
            e -> e.replaceInEvent("b", 3, "receipt.signed", "receipt.forged")),
        new Case(
            "an event that is not canonical",
            "event acme/a 1: CAN-012.*",
            e -> e.replaceInEvent("a", 1, "\"kind\":", "\"kind\": ")),
        new Case(
            "an event with an unknown field",
            "event acme/a 1: CAN-021.*",
            e -> e.replaceInEvent("a", 1, "\"tenant\":\"acme\"", "\"tenant\":\"acme\",\"z\":1")),
        new Case(
            "an event under another seq",
            "event acme/a 1: .*not that of.*",
            e -> e.replaceInEvent("a", 1, "\"seq\":1", "\"seq\":2")),
        new Case(
            "an event removed",
            "log row \\d+: it names an event that is not there",
            e -> e.delete(events, event("a", 1))),
        new Case(
            "an event removed, seen in its run",
            "event acme/a 1: calculated seq 1, but the event has 2",
            e -> e.delete(events, event("a", 1))),
        new Case(
            "a run's last event removed",
            "run acme/b: calculated head 2, but 3 is stored",
            e -> e.delete(events, event("b", 3))),
        new Case(
            "an event at another position",
            "event acme/a 1: it says position .*",
            e -> e.flip(events, event("a", 1), 7)),
        new Case(
            "a row of three bytes",
            ".*LED-006.*an event's row of 3 bytes.*",
            e -> e.put(events, event("a", 1), new byte[3])),
        new Case(
            "an event that no log row names",
            "events: 9 events, but the log has 8 rows",
            e -> e.put(events, event("c", 0), e.get(events, event("a", 0)))),
        new Case("a leaf changed", "log row 4: .* level 0.*", e -> e.flip(log, Keys.number(4), 0)),
        new Case(
            "an inner node changed",
            "log row 3: calculated node \\S+ at level 2, but \\S+ is stored",
            e -> e.flip(log, Keys.number(3), 31)),
        new Case(
            "an event edited whose leaf no row has",
            "log row 7: calculated node \\S+ at level 3, but \\S+ is stored",
            e -> e.replaceInEvent("b", 3, "receipt.signed", "receipt.forged")),
        new Case(
            "an event removed whose leaf no row has",
            "log row 3: it names an event that is not there",
            e -> e.delete(events, event("b", 1))),
        new Case(
            "the begin of rows of one node changed",
            "log row 1: .* is stored",
            e -> e.put(Family.DEFAULT, MetaRow.ONE_NODE_FROM.key(), Keys.number(2))),
        new Case(
            "the begin of rows of one node changed to what is not there yet",
            "one_node_from: rows of one node begin at 9, but the log has 8 rows",
            e -> e.put(Family.DEFAULT, MetaRow.ONE_NODE_FROM.key(), Keys.number(9))),
        new Case(
            "the begin of rows of one node cut short",
            "log: the examination ended early: LED-006.*a number of 3 bytes.*",
            e -> e.put(Family.DEFAULT, MetaRow.ONE_NODE_FROM.key(), new byte[3])),
        new Case(
            "the begin of rows of one node removed",
            "log row 1: .*",
            e -> e.delete(Family.DEFAULT, MetaRow.ONE_NODE_FROM.key())),
        new Case(
            "a log row removed",
            "log row 4: row 3 is missing before it",
            e -> e.delete(log, Keys.number(3))),
        new Case(
            "the last log row removed",
            "anchor: the log has 7 events, but the anchor saw 8",
            e -> e.delete(log, Keys.number(7))),
        new Case(
            "a log row cut short",
            "log row 3: 10 bytes are too few for its nodes",
            e -> e.put(log, Keys.number(3), new byte[10])),
        new Case(
            "a head changed",
            "run acme/a: calculated head 3, but 2 is stored",
            e -> e.put(runs, runKey("a"), Keys.number(2))),
        new Case(
            "a head removed",
            "run acme/a: calculated head 3, but none is stored",
            e -> e.delete(runs, runKey("a"))),
        new Case(
            "a head of a run that is not there",
            "runs: 3 heads, but events of 2 runs",
            e -> e.put(runs, runKey("c"), Keys.number(0))),
        new Case(
            "a head whose key is no run",
            "RUNS row 6161: LED-006.*",
            e -> e.put(runs, Fixture.bytes("aa"), Keys.number(0))),
        new Case(
            "another document under an id",
            "document \\S+: LED-006.*has the calculated id.*",
            e -> e.put(documents, some, document("other").toBytes())),
        new Case(
            "a document that is no envelope",
            "document \\S+: LED-006.*CAN-.*",
            e -> e.put(documents, some, Fixture.bytes("{}"))),
        new Case(
            "a payload of ours that is not canonical",
            "document \\S+: CAN-012.*",
            e -> {
              Envelope bad =
                  Envelope.signBytes(
                      "application/vnd.writ.receipt.v1+json", Fixture.bytes("{ }"), Fixture.key(2));
              e.put(documents, bad.id().bytes(), bad.toBytes());
            }),
        new Case(
            "a document removed",
            "event acme/a 2: its body \\S+ is neither a document nor a blob",
            e -> e.delete(documents, some)),
        new Case(
            "a small blob changed",
            "blob \\S+: calculated digest .*",
            e -> e.flip(Family.BLOBS, small, 0)),
        new Case(
            "a large blob changed",
            "blob \\S+: LED-031.*calculated digest.*",
            e -> Files.write(e.blobFile(), changed())),
        new Case(
            "a large blob cut",
            "blob \\S+: LED-031.*10 bytes instead of 65537.*",
            e -> Files.write(e.blobFile(), new byte[10])),
        new Case(
            "a large blob removed",
            "blob \\S+: LED-031.*its file is missing.*",
            e -> Files.delete(e.blobFile())),
        new Case(
            "a large blob's size changed",
            "blob \\S+: LED-031.*",
            e -> e.put(Family.FILES, large, Keys.number(5))),
        new Case(
            "a checkpoint by another key",
            "checkpoint 8: LED-053.*",
            e ->
                e.put(
                    checkpoints,
                    Keys.number(8),
                    Checkpoint.sign(
                            Fixture.ORIGIN,
                            8,
                            Checkpoint.parse(e.get(checkpoints, Keys.number(8))).root(),
                            Fixture.key(7))
                        .toBytes())),
        new Case(
            "a checkpoint of another root",
            "checkpoint 5: calculated root \\S+, but checkpoint claims \\S+",
            e ->
                e.put(
                    checkpoints,
                    Keys.number(5),
                    Checkpoint.sign(Fixture.ORIGIN, 5, Fixture.digest("x"), Fixture.LOG_KEY)
                        .toBytes())),
        new Case(
            "a checkpoint under another size",
            "checkpoint 6: it claims size 8",
            e -> e.put(checkpoints, Keys.number(6), e.get(checkpoints, Keys.number(8)))),
        new Case(
            "a checkpoint beyond the log",
            "checkpoint 9: the log has 8 events",
            e ->
                e.put(
                    checkpoints,
                    Keys.number(9),
                    Checkpoint.sign(Fixture.ORIGIN, 9, Fixture.digest("x"), Fixture.LOG_KEY)
                        .toBytes())),
        new Case(
            "a checkpoint that is none",
            "checkpoint 5: LED-050.*",
            e -> e.put(checkpoints, Keys.number(5), SMALL)),
        new Case(
            "the high-water mark changed",
            "high_water: calculated \\S+, but \\S+ is stored",
            e -> e.put(Family.DEFAULT, MetaRow.HIGH_WATER.key(), Keys.number(1))),
        new Case(
            "the high-water mark removed",
            "meta: the examination ended early: LED-006.*high_water is missing.*",
            e -> e.delete(Family.DEFAULT, MetaRow.HIGH_WATER.key())),
        new Case(
            "the incarnation changed",
            "anchor: the ledger is incarnation 9, the anchor's 1",
            e -> e.put(Family.DEFAULT, MetaRow.INCARNATION.key(), Keys.number(9))),
        new Case(
            "the anchor removed",
            "anchor: .*is missing",
            e -> Files.delete(e.home().resolve("anchor.json"))));
  }

  private static byte[] changed() {
    byte[] changed = Arrays.copyOf(LARGE, LARGE.length);
    changed[100] = 1;
    return changed;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void damage(Case damaged) throws Exception {
    try (Storage store = RocksStorage.open(config(home).dir().resolve("db"));
        Write rows = store.newWrite()) {
      damaged.damage().apply(new Editor(home, store, rows));
      Fixture.write(store, rows);
    }
    FsckReport report = Fsck.check(options());
    assertThat(report.isSound()).isFalse();
    assertThat(report.problemsTotal()).isEqualTo(report.problems().size());
    assertThat(report.problems())
        .as(report.problems().toString())
        .anyMatch(problem -> problem.toString().matches(damaged.problem()));
  }

  @Test
  void nothing_in_a_sound_ledger_and_says_what_it_looked_at() {
    TreeMap<String, Long> progress = new TreeMap<>();
    FsckReport report = Fsck.check(options().withProgress(progress::put));
    assertThat(report.problems()).isEmpty();
    assertThat(report.isSound()).isTrue();
    assertThat(report.treeSize()).isEqualTo(8);
    assertThat(progress)
        .containsEntry("events", 8L)
        .containsEntry("log rows", 8L)
        .containsEntry("documents", 8L)
        .containsEntry("checkpoints", 2L)
        .containsEntry("blobs", 1L)
        .containsEntry("blob files", 1L);
    assertThat(report.verified()).hasSize(10);
    assertThat(report.notVerified()).anyMatch(line -> line.contains("index tables"));
    assertThat(report.toJson().get("sound")).isNotNull();
  }

  @Test
  void less_where_it_is_given_less_and_says_so() {
    FsckReport report = Fsck.check(Fsck.Options.of(config(home).dir()));
    assertThat(report.isSound()).isTrue();
    assertThat(report.notVerified())
        .anyMatch(line -> line.contains("no log key"))
        .anyMatch(line -> line.contains("anchor"))
        .anyMatch(line -> line.contains("second implementation"));
  }

  @Test
  void what_the_second_opinion_would_write_otherwise() {
    long[] asked = {0};
    FsckReport sound = Fsck.check(options().withSecondOpinion(bytes -> asked[0]++));
    assertThat(sound.isSound()).isTrue();
    assertThat(asked[0]).as("8 events, 8 envelopes, 8 payloads").isEqualTo(24);
    FsckReport other =
        Fsck.check(
            options()
                .withSecondOpinion(bytes -> {
                  throw new IllegalStateException("other bytes");
                }));
    assertThat(other.problemsTotal()).isEqualTo(24);
    assertThat(other.problems().getFirst().found()).contains("other bytes");
  }
}
