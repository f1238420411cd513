package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.CuttableDisk.Operation;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.disk.FailStopDisk;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class NoFailedSyncIsBelievedLaterTest {
  private static final int SIZE = 70_005;
  private static final int BLOBS = 5;
  private static final boolean LONG = "long".equals(System.getProperty("writ.campaign"));

  /** The first, the second, one in the middle, one after the first blobs. */
  private static final List<Integer> FEW = List.of(1, 2, BLOBS, BLOBS + 2);

  @TempDir Path home;

  @BeforeEach
  void create() {
    Ledger.create(config(home)).close();
  }

  private CuttableDisk disk(Operation failing, int nth, boolean forEver) throws IOException {
    CuttableDisk disk = new CuttableDisk(failing, nth, forEver);
    disk.settle(home);
    return disk;
  }

  private static BlobRef write(Ledger ledger, byte[] content) throws IOException {
    try (BlobSink sink = ledger.newBlob()) {
      sink.write(content);
      return sink.finish();
    }
  }

  @Test
  void a_failed_sync_of_a_blob_stops_the_ledger() throws IOException {
    Ledger ledger = Ledger.open(config(home).on(disk(Operation.SYNC, 1, false)));
    List<WritException> heard = new ArrayList<>();
    ledger.whenStopped(heard::add);
    Refused.with(LedgerError.SYNC, () -> write(ledger, CuttableDisk.content(SIZE, 1)));
    Refused.with(LedgerError.FAILED, () -> write(ledger, CuttableDisk.content(SIZE, 2)));
    Refused.with(LedgerError.FAILED, () -> ledger.append(opening("a")));
    assertThat(heard).extracting(WritException::code).containsExactly(LedgerError.SYNC);
    ledger.close();
  }

  @Test
  void a_blob_whose_pages_went_with_another_ones_sync_is_not_acknowledged() throws IOException {
    CuttableDisk disk = disk(Operation.SYNC, 1, false);
    Ledger ledger = Ledger.open(config(home).on(disk));
    BlobSink second = ledger.newBlob();
    second.write(CuttableDisk.content(SIZE, 2));
    Refused.with(LedgerError.SYNC, () -> write(ledger, CuttableDisk.content(SIZE, 1)));
    assertThatThrownBy(second::finish).isInstanceOf(WritException.class);
    ledger.close();
  }

  static Stream<Arguments> failures() {
    List<Arguments> all = new ArrayList<>();
    for (Operation operation : Operation.values()) {
      for (int nth = 1; nth <= 2 * BLOBS; nth++) {
        if (LONG || FEW.contains(nth)) {
          all.add(Arguments.of(operation, nth, false));
        }
      }
      all.add(Arguments.of(operation, 3, true));
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("failures")
  void what_was_acknowledged_is_there_after_the_cut(Operation failing, int nth, boolean forEver)
      throws IOException {
    CuttableDisk disk = disk(failing, nth, forEver);
    Map<Digest, byte[]> acknowledged = new TreeMap<>();
    boolean stopped = false;
    Ledger ledger = Ledger.open(config(home).on(disk));
    for (int i = 0; i < BLOBS; i++) {
      byte[] content = CuttableDisk.content(SIZE, i);
      try {
        BlobRef ref = write(ledger, content);
        ledger.append(opening("run-" + i).blob(ref)).await();
        assertThat(stopped).as("acknowledged after a stop").isFalse();
        acknowledged.put(ref.digest(), content);
      } catch (WritException e) {
        stopped |= e.code() == LedgerError.SYNC || e.code() == LedgerError.FAILED;
      } catch (IOException e) {
        assertThat(e).hasMessageContaining("Input/output error");
      }
    }
    close(ledger);
    disk.cut(home);
    FsckReport report =
        Fsck.check(Fsck.Options.of(config(home).dir()).withAnchor(config(home).anchor()));
    assertThat(report.problems()).isEmpty();
    try (Ledger again = Ledger.open(config(home))) {
      acknowledged.forEach(
          (digest, content) -> assertThat(again.blob(digest, SIZE)).isEqualTo(content));
      for (int i = 0; i < BLOBS; i++) {
        BlobRef ref = write(again, CuttableDisk.content(SIZE, i));
        again.append(new Batch().blob(ref)).await();
        assertThat(again.blob(ref.digest(), SIZE)).hasSize(SIZE);
      }
    }
    assertThat(disk.hasFailed() || nth > BLOBS).as("a fault was injected").isTrue();
  }

  private static void close(Ledger ledger) {
    try {
      ledger.close();
    } catch (WritException e) {
      assertThat(e.code()).isEqualTo(LedgerError.ANCHOR_WRITE);
    }
  }

  @Test
  void an_anchor_whose_pages_may_have_gone_with_another_sync_stays_as_it_was() throws IOException {
    Path anchor = config(home).anchor();
    byte[] before = Files.readAllBytes(anchor);
    FailStop failStop = new FailStop();
    failStop.stop(new WritException(LedgerError.SYNC, "a blob"));
    DurableFiles files = new DurableFiles(new FailStopDisk(Disk.REAL, failStop));
    Anchor next = new Anchor(Fixture.ORIGIN, 1, 7, Digest.sha256(before), Instant.EPOCH);
    Refused.with(LedgerError.FAILED, () -> next.write(files, anchor));
    assertThat(anchor).hasBinaryContent(before);
    assertThat(home.toFile().list()).noneMatch(name -> name.endsWith(".new"));
  }

  @Test
  void a_directory_whose_own_name_was_never_synced_is_made_anew() throws IOException {
    CuttableDisk failing = disk(Operation.SYNC_DIRECTORY, 1, false);
    byte[] content = CuttableDisk.content(SIZE, 7);
    try (Ledger ledger = Ledger.open(config(home).on(failing))) {
      Refused.with(LedgerError.SYNC, () -> write(ledger, content));
    }
    CuttableDisk sound = disk(Operation.OPEN, Integer.MAX_VALUE, false);
    Path directory = home.resolve("data/blobs/" + Digest.sha256(content).hex().substring(0, 2));
    Digest digest;
    try (Ledger ledger = Ledger.open(config(home).on(sound))) {
      assertThat(directory).doesNotExist();
      BlobRef ref = write(ledger, content);
      ledger.append(new Batch().blob(ref)).await();
      digest = ref.digest();
    }
    sound.cut(home);
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.blob(digest, SIZE)).isEqualTo(content);
    }
  }
}
