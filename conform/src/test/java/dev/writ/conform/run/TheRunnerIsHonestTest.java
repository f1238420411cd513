package dev.writ.conform.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.adapter.Operation;
import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.ConformanceReport.Verdict;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

/** What is not run, not supported, or not answered is no pass; and nobody can change a vector. */
class TheRunnerIsHonestTest {
  private static final Vectors VECTORS = Vectors.load(Golden.ROOT);

  private static ConformanceReport run(Implementation implementation, String... suites) {
    return Runner.run(
        VECTORS,
        new Runner.Selection(ConformanceProfile.L1, List.of(suites)),
        implementation,
        _ -> {});
  }

  private static Implementation with(SortedMap<String, Operation> operations) {
    return new LocalImplementation("partial", new Adapter(operations));
  }

  private static String refused(Runnable work) {
    WritException e = catchThrowableOfType(WritException.class, work::run);
    assertThat(e).isNotNull();
    return e.code().code();
  }

  @Test
  void whatIsUnsupportedIsCountedAndIsNoPass() {
    TreeMap<String, Operation> some = new TreeMap<>(Ours.OPERATIONS);
    some.remove("digest.parse");
    ConformanceReport report = run(with(some), "digest");
    assertThat(report.count(Verdict.UNSUPPORTED)).isEqualTo(9);
    assertThat(report.count(Verdict.PASSED)).isEqualTo(4);
    assertThat(report.count(Verdict.FAILED)).isZero();
    assertThat(report.conforms()).isFalse();
    assertThat(Statement.of(report, Digest.sha256()).toString()).contains("WARNED");
  }

  @Test
  void nothingRunIsAFailure() {
    assertThat(refused(() -> run(with(Ours.OPERATIONS), "no-such-suite"))).isEqualTo("CNF-006");
    assertThat(refused(() -> run(with(Ours.OPERATIONS), "digest", "executor")))
        .as("a suite of a profile that was not asked for")
        .isEqualTo("CNF-006");
    Vectors none = new Vectors(VECTORS.digest(), List.of());
    assertThat(
            refused(() ->
                Runner.run(
                    none,
                    new Runner.Selection(ConformanceProfile.L3, List.of()),
                    with(Ours.OPERATIONS),
                    _ -> {})))
        .isEqualTo("CNF-006");
    assertThat(new ConformanceReport("x", VECTORS.digest(), "nothing", List.of()).conforms())
        .isFalse();
  }

  @Test
  void aRefusalIsToldFromAnOutputThatHasACode() {
    JsonValue.Obj refusal = JsonValue.object().put("code", "CAN-004").build();
    Vector vector =
        new Vector("x/y", "about", "op", JsonValue.object().build(), refusal, Optional.empty());
    assertThat(vector.difference(new AdapterAnswer.Refused("CAN-004", ""))).isEmpty();
    assertThat(vector.difference(new AdapterAnswer.Refused("CAN-003", ""))).isPresent();
    assertThat(vector.difference(new AdapterAnswer.Refused(AdapterAnswer.INTERNAL, "")))
        .isPresent();
    assertThat(vector.difference(new AdapterAnswer.Output(JsonValue.object().build()))).isPresent();
  }

  // ---- vectors

