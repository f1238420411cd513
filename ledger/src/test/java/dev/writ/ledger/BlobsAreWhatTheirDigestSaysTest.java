package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlobsAreWhatTheirDigestSaysTest {
  private static final int LARGE = Batch.BLOB_BYTES_MAX + 1;

  /** Two and a half heaps of the child that streams it. */
  private static final int STREAM_MIB = Integer.getInteger("writ.blob.mib", 160);

  @TempDir Path home;
  private Ledger ledger;

  @BeforeEach
  void open() {
    ledger = Ledger.create(config(home));
  }

  @AfterEach
  void close() {
    ledger.close();
  }

  private BlobRef write(byte[] content) throws IOException {
    BlobSink sink = ledger.newBlob();
    sink.write(content);
    return sink.finish();
  }

  private static byte[] content(int size) {
    byte[] content = new byte[size];
    for (int i = 0; i < size; i++) {
      content[i] = (byte) (i * 31 + i / 7);
    }
    return content;
  }

  private Path file(Digest digest) {
    return home.resolve("data/blobs").resolve(digest.hex().substring(0, 2)).resolve(digest.hex());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, LARGE - 1, LARGE, 200_000})
  void what_goes_in_comes_out(int size) throws IOException {
    byte[] content = content(size);
    BlobRef ref = write(content);
    assertThat(ref.digest()).isEqualTo(Digest.sha256(content));
    assertThat(ref.size()).isEqualTo(size);
    assertThat(ledger.hasBlob(ref.digest())).as("before a batch names it").isFalse();
    Refused.with(LedgerError.BLOB_MISSING, () -> ledger.blob(ref.digest(), size));
    Refused.with(LedgerError.BLOB_MISSING, () -> ledger.openBlob(ref.digest()));
    Refused.with(LedgerError.BLOB_MISSING, () -> ledger.blobSize(ref.digest()));
    ledger.append(new Batch().blob(ref)).await();
    assertThat(ledger.hasBlob(ref.digest())).isTrue();
    assertThat(ledger.blobSize(ref.digest())).isEqualTo(size);
    assertThat(ledger.blob(ref.digest(), size)).isEqualTo(content);
    try (InputStream in = ledger.openBlob(ref.digest())) {
      assertThat(in.readAllBytes()).isEqualTo(content);
      assertThat(in.read()).isEqualTo(-1);
    }
    assertThat(Files.exists(file(ref.digest()))).isEqualTo(size >= LARGE);
    if (size > 0) {
      Refused.with(LedgerError.BLOB_TOO_LARGE, () -> ledger.blob(ref.digest(), size - 1));
    }
  }

  @Test
  void the_same_content_twice_is_one_blob_and_ended_sinks_take_nothing() throws IOException {
    byte[] content = content(LARGE);
    BlobRef first = write(content);
    BlobRef second = write(content);
    assertThat(second.digest()).isEqualTo(first.digest());
    ledger.append(new Batch().blob(first).blob(second)).await();
    assertThat(ledger.blob(first.digest(), LARGE)).isEqualTo(content);
    BlobSink sink = ledger.newBlob();
    sink.finish();
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> sink.write(1))
        .isInstanceOf(IOException.class);
    Refused.with(LedgerError.BLOB_TOO_LARGE, () -> new Batch().blob(new byte[LARGE]));
  }

  @Test
  void a_closed_sink_leaves_nothing() throws IOException {
    try (BlobSink sink = ledger.newBlob()) {
      sink.write(content(LARGE));
    }
    assertThat(home.resolve("data/blobs/new")).isEmptyDirectory();
  }

  @Test
  void changed_cut_grown_and_missing_files_are_told_when_read() throws IOException {
    byte[] content = content(LARGE);
    BlobRef ref = write(content);
    ledger.append(new Batch().blob(ref)).await();
    Path file = file(ref.digest());
    byte[] changed = content.clone();
    changed[LARGE / 2] ^= 1;
    for (byte[] bad :
        List.of(
            changed,
            new byte[0],
            Arrays.copyOf(content, LARGE - 1),
            Arrays.copyOf(content, LARGE + 1))) {
      Files.write(file, bad);
      Refused.with(LedgerError.BLOB_CORRUPT, () -> ledger.blob(ref.digest(), LARGE));
      try (InputStream in = ledger.openBlob(ref.digest())) {
        Refused.with(
            LedgerError.BLOB_CORRUPT, () -> in.transferTo(OutputStream.nullOutputStream()));
      }
      try (InputStream in = ledger.openBlob(ref.digest())) {
        Refused.with(
            LedgerError.BLOB_CORRUPT,
            () -> {
              while (in.skip(1000) > 0) {
                continue;
              }
            });
      }
    }
    Files.delete(file);
    Refused.with(LedgerError.BLOB_CORRUPT, () -> ledger.blob(ref.digest(), LARGE));
    Refused.with(LedgerError.BLOB_CORRUPT, () -> ledger.openBlob(ref.digest()));
  }

  @Test
  void opening_sweeps_orphans_and_nothing_else() throws IOException {
    BlobRef named = write(content(LARGE));
    ledger.append(new Batch().blob(named)).await();
    BlobRef orphan = write(content(LARGE + 1));
    BlobSink unfinished = ledger.newBlob();
    unfinished.write(content(LARGE + 2));
    Path foreign = Files.writeString(file(named.digest()).resolveSibling("README"), "not ours");
    assertThat(file(orphan.digest())).exists();
    ledger.close();
    ledger = Ledger.open(config(home));
    assertThat(file(orphan.digest())).doesNotExist();
    assertThat(home.resolve("data/blobs/new")).isEmptyDirectory();
    assertThat(foreign).exists();
    assertThat(ledger.blob(named.digest(), LARGE)).isEqualTo(content(LARGE));
  }

  /** Streams a large blob in and out. */
  static final class Streamer {
    public static void main(String[] args) throws Exception {
      byte[] chunk = content(1 << 20);
      MessageDigest written = Digest.newSha256();
      try (Ledger ledger = Ledger.open(config(Path.of(args[0])))) {
        BlobSink sink = ledger.newBlob();
        for (int i = 0; i < STREAM_MIB; i++) {
          chunk[0] = (byte) i;
          written.update(chunk);
          sink.write(chunk);
        }
        BlobRef ref = sink.finish();
        ledger.append(new Batch().blob(ref)).await();
        try (InputStream in = ledger.openBlob(ref.digest())) {
          System.out.println(in.transferTo(OutputStream.nullOutputStream()));
        }
        System.out.println(ref.digest().equals(Digest.ofBytes(written.digest())));
      } catch (WritException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  @Test
  void a_blob_larger_than_the_heap_goes_through() throws Exception {
    ledger.close();
    try (Child child =
        Child.start(
            Child.command(
                List.of("-Xmx64m", "-XX:TieredStopAtLevel=4", "-Dwrit.blob.mib=" + STREAM_MIB),
                Streamer.class,
                home.toString()))) {
      assertThat(child.linesToEnd()).containsExactly(((long) STREAM_MIB << 20) + "", "true");
    }
    ledger = Ledger.open(config(home));
  }
}
