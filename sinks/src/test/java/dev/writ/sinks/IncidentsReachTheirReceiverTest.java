package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.RecordedCode;
import dev.writ.executor.driver.DriverFailed;
import dev.writ.executor.driver.DriverOutcome.End;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.gateway.TestCertificates;
import dev.writ.sinks.feed.DeadLetters;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.SinkOrder;
import dev.writ.sinks.feed.SinkOrder.Action;
import dev.writ.sinks.feed.SinkState;
import dev.writ.sinks.testing.Receiver;
import dev.writ.sinks.testing.Receiver.Message;
import dev.writ.sinks.testing.SinkScene;
import dev.writ.surfaces.seed.SeedServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Incidents over a real socket: what is told, how it is signed, and that none is lost. */
class IncidentsReachTheirReceiverTest {
  private static final SigningKey KEY = SigningKey.ed25519(new byte[32]);
  private static final String ALERTS =
      "alerts: { consecutive_failures: 3, suspicious_commands: 2 }\n";
  private static final int REPEATS = 30;

  @TempDir Path dir;
  @TempDir Path folder;
  private Receiver receiver;
  private SinkScene scene;

  @BeforeEach
  void start() {
    receiver = new Receiver();
    KeyFiles.write(folder.resolve("webhook.pem"), KEY, null, null);
    scene = new SinkScene(dir, folder, webhook(""), ALERTS);
  }

  private String webhook(String settings) {
    return "pager: { kind: webhook, url: \""
        + receiver.url()
        + "\", key: webhook.pem"
        + settings
        + " }\n";
  }

  @AfterEach
  void stop() {
    scene.close();
    receiver.close();
  }

  private List<String> told() {
    return receiver.taken().stream()
        .map(m -> m.text("kind") + " " + m.text("code") + " " + alerts(m))
        .toList();
  }

  private static String alerts(Message message) {
    return String.join(
        " ",
        ((JsonValue.Arr) message.data().get("alerts"))
            .items().stream().map(word -> ((JsonValue.Str) word).value()).toList());
  }

  @Test
  void aDenialIsToldWithoutThePayload() {
    assertThat(scene.denied("kubectl get pods")).isEqualTo(403);
    scene.awaitAll();
    Message message = receiver.taken().getFirst();
    assertThat(message.contentType()).isEqualTo("application/cloudevents+json");
    assertThat(message.event().get("specversion")).isEqualTo(JsonValue.of("1.0"));
    assertThat(message.event().get("source")).isEqualTo(JsonValue.of("writ.example/log"));
    assertThat(message.event().get("type"))
        .isEqualTo(JsonValue.of("dev.writ.incident.PolicyDenied"));
    assertThat(message.text("code")).isEqualTo("GRD-714");
    assertThat(message.text("message")).isEqualTo("the role may not run this command");
    assertThat(message.text("tenantId")).isEqualTo("acme");
    assertThat(message.text("correlationId")).isEqualTo("case-123");
    assertThat(message.text("toolId")).isEqualTo("execution");
    JsonValue.Obj ids = (JsonValue.Obj) message.data().get("ids");
    Digest decision = Digest.parse(((JsonValue.Str) ids.get("decision")).value());
    assertThat(scene.server.home.ledger().hasDocument(decision)).isTrue();
    assertThat(new String(message.body(), StandardCharsets.UTF_8)).doesNotContain("kubectl");
  }

  @Test
  void anExecutionThatSucceedsIsNone() {
    scene.exec("pytest -q");
    scene.awaitAll();
    assertThat(receiver.asked()).isZero();
  }

  @Test
  void eachKindOfSeed004IsTold() {
    scene.ends(End.TIMED_OUT, "wall-time", Metrics.NONE);
    scene.exec("python 1");
    scene.ends(0, "");
    scene.exec("python 2");
    scene.ends(End.KILLED, "out-of-memory", Metrics.NONE);
    scene.exec("python 3");
    scene.ends(End.FAILED, "egress-denied", Metrics.NONE);
    scene.exec("python 4");
    scene.ends(0, "");
    scene.exec("python 5");
    scene.ends(End.FAILED, "dependency-load-failure", Metrics.NONE);
    scene.exec("python 6");
    scene.denied("kubectl get pods");
    scene.awaitAll();
    assertThat(told())
        .containsExactly(
            "Timeout wall-time ",
            "ResourceExceeded out-of-memory ",
            "SandboxViolation egress-denied SandboxFailures",
            "DependencyLoadFailure dependency-load-failure ",
            "PolicyDenied GRD-714 ");
    assertThat(receiver.taken())
        .extracting(m -> new String(m.body(), StandardCharsets.UTF_8))
        .noneMatch(body -> body.contains("what the tool said") || body.contains("python"));
  }

