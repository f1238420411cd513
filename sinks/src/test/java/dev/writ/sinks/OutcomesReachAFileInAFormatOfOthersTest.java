package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.replay.export.ExportedOutcome;
import dev.writ.replay.export.LineFormat;
import dev.writ.replay.export.ScittStatements;
import dev.writ.sinks.testing.SinkScene;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The lines of {@code writ export --format}, written as they come: spec/sinks.md, 9a. */
class OutcomesReachAFileInAFormatOfOthersTest {
  @TempDir Path dir;
  @TempDir Path folder;
  private SinkScene scene;

  private void start(String format) {
    scene =
        new SinkScene(
            dir, folder, "siem: { kind: file, path: siem.jsonl, format: " + format + " }\n");
  }

  @AfterEach
  void stop() {
    if (scene != null) {
      scene.close();
    }
  }

  private Path file() {
    return folder.resolve("siem.jsonl");
  }

  /** Every line without what only a sink adds. */
  private List<String> lines() throws IOException {
    return Files.readAllLines(file()).stream()
        .map(line -> line.replaceAll(",\"writrecord\":\"1-[0-9]+\"", ""))
        .map(line -> line.replaceAll("\"record\":\"1-[0-9]+\",", ""))
        .toList();
  }

  /** The same by the format itself, over the whole log. */
  private List<String> exported(String format) {
    LedgerView ledger = scene.server.home.ledger();
    LineFormat writes = LineFormat.of(format, ledger.origin(), Optional.empty());
    List<String> lines = new ArrayList<>();
    ledger.eventsByIndex(
        0,
        ledger.treeSize(),
        (index, event) ->
            ExportedOutcome.of(ledger::document, index, event)
                .map(writes::line)
                .ifPresent(lines::add));
    return lines;
  }

  @ParameterizedTest
  @ValueSource(strings = {"cloudevents", "ocsf"})
  void eachOutcomeIsTheLineThatAnExportHas_onceAndAgainAfterACrash(String format)
      throws IOException {
    start(format);
    scene.exec("pytest -q");
    assertThat(scene.denied("kubectl get pods")).isEqualTo(403);
    scene.exec("python -V");
    scene.awaitAll();
    assertThat(lines()).hasSize(3).isEqualTo(exported(format));
    byte[] whole = Files.readAllBytes(file());
    scene.stop();
    try (var cut = Files.newByteChannel(file(), StandardOpenOption.WRITE)) {
      cut.truncate(whole.length - 40);
    }
    scene.start();
    scene.awaitLine("rewound");
    scene.awaitAll();
    assertThat(file()).hasBinaryContent(whole);
    scene.exec("node -v");
    scene.awaitAll();
    assertThat(lines()).hasSize(4).isEqualTo(exported(format));
  }

  @Test
  void parametersAndOutputsAreInNoLine() throws IOException {
    start("ocsf");
    scene.ends(2, "secret output\n");
    scene.exec("pytest --secret-parameter");
    scene.awaitAll();
    assertThat(Files.readString(file()))
        .contains("\"activity_name\":\"Execute\"")
        .doesNotContain("secret output")
        .doesNotContain("--secret-parameter");
  }

  @Test
  void aFileOfAnotherFormIsLeftAlone() throws IOException {
    start("cloudevents");
    scene.exec("pytest -q");
    scene.awaitAll();
    scene.stop();
    String other = "{\"id\":\"1-7\",\"log\":\"writ.example/log\"}\n";
    Files.writeString(file(), other);
    scene.start();
    scene.awaitLine("SNK-003");
    assertThat(file()).hasContent(other.strip());
    scene.stop();
    JsonValue.Obj foreign =
        JsonValue.object()
            .put("source", "urn:writ:log:other.example/log")
            .put("writrecord", "1-7")
            .build();
    Files.writeString(file(), new String(Jcs.write(foreign), StandardCharsets.UTF_8) + "\n");
    scene.start();
    scene.awaitLine("SNK-003 " + file() + " is of urn:writ:log:other.example/log");
    assertThat(Files.readAllLines(file())).hasSize(1);
  }

