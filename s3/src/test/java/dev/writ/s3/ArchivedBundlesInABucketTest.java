package dev.writ.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.archive.ArchivePlaceProvider;
import dev.writ.ledger.error.LedgerError;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bundles of archived runs are written once, and read as they are. */
class ArchivedBundlesInABucketTest {
  private final S3Server server = S3Server.shared();
  private final URI address = server.newAddress();

  private ArchivePlace place() {
    return ArchivePlaceProvider.find(address.toString());
  }

  private byte[] read(Digest bundle) throws IOException {
    Path file;
    byte[] bytes;
    try (ArchivePlace.Fetched fetched = place().fetch(bundle).orElseThrow()) {
      file = fetched.file();
      bytes = Files.readAllBytes(file);
    }
    assertThat(file).doesNotExist();
    return bytes;
  }

  private void keep(byte[] bytes, Digest name) throws IOException {
    Path draft = place().draft("writer");
    Files.write(draft, bytes);
    place().keep(draft, name, Instant.now());
    assertThat(draft).doesNotExist();
  }

  @Test
  void whatIsNoArchiveIsTold() {
    assertThatThrownBy(() -> place().require())
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(LedgerError.ARCHIVE_ABSENT));
    place().begin();
    place().begin();
    place().require();
    assertThat(place().address()).isEqualTo(address.toString());
  }

  @Test
  void aBundleIsKeptAndNeverReplaced() throws IOException {
    place().begin();
    byte[] small = "a bundle".getBytes(StandardCharsets.UTF_8);
    byte[] large = new byte[(17 << 20) + 3]; // in parts
    Arrays.fill(large, (byte) 7);
    Digest ofSmall = Digest.sha256(small);
    Digest ofLarge = Digest.sha256(large);
    assertThat(place().fetch(ofSmall)).isEmpty();
    keep(small, ofSmall);
    keep(large, ofLarge);
    keep("another".getBytes(StandardCharsets.UTF_8), ofSmall);
    assertThat(read(ofSmall)).isEqualTo(small);
    assertThat(read(ofLarge)).isEqualTo(large);
    List<Digest> names = new ArrayList<>();
    place().visit(names::add);
    assertThat(names).containsExactlyInAnyOrder(ofSmall, ofLarge).isSorted();
  }

  /** As Amazon answers where a bucket has object lock with a default retention. */
  @Test
  void aBucketWithObjectLockTakesMarkerBundlesAndParts() throws IOException {
    byte[] small = "a bundle that is locked".getBytes(StandardCharsets.UTF_8);
    byte[] large = new byte[(17 << 20) + 5];
    Arrays.fill(large, (byte) 9);
    try (S3Relay relay = new S3Relay(server.port())) {
      relay.does((request, store) -> {
        String head = request.head().toLowerCase(Locale.ROOT);
        boolean isSummed =
            head.contains("\r\ncontent-md5: ") || head.contains("\r\nx-amz-checksum-");
        return Optional.of(
            head.startsWith("put ") && !isSummed
                ? S3Relay.answer(400, "InvalidRequest")
                : store.answer(request));
      });
      ArchivePlace locked = ArchivePlaceProvider.find(relay.address(address).toString());
      locked.begin();
      for (byte[] bytes : List.of(small, large)) {
        Path draft = locked.draft("writer");
        Files.write(draft, bytes);
        locked.keep(draft, Digest.sha256(bytes), Instant.now());
      }
      assertThat(relay.lines()).filteredOn(line -> line.startsWith("DELETE")).isEmpty();
    }
    assertThat(read(Digest.sha256(small))).isEqualTo(small);
    assertThat(read(Digest.sha256(large))).isEqualTo(large);
  }

  /** As a cache in the store's place may do, which has kept the first page. */
  @ParameterizedTest
  @ValueSource(strings = {"", "&lock=compliance&lock_days=1"})
  void aListThatNeverEndsIsRefused(String lock) throws IOException {
    try (S3Relay relay = new S3Relay(server.port())) {
      ArchivePlace listed = ArchivePlaceProvider.find(relay.address(address).toString() + lock);
      String page =
          lock.isEmpty()
              ? "<ListBucketResult><IsTruncated>true</IsTruncated>"
                  + "<NextContinuationToken>again</NextContinuationToken></ListBucketResult>"
              : "<ListVersionsResult><IsTruncated>true</IsTruncated>"
                  + "<NextKeyMarker>again</NextKeyMarker>"
                  + "<NextVersionIdMarker>1</NextVersionIdMarker></ListVersionsResult>";
      relay.does((_, _) -> Optional.of(S3Relay.page(page)));
      assertThatThrownBy(() -> listed.visit(_ -> {}))
          .isInstanceOfSatisfying(
              WritException.class, e -> assertThat(e.code()).isEqualTo(ObjectStoreError.REFUSED));
      assertThat(relay.lines()).hasSize(2);
    }
  }

  @Test
  void anAddressWithASecretIsRefusedAndNotShown() {
    assertThatThrownBy(() -> ArchivePlaceProvider.find("s3://key:hidden@writ/a"))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ObjectStoreError.ADDRESS))
        .hasMessageNotContaining("hidden");
  }
}
