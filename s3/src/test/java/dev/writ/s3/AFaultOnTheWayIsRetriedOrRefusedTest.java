package dev.writ.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.storage.ContentPlace;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.LargeContents.Spooled;
import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.s3.S3Relay.Fault;
import dev.writ.s3.S3Relay.Message;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that break, a store that is busy, bytes that change: done once, or refused. */
class AFaultOnTheWayIsRetriedOrRefusedTest {
  private static final int SIZE = 300_000;
  private static final int PARTS_SIZE = (5 << 20) + 1000;

  private final S3Server server = S3Server.shared();
  private final URI direct = server.newAddress();
  @TempDir Path dir;
  private S3Relay relay;
  private LargeContents store;

  @BeforeEach
  void open() throws IOException {
    relay = new S3Relay(server.port());
    store = new S3Contents(S3Settings.parse(relay.address(direct).toString()), 5 << 20);
  }

  @AfterEach
  void close() throws IOException {
    store.close();
    relay.close();
  }

  private static byte[] content(int size) {
    byte[] content = new byte[size];
    new Random(size).nextBytes(content);
    return content;
  }

  private Spooled spooled(byte[] content) throws IOException {
    Path file = Files.write(Files.createTempFile(dir, "spooled", ""), content);
    FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
    return new Spooled(Digest.sha256(content), content.length, channel, file);
  }

  private byte[] read(byte[] content, byte[] place) throws IOException {
    try (InputStream in = store.open(Digest.sha256(content), place, content.length).orElseThrow()) {
      return in.readAllBytes();
    }
  }

