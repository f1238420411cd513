package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Behaviours;
import dev.writ.gateway.TestCertificates;
import dev.writ.sinks.testing.Receiver;
import dev.writ.sinks.testing.SinkScene;
import dev.writ.surfaces.engine.EngineSurface;
import jakarta.mail.internet.MimeMessage;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Notices over real sockets: signed webhooks, Slack's form, and mail to a real SMTP server. */
class ApproversAreToldWhatWaitsTest {
  private static final SigningKey KEY = SigningKey.ed25519(new byte[32]);
  private static final String HIDDEN = "the argument that nobody is told";

  @TempDir Path dir;
  @TempDir Path folder;
  private final Receiver receiver = new Receiver();
  private final GreenMail mail =
      new GreenMail(
          new ServerSetup(
              0, InetAddress.getLoopbackAddress().getHostAddress(), ServerSetup.PROTOCOL_SMTP));
  private SinkScene scene;

  @BeforeEach
  void start() {
    KeyFiles.write(folder.resolve("webhook.pem"), KEY, null, null);
  }

  @AfterEach
  void stop() {
    if (scene != null) {
      scene.close();
    }
    mail.stop();
    receiver.close();
  }

  private void begin(String sink) {
    scene = new SinkScene(dir, folder, sink);
    scene.server.home.driver.does("gated", Behaviours.gives("{\"ok\":true}", Behaviours.JSON));
  }

  private String webhook(String settings) {
    return "ask: { kind: webhook, of: approvals, url: \""
        + receiver.url()
        + "\", key: webhook.pem"
        + settings
        + " }\n";
  }

  private void secret(String name, String content) throws Exception {
    Files.writeString(folder.resolve(name), content);
    Files.setPosixFilePermissions(
        folder.resolve(name), PosixFilePermissions.fromString("rw-------"));
  }

  /** Asks for what needs an approval. */
  private void ask(String requestId) {
    ask(requestId, "case-7");
  }

  private void ask(String requestId, String run) {
    scene.server.post(
        "alice",
        EngineSurface.PATH,
        "{\"toolId\":\"gated\",\"operation\":\"do\",\"requestId\":\""
            + requestId
            + "\",\"correlationId\":\""
            + run
            + "\",\"inputPayload\":{\"text\":\""
            + HIDDEN
            + "\"}}");
  }

  @Test
  void aWebhookIsToldThatARequestWaitsAndHowItEnded() {
    begin(webhook(""));
    ask("r-1");
    scene.awaitAll();
    assertThat(receiver.taken()).hasSize(1);
    Receiver.Message waits = receiver.taken().getFirst();
    assertThat(waits.event().get("type")).isEqualTo(JsonValue.of("dev.writ.approval.waiting"));
    assertThat(waits.input()).contains(";tag=\"writ-approval\"");
    assertThat(waits.text("toolId")).isEqualTo("gated");
    assertThat(waits.text("subject")).isEqualTo("alice");
    assertThat(waits.data().get("roles"))
        .isEqualTo(JsonValue.of(List.of(JsonValue.of("reviewer"))));
    assertThat(new String(waits.body(), StandardCharsets.UTF_8)).doesNotContain(HIDDEN);

    approve(waits);
    scene.awaitAll();
    assertThat(receiver.taken().stream().map(m -> m.text("kind")))
        .containsExactly("waiting", "allowed");
  }

  private void approve(Receiver.Message waits) {
    String request =
        ((JsonValue.Str) ((JsonValue.Obj) waits.data().get("ids")).get("request")).value();
    scene.server.home.approve(scene.server.home.document(Digest.parse(request)), "rita");
  }

  @Test
  void whatNobodyHasToApproveIsNotTold() {
    begin(webhook(""));
    scene.exec("pytest");
    scene.denied("kubectl get pods");
    scene.awaitAll();
    assertThat(receiver.asked()).isZero();
  }

  @Test
  void aSinkForOtherRolesIsNotTold() {
    begin(webhook(", roles: \"lawyer\""));
    ask("r-1");
    scene.awaitAll();
    assertThat(receiver.asked()).isZero();
  }

