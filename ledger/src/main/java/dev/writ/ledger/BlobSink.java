package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Optional;

/**
 * Takes a blob's content. Up to {@link Batch#BLOB_BYTES_MAX} bytes stay in memory, more go to a
 * file as they come. {@link #finish} must be called; closing without it discards. Not thread safe.
 */
public final class BlobSink extends OutputStream {
  private final Blobs blobs;
  private final MessageDigest hash = Digest.newSha256();
  private ByteArrayOutputStream memory = new ByteArrayOutputStream();
  private Path file;
  private FileChannel channel;
  private long size;
  private boolean ended;

  BlobSink(Blobs blobs) {
    this.blobs = blobs;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (ended) {
      throw new IOException("the blob is finished");
    }
    hash.update(bytes, offset, length);
    size += length;
    memory.write(bytes, offset, length);
    if (memory.size() > Batch.BLOB_BYTES_MAX) {
      spill();
    }
  }

  private void spill() throws IOException {
    if (channel == null) {
      file = blobs.fresh();
      channel = DurableFiles.createFile(file);
    }
    ByteBuffer buffer = ByteBuffer.wrap(memory.toByteArray());
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    memory.reset();
  }

  /**
   * Ends the blob. A large one is synced and has its name when this returns.
   *
   * @throws WritException {@code LED-005}, {@code LED-004} or {@code LED-008} where the disk
   *     refuses; the blob is discarded then
   */
  public BlobRef finish() {
    if (ended) {
      throw new IllegalStateException("the blob is finished");
    }
    ended = true;
    Digest digest = Digest.ofBytes(hash.digest());
    if (channel == null) {
      return new BlobRef(digest, size, Optional.of(memory.toByteArray()));
    }
    try {
      spill();
      channel.force(true);
      channel.close();
      blobs.name(file, digest);
      return new BlobRef(digest, size, Optional.empty());
    } catch (IOException e) {
      WritException failure = Failures.of("writing blob " + digest, e);
      try {
        discard();
      } catch (IOException e2) {
        failure.addSuppressed(e2);
      }
      throw failure;
    } finally {
      memory = null;
    }
  }

  /** Discards the blob unless it was finished. */
  @Override
  public void close() throws IOException {
    if (!ended) {
      ended = true;
      memory = null;
      discard();
    }
  }

  private void discard() throws IOException {
    if (channel != null) {
      channel.close();
      Files.deleteIfExists(file);
    }
  }
}
