package dev.writ.postgres;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.RowContents;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents and events are packed; analysts read them, and they come back byte for byte. */
class DocumentsAreReadableAndComeBackTest {
  private static final SigningKey KEY = SigningKey.ed25519(new byte[32]);

  private final PostgresServer server = PostgresServer.shared();
  private final int cell = server.newCell();
  private final PostgresDatabase database =
      new PostgresDatabase(server.settings().withCell(cell), "a test");

  private List<String> query(String sql) {
    return server.query(sql.replace("CELL", "cell = " + cell));
  }

  private static void write(Storage storage, Consumer<Write> rows) {
    try (Write write = storage.newWrite()) {
      rows.accept(write);
      storage.write(write, 0, 0);
    }
  }

  /** Every envelope in the golden vectors and bundles that can be read. */
  private static List<Envelope> golden() throws IOException {
    List<Envelope> documents = new ArrayList<>();
    Path vectors = Path.of(System.getProperty("writ.root"), "golden-vectors");
    try (Stream<Path> files = Files.walk(vectors)) {
      for (Path file : files.sorted().toList()) {
        if (file.toString().endsWith(".json")) {
          collect(Jcs.parse(Files.readAllBytes(file)), documents);
        } else if (file.toString().endsWith(".writ")) {
          try (ZipInputStream bundle = new ZipInputStream(Files.newInputStream(file))) {
            while (bundle.getNextEntry() != null) {
              parsed(bundle.readAllBytes()).ifPresent(documents::add);
            }
          }
        }
      }
    }
    return documents;
  }

  private static void collect(JsonValue value, List<Envelope> documents) {
    switch (value) {
      case JsonValue.Arr list -> list.items().forEach(item -> collect(item, documents));
      case JsonValue.Obj object -> {
        object.members().values().forEach(member -> collect(member, documents));
        if (object.members().containsKey("payloadType")) {
          parsed(Jcs.write(object)).ifPresent(documents::add);
        }
      }
      case JsonValue.Str text -> {
        if (text.value().startsWith("{\"payload\":")) {
          parsed(text.value().getBytes(UTF_8)).ifPresent(documents::add);
        }
      }
      default -> {}
    }
  }

  private static Optional<Envelope> parsed(byte[] json) {
    try {
      return Optional.of(Envelope.parse(json));
    } catch (WritException e) { // many vectors are about envelopes that must be refused
      return Optional.empty();
    }
  }

  @Test
  void everyGoldenDocumentComesBackAndIsRead() throws IOException {
    List<Envelope> documents = golden();
    TreeMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
    documents.forEach(document -> rows.put(document.id().bytes(), RowContents.row(document)));
    assertThat(rows).hasSizeGreaterThan(100);
    assertThat(documents).hasSizeGreaterThan(rows.size());
    try (Storage storage = database.create()) {
      for (Envelope document : documents) { // one payload, signed by several
        byte[] row = RowContents.row(document);
        assertThat(RowContents.row(RowContents.document(row).orElseThrow())).isEqualTo(row);
      }
      write(storage, write -> rows.forEach((key, row) -> write.put(Family.DOCUMENTS, key, row)));
      List<byte[]> found = new ArrayList<>();
      storage.scan(
          Family.DOCUMENTS,
          new byte[0],
          new byte[0],
          (key, row) -> {
            assertThat(row).isEqualTo(rows.get(key));
            found.add(key);
            return true;
          });
      assertThat(found).hasSameSizeAs(rows.keySet());
      assertThat(query("SELECT count(*) FROM writ.documents WHERE CELL"))
          .containsExactly(String.valueOf(rows.size()));
      assertThat(
              query(
                  "SELECT writ.id(d.key), writ.packed_type(d.value),"
                      + " encode(p.payload, 'hex'), p.signatures"
                      + " FROM writ.document d, writ.packed_document(d.value) p WHERE CELL"
                      + " ORDER BY d.key"))
          .isEqualTo(
              rows.values().stream()
                  .map(row -> read(RowContents.document(row).orElseThrow()))
                  .toList());
      assertThat(
              query("SELECT count(*) > 10 FROM writ.receipts WHERE CELL AND status = 'succeeded'"))
          .containsExactly("t");
      assertThat(query("SELECT count(*) > 10 FROM writ.decisions WHERE CELL AND verdict = 'ALLOW'"))
          .containsExactly("t");
      assertThat(
              query(
                  "SELECT count(*) > 10 FROM writ.effects WHERE CELL AND tool IS NOT NULL"
                      + " AND receipt IS NOT NULL AND jsonb_typeof(effect->'params') = 'object'"))
          .containsExactly("t");
      storage.verifyChecksums();
    }
  }