  /** Each line is signed by the key that the configuration names. */
  @Test
  void statementsOfInTotoAreSignedAndGoOnAfterACrash() throws IOException {
    SigningKey key = key("exporter.pem");
    scene =
        new SinkScene(
            dir,
            folder,
            "siem: { kind: file, path: siem.jsonl, format: in-toto, key: exporter.pem }\n");
    scene.exec("pytest -q");
    scene.denied("kubectl get pods");
    scene.awaitAll();
    assertThat(statements(key)).hasSize(2).isEqualTo(exported(key));
    byte[] whole = Files.readAllBytes(file());
    scene.stop();
    try (var cut = Files.newByteChannel(file(), StandardOpenOption.WRITE)) {
      cut.truncate(whole.length - 40);
    }
    scene.start();
    scene.awaitLine("rewound");
    scene.awaitAll();
    assertThat(file()).hasBinaryContent(whole);
    scene.stop();
    Files.writeString(file(), "[1]\n");
    scene.start();
    scene.awaitLine("SNK-003");
    assertThat(file()).hasContent("[1]");
  }

  private SigningKey key(String name) {
    SigningKey key = TestKeys.key("exporter");
    KeyFiles.write(folder.resolve(name), key, null, new SecureRandom());
    return key;
  }

  /** What the lines state, without what only a sink adds; each verified by the key. */
  private List<String> statements(SigningKey key) throws IOException {
    List<String> statements = new ArrayList<>();
    for (String line : Files.readAllLines(file())) {
      Envelope envelope = Envelope.parse(line.getBytes(StandardCharsets.UTF_8));
      assertThat(envelope.payloadType()).isEqualTo("application/vnd.in-toto+json");
      key.verifyingKey()
          .verify(
              Envelope.preAuthEncoding(envelope.payloadType(), envelope.payload()),
              envelope.signatures().getFirst().bytes());
      String statement = new String(envelope.payload(), StandardCharsets.UTF_8);
      assertThat(statement).containsPattern("\"record\":\"1-[0-9]+\",");
      statements.add(statement.replaceAll("\"record\":\"1-[0-9]+\",", ""));
    }
    return statements;
  }

  private List<String> exported(SigningKey key) {
    LedgerView ledger = scene.server.home.ledger();
    LineFormat writes = LineFormat.of("in-toto", ledger.origin(), Optional.of(key));
    List<String> statements = new ArrayList<>();
    ledger.eventsByIndex(
        0,
        ledger.treeSize(),
        (index, event) ->
            ExportedOutcome.of(ledger::document, index, event)
                .map(writes::line)
                .map(line -> Envelope.parse(line.getBytes(StandardCharsets.UTF_8)).payload())
                .ifPresent(payload -> statements.add(new String(payload, StandardCharsets.UTF_8))));
    return statements;
  }

  /** A file for each, and one that says how far the folder is. */
  @Test
  void statementsOfScittAreFilesOfAFolder() throws IOException {
    SigningKey key = key("exporter.pem");
    Path statements = folder.resolve("statements");
    scene =
        new SinkScene(
            dir,
            folder,
            "scitt: { kind: file, path: statements, format: scitt, key: exporter.pem }\n");
    scene.exec("pytest -q");
    scene.denied("kubectl get pods");
    scene.awaitAll();
    assertThat(contents(statements)).hasSize(2).isEqualTo(wanted(key));

    scene.stop();
    byte[] second = Files.readAllBytes(statements.resolve("last.json"));
    // A crash before the last batch was noted, and a file of which not all came to the disk.
    Files.delete(statements.resolve("last.json"));
    Path one = statements.resolve(wanted(key).firstKey());
    Files.write(one, new byte[] {(byte) 0xd2});
    scene.start();
    scene.awaitLine("rewound");
    scene.awaitAll();
    assertThat(contents(statements)).isEqualTo(wanted(key));
    assertThat(statements.resolve("last.json")).hasBinaryContent(second);

    scene.stop();
    Files.writeString(
        statements.resolve("last.json"),
        "{\"format\":\"scitt\",\"id\":\"1-7\",\"log\":\"other.example/log\"}");
    scene.start();
    scene.awaitLine("SNK-003 " + statements + " has scitt of other.example/log");
    scene.exec("node -v");
    assertThat(contents(statements)).as("another log's is left alone").hasSize(2);
  }

