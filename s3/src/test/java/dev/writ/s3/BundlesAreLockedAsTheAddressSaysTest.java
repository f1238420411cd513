package dev.writ.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.archive.ArchivePlaceProvider;
import dev.writ.ledger.archive.ArchiveProtection;
import dev.writ.s3.LockingRelay.Lack;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A lock is asked for, read back, and believed by nothing but that; S3Proxy itself has no object
 * lock, and ignores what asks for one.
 */
class BundlesAreLockedAsTheAddressSaysTest {
  private static final byte[] SMALL = "a bundle".getBytes(StandardCharsets.UTF_8);
  private static final byte[] LARGE = new byte[(17 << 20) + 3]; // in parts

  private final S3Server server = S3Server.shared();
  private final URI direct = server.newAddress();
  private final Instant now = Instant.now();
  private final Instant end = now.plus(Duration.ofDays(30)).truncatedTo(ChronoUnit.SECONDS);
  private S3Relay relay;

  @BeforeEach
  void open() throws IOException {
    relay = new S3Relay(server.port());
    Arrays.fill(LARGE, (byte) 7);
  }

  @AfterEach
  void close() throws IOException {
    relay.close();
  }

  private ArchivePlace place(String lock) {
    return ArchivePlaceProvider.find(relay.address(direct) + lock);
  }

  private ArchivePlace compliance() {
    return place("&lock=compliance&lock_days=30");
  }

  private void keep(ArchivePlace place, byte[] bytes) throws IOException {
    Path draft = place.draft("writer");
    try {
      Files.write(draft, bytes);
      place.keep(draft, Digest.sha256(bytes), now);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  private LockingRelay bucket(Lack... lacks) {
    LockingRelay bucket = new LockingRelay("", lacks);
    relay.does(bucket);
    return bucket;
  }

  private static void refused(ObjectStoreError code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code));
  }

  private static List<String> heads(LockingRelay bucket, String beginning, String part) {
    return bucket.heads().stream()
        .filter(head -> head.startsWith(beginning) && head.contains(part))
        .map(head -> head.toLowerCase(Locale.ROOT))
        .toList();
  }

  private byte[] read(ArchivePlace place, byte[] bundle) throws IOException {
    try (ArchivePlace.Fetched fetched = place.fetch(Digest.sha256(bundle)).orElseThrow()) {
      return Files.readAllBytes(fetched.file());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"compliance", "governance"})
  void modeAndEndAreSentWithEachBundleAndReadBack(String mode) throws IOException {
    LockingRelay bucket = bucket();
    ArchivePlace place = place("&lock=" + mode + "&lock_days=30");
    keep(place, SMALL);
    keep(place, LARGE);
    List<String> writes = new ArrayList<>(heads(bucket, "PUT", "/bundles/"));
    writes.removeIf(head -> head.contains("partnumber="));
    writes.addAll(heads(bucket, "POST", "?uploads"));
    assertThat(writes)
        .hasSize(2)
        .allSatisfy(head ->
            assertThat(head)
                .contains("x-amz-object-lock-mode: " + mode)
                .contains(
                    "x-amz-object-lock-retain-until-date: "
                        + end.toString().toLowerCase(Locale.ROOT)));
    assertThat(heads(bucket, "PUT", "?retention")).isEmpty();
    assertThat(read(place, SMALL)).isEqualTo(SMALL);
    assertThat(read(place, LARGE)).isEqualTo(LARGE);
  }

  @Test
  void oneThatIsThereIsNotSentAgainAndIsLockedFromThenOn() throws IOException {
    bucket(Lack.HEADERS);
    keep(place(""), SMALL);
    LockingRelay bucket = bucket();
    keep(compliance(), SMALL);
    keep(compliance(), SMALL);
    assertThat(heads(bucket, "PUT", "/bundles/"))
        .hasSize(1)
        .first()
        .asString()
        .contains("?retention");
    assertThat(server.names(direct)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"HEADERS", "HEADERS_OF_PARTS"})
  void whereTheHeadersAreIgnoredTheLockComesAfterTheBytes(Lack lack) throws IOException {
    LockingRelay bucket = bucket(lack);
    keep(compliance(), LARGE);
    assertThat(heads(bucket, "PUT", "?retention")).hasSize(1);
    assertThat(heads(bucket, "HEAD", "/bundles/")).hasSizeGreaterThanOrEqualTo(2);
  }