  @Test
  void aChatGetsItsFormWithALinkThatCarriesNoRight() throws Exception {
    secret("chat.txt", receiver.url());
    begin("chat: { kind: slack, secret: chat.txt, console: \"https://gate.example\" }\n");
    ask("r-1");
    scene.awaitAll();
    JsonValue.Obj message = (JsonValue.Obj) Jcs.parse(receiver.taken().getFirst().body());
    String text = ((JsonValue.Str) message.get("text")).value();
    assertThat(message.members()).containsOnlyKeys("text");
    assertThat(text)
        .startsWith("*acme: gated/do waits for an approval*\n")
        .contains("alice asks for gated/do (gated 1.0.0) in the run ")
        .contains("It waits for an approval by: reviewer.")
        .contains("https://gate.example/#/approvals/sha256:")
        .doesNotContain(HIDDEN);
    assertThat(receiver.taken().getFirst().input()).isNull();
  }

  /** What mentions and links are made of in Slack, Mattermost and Rocket.Chat. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "@channel done,@channel",
        "x.@all,@all",
        "#general,#general",
        "~town-square,~town-square",
        "[See what](https://evil.example/1),](",
        "[See what](https://evil.example/1),://",
        "[See what][1],][",
        "[1]: x,]:",
        "ftp://evil.example,://",
        "www.evil.example,www.evil",
        "evil.example/approve,evil.example",
        "mallory@evil.example,@evil",
        "<https://evil.example|here>,<http",
        "<!channel>,<!channel",
        "```,`",
      })
  void aChatMakesNothingOfAName(String name, String mark) throws Exception {
    secret("chat.txt", receiver.url());
    begin("chat: { kind: slack, secret: chat.txt, console: \"https://gate.example\" }\n");
    ask("r-1", name);
    scene.awaitAll();
    String text = chatText();
    assertThat(text.replace("https://gate.example/#/", "")).doesNotContain(mark);
    assertThat(text.replace("\u200b", "").replace("&lt;", "<").replace("&gt;", ">"))
        .as("it reads as before")
        .contains("in the run ", name.replace('`', '\''));
    assertThat(text).contains("\nhttps://gate.example/#/approvals/sha256:");
  }

  /** They are found by a search. */
  @ParameterizedTest
  @ValueSource(
      strings = {"case-7", "build_12", "release 1.20.3", "a/b: c", "team:x", "d (e) [f]", "5 * 3"})
  void aPlainNameStaysAsItIs(String name) throws Exception {
    secret("chat.txt", receiver.url());
    begin("chat: { kind: slack, secret: chat.txt }\n");
    ask("r-1", name);
    scene.awaitAll();
    assertThat(chatText()).contains(name).doesNotContain("\u200b");
  }

  private String chatText() {
    JsonValue.Obj message = (JsonValue.Obj) Jcs.parse(receiver.taken().getFirst().body());
    return ((JsonValue.Str) message.get("text")).value();
  }

  @Test
  void mailComesOnceWithOneIdForEachNotice() throws Exception {
    mail.start();
    begin(
        "mail: { kind: mail, host: 127.0.0.1, port: "
            + mail.getSmtp().getPort()
            + ", tls: none, from: \"writ@gate.example\", to: \"rita@gate.example"
            + " ann@gate.example\", console: \"https://gate.example\" }\n");
    ask("r-1");
    scene.awaitAll();
    MimeMessage[] taken = mail.getReceivedMessages();
    assertThat(taken).hasSize(2); // one for each receiver
    MimeMessage first = taken[0];
    assertThat(first.getSubject()).isEqualTo("acme: gated/do waits for an approval");
    assertThat(first.getHeader("Auto-Submitted")).containsExactly("auto-generated");
    assertThat(first.getMessageID()).matches("<1-[0-9]+\\.[0-9a-f]{16}@gate\\.example>");
    assertThat(taken[1].getMessageID()).isEqualTo(first.getMessageID());
    assertThat((String) first.getContent())
        .contains("https://gate.example/#/approvals/sha256:", "The link carries no right")
        .doesNotContain(HIDDEN);
  }

  @Test
  void aMailServerThatIsDownGetsItLater() {
    begin(
        "mail: { kind: mail, host: 127.0.0.1, port: 1, tls: none, from: \"writ@gate.example\","
            + " to: \"rita@gate.example\" }\n");
    ask("r-1");
    assertThat(scene.awaitLine("SNK-001")).contains("smtp://127.0.0.1:1").doesNotContain("rita");
    mail.start();
    scene.configure(
        folder,
        "mail: { kind: mail, host: 127.0.0.1, port: "
            + mail.getSmtp().getPort()
            + ", tls: none, from: \"writ@gate.example\", to: \"rita@gate.example\" }\n",
        "");
    scene.awaitAll();
    assertThat(mail.getReceivedMessages()).hasSize(1);
  }