  @Test
  void theAlertsOfSeed002AreToldAtTheirThresholds() {
    scene.ends(1, "1 failed\n");
    for (int i = 0; i < 4; i++) {
      scene.exec("pytest -q");
    }
    scene.ends(0, "1 passed\n");
    scene.exec("pytest -q");
    scene.ends(1, "1 failed\n");
    scene.exec("pytest -q");
    scene.denied("kubectl get pods");
    scene.denied("kubectl get pods");
    scene.ends(End.FAILED, "tool-error", new Metrics(1, 512L << 20, 1, 0));
    scene.exec("python 1");
    scene.awaitAll();
    assertThat(told())
        .containsExactly(
            "ConsecutiveFailures  ConsecutiveFailures",
            "PolicyDenied GRD-714 ",
            "PolicyDenied GRD-714 SuspiciousCommands",
            "ExcessiveResources tool-error ExcessiveResources");
  }

  @Test
  void whatWasLostIsNotCountedAndHoldsNoLaterIncidentBack() throws IOException {
    scene.stop();
    scene.ends(1, "1 failed\n".repeat(10_000));
    for (int i = 0; i < 3; i++) {
      scene.exec("pytest -q");
    }
    scene.loseLargeContents();
    scene.denied("kubectl get pods");
    scene.start();
    scene.awaitAll();
    assertThat(told()).containsExactly("PolicyDenied GRD-714 ");
  }

  /** Nothing was dispatched, and the journal has it all the same: with the region of its server. */
  @Test
  void aWaitInTheQueueThatWasTooLongIsATimeout() {
    SeedServer.Reply reply = scene.late("r-1");
    assertThat(reply.string("status")).as(reply.text()).isEqualTo("TimedOut");
    scene.awaitAll();
    assertThat(told()).containsExactly("Timeout GWY-207 ");
    Message message = receiver.taken().getFirst();
    assertThat(message.text("region")).isEqualTo("eu-1");
    assertThat(message.text("correlationId")).isEqualTo("case-7");
    assertThat(message.text("toolId")).isEqualTo("words");
    assertThat(message.text("message"))
        .isEqualTo("the execution's time budget was over before its turn came");
  }

  /** Both ways in which a sandbox does not begin: refused before the dispatch, and failed in it. */
  @Test
  void aSandboxThatCannotStartIsASandboxFailure() {
    scene.server.home.driver.does(
        "exec",
        _ -> {
          throw new DriverFailed("SBX-004");
        });
    scene.exec("python 1");
    scene.ends(
        End.FAILED, "refused", Metrics.NONE, JsonValue.object().put("refused", "SBX-037").build());
    scene.exec("python 2");
    scene.ends(
        End.FAILED,
        "refused",
        Metrics.NONE,
        JsonValue.object().put("refused", "SBX-043").build()); // a path that the tool left behind
    scene.exec("python 3");
    scene.server.home.driver.refusesToPrepare(new WritException(new RecordedCode("SBX-003"), ""));
    scene.refused("python 4");
    scene.awaitAll();
    assertThat(told())
        .containsExactly(
            "SandboxFailures EXE-401 SandboxFailures",
            "SandboxFailures refused SandboxFailures",
            "ConsecutiveFailures refused ConsecutiveFailures",
            "SandboxFailures SBX-003 SandboxFailures");
  }

  @Test
  void executionsWhoseOutputsARuleDeletedAreNotCounted() {
    scene.ends(1, "1 failed\n");
    scene.exec("pytest -q");
    scene.exec("pytest -q");
    scene.awaitAll();
    scene.stop();
    scene.exec("pytest -q"); // the third, which is read after its output is gone
    scene.deleteOutputs();
    scene.start();
    scene.awaitAll(); // before the next execution stores the very same bytes again
    scene.exec("pytest -q");
    scene.exec("pytest -q");
    scene.awaitAll();
    assertThat(told()).isEmpty();
    scene.exec("pytest -q");
    scene.awaitAll();
    assertThat(told()).containsExactly("ConsecutiveFailures  ConsecutiveFailures");
  }

