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
 * file as they come. {@link #finish} must be called; closing without it discards, and gives back
 * what an upload has reserved of its quota. Not thread safe.
 */
public final class BlobSink extends OutputStream {
  private final Blobs blobs;
  private final Optional<Uploads.Reservation> reservation;
  private final MessageDigest hash = Digest.newSha256();
  private ByteArrayOutputStream memory = new ByteArrayOutputStream();
  private Path file;
  private FileChannel channel;
  private long size;
  private boolean ended;

  BlobSink(Blobs blobs) {
    this(blobs, Optional.empty());
  }

  BlobSink(Blobs blobs, Optional<Uploads.Reservation> reservation) {
    this.blobs = blobs;
    this.reservation = reservation;
    reservation.ifPresent(r -> r.reach(0));
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
    reservation.ifPresent(r -> r.reach(size + length));
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
      blobs.requireSound();
      channel = blobs.files().createFile(file);
    }
    ByteBuffer buffer = ByteBuffer.wrap(memory.toByteArray());
    blobs.files().write(channel, buffer, file);
    memory.reset();
  }

  /**
   * Ends the blob. A large one is durable, under its digest, when this returns.
   *
   * @throws WritException {@code LED-005}, {@code LED-004} or {@code LED-008} where the disk
   *     refuses, {@code LED-070} where a sync fails, which stops the ledger, and what a store
   *     elsewhere refuses; the blob is discarded then
   */
  public BlobRef finish() {
    if (ended) {
      throw new IllegalStateException("the blob is finished");
    }
    ended = true;
    Digest digest = Digest.ofBytes(hash.digest());
    if (channel == null) {
      return BlobRef.inline(digest, memory.toByteArray());
    }
    try {
      spill();
      byte[] place = blobs.keep(channel, file, digest, size);
      return new BlobRef(digest, size, place);
    } catch (IOException e) {
      throw discarded(Failures.of("writing blob " + digest, e));
    } catch (WritException e) {
      throw discarded(e);
    } finally {
      memory = null;
    }
  }

  private WritException discarded(WritException failure) {
    try {
      discard();
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
    return failure;
  }

  /** Discards the blob unless it was finished. */
  @Override
  public void close() throws IOException {
    try {
      if (!ended) {
        ended = true;
        memory = null;
        discard();
      }
    } finally {
      reservation.ifPresent(Uploads.Reservation::close);
    }
  }

  private void discard() throws IOException {
    if (channel != null) {
      channel.close();
      Files.deleteIfExists(file);
    }
  }
}