  @Test
  void aStoreThatOnlySaysThatItLocksIsRefused() throws IOException {
    bucket(Lack.HEADERS, Lack.RETENTION);
    refused(ObjectStoreError.LOCK_IGNORED, () -> keep(compliance(), SMALL));
    bucket(Lack.HEADERS_OF_PARTS, Lack.RETENTION);
    refused(ObjectStoreError.LOCK_IGNORED, () -> keep(compliance(), LARGE));
  }

  /** What is locked in a weaker mode, or for less time, is not taken. */
  @Test
  void aWeakerLockThanTheOneAskedForIsRefused() throws IOException {
    LockingRelay weak = new LockingRelay("", Lack.RETENTION);
    relay.does(weak);
    keep(place("&lock=governance&lock_days=30"), SMALL);
    refused(ObjectStoreError.LOCK_IGNORED, () -> keep(compliance(), SMALL));
    byte[] other = "another".getBytes(StandardCharsets.UTF_8);
    keep(place("&lock=compliance&lock_days=29"), other);
    keep(place("&lock=governance&lock_days=29"), other);
    refused(ObjectStoreError.LOCK_IGNORED, () -> keep(compliance(), other));
  }

  @Test
  void aBucketWithoutObjectLockIsRefusedBeforeAnythingIsWritten() throws IOException {
    for (String how : List.of("the store's own answer", "as Amazon's")) {
      relay.does((request, store) ->
          how.startsWith("as") && request.line().contains("?object-lock")
              ? Optional.of(S3Relay.answer(404, "ObjectLockConfigurationNotFoundError"))
              : Optional.of(store.answer(request)));
      refused(ObjectStoreError.LOCK_MISSING, () -> keep(compliance(), SMALL));
      assertThat(server.names(direct)).isEmpty();
    }
  }

  /** A lock that is years too long cannot be undone. */
  @Test
  void aClockThatIsWrongLocksNothing() throws IOException {
    LockingRelay bucket = bucket();
    relay.does((request, store) -> {
      S3Relay.Message answer = bucket.answer(request, store).orElseThrow();
      String date = "Date: Mon, 02 Jan 2006 15:04:05 GMT\r\n";
      return Optional.of(
          request.line().contains("?object-lock")
              ? new S3Relay.Message(
                  answer.head().replaceFirst("\r\n", "\r\n" + date), answer.body())
              : answer);
    });
    refused(ObjectStoreError.CLOCK, () -> keep(compliance(), SMALL));
    assertThat(server.names(direct)).isEmpty();
  }

  @Test
  void protectionIsTriedOutOnTheMarkerWhichStaysWhereItIs() throws IOException {
    LockingRelay bucket = bucket();
    ArchivePlace place = compliance();
    place.begin();
    keep(place, SMALL);
    ArchiveProtection found = place.protection(now);
    assertThat(found.isLocked()).as(found.found()).isTrue();
    assertThat(found.found())
        .contains(
            "compliance mode for 30 days", "could not be removed", "of 1 bundles looked at 1");
    assertThat(heads(bucket, "DELETE", "/writ-archive?")).hasSize(1);
    assertThat(heads(bucket, "DELETE", "/bundles/")).isEmpty();
    assertThat(server.names(direct)).hasSize(2);
  }

  @Test
  void aStoreThatRemovesWhatItSaysIsLockedIsToldAndHasItsMarkerAgain() throws IOException {
    bucket(Lack.PROTECTION);
    ArchivePlace place = compliance();
    place.begin();
    refused(ObjectStoreError.LOCK_IGNORED, () -> place.protection(now));
    place.require();
  }

