package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.archive.ArchiveFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that ends between making a folder and syncing its name leaves one that is in the cache
 * alone. Whatever the next process keeps there would be lost with the power, however well it syncs
 * the file.
 */
class FoldersOfAProcessBeforeAreSyncedTest {
  private static final byte[] LARGE = new byte[100_000];
  private static final String HEX = Digest.sha256(LARGE).hex();

  @TempDir Path home;

  private static final class Syncs implements Disk {
    final List<Path> synced = new ArrayList<>();

    @Override
    public void syncDirectory(Path directory) throws IOException {
      synced.add(directory.toAbsolutePath());
      Disk.super.syncDirectory(directory);
    }
  }

  private static void store(Ledger ledger) throws IOException {
    try (BlobSink sink = ledger.newBlob()) {
      sink.write(LARGE);
      ledger.append(new Batch().blob(sink.finish())).await();
    }
  }

  @Test
  void of_a_large_content() throws IOException {
    Syncs disk = new Syncs();
    Ledger.create(config(home)).close();
    Path blobs = config(home).dir().resolve("blobs");
    Files.createDirectory(blobs.resolve(HEX.substring(0, 2)));
    try (Ledger ledger = Ledger.open(config(home).on(disk))) {
      store(ledger);
      assertThat(disk.synced).contains(blobs, blobs.resolve(HEX.substring(0, 2)));
    }
  }

  @Test
  void of_an_archived_bundle() throws IOException {
    Syncs disk = new Syncs();
    ArchiveFolder archive = new ArchiveFolder(home, new DurableFiles(disk));
    archive.begin();
    Path bundles = home.resolve("bundles");
    Files.createDirectories(bundles.resolve(HEX.substring(0, 2)));
    Path draft = archive.draft("writer");
    Files.write(draft, LARGE);
    disk.synced.clear();
    archive.keep(draft, Digest.sha256(LARGE), Instant.EPOCH);
    assertThat(disk.synced).contains(home, bundles, bundles.resolve(HEX.substring(0, 2)));
  }
}
