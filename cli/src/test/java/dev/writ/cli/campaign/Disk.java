package dev.writ.cli.campaign;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A real ext4 file system in a file, whose power can be cut: then it holds what the block device
 * got until that moment, and loses what was only in the page cache.
 */
final class Disk implements AutoCloseable {
  private static final int UNMOUNTS_MAX = 500;

  private static final long BYTES = 384L << 20;

  private final Path directory;
  private final Path root;
  private Path image;
  private int cuts;

  private Disk(Path directory, Path root, Path image) {
    this.directory = directory;
    this.root = root;
    this.image = image;
  }

  static Disk make(Path directory) throws IOException, InterruptedException {
    Path image = directory.resolve("disk-0");
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength(BYTES);
    }
    Shell.run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", image.toString());
    Disk disk = new Disk(directory, Files.createDirectory(directory.resolve("disk")), image);
    disk.mount();
    return disk;
  }

  Path root() {
    return root;
  }

  private void mount() throws IOException, InterruptedException {
    // Nothing is written back on its own within a round: what is on the disk was synced.
    Shell.run("mount", "-o", "loop,commit=600", image.toString(), root.toString());
  }

  /**
   * Cuts the power and restores it.
   *
   * @param server stopped, so that nothing is in flight while the image is copied
   * @param unsynced what is lost, as Linux loses it
   */
  void cutPower(Server server, List<Faults.Unsynced> unsynced)
      throws IOException, InterruptedException {
    server.signal("STOP");
    Path left = directory.resolve("disk-" + ++cuts);
    Shell.run("cp", "--sparse=always", image.toString(), left.toString());
    server.kill();
    unmount();
    Files.delete(image);
    image = left;
    mount();
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        for (Faults.Unsynced lost : unsynced) {
          if (Files.getAttribute(file, "unix:ino").equals(lost.inode())) {
            lose(file, lost);
          }
        }
      }
    }
  }

  private static void lose(Path path, Faults.Unsynced lost) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      if (lost.to() >= file.length()) {
        file.setLength(Math.min(lost.from(), file.length()));
      } else {
        file.seek(lost.from());
        file.write(new byte[Math.toIntExact(lost.to() - lost.from())]);
      }
    }
  }

  /** Fills it, so that only some bytes are left. */
  void fill(long leave) throws IOException, InterruptedException {
    long free = Files.getFileStore(root).getUsableSpace();
    Shell.run("fallocate", "-l", Long.toString(Math.max(1, free - leave)), filler().toString());
  }

  void makeRoom() throws IOException {
    Files.deleteIfExists(filler());
  }

  private Path filler() {
    return root.resolve("filler");
  }

  /**
   * Without power nothing runs: what still has a file open is killed first. The campaign's own
   * threads read files for a moment only, so that is waited for.
   */
  private void unmount() throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      for (ProcessHandle process : ProcessHandle.allProcesses().filter(this::uses).toList()) {
        process.destroyForcibly();
        process.onExit().join();
      }
      try {
        Shell.run("umount", root.toString());
        return;
      } catch (IOException e) {
        if (attempt == UNMOUNTS_MAX) {
          throw e;
        }
      }
    }
  }

  private boolean uses(ProcessHandle process) {
    if (process.equals(ProcessHandle.current())) {
      return false;
    }
    Path proc = Path.of("/proc", Long.toString(process.pid()));
    List<Path> held = new ArrayList<>(List.of(proc.resolve("cwd"), proc.resolve("exe")));
    try (Stream<Path> open = Files.list(proc.resolve("fd"))) {
      open.forEach(held::add);
    } catch (IOException | UncheckedIOException e) {
      return false; // it has ended
    }
    return held.stream().anyMatch(this::leadsHere);
  }

  private boolean leadsHere(Path link) {
    try {
      return Files.readSymbolicLink(link).startsWith(root);
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() throws IOException {
    try {
      unmount();
      for (Path file : List.of(image, root)) {
        Files.delete(file);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
