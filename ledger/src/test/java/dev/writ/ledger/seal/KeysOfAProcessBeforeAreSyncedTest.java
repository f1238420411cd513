package dev.writ.ledger.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that ends between making a key's file and syncing its folder leaves a name that is in
 * the cache alone. The next process finds that key, and whatever it seals under it would be lost
 * with the power.
 */
class KeysOfAProcessBeforeAreSyncedTest {
  private static final ContentOwner ALICE = ContentOwner.subject("acme", "alice");

  @TempDir Path dir;

  private static final class Syncs implements Disk {
    final List<Path> synced = new ArrayList<>();
    boolean fails;

    @Override
    public void syncDirectory(Path directory) throws IOException {
      if (fails) {
        throw new FileSystemException(directory.toString(), null, "the process ended");
      }
      synced.add(directory.toAbsolutePath());
    }
  }

  private ContentKeys keys(Disk disk) {
    return ContentKeys.beside(new DurableFiles(disk), dir.resolve("ledger"), new SecureRandom());
  }

  @Test
  void before_anything_lies_under_them() throws IOException {
    Path folder = dir.resolve(ContentKeys.FOLDER);
    Syncs before = new Syncs();
    keys(before).use(ContentOwner.subject("acme", "bob"));
    ContentKeys ends = keys(before);
    ends.use(ContentOwner.subject("acme", "bob"));
    before.fails = true;
    assertThatThrownBy(() -> ends.use(ALICE)).hasMessageStartingWith("LED-098");
    assertThat(ends.current(ALICE)).as("its name is in the cache").isPresent();

    Syncs now = new Syncs();
    ContentKeys next = keys(now);
    now.fails = true;
    assertThatThrownBy(() -> next.use(ALICE))
        .as("not without a sync")
        .hasMessageStartingWith("LED-098");
    now.fails = false;
    next.use(ALICE);
    assertThat(now.synced)
        .contains(folder.resolve("tenants"), folder.resolve("current"), folder, dir);
    now.synced.clear();
    next.use(ContentOwner.subject("acme", "bob"));
    assertThat(now.synced).as("once is enough").isEmpty();
  }

  @Test
  void retiring_gives_a_key_its_new_name_before_it_takes_the_old_one() {
    Syncs disk = new Syncs();
    ContentKeys keys = keys(disk);
    ContentKey key = keys.use(ALICE);
    disk.fails = true;
    assertThatThrownBy(() -> keys.retire(ALICE)).hasMessageStartingWith("LED-098");
    assertThat(keys.current(ALICE)).as("it has both names").isPresent();
    assertThat(keys.retired()).hasSize(1);
    disk.fails = false;
    keys.retire(ALICE);
    assertThat(keys.current(ALICE)).isEmpty();
    assertThat(keys.find(ALICE, key.id())).isPresent();
    keys.destroy(key.id());
    keys.destroy(key.id());
    assertThat(keys.find(ALICE, key.id())).isEmpty();
  }
}