  @Test
  void withoutALockInTheAddressTheBucketsOwnIsTold() throws IOException {
    ArchivePlace place = place("");
    place.begin();
    assertThat(place.protection(now).found()).contains("has no object lock");
    bucket();
    assertThat(place.protection(now).found()).contains("without a default");
    keep(place, SMALL);
    String rule =
        "<Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>7</Days></DefaultRetention></Rule>";
    relay.does(new LockingRelay(rule));
    ArchiveProtection open = place.protection(now);
    assertThat(open.found()).contains("governance mode for 7 days", "of 1 bundles looked at 0");
    assertThat(open.isLocked()).isFalse();
    LockingRelay other = new LockingRelay(rule);
    relay.does(other);
    keep(compliance(), SMALL);
    assertThat(place.protection(now).isLocked()).isTrue();
    relay.does((request, store) ->
        Optional.of(
            request.line().contains("?object-lock")
                ? S3Relay.answer(403, "AccessDenied")
                : store.answer(request)));
    assertThat(place.protection(now).found()).contains("cannot be read: OBJ-004");
    assertThat(heads(other, "DELETE", "")).isEmpty();
  }

  /** Removed is then hidden by a marker, and overwritten by another version. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBundleThatWasRemovedOrOverwrittenIsReadFromItsOlderVersion(boolean isRemoved)
      throws IOException {
    LockingRelay bucket = bucket();
    keep(compliance(), SMALL);
    String name = "bundles/" + Digest.sha256(SMALL).hex() + ".writ";
    String path = direct.getPath().substring(1) + "/" + name;
    String versions =
        "<ListVersionsResult><IsTruncated>false</IsTruncated>"
            + "<Version><Key>"
            + path
            + "</Key><VersionId>v2</VersionId></Version>"
            + "<Version><Key>"
            + path
            + "</Key><VersionId>v1</VersionId></Version></ListVersionsResult>";
    relay.does((request, store) -> {
      String line = request.line();
      if (line.contains("versions")) {
        return Optional.of(LockingRelay.ok("", versions));
      }
      if (line.startsWith("GET") && line.contains(name) && !line.contains("versionId=v1")) {
        return Optional.of(
            isRemoved
                ? S3Relay.answer(404, "NoSuchKey")
                : LockingRelay.ok("ETag: \"x\"\r\n", "another"));
      }
      return bucket.answer(
          new S3Relay.Message(request.head(), request.body()),
          asked -> LockingRelay.ok("ETag: \"y\"\r\n", "a bundle"));
    });
    assertThat(read(compliance(), SMALL)).isEqualTo(SMALL);
    List<Digest> names = new ArrayList<>();
    compliance().visit(names::add);
    assertThat(names).as("each once").containsExactly(Digest.sha256(SMALL));
    keep(compliance(), SMALL);
    assertThat(heads(bucket, "PUT", name)).as("nothing is sent again").hasSize(1);
    assertThat(heads(bucket, "HEAD", name)).last().asString().contains("versionid=v1");
    if (isRemoved) {
      assertThat(place("").fetch(Digest.sha256(SMALL))).as("without a lock").isEmpty();
    } else {
      assertThat(read(place(""), SMALL)).asString().isEqualTo("another");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "&lock=compliance",
        "&lock_days=30",
        "&lock=COMPLIANCE&lock_days=30",
        "&lock=none&lock_days=30",
        "&lock=compliance&lock_days=0",
        "&lock=compliance&lock_days=36501",
        "&lock=compliance&lock_days=1e3"
      })
  void aLockThatCannotBeMeantIsRefused(String lock) {
    refused(ObjectStoreError.ADDRESS, () -> place(lock));
  }

  @Test
  void onlyAnArchiveHasALock() {
    String address = direct + "&lock=governance&lock_days=1";
    assertThat(ArchivePlaceProvider.find(address).address()).isEqualTo(address);
    refused(ObjectStoreError.ADDRESS, () -> new S3Provider().at(URI.create(address)));
    refused(ObjectStoreError.ADDRESS, () -> S3Settings.parse(address));
  }
}
