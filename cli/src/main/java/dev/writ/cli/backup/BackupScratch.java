package dev.writ.cli.backup;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.embed.home.Home;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Where a backup has further names of the files that it reads: in the home, for one backup at a
 * time. Where nothing can be written there it has copies, among the temporary files of this
 * machine.
 */
final class BackupScratch implements AutoCloseable {
  /** Ends what holds the place. */
  private interface End {
    void end() throws IOException;
  }

  private final Path path;
  private final End end;

  private BackupScratch(Path path, End end) {
    this.path = path;
    this.end = end;
  }

  /**
   * @throws dev.writ.canonicalize.WritException {@code BAK-004} while another backup of this home
   *     is made
   */
  static BackupScratch of(Home home) throws IOException {
    HeldLock lock;
    try {
      lock = HeldLock.take(home.dir().resolve(".backup.lock"));
    } catch (FileSystemException e) {
      if (!isReadOnly(e)) {
        throw e;
      }
      TemporaryDirectory elsewhere = TemporaryDirectory.create("writ-backup");
      return new BackupScratch(elsewhere.path(), elsewhere::close);
    }
    Path path = home.dir().resolve(HomeFile.SCRATCH);
    try {
      clear(path);
      DurableFiles.REAL.createDirectory(path);
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
    return new BackupScratch(
        path,
        () -> {
          try (lock) {
            clear(path);
          }
        });
  }

  /** Java does not tell it of a directory that is mounted a second time. */
  private static boolean isReadOnly(FileSystemException e) {
    return String.valueOf(e.getReason()).toLowerCase(Locale.ROOT).contains("read-only file system");
  }

  private static void clear(Path scratch) throws IOException {
    if (Files.exists(scratch)) {
      DurableFiles.deleteTree(scratch);
    }
  }

  Path path() {
    return path;
  }

  @Override
  public void close() throws IOException {
    end.end();
  }
}
