package dev.writ.verify.simulation.disk;

import dev.writ.verify.simulation.disk.MemoryDisk.Content;
import dev.writ.verify.simulation.disk.MemoryDisk.Node;
import dev.writ.verify.simulation.disk.MemoryDisk.Operation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/** An open file, or an open directory that is to be synced. */
final class DiskChannel extends FileChannel {
  private final MemoryDisk disk;
  private final Node node;
  private final Path path;
  private long position;

  DiskChannel(MemoryDisk disk, Node node, Path path) {
    this.disk = disk;
    this.node = node;
    this.path = path;
    disk.opened();
  }

  private Content content() throws IOException {
    if (node instanceof Content content) {
      return content;
    }
    throw new IOException("Is a directory");
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    int count = read(to, position);
    position += Math.max(0, count);
    return count;
  }

  @Override
  public int read(ByteBuffer to, long from) throws IOException {
    byte[] bytes = content().bytes();
    if (from >= bytes.length) {
      return -1;
    }
    int count = (int) Math.min(to.remaining(), bytes.length - from);
    to.put(bytes, (int) from, count);
    return count;
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    int count = write(from, position);
    position += count;
    return count;
  }

  /** May write less than it is given; before an error of the disk, too. */
  @Override
  public int write(ByteBuffer from, long to) throws IOException {
    Content content = content();
    disk.call(Operation.WRITE, path);
    byte[] bytes = new byte[disk.faults.taken(from.remaining())];
    from.get(bytes);
    content.write(to, bytes);
    disk.faults.after(Operation.WRITE);
    return bytes.length;
  }

  @Override
  public void force(boolean metadata) throws IOException {
    disk.sync(node, path);
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public FileChannel position(long to) {
    position = to;
    return this;
  }

  @Override
  public long size() throws IOException {
    return content().bytes().length;
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    content().truncate(size);
    position = Math.min(position, size);
    return this;
  }

  @Override
  protected void implCloseChannel() {
    disk.closed();
  }

  @Override
  public long read(ByteBuffer[] to, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long write(ByteBuffer[] from, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferTo(long from, long count, WritableByteChannel target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long to, long count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long from, long size) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock lock(long from, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock tryLock(long from, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }
}
