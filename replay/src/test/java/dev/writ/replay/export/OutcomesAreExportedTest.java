package dev.writ.replay.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hardwood.InputFile;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.reader.RowReader;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.cose.Cbor;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.Sample;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.dataformat.cbor.CBORMapper;

/**
 * Each outcome of a run is in every format once, in the order of the log, and whoever has the line
 * can hold it against the log's and the kernel's signatures.
 */
class OutcomesAreExportedTest {
  private static final String SECRET = "4711-secret-parameter";
  private static final SigningKey EXPORTER = TestKeys.key("exporter");

  private static byte[] bundle;

  @BeforeAll
  static void run(@TempDir Path dir) {
    try (TestHome home = Sample.home(dir)) {
      home.submit(home.ask("alice").params("{\"n\":\"" + SECRET + "\"}"));
      Sample.fill(home);
      assertThatThrownBy(() ->
              home.submit(home.ask("alice").input("gone.txt", Digest.sha256(new byte[] {1}), 1)))
          .hasMessageStartingWith("EXE-306");
      Sample.close(home, "run-1");
      bundle = Sample.export(home);
    }
  }

  private static List<JsonValue.Obj> lines(String format) {
    return text(format, "writ.example/log").stream()
        .map(line -> (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8)))
        .toList();
  }

  private static List<String> text(String format, String origin) {
    List<String> lines = new ArrayList<>();
    try (Bundle open = Bundle.of(bundle)) {
      LineFormat writes = LineFormat.of(format, origin, Optional.of(EXPORTER));
      ExportedOutcome.each(open, outcome -> lines.add(writes.line(outcome)));
    }
    return lines;
  }

  private static String string(JsonValue.Obj of, String... path) {
    JsonValue value = of;
    for (String name : path) {
      value = ((JsonValue.Obj) value).get(name);
    }
    return value instanceof JsonValue.Str text ? text.value() : String.valueOf(value);
  }

  /** Puts the envelope of a document in clear together again, and verifies it. */
  private static void requireSigned(JsonValue signed, String key) {
    JsonValue.Obj parts = (JsonValue.Obj) signed;
    byte[] payload = Jcs.write(parts.get("document"));
    Envelope envelope =
        Envelope.parse(
            Jcs.write(
                JsonValue.object()
                    .put("payload", Base64.getEncoder().encodeToString(payload))
                    .put("payloadType", string(parts, "payload_type"))
                    .put("signatures", parts.get("signatures"))
                    .build()));
    envelope.verifySignatures(List.of(TestKeys.key(key).verifyingKey()));
  }

  @Test
  void every_kind_of_outcome_is_there_in_the_order_of_the_log() {
    List<String> kinds = new ArrayList<>();
    List<Long> places = new ArrayList<>();
    try (Bundle open = Bundle.of(bundle)) {
      ExportedOutcome.each(
          open,
          outcome -> {
            kinds.add(outcome.kind().text() + " " + outcome.status());
            places.add(outcome.index());
            assertThat(outcome.code().isPresent())
                .as(kinds.getLast())
                .isEqualTo(outcome.kind() != ExportedOutcome.Kind.EXECUTED);
          });
    }
    assertThat(kinds)
        .contains("executed succeeded", "denied denied", "escalated escalated", "refused refused");
    assertThat(places).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void no_format_has_parameters() {
    for (String format : LineFormat.NAMES) {
      assertThat(text(format, "o").toString()).as(format).doesNotContain(SECRET);
    }
  }

  @Test
  void a_cloud_event_has_what_the_standard_requires_and_the_signed_document() {
    TreeMap<String, String> ids = new TreeMap<>();
    for (JsonValue.Obj event : lines("cloudevents")) {
      assertThat(event.members().keySet())
          .contains("id", "source", "specversion", "type", "time", "data")
          .allMatch(name -> name.matches("[a-z0-9]+"));
      assertThat(string(event, "specversion")).isEqualTo("1.0");
      assertThat(string(event, "source")).isEqualTo("urn:writ:log:writ.example/log");
      String type = string(event, "type").replace("dev.writ.effect.", "");
      boolean guardian = type.equals("denied") || type.equals("escalated");
      requireSigned(event.get("data"), guardian ? "guardian" : "executor");
      JsonValue.Obj data = (JsonValue.Obj) event.get("data");
      String id = Jcs.digest(data.get("document")).toString();
      assertThat(string(event, "id")).isEqualTo(id);
      assertThat(ids.put(id, type)).as("twice").isNull();
    }
  }

  @Test
  void an_origin_that_no_uri_can_have_is_escaped() {
    JsonValue.Obj event =
        (JsonValue.Obj)
            Jcs.parse(text("cloudevents", "a b?#ä").getFirst().getBytes(StandardCharsets.UTF_8));
    assertThat(string(event, "source")).isEqualTo("urn:writ:log:a%20b%3F%23%C3%A4");
  }

  @Test
  void an_ocsf_event_has_the_attributes_that_its_class_requires() {
    for (JsonValue.Obj event : lines("ocsf")) {
      assertThat(event.members().keySet())
          .contains("activity_id", "actor", "api", "category_uid", "class_uid", "metadata")
          .contains("severity_id", "src_endpoint", "time", "type_uid", "status_id", "action_id")
          .doesNotContain("attestation_list");
      assertThat(string(event, "type_uid")).contains("600399");
      assertThat(Digest.sha256(string(event, "raw_data").getBytes(StandardCharsets.UTF_8)).hex())
          .isEqualTo(string(event, "raw_data_hash", "value"))
          .isEqualTo(string(event, "metadata", "uid").substring("sha256:".length()));
      boolean executed = string(event, "unmapped", "outcome").equals("executed");
      assertThat(string(event, "action").equals("Allowed")).isEqualTo(executed);
    }
  }

  @Test
  void a_statement_is_signed_by_the_exporter_and_holds_what_the_kernel_signed() {
    for (String line : text("in-toto", "writ.example/log")) {
      Envelope envelope = Envelope.parse(line.getBytes(StandardCharsets.UTF_8));
      envelope.verifySignatures(List.of(EXPORTER.verifyingKey()));
      assertThat(envelope.payloadType()).isEqualTo("application/vnd.in-toto+json");
      JsonValue.Obj statement = (JsonValue.Obj) envelope.document();
      assertThat(string(statement, "_type")).isEqualTo("https://in-toto.io/Statement/v1");
      JsonValue.Obj signed =
          (JsonValue.Obj) ((JsonValue.Obj) statement.get("predicate")).get("signed");
      JsonValue.Obj first =
          (JsonValue.Obj) ((JsonValue.Arr) statement.get("subject")).items().getFirst();
      assertThat(string(first, "digest", "sha256"))
          .isEqualTo(Jcs.digest(signed.get("document")).hex());
      assertThat(string(statement, "predicateType"))
          .isEqualTo("urn:writ:in-toto:" + string(first, "name") + ":v1");
    }
  }

  @Test
  void a_row_has_as_many_cells_as_the_head_and_none_is_a_formula() {
    LineFormat csv = new CsvFormat();
    int cells = csv.head().orElseThrow().split(",", -1).length;
    assertThat(text("csv", "o"))
        .allSatisfy(row -> assertThat(row.split(",", -1)).hasSize(cells))
        .noneMatch(row -> row.matches("(.*,)?[=+@-].*"));
    assertThat(CsvFormat.cell("=1+1")).isEqualTo("'=1+1");
    assertThat(CsvFormat.cell("@a,\"b\"")).isEqualTo("\"'@a,\"\"b\"\"\"");
    assertThat(CsvFormat.cell("two\nlines")).isEqualTo("\"two\nlines\"");
    assertThat(CsvFormat.cell("")).isEmpty();
  }

  /** The same table twice, once read by another library. */
  @Test
  void a_file_of_parquet_has_the_rows_of_csv() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (Bundle open = Bundle.of(bundle)) {
      assertThat(ParquetTable.write(open, out)).isEqualTo(text("csv", "o").size());
    }
    List<String> rows = new ArrayList<>();
    try (ParquetFileReader reader =
            ParquetFileReader.open(InputFile.of(ByteBuffer.wrap(out.toByteArray())));
        RowReader row = reader.rowReader()) {
      assertThat(
              reader.getFileSchema().getColumns().stream()
                  .map(column -> column.name())
                  .collect(Collectors.joining(",")))
          .isEqualTo(new CsvFormat().head().orElseThrow());
      while (row.hasNext()) {
        row.next();
        rows.add(
            OutcomeColumn.ALL.stream()
                .map(column -> cell(row, column))
                .map(CsvFormat::cell)
                .collect(Collectors.joining(",")));
      }
    }
    assertThat(rows).isEqualTo(text("csv", "o"));
    assertThat(new String(out.toByteArray(), StandardCharsets.ISO_8859_1)).doesNotContain(SECRET);
  }

  private static String cell(RowReader row, OutcomeColumn column) {
    if (row.isNull(column.name())) {
      return "";
    }
    return switch (column.kind()) {
      case TEXT -> row.getString(column.name());
      case TIME -> Timestamps.format(row.getTimestamp(column.name()));
      case NUMBER -> String.valueOf(row.getLong(column.name()));
    };
  }

  @Test
  void each_proof_leads_from_its_event_to_the_signed_root() {
    List<String> proved = new ArrayList<>();
    try (Bundle open = Bundle.of(bundle)) {
      new TlogProofs()
          .each(
              open,
              (event, proof) -> {
                proved.add(event.kind());
                requireProof(event, new String(proof, StandardCharsets.UTF_8));
              });
      assertThat(proved).contains("receipt.signed", "decision.made", "effect.refused");
    }
  }

  /**
   * Read by another library; the bytes that are signed are put together by hand (RFC 9052, 4.4).
   */
  @Test
  void a_statement_of_scitt_is_a_cose_sign1_over_the_document() {
    statementsBy(EXPORTER, 0x27); // alg -8, EdDSA
    statementsBy(TestKeys.es256("exporter"), 0x26); // alg -7, ES256
  }

  private void statementsBy(SigningKey exporter, int algorithm) {
    CBORMapper cbor = new CBORMapper();
    List<String> subjects = new ArrayList<>();
    try (Bundle open = Bundle.of(bundle)) {
      FileFormat.of("scitt", Optional.of(exporter), Optional.empty())
          .each(
              open,
              (event, statement) -> {
                assertThat(statement).startsWith(0xd2, 0x84); // tag 18, array of 4
                JsonNode parts = cbor.readTree(statement);
                byte[] header = parts.get(0).binaryValue();
                byte[] payload = parts.get(2).binaryValue();
                assertThat(parts.get(1).size()).isZero();
                assertThat(header).startsWith(0xa4, 0x01, algorithm, 0x03); // map of 4, alg, 3
                JsonNode known = cbor.readTree(header);
                assertThat(known.get("3").stringValue())
                    .isEqualTo("application/vnd.dsse.envelope.v1+json");
                assertThat(known.get("4").binaryValue())
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo(exporter.kid());
                assertThat(known.get("15").get("1").stringValue())
                    .isEqualTo("urn:writ:log:writ.example/log");
                subjects.add(known.get("15").get("2").stringValue());
                assertThat(Envelope.parse(payload).id()).isEqualTo(event.body());
                ArrayNode signed =
                    cbor.createArrayNode().add("Signature1").add(header).add(new byte[0]);
                exporter
                    .verifyingKey()
                    .verify(
                        cbor.writeValueAsBytes(signed.add(payload)), parts.get(3).binaryValue());
              });
    }
    assertThat(subjects)
        .hasSize(text("cloudevents", "o").size())
        .allMatch(subject -> subject.matches("urn:writ:request:sha256:[0-9a-f]{64}"));
  }

  @Test
  void lengths_and_integers_have_their_shortest_form() {
    int[] lengths = {0, 23, 24, 255, 256, 65_535, 65_536};
    int[] heads = {1, 1, 2, 2, 3, 3, 5};
    for (int i = 0; i < lengths.length; i++) {
      byte[] item = new Cbor().bytes(new byte[lengths[i]]).toBytes();
      assertThat(item).hasSize(heads[i] + lengths[i]);
      assertThat(new CBORMapper().readTree(item).binaryValue()).hasSize(lengths[i]);
    }
    assertThat(new CBORMapper().readTree(new Cbor().integer(-49).toBytes()).intValue())
        .isEqualTo(-49);
  }

  /** By the text of the standard, without what made it. */
  private static void requireProof(Event event, String text) {
    int empty = text.indexOf("\n\n");
    List<String> lines = List.of(text.substring(0, empty).split("\n"));
    byte[] note = text.substring(empty + 2).getBytes(StandardCharsets.UTF_8);
    assertThat(lines.getFirst()).isEqualTo("c2sp.org/tlog-proof@v1");
    byte[] leaf = Base64.getDecoder().decode(lines.get(1).substring("extra ".length()));
    assertThat(Event.parse(leaf)).isEqualTo(event);
    long index = Long.parseLong(lines.get(2).substring("index ".length()));
    Checkpoint checkpoint =
        Checkpoint.verify(note, "writ.example/log", TestKeys.key("log").verifyingKey());
    MerkleProof path =
        new MerkleProof(
            lines.subList(3, lines.size()).stream()
                .map(line -> Digest.ofBytes(Base64.getDecoder().decode(line)))
                .toList());
    Merkle.verifyInclusion(
        Merkle.leafHash(leaf), index, checkpoint.size(), path, checkpoint.root());
    byte[] other = Arrays.copyOf(leaf, leaf.length - 1);
    assertThatThrownBy(() ->
            Merkle.verifyInclusion(
                Merkle.leafHash(other), index, checkpoint.size(), path, checkpoint.root()))
        .isInstanceOf(WritException.class);
  }
}