  private static void copyOfDigests(Path to) throws IOException {
    Files.createDirectories(to.resolve("digest"));
    try (var files = Files.list(Golden.ROOT.resolve("digest"))) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve("digest").resolve(file.getFileName().toString()));
      }
    }
    Vectors.writeIndex(to);
  }

  @Test
  void aChangedVectorIsRefused(@TempDir Path dir) throws IOException {
    copyOfDigests(dir);
    assertThat(Vectors.load(dir).all()).hasSize(13);
    Path file = dir.resolve("digest/text.json");
    String text = Files.readString(file);
    Files.writeString(file, text.replace("the text form", "another text"));
    assertThat(refused(() -> Vectors.load(dir))).isEqualTo("CNF-003");
    Files.delete(file);
    assertThat(refused(() -> Vectors.load(dir))).isEqualTo("CNF-003");
    Files.writeString(file, text);
    Files.writeString(dir.resolve("digest/more.json"), text);
    assertThat(refused(() -> Vectors.load(dir))).isEqualTo("CNF-004");
    Digest before = Vectors.load(Golden.ROOT).digest();
    Vectors.writeIndex(dir);
    assertThat(Vectors.load(dir).digest()).isNotEqualTo(before);
  }

  @Test
  void brokenVectorsAndIndexesAreRefused(@TempDir Path dir) throws IOException {
    assertThat(refused(() -> Vectors.load(dir))).isEqualTo("CNF-001");
    copyOfDigests(dir);
    Path index = dir.resolve("index.json");
    String good = Files.readString(index);
    for (String bad :
        List.of(
            "",
            "{}\n",
            good + "\n",
            good.stripTrailing(),
            good.replace("\"format\":1", "\"format\":2"),
            good.replace("\"L3\"", "\"L4\""),
            good.replace("sha256:", "sha512:"))) {
      Files.writeString(index, bad);
      assertThat(refused(() -> Vectors.load(dir))).as(bad).isEqualTo("CNF-002");
    }
    for (String bad : List.of("{}", "{\"about\":\"\"}", "[]", "")) {
      Files.writeString(dir.resolve("digest/text.json"), bad);
      Vectors.writeIndex(dir);
      assertThat(refused(() -> Vectors.load(dir))).as(bad).isEqualTo("CNF-005");
    }
  }

  // ---- processes

  private static final String ANSWER =
      "import sys,json\nfor l in sys.stdin.buffer:\n q=json.loads(l)\n";

  private static ProcessImplementation python(Path dir, String body) throws IOException {
    Path file = dir.resolve("impl " + body.hashCode() + ".py");
    Files.writeString(file, body);
    return new ProcessImplementation("python3 '" + file + "'", Duration.ofSeconds(20));
  }

  @Test
  void aCommandThatCannotBeStarted() {
    assertThat(refused(() -> new ProcessImplementation("/no/such/program", Duration.ofSeconds(1))))
        .isEqualTo("CNF-010");
    assertThat(refused(() -> new ProcessImplementation("", Duration.ofSeconds(1))))
        .isEqualTo("CNF-010");
    assertThat(refused(() -> new ProcessImplementation("python3 'a", Duration.ofSeconds(1))))
        .isEqualTo("CNF-010");
    assertThat(AdapterCommand.split("a 'b c' \"d'e\" f\\ g  ''"))
        .containsExactly("a", "b c", "d'e", "f g", "");
  }

  @Test
  void aProcessThatDiesIsStartedAgainAndTheVectorFails(@TempDir Path dir) throws IOException {
    String body =
        ANSWER
            + " if 'text' in q['input']: sys.stderr.write('boom'); sys.exit(7)\n"
            + " print(json.dumps({'id':q['id'],'ok':False,'code':'unsupported','message':''}),"
            + "flush=True)\n";
    try (Implementation dying = python(dir, body)) {
      JsonValue.Obj dies = JsonValue.object().put("text", "x").build();
      JsonValue.Obj lives = JsonValue.object().put("bytes_b64", "").build();
      for (int i = 0; i < 2; i++) {
        Implementation.Broken e =
            catchThrowableOfType(Implementation.Broken.class, () -> dying.ask("digest", dies));
        assertThat(e).hasMessageContaining("status 7").hasMessageContaining("boom");
        assertThat(dying.ask("digest", lives)).isInstanceOf(AdapterAnswer.Refused.class);
      }
    }
  }

  @Test
  void oneThatKeepsDyingIsGivenUpAndEverythingFails(@TempDir Path dir) throws IOException {
    try (Implementation dead = python(dir, "")) {
      ConformanceReport report = run(dead, "digest");
      assertThat(report.count(Verdict.FAILED)).isEqualTo(13);
      assertThat(report.results().getLast().detail()).contains("not asked");
    }
  }

  @Test
  void oneThatNeverAnswersFailsWithinItsTime(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("mute.py");
    Files.writeString(file, "import sys\nfor l in sys.stdin.buffer: pass\n");
    try (Implementation mute = new ProcessImplementation("python3 " + file, Duration.ofMillis(1))) {
      Implementation.Broken e =
          catchThrowableOfType(
              Implementation.Broken.class,
              () -> mute.ask("digest", JsonValue.object().put("bytes_b64", "").build()));
      assertThat(e).hasMessageContaining("no answer");
    }
  }

  @Test
  void nonsenseIsNoAnswer(@TempDir Path dir) throws IOException {
    for (String nonsense :
        List.of(
            "print('hello',flush=True)",
            "print('{}',flush=True)",
            "print(json.dumps({'id':'77','ok':True,'output':{}}),flush=True)",
            "print(json.dumps({'id':q['id'],'ok':True}),flush=True)",
            "print(json.dumps({'id':q['id'],'ok':True,'output':{},'more':1}),flush=True)",
            "sys.stdout.buffer.write(b'\\xff\\n');sys.stdout.flush()")) {
      try (Implementation liar = python(dir, ANSWER + " " + nonsense + "\n")) {
        Implementation.Broken e =
            catchThrowableOfType(
                Implementation.Broken.class,
                () -> liar.ask("digest", JsonValue.object().put("bytes_b64", "").build()));
        assertThat(e).as(nonsense).hasMessageContaining("no answer of the protocol");
        if (nonsense.contains("'77'")) {
          assertThat(e).hasMessageContaining("CNF-021"); // the answer to another question
        }
      }
    }
  }

  // ---- reports

  @Test
  void theReportIsJUnitXmlThatOthersRead() throws Exception {
    TreeMap<String, Operation> some = new TreeMap<>(Ours.OPERATIONS);
    some.remove("digest.parse");
    some.put("digest", _ -> JsonValue.object().put("digest", "<\"&\u0001\uD83D\uDD11>").build());
    ConformanceReport report = run(with(some), "digest", "pae");
    Document xml =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(JUnitXml.of(report).getBytes(StandardCharsets.UTF_8)));
    assertThat(xml.getElementsByTagName("testcase").getLength()).isEqualTo(16);
    assertThat(xml.getElementsByTagName("failure").getLength()).isEqualTo(4);
    assertThat(xml.getElementsByTagName("skipped").getLength()).isEqualTo(9);
    var suite = (org.w3c.dom.Element) xml.getElementsByTagName("testsuite").item(0);
    assertThat(suite.getAttribute("name")).isEqualTo("digest");
    assertThat(suite.getAttribute("tests")).isEqualTo("13");
    // Seconds to the millisecond, which is what readers of the format take.
    assertThat(suite.getAttribute("time")).matches("[0-9]+\\.[0-9]{3}");
    var one = (org.w3c.dom.Element) xml.getElementsByTagName("testcase").item(0);
    assertThat(one.getAttribute("time")).matches("[0-9]+\\.[0-9]{3}");
  }

  @Test
  void theStatementNamesVectorsImplementationAndResult(@TempDir Path dir) throws IOException {
    Path artifact = dir.resolve("impl.py");
    Files.writeString(artifact, "print()\n");
    ConformanceReport report = run(with(Ours.OPERATIONS), "pae");
    SigningKey key = SigningKey.ed25519(new byte[32]);
    Envelope envelope =
        Envelope.parse(
            Statement.sign(report, Statement.subjectOf("python3 " + artifact), key).toBytes());
    key.verifyingKey().verify(envelope.preAuthEncoding(), envelope.signatures().getFirst().bytes());
    assertThat(envelope.payloadType()).isEqualTo("application/vnd.in-toto+json");
    String text = new String(envelope.payload(), StandardCharsets.UTF_8);
    assertThat(Jcs.write(envelope.document())).isEqualTo(envelope.payload());
    assertThat(text)
        .contains("\"_type\":\"https://in-toto.io/Statement/v1\"")
        .contains("\"predicateType\":\"https://in-toto.io/attestation/test-result/v0.1\"")
        .contains("\"result\":\"PASSED\"")
        .contains("{\"sha256\":\"" + VECTORS.digest().hex() + "\"}")
        .contains("{\"sha256\":\"" + Digest.sha256(Files.readAllBytes(artifact)).hex() + "\"}")
        .contains("\"passedTests\":[\"pae/dsse-spec\",\"pae/empty\",\"pae/lengths-in-bytes\"]");
    assertThat(refused(() -> Statement.subjectOf("true"))).isEqualTo("CNF-011");
    assertThat(Statement.subjectOfThisProgram()).isEqualTo(Statement.subjectOfThisProgram());
  }
}
