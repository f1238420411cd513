package dev.writ.ledger;

import static dev.writ.ledger.Fixture.AT;
import static dev.writ.ledger.Fixture.config;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.rocks.RocksStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UploadsBelongToTheirTenantsTest {
  private static final String TABLE = "reference";
  private static final int LARGE = Batch.BLOB_BYTES_MAX + 5;
  private static final long QUOTA = 1 << 20;
  private static final Instant LATER = AT.plusSeconds(1);

  @TempDir Path home;
  private Ledger ledger;

  @BeforeEach
  void create() {
    ledger = Ledger.create(config(home));
  }

  @AfterEach
  void close() {
    ledger.close();
    assertThat(Fsck.check(Fsck.Options.of(home.resolve("data"))).problems()).isEmpty();
  }

  private static String reference(String tenant, Digest digest) {
    return tenant + Keys.SEPARATOR + digest.hex();
  }

  private Digest put(String tenant, byte[] content) throws IOException {
    return put(tenant, content, AT);
  }

  private Digest put(String tenant, byte[] content, Instant at) throws IOException {
    try (BlobSink sink = ledger.newUpload(tenant, QUOTA)) {
      sink.write(content);
      BlobRef ref = sink.finish();
      ledger
          .append(
              new Batch()
                  .upload(tenant, ref, at)
                  .put(TABLE, reference(tenant, ref.digest()), new byte[0]))
          .await();
      return ref.digest();
    }
  }

  private static Envelope naming(String tenant, Digest digest) {
    return Envelope.sign(
        PayloadTypes.of("receipt"),
        JsonValue.object().put("anywhere", digest).put("tenant", tenant).build(),
        Fixture.key(2));
  }

  private Ledger.Collected collect() {
    return ledger.collect(LATER, 1000, List.of(TABLE));
  }

  private boolean mayRead(String tenant, Digest digest) {
    return ledger.get(TABLE, reference(tenant, digest)).isPresent();
  }

  @Test
  void the_quota_counts_from_the_first_byte_and_partial_uploads_give_back() throws IOException {
    BlobSink first = ledger.newUpload("a", QUOTA);
    first.write(new byte[(int) QUOTA - 4096]);
    BlobSink second = ledger.newUpload("a", QUOTA); // 4 KiB, before anything has come
    Refused.with(LedgerError.QUOTA, () -> ledger.newUpload("a", QUOTA));
    second.write(new byte[4096]);
    Refused.with(LedgerError.QUOTA, () -> second.write(1));
    put("b", new byte[10]); // another tenant's is another's
    second.close();
    first.close();
    assertThat(home.resolve("data/blobs/new")).isEmptyDirectory();
    put("a", new byte[(int) QUOTA]);
    Refused.with(LedgerError.QUOTA, () -> put("a", new byte[] {1}));
    assertThat(ledger.storageUse())
        .containsEntry("a", new StorageUse(QUOTA, 1))
        .containsEntry("b", new StorageUse(4096, 1));
    ledger.close();
    ledger = Ledger.open(config(home));
    assertThat(ledger.storageUse()).containsEntry("a", new StorageUse(QUOTA, 1));
    Refused.with(LedgerError.QUOTA, () -> put("a", new byte[] {1}));
  }

  @Test
  void what_no_document_names_is_collected_and_nothing_else() throws IOException {
    List<Digest> unnamed = new ArrayList<>();
    List<Digest> named = new ArrayList<>();
    for (int size : List.of(10, LARGE)) {
      unnamed.add(put("a", CuttableDisk.content(size, 1)));
      named.add(put("a", CuttableDisk.content(size, 2))); // named afterwards
      named.add(Digest.sha256(CuttableDisk.content(size, 3))); // named before it was put
    }
    named.forEach(d -> ledger.append(new Batch().document(naming("a", d))).await());
    put("a", CuttableDisk.content(10, 3));
    put("a", CuttableDisk.content(LARGE, 3));
    Digest again = put("a", CuttableDisk.content(20, 4));
    put("a", CuttableDisk.content(20, 4), LATER); // its time begins anew
    try (BlobSink sink = ledger.newBlob()) { // an output, whose receipt names it
      sink.write(CuttableDisk.content(30, 5));
      ledger.append(new Batch().blob(sink.finish())).await();
    }
    assertThat(ledger.collect(AT, 1000, List.of(TABLE)))
        .as("before their time")
        .isEqualTo(Ledger.Collected.NOTHING);
    assertThat(collect()).isEqualTo(new Ledger.Collected(2, 2, 10 + LARGE));
    for (Digest digest : unnamed) {
      assertThat(ledger.hasBlob(digest)).isFalse();
      assertThat(mayRead("a", digest)).isFalse();
    }
    named.add(again);
    for (Digest digest : named) {
      assertThat(ledger.blob(digest, LARGE)).isNotEmpty();
      assertThat(mayRead("a", digest)).isTrue();
    }
    assertThat(ledger.hasBlob(Digest.sha256(CuttableDisk.content(30, 5)))).isTrue();
    assertThat(collect()).isEqualTo(Ledger.Collected.NOTHING);
    assertThat(ledger.storageUse().get("a").blobs()).as("what is named is paid for").isEqualTo(5);
    put("a", CuttableDisk.content(LARGE, 1)); // and can come again
    try (Stream<Path> files = Files.walk(home.resolve("data/blobs"))) {
      assertThat(files.filter(Files::isRegularFile)).hasSize(3);
    }
  }

  @Test
  void tenants_do_not_keep_or_lose_one_anothers() throws IOException {
    byte[] content = CuttableDisk.content(LARGE, 9);
    Digest digest = put("a", content);
    put("b", content);
    ledger.append(new Batch().document(naming("a", digest))).await();
    assertThat(collect()).isEqualTo(new Ledger.Collected(1, 0, 0));
    assertThat(mayRead("b", digest)).as("b learns nothing from a's document").isFalse();
    assertThat(mayRead("a", digest)).isTrue();
    assertThat(ledger.blob(digest, LARGE)).isEqualTo(content);
    // One that may read it without an upload of its own, as from an earlier release.
    Digest old = put("b", CuttableDisk.content(11, 8));
    ledger.append(new Batch().put(TABLE, reference("c", old), new byte[0])).await();
    // And one whose run produced it, in rows with more parts of another table.
    Digest produced = put("b", CuttableDisk.content(12, 8));
    String run = reference("c", produced) + Keys.SEPARATOR + "s" + Keys.SEPARATOR + "r";
    String own = reference("b", produced) + Keys.SEPARATOR + "s" + Keys.SEPARATOR;
    ledger.append(new Batch().put("held", run, new byte[0]).put("held", own, new byte[0])).await();
    Digest gone = put("b", CuttableDisk.content(13, 8));
    assertThat(ledger.collect(LATER, 1000, List.of(TABLE, "held")))
        .isEqualTo(new Ledger.Collected(3, 1, 13));
    assertThat(ledger.hasBlob(old)).isTrue();
    assertThat(mayRead("b", old)).isFalse();
    assertThat(ledger.hasBlob(produced)).isTrue();
    assertThat(ledger.get("held", own)).isEmpty();
    assertThat(ledger.get("held", run)).isPresent();
    assertThat(ledger.hasBlob(gone)).isFalse();
  }

  @Test
  void what_is_pinned_or_being_written_stays() throws IOException {
    Digest pinned = put("a", CuttableDisk.content(10, 1));
    Digest written = put("a", CuttableDisk.content(LARGE, 2));
    BlobSink output = ledger.newBlob();
    output.write(CuttableDisk.content(LARGE, 2));
    BlobRef ref = output.finish();
    try (Ledger.Pin _ = ledger.pin(List.of(pinned))) {
      assertThat(collect()).isEqualTo(Ledger.Collected.NOTHING);
    }
    ledger.append(new Batch().blob(ref).document(naming("a", written))).await();
    assertThat(collect()).isEqualTo(new Ledger.Collected(1, 1, 10));
    assertThat(ledger.blob(written, LARGE)).hasSize(LARGE);
  }

  /** Whoever found a blob under a pin and then named it has it for good. */
  @Test
  void many_threads_put_name_and_collect_and_nothing_named_is_ever_lost() throws Exception {
    int contents = 6;
    AtomicBoolean over = new AtomicBoolean();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Long> collector =
          threads.submit(() -> {
            long removed = 0;
            while (!over.get()) {
              removed += collect().claims();
            }
            return removed;
          });
      List<Future<?>> workers = new ArrayList<>();
      for (int worker = 0; worker < 8; worker++) {
        int seed = worker;
        workers.add(threads.submit(() -> work(new Random(seed), contents, "t" + seed % 2)));
      }
      for (Future<?> worker : workers) {
        worker.get();
      }
      over.set(true);
      assertThat(collector.get()).as("collections raced with the rest").isPositive();
    }
    ledger.close();
    ledger = Ledger.open(config(home));
    collect();
    for (String tenant : List.of("t0", "t1")) {
      for (int i = 0; i < contents; i++) {
        Digest digest = Digest.sha256(content(i));
        if (ledger.hasDocument(naming(tenant, digest).id())) {
          assertThat(mayRead(tenant, digest)).isTrue();
          assertThat(ledger.blob(digest, LARGE + contents)).isEqualTo(content(i));
        }
      }
    }
  }

  private static byte[] content(int i) {
    return CuttableDisk.content(i % 2 == 0 ? 100 + i : LARGE + i, i);
  }

  private Void work(Random random, int contents, String tenant) throws IOException {
    for (int i = 0; i < 40; i++) {
      int which = random.nextInt(contents);
      Digest digest = Digest.sha256(content(which));
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> put(tenant, content(which));
        case 3 -> {
          try (BlobSink sink = ledger.newBlob()) { // an output and its receipt
            sink.write(content(which));
            BlobRef ref = sink.finish();
            ledger
                .append(
                    new Batch()
                        .blob(ref)
                        .document(naming(tenant, digest))
                        .put(TABLE, reference(tenant, digest), new byte[0]))
                .await();
          }
        }
        default -> {
          try (Ledger.Pin _ = ledger.pin(List.of(digest))) {
            if (mayRead(tenant, digest)) {
              // Most requests are never committed: their blobs stay unnamed.
              assertThat(ledger.blob(digest, LARGE + contents)).isEqualTo(content(which));
              if (random.nextInt(30) == 0) {
                ledger.append(new Batch().document(naming(tenant, digest))).await();
              }
            }
          }
        }
      }
    }
    return null;
  }

  @Test
  void a_collection_whose_write_fails_loses_nothing() throws IOException {
    Digest digest = put("a", CuttableDisk.content(LARGE, 1));
    ledger.close();
    boolean[] fail = {false};
    ledger =
        Ledger.open(
            config(home),
            disk ->
                (write, size, newSize) -> {
                  if (fail[0] && ((RocksStorage.RocksWrite) write).batch().count() > 1) {
                    throw new WritException(LedgerError.STORAGE, "injected");
                  }
                  disk.write(write, size, newSize);
                });
    fail[0] = true;
    Refused.with(LedgerError.STORAGE, this::collect);
    assertThat(ledger.blob(digest, LARGE)).hasSize(LARGE);
    ledger.close();
    ledger = Ledger.open(config(home));
    assertThat(ledger.blob(digest, LARGE)).hasSize(LARGE);
    assertThat(collect()).isEqualTo(new Ledger.Collected(1, 1, LARGE));
  }
}