  @Test
  void onlyTheWordsOfTheConfigurationAreSent() {
    scene.configure(folder, webhook(", kinds: \"Timeout SuspiciousCommands\""), ALERTS);
    scene.denied("kubectl get pods");
    scene.denied("kubectl get pods");
    scene.awaitAll();
    assertThat(told()).containsExactly("PolicyDenied GRD-714 SuspiciousCommands");
  }

  @Test
  void theSignatureIsVerifiedByTheLinesOfThePage() throws Exception {
    scene.denied("kubectl get pods");
    scene.awaitAll();
    Message message = receiver.taken().getFirst();
    Path script = Files.writeString(folder.resolve("receiver.py"), block("python"));
    Path key = Files.write(folder.resolve("key"), KEY.verifyingKey().bytes());
    Path body = Files.write(folder.resolve("body"), message.body());
    String main =
        "\nimport sys\n"
            + "now, url, content_type, digest, given, signature = sys.argv[1:]\n"
            + "print(verify(open('"
            + key
            + "', 'rb').read(), url, {'content-type': content_type, 'content-digest': digest,"
            + " 'signature-input': given, 'signature': signature}, open('"
            + body
            + "', 'rb').read(), int(now))['id'])\n";
    Files.writeString(script, Files.readString(script) + main);
    long now = scene.server.home.clock.instant().getEpochSecond();
    String url = receiver.url();
    assertThat(python(script, now, url, message)).isEqualTo(message.id());
    assertThat(python(script, now, url + "x", message)).as("another receiver's").isEmpty();
    assertThat(python(script, now + 3600, url, message)).as("an hour later").isEmpty();
    Files.writeString(
        body, new String(message.body(), StandardCharsets.UTF_8).replace("GRD-714", "GRD-715"));
    assertThat(python(script, now, url, message)).as("changed").isEmpty();
  }

