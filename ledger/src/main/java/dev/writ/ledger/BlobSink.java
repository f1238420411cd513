package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.seal.ContentKey;
import dev.writ.ledger.seal.ContentOwner;
import dev.writ.ledger.seal.SealedOutput;
import dev.writ.ledger.seal.SpoolKey;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.Optional;

/**
 * Takes a blob's content. Up to {@link Batch#BLOB_BYTES_MAX} bytes stay in memory, more go to a
 * file as they come. {@link #finish} must be called; closing without it discards, and gives back
 * what an upload has reserved of its quota. One that is sealed is on no disk in the clear, not even
 * while it comes. Not thread safe.
 */
public final class BlobSink extends OutputStream {
  private final Blobs blobs;
  private final Optional<Uploads.Reservation> reservation;
  private final Optional<ContentOwner> owner;
  private final MessageDigest hash = Digest.newSha256();
  private ByteArrayOutputStream memory = new ByteArrayOutputStream();
  private Path file;
  private FileChannel channel;

  /** Of a large content that is sealed: the key under which it lies there until it is whole. */
  private SpoolKey spoolKey;

  private SealedOutput spool;
  private long size;
  private boolean ended;

  /**
   * @param owner under whose key it is sealed; absent: it is kept in the clear
   */
  BlobSink(Blobs blobs, Optional<Uploads.Reservation> reservation, Optional<ContentOwner> owner) {
    this.blobs = blobs;
    this.reservation = reservation;
    this.owner = owner;
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
      begin();
      if (owner.isPresent()) {
        spoolKey = blobs.keys().spoolKey();
        spool = spoolKey.seal(toFile());
      }
    }
    if (spool == null) {
      memory.writeTo(toFile());
    } else {
      memory.writeTo(spool);
    }
    memory.reset();
  }

  private void begin() throws IOException {
    file = blobs.fresh();
    blobs.requireSound();
    channel = blobs.files().createFile(file);
  }

  /** Writes into the present file. */
  private OutputStream toFile() {
    FileChannel to = channel;
    Path name = file;
    return new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        blobs.files().write(to, ByteBuffer.wrap(bytes, offset, length), name);
      }
    };
  }

  /**
   * Ends the blob. A large one is durable, under its digest, when this returns.
   *
   * @throws WritException {@code LED-005}, {@code LED-004} or {@code LED-008} where the disk
   *     refuses, {@code LED-070} where a sync fails, which stops the ledger, and what a store
   *     elsewhere refuses; {@code LED-098} where it is sealed and has no key; the blob is discarded
   *     then
   */
  public BlobRef finish() {
    if (ended) {
      throw new IllegalStateException("the blob is finished");
    }
    ended = true;
    Digest digest = Digest.ofBytes(hash.digest());
    if (channel == null && owner.isEmpty()) {
      return BlobRef.inline(digest, memory.toByteArray());
    }
    try {
      if (owner.isPresent()) {
        return sealed(digest, owner.get());
      }
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

  /** The key is in use until the batch is written that names the content. */
  private BlobRef sealed(Digest digest, ContentOwner of) throws IOException {
    ContentKey key = blobs.keys().use(of);
    boolean kept = false;
    try {
      BlobRef ref = channel == null ? sealedSmall(digest, key) : sealedLarge(digest, key);
      kept = true;
      return ref;
    } finally {
      if (!kept) {
        blobs.keys().release(key.id());
      }
    }
  }

  private SealedCopy copy(Digest digest, ContentKey key, Digest stored) {
    return new SealedCopy(digest, key.owner(), key.id(), stored, size);
  }

  private BlobRef sealedSmall(Digest digest, ContentKey key) throws IOException {
    ByteArrayOutputStream form = new ByteArrayOutputStream();
    SealedOutput to = key.seal(digest, form);
    memory.writeTo(to);
    to.finish();
    byte[] bytes = form.toByteArray();
    return BlobRef.sealed(copy(digest, key, Digest.sha256(bytes)), bytes);
  }

  /** Its key follows from its digest, which is known only now. */
  private BlobRef sealedLarge(Digest digest, ContentKey key) throws IOException {
    spill();
    spool.finish();
    channel.close();
    Path spooled = file;
    begin();
    try {
      MessageDigest formHash = Digest.newSha256();
      DigestOutputStream form = new DigestOutputStream(toFile(), formHash);
      SealedOutput to = key.seal(digest, form);
      try (InputStream from = spoolKey.open(Files.newInputStream(spooled))) {
        from.transferTo(to);
      }
      to.finish();
      long formSize = channel.position();
      Digest stored = Digest.ofBytes(formHash.digest());
      byte[] place = blobs.keep(channel, file, stored, formSize);
      return BlobRef.sealed(copy(digest, key, stored), formSize, place);
    } finally {
      Files.deleteIfExists(spooled);
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
