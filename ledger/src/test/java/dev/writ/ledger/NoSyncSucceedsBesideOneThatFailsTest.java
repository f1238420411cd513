package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One sync has failed in the kernel, which dropped the pages of every file, and its caller has not
 * heard of it yet. Meanwhile another file is synced, and that sync succeeds.
 */
class NoSyncSucceedsBesideOneThatFailsTest {
  @TempDir Path home;

  @BeforeEach
  void create() {
    Ledger.create(config(home)).close();
  }

  /** The first sync of a blob fails, and says so only once it is allowed to. */
  private static final class SlowToFail implements Disk {
    final CountDownLatch failed = new CountDownLatch(1);
    final CountDownLatch told = new CountDownLatch(1);
    final AtomicReference<Thread> anchorSynced = new AtomicReference<>();
    final CountDownLatch anchorNamed = new CountDownLatch(1);

    @Override
    public void sync(FileChannel channel, Path file) throws IOException {
      if (file.getParent().endsWith("new") && failed.getCount() > 0) {
        failed.countDown();
        awaitUninterruptibly(told);
        throw new SyncFailed(file, new IOException("Input/output error"));
      }
      Disk.super.sync(channel, file);
      if (isAnchor(file)) {
        anchorSynced.set(Thread.currentThread());
      }
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
      Disk.super.rename(from, to);
      if (isAnchor(to)) {
        anchorNamed.countDown();
      }
    }

    private static boolean isAnchor(Path file) {
      return file.getFileName().toString().contains("anchor");
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Until it waits for somebody else, or has ended. */
  private static boolean isAtRest(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TERMINATED -> true;
      default -> false;
    };
  }

  private Ledger open(Disk disk) throws IOException {
    return Ledger.open(config(home).on(disk));
  }

  private static Thread blob(Ledger ledger, int seed, List<Optional<WritException>> ends) {
    return Thread.ofPlatform()
        .start(() -> {
          Optional<WritException> refusal = Optional.empty();
          try (BlobSink sink = ledger.newBlob()) {
            sink.write(CuttableDisk.content(70_005, seed));
            sink.finish();
          } catch (WritException e) {
            refusal = Optional.of(e);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
          synchronized (ends) {
            ends.add(refusal);
          }
        });
  }

  @Test
  void a_blob_is_not_kept() throws Exception {
    SlowToFail disk = new SlowToFail();
    List<Optional<WritException>> ends = new ArrayList<>();
    try (Ledger ledger = open(disk)) {
      Thread fails = blob(ledger, 1, ends);
      disk.failed.await();
      Thread beside = blob(ledger, 2, ends);
      while (!isAtRest(beside)) {
        Thread.sleep(1);
      }
      disk.told.countDown();
      fails.join();
      beside.join();
    }
    assertThat(ends)
        .extracting(end -> end.map(e -> e.code().code()).orElse("kept"))
        .containsExactlyInAnyOrder("LED-070", "LED-022");
  }

  @Test
  void the_anchor_stays_as_it_was() throws Exception {
    byte[] before = Files.readAllBytes(config(home).anchor());
    SlowToFail disk = new SlowToFail();
    List<Optional<WritException>> ends = new ArrayList<>();
    Ledger ledger = open(disk);
    Thread fails = blob(ledger, 1, ends);
    disk.failed.await();
    ledger.append(opening("a")).await();
    while (disk.anchorNamed.getCount() > 0
        && (disk.anchorSynced.get() == null || !isAtRest(disk.anchorSynced.get()))) {
      Thread.sleep(1);
    }
    disk.told.countDown();
    fails.join();
    ledger.close();
    assertThat(config(home).anchor()).hasBinaryContent(before);
  }
}