  /** As a query shows it. */
  private static String read(Envelope document) {
    String signatures =
        document.signatures().stream()
            .map(signature ->
                "{\"keyid\" : \"%s\", \"sig\" : \"%s\"}"
                    .formatted(signature.kid(), StrictBase64.encode(signature.bytes())))
            .collect(Collectors.joining(",", "[", "]"));
    return String.join(
        "|",
        document.id().toString(),
        document.payloadType(),
        HexFormat.of().formatHex(document.payload()),
        signatures);
  }

  /**
   * What an earlier release wrote lies in columns of its own, and is replaced by what is packed.
   */
  @Test
  void documentsAndEventsOfTheSchemaBeforeAreReadAndComeBack() {
    Envelope document = Envelope.sign("text/plain", JsonValue.object().put("a", "b").build(), KEY);
    Event event =
        Event.first(
            "acme",
            "r",
            "run.opened",
            document.id(),
            Instant.EPOCH.plusMillis(1),
            Optional.empty());
    try (PostgresServer old = new PostgresServer()) {
      PostgresSettings there = old.settings();
      EarlierSchema.make(old, there, 3);
      old.execute(
          "writ",
          "INSERT INTO writ.document (cell, key, payload_type, payload, signatures) VALUES"
              + " (0, '\\x%s', 'text/plain', '%s', '[{\"keyid\":\"%s\",\"sig\":\"%s\"}]')"
                  .formatted(
                      document.id().hex(),
                      new String(document.payload(), UTF_8),
                      document.signatures().getFirst().kid(),
                      StrictBase64.encode(document.signatures().getFirst().bytes())));
      byte[] row = eventRow(7, event);
      old.execute(
          "writ",
          "INSERT INTO writ.event (cell, key, value, kind, at_ms, body) VALUES"
              + " (0, '\\x%s', '\\x%s', 'run.opened', 1, '\\x%s')"
                  .formatted(
                      HexFormat.of().formatHex(eventKey("acme", "r")),
                      HexFormat.of().formatHex(row),
                      document.id().hex()));
      try (Storage storage = new PostgresDatabase(there, "a test").open()) {
        assertThat(storage.get(Family.EVENTS, eventKey("acme", "r"))).contains(row);
        assertThat(storage.get(Family.DOCUMENTS, document.id().bytes()))
            .contains(RowContents.row(document));
        String read = "SELECT id, payload_type, payload->>'a', signatures->0->>'keyid'";
        String shown = document.id() + "|text/plain|b|" + KEY.kid();
        assertThat(old.query(read + " FROM writ.documents")).containsExactly(shown);
        assertThat(old.query("SELECT kind, body FROM writ.events"))
            .containsExactly("run.opened|" + document.id());
        write(
            storage,
            write -> write.put(Family.DOCUMENTS, document.id().bytes(), RowContents.row(document)));
        assertThat(old.query("SELECT payload_type IS NULL FROM writ.document"))
            .containsExactly("t");
        assertThat(old.query(read + " FROM writ.documents")).containsExactly(shown);
      }
    }
  }

  private static byte[] eventKey(String tenant, String run) {
    byte[] key = (tenant + "\0" + run + "\0").getBytes(UTF_8);
    return Arrays.copyOf(key, key.length + Long.BYTES);
  }

  private static byte[] eventRow(long position, Event event) {
    return ByteBuffer.allocate(Long.BYTES + event.toBytes().length)
        .putLong(position)
        .put(event.toBytes())
        .array();
  }

  /** In the form that a ledger writes, which no column repeats. */
  @Test
  void packedEventsAreReadByTheirFields() {
    Envelope body = Envelope.sign("text/plain", JsonValue.object().build(), KEY);
    Instant at = Instant.parse("2026-11-21T12:00:00.123Z");
    List<Event> events = new ArrayList<>();
    events.add(
        Event.first("acmé", "run 1", "run.opened", body.id(), at, Optional.of("ab".repeat(32))));
    events.add(events.getFirst().next("décision", body.id(), at.plusMillis(1), Optional.empty()));
    try (Storage storage = database.create()) {
      write(
          storage,
          write -> {
            for (Event event : events) {
              byte[] key = eventKey("acmé", "run 1");
              key[key.length - 1] = (byte) event.seq();
              write.put(Family.EVENTS, key, RowContents.row(event.seq(), event));
            }
          });
      assertThat(query("SELECT count(*) FROM writ.event WHERE CELL AND kind IS NOT NULL"))
          .containsExactly("0");
      assertThat(
              query(
                  "SELECT position, tenant, run, seq, kind, body, extract(epoch FROM at)::text"
                      + " FROM writ.events WHERE CELL ORDER BY seq"))
          .containsExactly(
              "0|acmé|run 1|0|run.opened|" + body.id() + "|1795262400.123000",
              "1|acmé|run 1|1|décision|" + body.id() + "|1795262400.124000");
    }
  }