  private static void refused(ErrorCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code));
  }

  /** Whoever examines contents is not to take a store that cannot be asked for a damaged one. */
  @Test
  void whatSaysNothingOfTheContentsIsPassedOn() {
    for (ObjectStoreError code : ObjectStoreError.values()) {
      WritException failure = new WritException(code, "");
      boolean isAway =
          code.compareTo(ObjectStoreError.UNREACHABLE) >= 0
              && code.compareTo(ObjectStoreError.CLOCK) <= 0;
      if (isAway) {
        assertThatThrownBy(() -> store.requireAsked(failure)).isSameAs(failure);
      } else {
        store.requireAsked(failure);
      }
    }
  }

  private String object(byte[] content, byte[] place) {
    return "contents/" + Digest.sha256(content).hex() + "/" + ContentPlace.text(place);
  }

  /** Does something to the first requests whose first line begins so, and nothing to others. */
  private static Fault first(int times, String beginning, Fault fault) {
    AtomicInteger done = new AtomicInteger();
    return (request, server) ->
        request.line().startsWith(beginning) && done.incrementAndGet() <= times
            ? fault.answer(request, server)
            : S3Relay.NONE.answer(request, server);
  }

  private static Fault cutBefore() {
    return (request, server) -> Optional.empty();
  }

  private static Fault cutAfter() {
    return (request, server) -> {
      server.answer(request);
      return Optional.empty();
    };
  }

  private static Fault answers(int status, String code) {
    return (request, server) -> Optional.of(S3Relay.answer(status, code));
  }

  private static Fault says(String page) {
    return (request, server) ->
        Optional.of(
            new Message(
                "HTTP/1.1 200 OK\r\nETag: \"t\"\r\nContent-Length: "
                    + page.length()
                    + "\r\nConnection: close\r\n\r\n",
                page.getBytes(StandardCharsets.US_ASCII)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"cut before", "cut after", "500", "503", "409"})
  void aWriteThatFailsOnTheWayIsSentAgainAndStoredOnce(String how) throws IOException {
    byte[] content = content(SIZE);
    relay.does(
        first(
            2,
            "PUT",
            switch (how) {
              case "cut before" -> cutBefore();
              case "cut after" -> cutAfter();
              case "500" -> answers(500, "InternalError");
              case "503" -> answers(503, "SlowDown");
              default -> answers(409, "ConditionalRequestConflict");
            }));
    byte[] place = store.keep(spooled(content), 1);
    assertThat(relay.lines().stream().filter(line -> line.startsWith("PUT"))).hasSizeBetween(2, 3);
    assertThat(server.get(direct, object(content, place))).isEqualTo(content);
    assertThat(server.names(direct)).hasSize(1);
  }

  @Test
  void aStoreThatStaysAwayIsToldWithinItsPatience() throws IOException {
    store.close();
    URI patient = relay.address(direct);
    store =
        new S3Provider()
            .at(URI.create(patient.toString().replace("patience_s=20", "patience_s=1")));
    relay.does(answers(503, "SlowDown"));
    refused(ObjectStoreError.UNREACHABLE, () -> store.keep(spooled(content(SIZE)), 1));
    relay.does(cutBefore());
    refused(ObjectStoreError.UNREACHABLE, () -> store.keep(spooled(content(SIZE)), 1));
    assertThat(server.names(direct)).isEmpty();
  }

  @Test
  void bytesThatChangeOnTheWayInAreRefused() throws IOException {
    byte[] content = content(SIZE);
    relay.does(first(1, "PUT", (request, server) -> Optional.of(server.answer(changed(request)))));
    refused(ObjectStoreError.DIFFERS, () -> store.keep(spooled(content), 1));
    assertThat(server.names(direct)).isEmpty();
  }

  private static Message changed(Message message) {
    byte[] body = message.body().clone();
    body[body.length / 2] ^= 1;
    return new Message(message.head(), body);
  }

  /** As of a store that does not look at what it receives: reading back finds it. */
  @Test
  void bytesThatChangeInTheStoreAreRefusedBeforeAnythingNamesThem() throws IOException {
    byte[] content = content(SIZE);
    relay.does((request, server) -> {
      Message answer = server.answer(request);
      return Optional.of(request.line().startsWith("GET") ? changed(answer) : answer);
    });
    refused(ObjectStoreError.DIFFERS, () -> store.keep(spooled(content), 1));
  }

  @Test
  void anObjectThatIsThereIsNeitherTakenForTheContentNorReplaced() throws IOException {
    byte[] content = content(SIZE);
    byte[] place = ContentPlace.of(4, 4);
    byte[] other = content(SIZE + 1);
    server.put(direct, object(content, place), other);
    refused(ObjectStoreError.DIFFERS, () -> store.keepAt(spooled(content), place));
    assertThat(server.get(direct, object(content, place))).isEqualTo(other);
    server.put(direct, object(content, place), content);
    store.keepAt(spooled(content), place);
    assertThat(read(content, place)).isEqualTo(content);
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "cut a part", "cut after a part", "cut after completing"})
  void aLargeContentIsWrittenInPartsAndReadInOne(String how) throws IOException {
    byte[] content = content(PARTS_SIZE);
    relay.does(
        switch (how) {
          case "cut a part" -> first(1, "PUT", cutBefore());
          case "cut after a part" -> first(1, "PUT", cutAfter());
          case "cut after completing" ->
              onComplete((request, server) -> {
                server.answer(request);
                return Optional.empty();
              });
          default -> S3Relay.NONE;
        });
    byte[] place = store.keep(spooled(content), 1);
    assertThat(relay.lines().stream().filter(line -> line.startsWith("PUT")))
        .hasSizeGreaterThanOrEqualTo(2)
        .allMatch(line -> line.contains("partNumber="));
    assertThat(read(content, place)).isEqualTo(content);
    assertThat(server.names(direct)).containsExactly(object(content, place));
  }

  private static Fault onComplete(Fault fault) {
    AtomicInteger done = new AtomicInteger();
    return (request, server) ->
        request.line().startsWith("POST")
                && request.line().contains("uploadId=")
                && done.getAndIncrement() == 0
            ? fault.answer(request, server)
            : S3Relay.NONE.answer(request, server);
  }

  @Test
  void aPartThatIsRefusedLeavesNoObject() throws IOException {
    relay.does((request, server) ->
        request.line().contains("partNumber=2&")
            ? Optional.of(S3Relay.answer(403, "AccessDenied"))
            : Optional.of(server.answer(request)));
    refused(ObjectStoreError.RIGHTS, () -> store.keep(spooled(content(PARTS_SIZE)), 1));
    assertThat(server.names(direct)).isEmpty();
    assertThat(relay.lines()).last().asString().startsWith("DELETE").contains("uploadId=");
  }

  @Test
  void aReadThatBreaksOffGoesOnWhereItWas() throws IOException {
    byte[] content = content(SIZE);
    byte[] place = store.keep(spooled(content), 1);
    AtomicInteger cut = new AtomicInteger();
    relay.does((request, server) -> {
      Message answer = server.answer(request);
      int half = answer.body().length / 2;
      return Optional.of(
          cut.incrementAndGet() <= 3
              ? new Message(answer.head(), Arrays.copyOf(answer.body(), half))
              : answer);
    });
    assertThat(read(content, place)).isEqualTo(content);
    assertThat(relay.lines()).hasSize(4);
  }

  @Test
  void aReadDoesNotGoOnInAnotherObject() throws IOException {
    byte[] content = content(SIZE);
    byte[] place = store.keep(spooled(content), 1);
    AtomicInteger asked = new AtomicInteger();
    relay.does((request, server) -> {
      Message answer = server.answer(request);
      if (asked.incrementAndGet() > 1) {
        return Optional.of(answer);
      }
      this.server.put(direct, object(content, place), content(SIZE + 7));
      return Optional.of(new Message(answer.head(), Arrays.copyOf(answer.body(), 1000)));
    });
    refused(ObjectStoreError.DIFFERS, () -> read(content, place));
  }

  @Test
  void aStoreThatIgnoresRangesIsNotReadTwice() throws IOException {
    byte[] content = content(SIZE);
    byte[] place = store.keep(spooled(content), 1);
    relay.does((request, server) -> {
      String head = request.head().replaceAll("(?i)\r\nrange: [^\r]*", "");
      boolean isRest = head.length() < request.head().length();
      Message whole =
          new Message(
              "HTTP/1.1 200 OK\r\nETag: \"t\"\r\nContent-Length: " + SIZE + "\r\n\r\n",
              isRest ? content : Arrays.copyOf(content, 1000));
      return Optional.of(whole);
    });
    refused(ObjectStoreError.UNREACHABLE, () -> read(content, place));
  }

  /** It is never silent, so no time limit of a connection ends it. */
  @Test
  void aStoreThatSendsAByteNowAndThenIsNotReadForEver() throws IOException {
    byte[] content = content(SIZE);
    String object = object(content, store.keep(spooled(content), 1));
    S3Bucket bucket = new S3Bucket(S3Settings.parse(relay.address(direct).toString()));
    AtomicLong seconds = new AtomicLong();
    try (InputStream in =
        new S3ObjectStream(
            bucket,
            object,
            bucket.get(object, _ -> {}).orElseThrow(),
            () -> Duration.ofSeconds(seconds.getAndIncrement()).toNanos())) {
      for (int i = 0; i < bucket.patience().toSeconds(); i++) {
        assertThat(in.read()).isEqualTo(content[i] & 0xFF);
      }
      refused(ObjectStoreError.UNREACHABLE, in::read);
    }
  }

  @Test
  void aStoreThatBreaksOffAgainAndAgainIsToldAsTheStore() throws IOException {
    byte[] content = content(SIZE);
    byte[] place = store.keep(spooled(content), 1);
    relay.does((request, server) -> {
      Message answer = server.answer(request);
      return Optional.of(new Message(answer.head(), Arrays.copyOf(answer.body(), 10)));
    });
    refused(ObjectStoreError.UNREACHABLE, () -> read(content, place));
  }

  /** What a proxy answers in the place of the store, and what it leaves out. */
  @Test
  void aProxysOwnAnswersAreNotTakenForTheStores() throws IOException {
    byte[] mark = "{\"origin\":\"a\",\"writ_contents\":1}".getBytes(StandardCharsets.UTF_8);
    store.claim(mark);
    byte[] content = content(SIZE);
    byte[] place = store.keep(spooled(content), 1);
    SharedAnchor anchor = store.anchor().orElseThrow();
    anchor.read();
    assertThat(anchor.move("{\"a\":1}".getBytes(StandardCharsets.UTF_8))).isTrue();

    relay.does(says("<html>sign in</html>"));
    refused(ObjectStoreError.DIFFERS, () -> store.requireClaimed(mark));
    refused(ObjectStoreError.DIFFERS, anchor::read);

    relay.does((request, server) -> {
      Message answer = server.answer(request);
      return Optional.of(
          new Message(
              answer.head().replaceAll("(?i)\r\ncontent-length: [^\r]*", ""), answer.body()));
    });
    assertThat(store.has(Digest.sha256(content), place, SIZE)).isFalse();
    assertThat(read(content, place)).isEqualTo(content);

    relay.does(says("<html>sign in</html>"));
    refused(ObjectStoreError.DIFFERS, () -> store.visit((_, _, _) -> {}));
    relay.does((request, server) -> {
      Message answer = server.answer(request);
      return Optional.of(new Message(answer.head(), Arrays.copyOf(answer.body(), 20)));
    });
    refused(ObjectStoreError.UNREACHABLE, () -> store.visit((_, _, _) -> {}));
    relay.does(
        says(
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>x</Key></Contents></ListBucketResult>"));
    refused(ObjectStoreError.DIFFERS, () -> store.visit((_, _, _) -> {}));
    relay.does(
        says(
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>same"
                + "</NextContinuationToken></ListBucketResult>"));
    refused(ObjectStoreError.REFUSED, () -> store.visit((_, _, _) -> {}));
  }

  @Test
  void aMarkWhoseAnswerIsLostIsOursAllTheSame() {
    relay.does(first(1, "PUT", cutAfter()));
    assertThat(store.claim(bytes("ours"))).isTrue();
    assertThat(store.claim(bytes("ours"))).as("again").isFalse();
    refused(ObjectStoreError.OTHER_INSTALLATION, () -> store.claim(bytes("theirs")));
  }

  @Test
  void anAnchorWhoseAnswerIsLostIsNoLostRace() {
    SharedAnchor anchor = store.anchor().orElseThrow();
    assertThat(anchor.read()).isEmpty();
    relay.does(first(1, "PUT", cutAfter()));
    assertThat(anchor.move(bytes("one"))).isTrue();
    relay.does(first(1, "PUT", cutAfter()));
    assertThat(anchor.move(bytes("two"))).isTrue();
    SharedAnchor other = new S3Provider().at(direct).anchor().orElseThrow();
    assertThat(other.read()).contains(bytes("two"));
    assertThat(other.move(bytes("three"))).isTrue();
    assertThat(anchor.move(bytes("four"))).as("somebody else moved it").isFalse();
    assertThat(server.get(direct, "anchor")).isEqualTo(bytes("three"));
    assertThat(anchor.read()).contains(bytes("three"));
    assertThat(anchor.move(bytes("four"))).isTrue();
    server.delete(direct, "anchor");
    assertThat(anchor.move(bytes("five"))).as("it was removed").isFalse();
    assertThat(server.names(direct)).isEmpty();
  }

  /** Something between, such as a cache, leaves it out: the next move would have no condition. */
  @Test
  void anAnchorWhoseTagIsNotToldIsNotGoneOnFrom() {
    Fault untold =
        (request, server) -> {
          Message answer = server.answer(request);
          String head = answer.head().replaceAll("(?i)\r\netag: [^\r]*", "");
          return Optional.of(new Message(head, answer.body()));
        };
    SharedAnchor anchor = store.anchor().orElseThrow();
    relay.does(untold);
    refused(ObjectStoreError.CONDITIONS_IGNORED, () -> anchor.move(bytes("one")));
    SharedAnchor next = store.anchor().orElseThrow();
    refused(ObjectStoreError.CONDITIONS_IGNORED, next::read);
    assertThat(next.move(bytes("two"))).isFalse();
    assertThat(server.get(direct, "anchor")).isEqualTo(bytes("one"));
  }

  @Test
  void anAnchorThatIsMadeTwiceIsMadeOnce() {
    SharedAnchor one = store.anchor().orElseThrow();
    SharedAnchor two = new S3Provider().at(direct).anchor().orElseThrow();
    assertThat(one.read()).isEmpty();
    assertThat(two.read()).isEmpty();
    assertThat(one.move(bytes("one"))).isTrue();
    assertThat(two.move(bytes("two"))).isFalse();
    assertThat(server.get(direct, "anchor")).isEqualTo(bytes("one"));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
