package dev.writ.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.s3.S3Relay.Fault;
import dev.writ.s3.S3Relay.Message;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AStoreThatCannotBeUsedIsRefusedTest {
  private final S3Server server = S3Server.shared();
  private final URI direct = server.newAddress();
  private S3Relay relay;

  @BeforeEach
  void open() throws IOException {
    relay = new S3Relay(server.port());
  }

  @AfterEach
  void close() throws IOException {
    relay.close();
  }

  private static void probed(URI address) {
    try (LargeContents store = new S3Provider().at(address)) {
      store.probe();
    }
  }

  private static void refused(ObjectStoreError code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            WritException.class,
            e -> {
              assertThat(e.code()).as(e.getMessage()).isEqualTo(code);
              assertThat(e.getMessage()).doesNotContain(S3Server.SECRET, S3Server.KEY_ID);
            });
  }

  @Test
  void oneThatKeepsConditionsIsTakenAndNothingIsLeftThere() {
    assertThatCode(() -> probed(direct)).doesNotThrowAnyException();
    assertThatCode(() -> probed(relay.address(direct))).doesNotThrowAnyException();
    assertThat(server.names(direct)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"if-none-match", "if-match"})
  void oneThatIgnoresAConditionIsRefused(String condition) {
    relay.does((request, server) -> {
      Message answer = server.answer(request);
      boolean isIgnored =
          request.head().toLowerCase(Locale.ROOT).contains("\r\n" + condition + ":")
              && answer.line().contains(" 412 ");
      return Optional.of(isIgnored ? done() : answer);
    });
    refused(ObjectStoreError.CONDITIONS_IGNORED, () -> probed(relay.address(direct)));
    assertThat(server.names(direct)).isEmpty();
  }

  private static Message done() {
    return new Message("HTTP/1.1 200 OK\r\nETag: \"0\"\r\nContent-Length: 0\r\n\r\n", new byte[0]);
  }

  /** It says that the condition failed, and writes all the same. */
  @Test
  void oneThatWritesInSpiteOfAConditionIsRefused() {
    relay.does((request, server) -> {
      Message answer = server.answer(request);
      if (answer.line().contains(" 412 ")) {
        String path = request.line().split(" ")[1].substring("/writ/".length());
        this.server.put(
            URI.create("s3://writ/" + path.substring(0, path.indexOf('/'))),
            path.substring(path.indexOf('/') + 1),
            request.body());
      }
      return Optional.of(answer);
    });
    refused(ObjectStoreError.CONDITIONS_IGNORED, () -> probed(relay.address(direct)));
  }

  @Test
  void aProbeWhoseAnswersAreLostStillFindsOut() {
    boolean[] cut = new boolean[1];
    Fault once =
        (request, server) -> {
          Message answer = server.answer(request);
          cut[0] = !cut[0] && request.line().startsWith("PUT");
          return cut[0] ? Optional.empty() : Optional.of(answer);
        };
    relay.does(once);
    assertThatCode(() -> probed(relay.address(direct))).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({
    "403, AccessDenied, RIGHTS",
    "403, InvalidAccessKeyId, CREDENTIALS",
    "403, SignatureDoesNotMatch, CREDENTIALS",
    "400, ExpiredToken, CREDENTIALS",
    "404, NoSuchBucket, BUCKET_MISSING",
    "301, PermanentRedirect, REGION",
    "400, AuthorizationHeaderMalformed, REGION",
    "403, RequestTimeTooSkewed, CLOCK",
    "400, BadDigest, DIFFERS",
    "501, NotImplemented, UNREACHABLE",
    "400, InvalidRequest, REFUSED"
  })
  void whatTheStoreSaysIsToldByACode(int status, String said, ObjectStoreError code) {
    relay.does((request, server) -> Optional.of(S3Relay.answer(status, said)));
    URI hasty =
        URI.create(relay.address(direct).toString().replace("patience_s=20", "patience_s=1"));
    refused(code, () -> probed(hasty));
  }

  @Test
  void clocksThatAreFarApartAreRefused() {
    String theirs =
        DateTimeFormatter.RFC_1123_DATE_TIME.format(
            Instant.now().plusSeconds(600).atOffset(ZoneOffset.UTC));
    relay.does((request, server) -> {
      Message answer = server.answer(request);
      return Optional.of(
          new Message(
              answer.head().replaceFirst("(?i)\r\ndate: [^\r]*", "\r\nDate: " + theirs),
              answer.body()));
    });
    refused(ObjectStoreError.CLOCK, () -> probed(relay.address(direct)));
  }

  @Test
  void aBucketThatIsMissingAndAKeyThatIsWrongAreToldByTheServerItself() {
    refused(
        ObjectStoreError.BUCKET_MISSING,
        () -> probed(S3Server.address("no-such-bucket", server.port())));
    System.setProperty("aws.secretAccessKey", "wrong");
    try {
      refused(ObjectStoreError.CREDENTIALS, () -> probed(direct));
    } finally {
      System.setProperty("aws.secretAccessKey", S3Server.SECRET);
    }
  }

  @Test
  void aPrefixWithoutAnInstallationOrWithAnothersIsRefused() {
    byte[] ours = "ours".getBytes(StandardCharsets.UTF_8);
    byte[] theirs = "theirs".getBytes(StandardCharsets.UTF_8);
    try (LargeContents store = new S3Provider().at(direct)) {
      refused(ObjectStoreError.MARKER_MISSING, () -> store.requireClaimed(ours));
      store.claim(theirs);
      refused(ObjectStoreError.OTHER_INSTALLATION, () -> store.requireClaimed(ours));
      refused(ObjectStoreError.OTHER_INSTALLATION, () -> store.claim(ours));
      assertThat(server.get(direct, "installation")).isEqualTo(theirs);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "s3://key:hunter2@bucket/prefix?region=eu",
        "s3://bucket/prefix",
        "s3://b/prefix?region=eu",
        "s3://Bucket/prefix?region=eu",
        "s3://bucket/a/../b?region=eu",
        "s3://bucket/a//b?region=eu",
        "s3://bucket/a?region=eu&region=us",
        "s3://bucket/a?region=eu&secret=hunter2",
        "s3://bucket/a?region=EU!",
        "s3://bucket/a?region=eu&endpoint=http://store.example",
        "s3://bucket/a?region=eu&endpoint=https://store.example/path",
        "s3://bucket/a?region=eu&style=other",
        "s3://bucket/a?region=eu&patience_s=0",
        "s3://bucket/a?region=%zz",
        "s3://bucket/a b?region=eu"
      })
  void anAddressThatCannotBeMeantIsRefusedAndNotShown(String address) {
    assertThatThrownBy(() -> S3Settings.parse(address))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ObjectStoreError.ADDRESS))
        .hasMessageNotContaining("hunter2");
  }

  @Test
  void anAddressSaysWhereAndHow() {
    S3Settings amazon = S3Settings.parse("s3://writ/acme/one/?region=eu-central-1");
    assertThat(amazon.location()).isEqualTo("s3://writ/acme/one");
    assertThat(amazon.prefix()).isEqualTo("acme/one/");
    assertThat(amazon.isPathStyle()).isFalse();
    assertThat(amazon.endpoint()).isEmpty();
    S3Settings own = S3Settings.parse("s3://writ?endpoint=https://s3.example:9000");
    assertThat(own.location()).isEqualTo("s3://writ");
    assertThat(own.prefix()).isEmpty();
    assertThat(own.region()).isEqualTo("us-east-1");
    assertThat(own.isPathStyle()).isTrue();
  }
}