  private static String python(Path script, long now, String url, Message message)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "python3",
                script.toString(),
                String.valueOf(now),
                url,
                message.contentType(),
                message.digest(),
                message.input(),
                message.signature())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String out =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    return process.waitFor() == 0 ? out : "";
  }

  private static String page() throws IOException {
    return Files.readString(Path.of(System.getProperty("writ.root"), "spec/incidents.md"));
  }

  private static String block(String language) throws IOException {
    Matcher block =
        Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(page());
    assertThat(block.find()).isTrue();
    return block.group(1);
  }

  /** The example of the page is a message as it is sent, by the key that the page names. */
  @Test
  void theExampleOfThePageIsSignedAsItSays() throws IOException {
    String example = block("http");
    String head = example.substring(0, example.indexOf("\n\n"));
    byte[] body =
        example.substring(example.indexOf("\n\n") + 2).strip().getBytes(StandardCharsets.UTF_8);
    String digest = header(head, "Content-Digest");
    assertThat(digest)
        .isEqualTo("sha-256=:" + StrictBase64.encode(Digest.sha256(body).bytes()) + ":");
    String input = header(head, "Signature-Input");
    String base =
        "\"@method\": POST\n\"@target-uri\": https://pager.example/incidents\n\"content-type\": "
            + header(head, "Content-Type")
            + "\n\"content-digest\": "
            + digest
            + "\n\"@signature-params\": "
            + input.substring("writ=".length());
    String signature = header(head, "Signature");
    KEY.verifyingKey()
        .verify(
            base.getBytes(StandardCharsets.US_ASCII),
            StrictBase64.decode(
                "signature", signature.substring("writ=:".length(), signature.length() - 1)));
    assertThat(input).contains("keyid=\"" + KEY.kid() + "\"");
  }

  private static String header(String head, String name) {
    return head.lines()
        .filter(line -> line.startsWith(name + ": "))
        .findFirst()
        .orElseThrow()
        .substring(name.length() + 2);
  }

  @Test
  void aReceiverThatIsDownGetsAllInOrderOnceItIsBack() {
    Random random = new Random(20261123);
    receiver.answers(_ -> random.nextInt(3) == 0 ? 204 : 503);
    HashSet<String> ids = new HashSet<>();
    for (int i = 0; i < REPEATS; i++) {
      scene.denied("kubectl get pods");
      if (i % 10 == 9) {
        scene.stop();
        scene.start();
      }
    }
    scene.awaitAll();
    List<String> taken = receiver.taken().stream().map(Message::id).toList();
    ids.addAll(taken);
    assertThat(ids).as("none is lost").hasSize(REPEATS);
    assertThat(taken.stream().distinct().map(RecordId::parse)).isSorted();
    assertThat(receiver.asked()).isGreaterThan(REPEATS);
    assertThat(scene.sink().deadLetters()).contains(0L);
  }

  @Test
  void anIncidentThatIsRejectedHoldsUpNoOtherAndIsSentAgainOnOrder() {
    receiver.answers(_ -> 422);
    scene.denied("kubectl get pods");
    String line = scene.awaitLine("gave up");
    assertThat(line).endsWith("SNK-009");
    assertThat(receiver.asked()).isEqualTo(3);
    receiver.answers(_ -> 204);
    scene.denied("kubectl get nodes");
    scene.awaitAll();
    RecordId dead = RecordId.parse(line.split(" ")[2]);
    assertThat(receiver.taken()).hasSize(1).noneMatch(m -> m.id().equals(dead.toString()));
    scene.stop();
    scene.start();
    assertThat(scene.sink().deadLetters()).as("also of the next server").contains(1L);
    assertThat(DeadLetters.of(scene.server.home.ledger(), "pager").getFirst().id()).isEqualTo(dead);
    scene.forget();
    scene.orders.leave("pager", new SinkOrder(Action.RESEND, dead.index()));
    scene.awaitLine("delivered");
    assertThat(receiver.taken().getLast().id()).isEqualTo(dead.toString());
    assertThat(DeadLetters.of(scene.server.home.ledger(), "pager")).isEmpty();
    scene.orders.leave("pager", new SinkOrder(Action.RESEND, 0));
    assertThat(scene.awaitLine("SNK-010")).contains("at 0");
  }

  @Test
  void byAClockThatLeaptNothingIsTooOld() {
    receiver.answers(_ -> 503);
    scene.denied("kubectl get pods");
    scene.awaitLine("SNK-002");
    scene.server.home.clock.leap(Duration.ofDays(400));
    for (int attempts = 0; attempts < 2; attempts++) { // one may have begun before
      scene.forget();
      scene.awaitLine("SNK-002");
    }
    assertThat(scene.sink().deadLetters()).contains(0L);
    receiver.answers(_ -> 204);
    scene.awaitAll();
    assertThat(receiver.taken()).hasSize(1);
  }

  @Test
  void whatIsTooOldIsGivenUpAndTheYoungIsSent() {
    receiver.answers(_ -> 503);
    scene.denied("kubectl get pods");
    scene.awaitLine("SNK-002");
    scene.server.home.clock.forward(Duration.ofHours(25));
    assertThat(scene.awaitLine("gave up")).endsWith("SNK-002");
    scene.denied("kubectl get nodes");
    receiver.answers(_ -> 204);
    scene.awaitAll();
    assertThat(receiver.taken()).hasSize(1);
    assertThat(scene.sink().deadLetters()).contains(1L);
  }

  /** Neither to another receiver nor to a service of the host or of its network. */
  @Test
  void aRedirectIsNotFollowed() {
    try (Receiver other = new Receiver()) {
      scene.denied("kubectl get pods");
      scene.awaitAll();
      for (String to :
          List.of(other.url(), "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/")) {
        scene.forget();
        receiver.redirects(to);
        scene.denied("kubectl get pods");
        assertThat(scene.awaitLine("SNK-002")).endsWith("answered 307");
        receiver.answers(_ -> 204);
        scene.awaitAll();
      }
      assertThat(other.asked()).isZero();
    }
  }

  @Test
  void aReceiverThatIsGonePausesItsWebhookAndNothingIsLost() {
    receiver.answers(_ -> 410);
    scene.denied("kubectl get pods");
    scene.awaitLine("SNK-011");
    scene.denied("kubectl get nodes");
    scene.stop();
    scene.start();
    assertThat(scene.sink().state().paused()).as("also of the next server").isTrue();
    assertThat(scene.sink().state().trouble().orElseThrow().code()).isEqualTo("SNK-011");
    assertThat(receiver.asked()).isEqualTo(1);
    assertThat(scene.sink().deadLetters()).contains(0L);
    receiver.answers(_ -> 204);
    scene.orders.leave("pager", new SinkOrder(Action.RESUME, 0));
    scene.awaitLine("recovered");
    scene.awaitAll();
    assertThat(receiver.taken()).hasSize(2);
  }

  @Test
  void aReceiverThatDoesNotAnswerIsAskedAgain() {
    scene.configure(folder, webhook(", answer_s: 1"), ALERTS);
    receiver.answers(_ -> Receiver.SLOW);
    scene.denied("kubectl get pods");
    assertThat(scene.awaitLine("SNK-001")).endsWith("HttpTimeoutException");
    receiver.answers(_ -> 204);
    scene.awaitAll();
    assertThat(receiver.taken()).hasSize(1);
  }

  @Test
  void aServerThatEndsDoesNotWaitForAReceiverThatDoesNotAnswer() {
    scene.configure(folder, webhook(", answer_s: 10"), ALERTS);
    receiver.answers(_ -> Receiver.SLOW);
    scene.denied("kubectl get pods");
    scene.awaitThat(() -> receiver.asked() == 1);
    scene.stop();
    assertThat(scene.sink().state().trouble()).as("nor calls that a failure").isEmpty();
    assertThat(scene.sink().failures()).isZero();
    receiver.answers(_ -> 204);
    scene.start();
    scene.awaitAll();
    assertThat(receiver.taken()).hasSize(1);
    RecordId told = RecordId.parse(receiver.taken().getFirst().id());
    receiver.answers(_ -> Receiver.SLOW);
    scene.orders.leave("pager", new SinkOrder(Action.RESEND, told.index()));
    scene.awaitThat(() -> receiver.asked() == 3);
    scene.stop();
    assertThat(scene.sink().deadLetters()).as("what is to be sent again still is").contains(0L);
    receiver.answers(_ -> 204);
    scene.start();
    scene.awaitThat(() -> receiver.taken().size() == 2);
    assertThat(receiver.taken().getLast().id()).isEqualTo(told.toString());
  }

  @Test
  void theTroubleIsTheOneOfNow() {
    receiver.answers(_ -> 503);
    scene.denied("kubectl get pods");
    scene.awaitThat(() -> trouble().equals(Optional.of("SNK-002")));
    receiver.answers(_ -> Receiver.UNCONFIRMED);
    scene.awaitThat(() -> trouble().equals(Optional.of("SNK-001")));
    scene.orders.leave("pager", new SinkOrder(Action.PAUSE, 0));
    scene.awaitThat(() -> trouble().isEmpty());
    scene.orders.leave("pager", new SinkOrder(Action.RESUME, 0));
    scene.awaitThat(() -> trouble().equals(Optional.of("SNK-001")));
  }

  private Optional<String> trouble() {
    return SinkState.of(scene.server.home.ledger(), "pager").trouble().map(SinkState.Trouble::code);
  }

  @Test
  void aReceiverIsNotAskedAgainBeforeItSays() {
    receiver.putsOff(429, "3600");
    scene.denied("kubectl get pods");
    scene.awaitLine("SNK-002");
    scene.orders.leave("pager", new SinkOrder(Action.PAUSE, 0));
    scene.awaitLine("ordered PAUSE");
    assertThat(receiver.asked()).isEqualTo(1);
    receiver.putsOff(503, "when it is time");
    scene.orders.leave("pager", new SinkOrder(Action.RESUME, 0));
    scene.awaitThat(() -> receiver.asked() > 3);
    receiver.answers(_ -> 204);
    scene.awaitAll();
    assertThat(receiver.taken()).hasSize(1);
  }

  /** By the clock of the receiver, whose answer has the date of today. */
  @Test
  void aDateIsWaitedForAsSecondsAre() {
    receiver.putsOff(
        503,
        DateTimeFormatter.RFC_1123_DATE_TIME.format(
            Instant.now().plus(Duration.ofDays(1)).atZone(ZoneOffset.UTC)));
    scene.denied("kubectl get pods");
    scene.awaitLine("SNK-002");
    scene.orders.leave("pager", new SinkOrder(Action.PAUSE, 0));
    scene.awaitLine("ordered PAUSE");
    assertThat(receiver.asked()).isEqualTo(1);
    receiver.putsOff(503, "Sun, 06 Nov 1994 08:49:37 GMT");
    scene.orders.leave("pager", new SinkOrder(Action.RESUME, 0));
    scene.awaitThat(() -> receiver.asked() > 3);
  }

  /** However long it was to wait, since the receiver has said no to the former one. */
  @Test
  void aSecretThatWasRenewedIsUsedAtOnce() throws Exception {
    Path token = secret("former");
    scene.configure(folder, webhook(", secret: token.txt"), ALERTS);
    receiver.putsOff(401, "3600");
    scene.denied("kubectl get pods");
    scene.awaitLine("SNK-002");
    scene.readAgain(); // the same, so that nothing begins anew
    scene.orders.leave("pager", new SinkOrder(Action.PAUSE, 0));
    scene.awaitLine("ordered PAUSE");
    assertThat(receiver.asked()).isEqualTo(1);
    scene.configure(folder, webhook(", secret: token.txt"), ALERTS);
    scene.orders.leave("pager", new SinkOrder(Action.RESUME, 0));
    scene.awaitThat(() -> receiver.asked() == 2);
    receiver.answers(m -> m.authorization().equals(Optional.of("Bearer present")) ? 204 : 401);
    Files.writeString(token, "present\n");
    scene.readAgain();
    scene.awaitAll();
    assertThat(receiver.taken()).hasSize(1);
    Files.writeString(token, "");
    assertThatExceptionOfType(WritException.class)
        .isThrownBy(scene::readAgain)
        .matches(e -> e.code().code().equals("GWY-005"));
  }

  private Path secret(String value) throws IOException {
    Path file =
        Files.createFile(
            folder.resolve("token.txt"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(file, value);
  }

  @Test
  void oneReceiverMayHaveSeveralWebhooks() {
    scene.configure(
        folder,
        webhook(", kinds: Timeout") + webhook(", kinds: PolicyDenied").replace("pager", "denials"),
        ALERTS);
    scene.denied("kubectl get pods");
    scene.awaitAll();
    assertThat(told()).containsExactly("PolicyDenied GRD-714 ");
  }

  /** A name, an authority and a date that are right; and each of them wrong. */
  @Test
  void theReceiversCertificateIsChecked() throws Exception {
    TestCertificates pki =
        new TestCertificates(folder)
            .authority("ca")
            .authority("another")
            .issue("good", "/CN=good", "ca")
            .issue("forged", "/CN=forged", "another")
            .issue("elsewhere", "/CN=elsewhere", "ca", "DNS:pager.example", 2)
            .issue("expired", "/CN=expired", "ca", "IP:127.0.0.1", -1);
    for (String certificate : List.of("forged", "elsewhere", "expired", "good")) {
      try (Receiver secured = new Receiver(pki.client("ca", Optional.of(certificate)))) {
        scene.configure(
            folder,
            "NAME: { kind: webhook, url: \"URL\", key: webhook.pem, ca: ca.pem }\n"
                .replace("NAME", certificate)
                .replace("URL", secured.url()),
            ALERTS);
        scene.forget();
        scene.denied("kubectl get pods");
        if (certificate.equals("good")) {
          scene.awaitAll();
          assertThat(secured.taken()).hasSize(1);
        } else {
          assertThat(scene.awaitLine("SNK-012"))
              .as(certificate)
              .doesNotContain(certificate + ".")
              .doesNotContain("pager.example");
          assertThat(secured.asked()).as(certificate).isZero();
        }
      }
    }
    try (Receiver secured = new Receiver(pki.client("ca", Optional.of("good")))) {
      scene.configure(
          folder,
          webhook("").replace(receiver.url(), secured.url()).replace("pager", "public"),
          ALERTS);
      scene.forget();
      scene.denied("kubectl get pods");
      scene.awaitLine("SNK-012"); // the JDK's own authorities did not issue it
    }
  }

  @Test
  void aNewWebhookBeginsWithWhatComesAndAReplaySendsTheRest() {
    scene.stop();
    scene.denied("kubectl get pods");
    scene.configure(folder, webhook("").replace("pager", "chat"), ALERTS);
    scene.awaitAll();
    assertThat(receiver.asked()).isZero();
    scene.orders.leave("chat", new SinkOrder(Action.REPLAY, 0));
    scene.awaitLine("delivered");
    assertThat(told()).containsExactly("PolicyDenied GRD-714 ");
  }
}
