package dev.writ.cli.backup;

import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Set;

/**
 * A disk on which something happens at the operation of a number, before it is done. Only
 * operations on files count whose path contains a text.
 */
final class InterruptedDisk implements Disk {
  /** What happens. */
  @FunctionalInterface
  interface Interruption {
    void happen() throws IOException;
  }

  private final String part;
  private final int at;
  private final Interruption interruption;
  private int count;

  InterruptedDisk(String part, int at, Interruption interruption) {
    this.part = part;
    this.at = at;
    this.interruption = interruption;
  }

  /** One that only counts. */
  static InterruptedDisk none() {
    return new InterruptedDisk("", -1, () -> {});
  }

  /** One that is full from an operation on. */
  static InterruptedDisk full(String part, int at) {
    return new InterruptedDisk(
        part,
        at,
        () -> {
          throw new IOException("No space left on device");
        });
  }

  DurableFiles files() {
    return new DurableFiles(this);
  }

  int count() {
    return count;
  }

  private void step(Path file) throws IOException {
    if (file.toString().contains(part) && count++ == at) {
      interruption.happen();
    }
  }

  @Override
  public FileChannel open(
      Path file, Set<StandardOpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    step(file);
    return Disk.super.open(file, options, attributes);
  }

  @Override
  public void write(FileChannel channel, ByteBuffer content, Path file) throws IOException {
    ByteBuffer half = content.slice(content.position(), content.remaining() / 2);
    content.position(content.position() + half.remaining());
    Disk.super.write(channel, half, file);
    step(file);
    Disk.super.write(channel, content, file);
  }

  @Override
  public void sync(FileChannel channel, Path file) throws IOException {
    step(file);
    Disk.super.sync(channel, file);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    step(from);
    Disk.super.rename(from, to);
  }
}