  private static TreeMap<String, String> contents(Path statements) throws IOException {
    TreeMap<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.list(statements)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".cose")).toList()) {
        contents.put(
            file.getFileName().toString(), HexFormat.of().formatHex(Files.readAllBytes(file)));
      }
    }
    return contents;
  }

  private TreeMap<String, String> wanted(SigningKey key) {
    LedgerView ledger = scene.server.home.ledger();
    TreeMap<String, String> wanted = new TreeMap<>();
    ledger.eventsByIndex(
        0,
        ledger.treeSize(),
        (index, event) ->
            ExportedOutcome.of(ledger::document, index, event)
                .ifPresent(outcome ->
                    wanted.put(
                        event.body().hex() + ".cose",
                        HexFormat.of()
                            .formatHex(
                                ScittStatements.statement(
                                    ledger.origin(),
                                    outcome.decision().request(),
                                    outcome.envelope().toBytes(),
                                    Optional.empty(),
                                    key)))));
    return wanted;
  }

  @ParameterizedTest
  @CsvSource({
    "'format: in-toto', sinks/siem/key",
    "'format: ocsf, key: exporter.pem', sinks/siem/key",
    "'format: tlog-proof, key: exporter.pem', sinks/siem/key",
    "'format: csv', sinks/siem/format",
    "'format: cose-receipt, key: exporter.pem', sinks/siem/key",
    "'format: ocsf, receipts: true', sinks/siem/receipts",
    "'format: scitt, key: exporter.pem, receipts: yes', sinks/siem/receipts",
    "'format: scitt, key: none.pem', CAN-070"
  })
  void aKeyIsForWhatIsSigned(String settings, String found) {
    key("exporter.pem");
    assertThatThrownBy(() ->
            new SinkScene(
                dir, folder, "siem: { kind: file, path: siem.jsonl, " + settings + " }\n"))
        .hasMessageContaining(found);
  }

  /** Whoever has the log's key verifies each by itself, and nothing else is needed. */
  @Test
  void proofsAreFilesOfAFolderAndLeadToACheckpoint() throws IOException {
    Path proofs = folder.resolve("proofs");
    scene =
        new SinkScene(dir, folder, "proofs: { kind: file, path: proofs, format: tlog-proof }\n");
    scene.exec("pytest -q");
    scene.denied("kubectl get pods");
    scene.awaitAll();
    TreeMap<String, String> first = proofs(proofs);
    assertThat(first).hasSize(2);
    first.values().forEach(this::requireProves);
    scene.exec("node -v");
    scene.awaitAll();
    assertThat(proofs(proofs)).hasSize(3).containsAllEntriesOf(first);

    scene.stop();
    Files.delete(proofs.resolve("last.json"));
    TreeMap<String, String> all = proofs(proofs);
    scene.start();
    scene.awaitLine("rewound");
    scene.awaitAll();
    assertThat(proofs(proofs)).as("made again, the same").isEqualTo(all);
    scene.stop();
    key("exporter.pem");
    scene.configure(
        folder, "proofs: { kind: file, path: proofs, format: scitt, key: exporter.pem }\n", "");
    scene.awaitLine("SNK-003 " + proofs + " has tlog-proof of ");
  }

  /** Receipts, which the log's key signs by itself, and which are made again, the same. */
  @Test
  void receiptsAreFilesOfAFolder() throws IOException {
    Path receipts = folder.resolve("receipts");
    scene =
        new SinkScene(
            dir, folder, "receipts: { kind: file, path: receipts, format: cose-receipt }\n");
    scene.exec("pytest -q");
    scene.denied("kubectl get pods");
    scene.awaitAll();
    TreeMap<String, String> first = contents(receipts);
    assertThat(first).hasSize(2).isEqualTo(receipts(TestKeys.key("log")));
    scene.exec("node -v");
    scene.awaitAll();
    assertThat(contents(receipts)).hasSize(3).containsAllEntriesOf(first);

    scene.stop();
    Files.delete(receipts.resolve("last.json"));
    TreeMap<String, String> all = contents(receipts);
    scene.start();
    scene.awaitLine("rewound");
    scene.awaitAll();
    assertThat(contents(receipts)).as("made again, the same").isEqualTo(all);

    scene.stop();
    Files.delete(receipts.resolve("last.json"));
    SigningKey next = TestKeys.key("the next log key");
    ((Ledger) scene.server.home.ledger()).signWith(next);
    scene.forget();
    scene.start();
    scene.awaitLine("rewound");
    scene.awaitAll();
    assertThat(contents(receipts))
        .as("the new key signs no root of a checkpoint of the old one")
        .isEqualTo(receipts(next))
        .doesNotContainValue(all.firstEntry().getValue());
  }

  /** The receipt of each outcome, over a checkpoint that this key signed. */
  private TreeMap<String, String> receipts(SigningKey log) {
    LedgerView ledger = scene.server.home.ledger();
    TreeMap<String, String> receipts = new TreeMap<>();
    ledger.eventsByIndex(
        0,
        ledger.treeSize(),
        (index, event) ->
            ExportedOutcome.of(ledger::document, index, event)
                .ifPresent(_ ->
                    receipts.put(
                        event.body().hex() + ".cose",
                        HexFormat.of().formatHex(receipt(index, event, log)))));
    return receipts;
  }

  private byte[] receipt(long index, Event event, SigningKey log) {
    LedgerView ledger = scene.server.home.ledger();
    Checkpoint checkpoint = scene.server.home.kernel().signedRoot(index + 1).checkpoint();
    checkpoint.verify(ledger.origin(), log.verifyingKey());
    return SignedRoot.sign(checkpoint, ledger.origin(), log)
        .inclusion(index, ledger.inclusionProof(index, checkpoint.size()), event.toBytes());
  }

  @Test
  void statementsOfScittHaveReceiptsInThemWhereAsked() throws IOException {
    SigningKey key = key("exporter.pem");
    scene =
        new SinkScene(
            dir,
            folder,
            "scitt: { kind: file, path: statements, format: scitt, key: exporter.pem, receipts:"
                + " true }\n");
    scene.exec("pytest -q");
    scene.awaitAll();
    LedgerView ledger = scene.server.home.ledger();
    List<ExportedOutcome> outcomes = new ArrayList<>();
    ledger.eventsByIndex(
        0,
        ledger.treeSize(),
        (index, event) ->
            ExportedOutcome.of(ledger::document, index, event).ifPresent(outcomes::add));
    assertThat(outcomes).hasSize(1);
    ExportedOutcome outcome = outcomes.getFirst();
    assertThat(folder.resolve("statements").resolve(outcome.id().hex() + ".cose"))
        .hasBinaryContent(
            ScittStatements.statement(
                ledger.origin(),
                outcome.decision().request(),
                outcome.envelope().toBytes(),
                Optional.of(receipt(outcome.index(), outcome.event(), TestKeys.key("log"))),
                key));
  }

  private static TreeMap<String, String> proofs(Path folder) throws IOException {
    TreeMap<String, String> proofs = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".tlog-proof")).toList()) {
        proofs.put(file.getFileName().toString(), Files.readString(file));
      }
    }
    return proofs;
  }

  /** As its page says, by the code of the ledger that verifies proofs. */
  private void requireProves(String proof) {
    String[] parts = proof.split("\n\n", 2);
    List<String> head = parts[0].lines().toList();
    assertThat(head.getFirst()).isEqualTo("c2sp.org/tlog-proof@v1");
    byte[] event = Base64.getDecoder().decode(head.get(1).substring("extra ".length()));
    long index = Long.parseLong(head.get(2).substring("index ".length()));
    List<Digest> hashes =
        head.stream()
            .skip(3)
            .map(line -> Digest.ofBytes(Base64.getDecoder().decode(line)))
            .toList();
    Checkpoint checkpoint = Checkpoint.parse(parts[1].getBytes(StandardCharsets.UTF_8));
    checkpoint.verify(scene.server.home.ledger().origin(), TestKeys.key("log").verifyingKey());
    Merkle.verifyInclusion(
        Merkle.leafHash(event),
        index,
        checkpoint.size(),
        new MerkleProof(hashes),
        checkpoint.root());
  }
}
