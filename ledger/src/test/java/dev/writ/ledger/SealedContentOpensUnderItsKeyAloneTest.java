package dev.writ.ledger;

import static dev.writ.ledger.Fixture.AT;
import static dev.writ.ledger.Fixture.config;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.seal.ContentKey;
import dev.writ.ledger.seal.ContentKeys;
import dev.writ.ledger.seal.ContentOwner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SealedContentOpensUnderItsKeyAloneTest {
  private static final ContentOwner ALICE = ContentOwner.subject("acme", "alice");
  private static final ContentOwner BOB = ContentOwner.subject("acme", "bob");
  private static final int PIECE = 64 * 1024;
  private static final int MAX = 1 << 20;

  @TempDir Path home;
  private Ledger ledger;
  private final Random random = new Random(20);

  @BeforeEach
  void create() {
    ledger = Ledger.create(config(home));
    ledger.append(Fixture.opening("r")).await();
  }

  @AfterEach
  void close() {
    ledger.close();
  }

  private byte[] content(int size) {
    byte[] content = new byte[size];
    random.nextBytes(content);
    return content;
  }

  private Digest store(byte[] content, ContentOwner owner) throws IOException {
    try (BlobSink sink = ledger.newBlob(Optional.of(owner))) {
      sink.write(content);
      BlobRef ref = sink.finish();
      assertThat(ref.size()).isEqualTo(content.length);
      ledger.append(new Batch().blob(ref)).await();
      return ref.digest();
    }
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.walk(home)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  private List<String> filesWith(byte[] content) throws IOException {
    String piece = new String(Arrays.copyOf(content, 48), StandardCharsets.ISO_8859_1);
    List<String> found = new ArrayList<>();
    for (Path file : files()) {
      if (new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(piece)) {
        found.add(file.toString());
      }
    }
    return found;
  }

  private List<String> problems() {
    return Fsck.check(Fsck.Options.of(home.resolve("data"))).problems().stream()
        .map(Object::toString)
        .toList();
  }

  private SealedCopy copy(Digest content) {
    return ledger.blobs.copies(content).getFirst();
  }

  private void destroyKeys(ContentOwner owner) {
    ContentKeys keys = ledger.contentKeys();
    keys.retire(owner);
    keys.retired().stream().map(ContentKey::id).forEach(keys::destroy);
  }

  @Test
  void contents_of_all_sizes_come_back_and_are_on_no_disk_in_the_clear() throws IOException {
    for (int size : new int[] {0, 1, 60, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 5 * PIECE + 77}) {
      byte[] content = content(size);
      Digest id = store(content, ALICE);
      assertThat(id).isEqualTo(Digest.sha256(content));
      assertThat(ledger.blobSize(id)).isEqualTo(size);
      assertThat(ledger.blob(id, MAX)).as(size + " bytes").isEqualTo(content);
      if (size >= 48) {
        assertThat(filesWith(content)).isEmpty();
      }
    }
    try (LedgerView reader = Ledger.openReadOnly(home.resolve("data"))) {
      byte[] content = content(100);
      Digest id = store(content, ALICE);
      reader.refresh();
      assertThat(reader.blob(id, MAX)).isEqualTo(content);
    }
    assertThat(problems()).isEmpty();
    Refused.with(LedgerError.BLOB_TOO_LARGE, () -> ledger.blob(store(content(9), ALICE), 8));
  }

  @Test
  void a_content_that_is_being_written_lies_there_sealed() throws IOException {
    byte[] content = content(3 * PIECE);
    try (BlobSink sink = ledger.newBlob(Optional.of(ALICE))) {
      sink.write(content);
      assertThat(files()).anyMatch(file -> file.getParent().endsWith("new"));
      assertThat(filesWith(content)).isEmpty();
    }
    assertThat(files()).as("it was discarded").noneMatch(file -> file.getParent().endsWith("new"));
  }

  @Test
  void the_same_content_of_one_owner_is_stored_once_and_of_two_twice() throws IOException {
    byte[] content = content(500);
    Digest id = store(content, ALICE);
    store(content, ALICE);
    assertThat(ledger.blobs.copies(id)).hasSize(1);
    store(content, BOB);
    assertThat(ledger.blobs.copies(id)).hasSize(2);
    destroyKeys(ALICE);
    assertThat(ledger.blob(id, MAX)).as("it is bob's, too").isEqualTo(content);
    destroyKeys(BOB);
    Refused.with(LedgerError.KEY_MISSING, () -> ledger.blob(id, MAX));
    assertThat(ledger.hasBlob(id)).isTrue();
    assertThat(problems()).as("the sealed forms are whole").isEmpty();
  }

  @Test
  void after_its_key_is_destroyed_an_owner_gets_another_one() throws IOException {
    byte[] before = content(500);
    Digest old = store(before, ALICE);
    ContentKeys keys = ledger.contentKeys();
    keys.retire(ALICE);
    byte[] after = content(500);
    Digest now = store(after, ALICE);
    assertThat(copy(now).keyId()).isNotEqualTo(copy(old).keyId());
    assertThat(ledger.blob(old, MAX)).as("retired, not destroyed").isEqualTo(before);
    Path file = home.resolve("content-keys/retired").resolve(copy(old).keyId());
    assertThat(file).exists();
    keys.destroy(copy(old).keyId());
    keys.destroy(copy(old).keyId());
    assertThat(file).doesNotExist();
    Refused.with(LedgerError.KEY_MISSING, () -> ledger.openBlob(old));
    assertThat(ledger.blob(now, MAX)).isEqualTo(after);
  }

  @Test
  void a_key_is_in_use_from_sealing_until_the_row_is_written() throws IOException {
    ContentKeys keys = ledger.contentKeys();
    BlobRef ref;
    try (BlobSink sink = ledger.newBlob(Optional.of(ALICE))) {
      sink.write(1);
      ref = sink.finish();
    }
    String id = ref.copy().orElseThrow().keyId();
    assertThat(keys.isUsed(id)).isTrue();
    ledger.append(new Batch().blob(ref)).await();
    assertThat(keys.isUsed(id)).isFalse();
  }

  /** Puts a row of one content in the place of another's. */
  private void swap(SealedCopy place, SealedCopy other) {
    ledger
        .append(
            new Batch()
                .put(
                    SealedCopy.TABLE,
                    place.key(),
                    new SealedCopy(
                            place.content(),
                            place.owner(),
                            place.keyId(),
                            other.stored(),
                            place.size())
                        .value()))
        .await();
  }

  @Test
  void a_sealed_form_opens_for_its_own_content_and_owner_alone() throws IOException {
    byte[] content = content(500);
    Digest first = store(content, ALICE);
    Digest second = store(content(500), ALICE);
    swap(copy(first), copy(second));
    Refused.with(LedgerError.SEAL_WRONG, () -> ledger.blob(first, MAX));
    Digest other = store(content(500), ALICE);
    store(content(500), BOB);
    Digest bobs = store(content, BOB);
    swap(copy(other), ledger.blobs.copies(bobs).getLast());
    Refused.with(LedgerError.SEAL_WRONG, () -> ledger.blob(other, MAX));
    assertThat(problems()).as("no form was changed").isEmpty();
  }

  @Test
  void changed_and_cut_forms_are_refused_at_their_digest_and_at_their_tag() throws IOException {
    Digest large = store(content(3 * PIECE), ALICE);
    Digest form = copy(large).stored();
    Path file = home.resolve("data/blobs/" + form.hex().substring(0, 2) + "/" + form.hex());
    byte[] whole = Files.readAllBytes(file);
    byte[] changed = whole.clone();
    changed[whole.length / 2] ^= 1;
    Files.write(file, changed);
    Refused.with(LedgerError.SEAL_WRONG, () -> ledger.blob(large, MAX));
    assertThat(problems()).singleElement().asString().contains(form.toString());
    // Whole pieces are left out at the end: the one before is not the last.
    Files.write(file, Arrays.copyOf(whole, 4 + 2 * (PIECE + 16)));
    Refused.with(LedgerError.BLOB_CORRUPT, () -> ledger.blob(large, MAX));
    Files.write(file, whole);
    assertThat(ledger.blob(large, MAX)).hasSize(3 * PIECE);
  }

  @Test
  void a_key_under_another_wrapping_key_is_damaged_and_no_content_is_lost_silently()
      throws IOException {
    Digest id = store(content(10), ALICE);
    Path tenants = home.resolve("content-keys/tenants");
    Path wrapping;
    try (Stream<Path> found = Files.list(tenants)) {
      wrapping = found.findFirst().orElseThrow();
    }
    byte[] before = Files.readAllBytes(wrapping);
    Files.write(wrapping, content(32));
    Refused.with(LedgerError.KEYS_UNUSABLE, () -> ledger.blob(id, MAX));
    Files.write(wrapping, before);
    assertThat(ledger.blob(id, MAX)).hasSize(10);
  }

  @Test
  void a_deletion_and_a_collection_remove_every_copy() throws IOException {
    byte[] content = content(3 * PIECE);
    Digest id = store(content, ALICE);
    store(content, BOB);
    List<Digest> forms = ledger.blobs.copies(id).stream().map(SealedCopy::stored).toList();
    assertThat(
            ledger.delete(
                List.of(id),
                ledger.treeSize(),
                AT.plusSeconds(1),
                new Ledger.Deletion(new Batch(), enqueue -> enqueue.get())))
        .isEmpty();
    assertThat(ledger.hasBlob(id)).isFalse();
    assertThat(forms).hasSize(2).noneMatch(ledger::hasBlob);
    try (BlobSink sink = ledger.newUpload("acme", MAX, Optional.of(ALICE), Optional.empty())) {
      sink.write(content);
      ledger.append(new Batch().upload("acme", sink.finish(), AT)).await();
    }
    Digest form = copy(id).stored();
    assertThat(ledger.collect(AT.plusSeconds(1), 10, List.of()).bytes()).isEqualTo(content.length);
    assertThat(List.of(id, form)).noneMatch(ledger::hasBlob);
    assertThat(files()).noneMatch(file -> file.getFileName().toString().equals(form.hex()));
    assertThat(problems()).isEmpty();
  }
}