  @Test
  void aReceiptIsReadByItsFields() {
    JsonValue.Obj payload =
        JsonValue.object()
            .put("decision", "sha256:d")
            .put("finished_at", "2026-11-21T12:00:00.006Z")
            .put("reason", "ok")
            .put("request", "sha256:r")
            .put("run", "run-1")
            .put("status", "succeeded")
            .put("subject", "alice")
            .put("tenant", "acme")
            .build();
    Envelope receipt = Envelope.sign("application/vnd.writ.receipt.v1+json", payload, KEY);
    try (Storage storage = database.create()) {
      write(
          storage,
          write -> write.put(Family.DOCUMENTS, receipt.id().bytes(), RowContents.row(receipt)));
      assertThat(
              query(
                  "SELECT id, tenant, run, subject, status, finished_at, payload->>'reason',"
                      + " signatures->0->>'keyid' FROM writ.receipts WHERE CELL"))
          .containsExactly(
              receipt.id()
                  + "|acme|run-1|alice|succeeded|2026-11-21T12:00:00.006Z|ok|"
                  + KEY.kid());
    }
  }

  /** Among them what jsonb refuses: a view has to go on. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no JSON",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\\ud800\"}",
        "[1e999999]",
        "\u0000"
      })
  void whateverIsSignedComesBackAndHarmsNoView(String payload) {
    for (String type : List.of("application/vnd.writ.receipt.v1+json", "text/plain")) {
      Envelope envelope = Envelope.signBytes(type, payload.getBytes(UTF_8), KEY);
      byte[] row = RowContents.row(envelope);
      int fresh = server.newCell();
      try (Storage storage =
          new PostgresDatabase(server.settings().withCell(fresh), "a test").create()) {
        write(storage, write -> write.put(Family.DOCUMENTS, envelope.id().bytes(), row));
        assertThat(storage.get(Family.DOCUMENTS, envelope.id().bytes())).contains(row);
        assertThat(
                server.query(
                    "SELECT payload_type, payload FROM writ.documents WHERE cell = " + fresh))
            .containsExactly(type + "|null");
        assertThat(server.query("SELECT count(*) FROM writ.receipts WHERE cell = " + fresh))
            .containsExactly(type.startsWith("text") ? "0" : "1");
      }
    }
  }

  /** As they are, in columns of their own. */
  @Test
  void rowsOfFormat1AndOtherBytesAreKept() {
    Envelope envelope = Envelope.sign("text/plain", JsonValue.object().put("a", "b").build(), KEY);
    List<byte[]> rows = List.of(envelope.toBytes(), new byte[0], "{".getBytes(UTF_8));
    try (Storage storage = database.create()) {
      for (byte[] row : rows) {
        write(storage, write -> write.put(Family.DOCUMENTS, envelope.id().bytes(), row));
        assertThat(storage.get(Family.DOCUMENTS, envelope.id().bytes())).contains(row);
      }
      // What was split before and is not any more, and the other way round.
      byte[] split = RowContents.row(envelope);
      write(storage, write -> write.put(Family.DOCUMENTS, envelope.id().bytes(), split));
      assertThat(storage.get(Family.DOCUMENTS, envelope.id().bytes())).contains(split);
      assertThat(query("SELECT payload FROM writ.documents WHERE CELL"))
          .containsExactly("{\"a\": \"b\"}");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"2026-11-21T12:00:00.123Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"})
  void anEventIsReadByItsFields(String at) {
    Envelope body = Envelope.sign("text/plain", JsonValue.object().build(), KEY);
    Event event =
        Event.first("acmé", "run 1", "run.opened", body.id(), Instant.parse(at), Optional.empty());
    byte[] run = "acmé\0run 1\0".getBytes(UTF_8);
    byte[] key = Arrays.copyOf(run, run.length + Long.BYTES);
    byte[] row =
        ByteBuffer.allocate(Long.BYTES + event.toBytes().length)
            .putLong(7)
            .put(event.toBytes())
            .array();
    try (Storage storage = database.create()) {
      write(storage, write -> write.put(Family.EVENTS, key, row));
      assertThat(storage.get(Family.EVENTS, key)).contains(row);
      assertThat(
              query(
                  "SELECT position, tenant, run, seq, kind, body,"
                      + " at = timestamptz '%s' FROM writ.events WHERE CELL"
                          .formatted(
                              at.startsWith("0000") ? "0001" + at.substring(4) + " BC" : at)))
          .containsExactly("7|acmé|run 1|0|run.opened|" + body.id() + "|t");
    }
  }
}