  @Test
  void aServerThatEndsDoesNotWaitForAMailServerThatDoesNotAnswer() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      begin(
          "mail: { kind: mail, host: 127.0.0.1, port: "
              + silent.getLocalPort()
              + ", tls: none, from: \"writ@gate.example\", to: \"rita@gate.example\", answer_s: 10"
              + " }\n");
      silent.accept(); // which says nothing
      scene.stop();
    }
    assertThat(scene.sink().state().trouble()).isEmpty();
    assertThat(scene.sink().failures()).isZero();
    scene.start(); // as the end of this test expects it
  }

  @Test
  void aMailServerHasToShowACertificateForItsName() throws Exception {
    TestCertificates pki =
        new TestCertificates(folder)
            .authority("ca")
            .issue("smtp", "/CN=smtp", "ca", "IP:127.0.0.1", 2);
    keyStore(pki, "smtp");
    GreenMail secured = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTPS));
    secured.start();
    try {
      begin(mailOver(secured, "127.0.0.1", "")); // whose authority is none of the JDK's
      ask("r-1");
      assertThat(scene.awaitLine("SNK-012")).contains("smtp://127.0.0.1:");
      scene.configure(folder, mailOver(secured, "localhost", ", ca: ca.pem"), ""); // another name
      scene.awaitLine("SNK-012 smtp://localhost:");
      assertThat(secured.getReceivedMessages()).isEmpty();
      scene.configure(folder, mailOver(secured, "127.0.0.1", ", ca: ca.pem"), "");
      scene.awaitAll();
      assertThat(secured.getReceivedMessages()).hasSize(1);
    } finally {
      secured.stop();
    }
  }

  private static String mailOver(GreenMail server, String host, String more) {
    return "mail: { kind: mail, host: "
        + host
        + ", port: "
        + server.getSmtps().getPort()
        + ", from: \"writ@gate.example\", to: \"rita@gate.example\""
        + more
        + " }\n";
  }

  /** GreenMail reads its certificate from a file that properties name. */
  private void keyStore(TestCertificates pki, String name) throws Exception {
    Path file = folder.resolve(name + ".p12");
    Process made =
        new ProcessBuilder(
                List.of(
                    "openssl",
                    "pkcs12",
                    "-export",
                    "-passout",
                    "pass:changeit",
                    "-out",
                    file.toString(),
                    "-in",
                    pki.pem(name).toString(),
                    "-inkey",
                    pki.key(name).toString()))
            .inheritIO()
            .start();
    assertThat(made.waitFor()).isZero();
    System.setProperty("greenmail.tls.keystore.file", file.toString());
    System.setProperty("greenmail.tls.keystore.password", "changeit");
    System.setProperty("greenmail.tls.key.password", "changeit");
  }

  @Test
  void namesThatWouldDeceiveAreWrittenAsEscapes() throws Exception {
    secret("chat.txt", receiver.url());
    begin("chat: { kind: slack, secret: chat.txt }\n");
    scene.server.post(
        "alice",
        EngineSurface.PATH,
        "{\"toolId\":\"gated\",\"operation\":\"do\",\"requestId\":\"r-1\","
            + "\"correlationId\":\"<!channel>\\u202e\",\"inputPayload\":{\"text\":\"a\"}}");
    scene.awaitAll();
    assertThat(new String(receiver.taken().getFirst().body(), StandardCharsets.UTF_8))
        .doesNotContain("<!channel>", "\u202e");
  }

  static Stream<String> wrong() {
    return Stream.of(
        "a: { kind: mail, host: mail.example, tls: none, from: \"a@b.example\", to: \"c@d.example\""
            + " }",
        "a: { kind: mail, host: mail.example, from: \"a@b.example\", to: \"nobody\" }",
        "a: { kind: mail, host: mail.example, user: writ, from: \"a@b.example\", to:"
            + " \"c@d.example\" }",
        "a: { kind: slack }",
        "a: { kind: slack, secret: plain.txt }",
        "a: { kind: webhook, of: gossip, url: \"https://a.example\", key: webhook.pem }",
        "a: { kind: webhook, of: approvals, kinds: Timeout, url: \"https://a.example\", key:"
            + " webhook.pem }",
        "a: { kind: mail, host: mail.example, from: \"a@b.example\", to: \"c@d.example\", console:"
            + " \"https://gate.example/path?x\" }");
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void settingsThatCannotBeMeantAreRefused(String sink) throws Exception {
    secret("plain.txt", "http://chat.example/hook");
    assertThatThrownBy(() -> begin(sink + "\n")).hasMessageContaining("GWY-002");
  }
}
