package dev.writ.ledger.content;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.seal.ContentKey;
import dev.writ.ledger.seal.ContentKeys;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.LargeContents.Spooled;
import dev.writ.ledger.storage.Storage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The content-addressed store: small content in the database, large content where {@link
 * LargeContents} keeps it. A large one exists for readers only once a row names it.
 */
public final class Blobs implements AutoCloseable {
  /** The folder of contents that are being written. */
  static final String UNFINISHED = "new";

  private final Storage store;
  private final Path dir;
  private final DurableFiles files;
  private final FailStop failStop;
  private final LargeContents contents;
  private final ContentKeys keys;

  /** Must not be held during disk access: the appender takes it. */
  private final ReentrantLock holding = new ReentrantLock();

  private final TreeMap<Digest, Integer> held = new TreeMap<>();
  private final AtomicLong sinks = new AtomicLong();

  /**
   * @param dir has what is being written, wherever it is kept then
   */
  public Blobs(
      Storage store,
      Path dir,
      DurableFiles files,
      FailStop failStop,
      LargeContents contents,
      ContentKeys keys) {
    this.store = store;
    this.dir = dir;
    this.files = files;
    this.failStop = failStop;
    this.contents = contents;
    this.keys = keys;
  }

  /** For reading alone. */
  public static Blobs reading(Storage store, Path ledgerDir) {
    FailStop failStop = new FailStop();
    return new Blobs(
        store,
        ContentPlaces.home(ledgerDir),
        DurableFiles.REAL,
        failStop,
        ContentPlaces.of(DurableFiles.REAL, failStop, ledgerDir),
        ContentKeys.reading(ledgerDir));
  }

  public static void create(DurableFiles files, Path dir) throws IOException {
    files.createDirectory(dir);
    files.createDirectory(dir.resolve(UNFINISHED));
  }

  public DurableFiles files() {
    return files;
  }

  public LargeContents contents() {
    return contents;
  }

  public ContentKeys keys() {
    return keys;
  }

  /**
   * @throws WritException {@code LED-022} once the ledger has stopped
   */
  public void requireSound() {
    failStop.require();
  }

  /**
   * Keeps a large content, protected until the batch that names it is written.
   *
   * @return its place
   * @throws WritException as {@link LargeContents#keep}; it is not protected then
   */
  public byte[] keep(FileChannel channel, Path file, Digest digest, long size) throws IOException {
    hold(digest);
    boolean kept = false;
    try {
      Optional<byte[]> row = contents.isShared() ? row(digest) : Optional.empty();
      byte[] place;
      if (row.isPresent() && contents.has(digest, place(row.get()), size)) {
        // It was verified when it was stored, and is when it is read.
        place = place(row.get());
        channel.close();
        Files.deleteIfExists(file);
      } else {
        place = contents.keep(new Spooled(digest, size, channel, file), store.epoch().orElse(0L));
      }
      kept = true;
      return place;
    } finally {
      if (!kept) {
        release(digest);
      }
    }
  }

  /**
   * A temporary name for a file that is being written; leftovers are removed at the next opening.
   */
  public Path fresh() {
    return dir.resolve(UNFINISHED).resolve(Long.toString(sinks.incrementAndGet()));
  }

  private void hold(Digest digest) {
    holding.lock();
    try {
      held.merge(digest, 1, Integer::sum);
    } finally {
      holding.unlock();
    }
  }

  /** Ends the protection: a batch that names it was written. */
  public void release(Digest digest) {
    holding.lock();
    try {
      held.computeIfPresent(digest, (_, n) -> n == 1 ? null : n - 1);
    } finally {
      holding.unlock();
    }
  }

  /**
   * Whether a content is protected: it was kept, and its batch was not written. A batch that will
   * never be written protects it, too, until the next opening.
   */
  public boolean isHeld(Digest digest) {
    holding.lock();
    try {
      return held.containsKey(digest);
    } finally {
      holding.unlock();
    }
  }

  /** A large content at one place. */
  public record At(Digest digest, byte[] place) {}

  /** Where a large content is, while a row names it; there may be none in a home. */
  public Optional<At> at(Digest digest) {
    return contents.isShared()
        ? row(digest).map(row -> new At(digest, place(row)))
        : Optional.of(new At(digest, LargeContents.NO_PLACE));
  }

  /**
   * Removes files of a home that no row names any more. In the appender's thread, before a later
   * batch can name them again; if it fails, the next opening removes them.
   */
  public void removeAtOnce(List<At> unnamed) {
    if (!contents.isShared()) {
      unnamed.forEach(at -> remove(at, () -> !isHeld(at.digest())));
    }
  }

  /**
   * The same of a store elsewhere, in the thread of whoever waits for it. What cannot be removed is
   * removed by a sweep.
   */
  public void removeLater(List<At> unnamed) {
    if (contents.isShared()) {
      unnamed.forEach(at -> remove(at, () -> isUnused(at)));
    }
  }

  private void remove(At at, BooleanSupplier isUnused) {
    try {
      contents.remove(at.digest(), at.place(), isUnused);
    } catch (IOException | WritException e) {
      // It is removed later.
    }
  }

  /** In this order: a content is held until a row names it. */
  private boolean isUnused(At at) {
    return !isHeld(at.digest())
        && row(at.digest()).filter(row -> Arrays.equals(place(row), at.place())).isEmpty();
  }

  /**
   * Removes from a shared store what earlier writers left there without a row: they can name it no
   * more. It visits all that is stored.
   */
  public void sweepShared() {
    if (!contents.isShared()) {
      return;
    }
    long epoch = store.epoch().orElse(0L);
    try {
      contents.visit((digest, place, storedIn) -> {
        At at = new At(digest, place);
        if (storedIn < epoch) {
          remove(at, () -> isUnused(at));
        }
      });
    } catch (IOException e) {
      throw Failures.of("looking in " + contents.location() + " for contents that no row names", e);
    }
  }

  public boolean has(Digest digest) {
    return hasPlain(digest) || !copies(digest).isEmpty();
  }

  /** Whether it is here in the clear. */
  public boolean hasPlain(Digest digest) {
    byte[] key = digest.bytes();
    return store.has(Family.BLOBS, key) || store.has(Family.FILES, key);
  }

  public long size(Digest digest) {
    return row(digest)
        .map(Keys::number)
        .or(() -> small(digest).map(content -> (long) content.length))
        .or(() -> copies(digest).stream().map(SealedCopy::size).findFirst())
        .orElseThrow(() -> missing(digest));
  }

  /** Its sealed copies, whether their keys are here or not. */
  public List<SealedCopy> copies(Digest digest) {
    List<SealedCopy> copies = new ArrayList<>();
    byte[] prefix = Keys.table(SealedCopy.TABLE, SealedCopy.prefix(digest));
    int keyAt = Keys.table(SealedCopy.TABLE, "").length;
    store.scan(
        Family.TABLES,
        prefix,
        prefix,
        (key, value) -> {
          copies.add(
              SealedCopy.parse(
                  new String(key, keyAt, key.length - keyAt, StandardCharsets.UTF_8),
                  StoredForm.fromValue(value)));
          return true;
        });
    return copies;
  }

  private Optional<byte[]> row(Digest digest) {
    return store.get(Family.FILES, digest.bytes());
  }

  /** The row of a large content: its size, then its place. */
  public static byte[] row(long size, byte[] place) {
    byte[] row = Arrays.copyOf(Keys.number(size), Long.BYTES + place.length);
    System.arraycopy(place, 0, row, Long.BYTES, place.length);
    return row;
  }

  public static byte[] place(byte[] row) {
    return row.length <= Long.BYTES
        ? LargeContents.NO_PLACE
        : Arrays.copyOfRange(row, Long.BYTES, row.length);
  }

  private Optional<byte[]> small(Digest digest) {
    return store.get(Family.BLOBS, digest.bytes());
  }

  public byte[] read(Digest digest, long bytesMax) {
    Optional<byte[]> small = small(digest);
    Optional<byte[]> row = small.isPresent() ? Optional.empty() : row(digest);
    if (small.isEmpty() && row.isEmpty()) {
      return readSealed(digest, bytesMax);
    }
    long size = row.map(Keys::number).orElseGet(() -> (long) small.orElseThrow().length);
    requireWithin(digest, size, bytesMax);
    if (small.isPresent()) {
      return verified(digest, small.get());
    }
    try (InputStream in = openLarge(digest, row.orElseThrow())) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw Failures.of("reading blob " + digest, e);
    }
  }

  private static void requireWithin(Digest digest, long size, long bytesMax) {
    if (size > bytesMax) {
      throw new WritException(
          LedgerError.BLOB_TOO_LARGE, digest + " has " + size + " bytes, at most " + bytesMax);
    }
  }

  private byte[] readSealed(Digest digest, long bytesMax) {
    requireWithin(digest, size(digest), bytesMax);
    try (InputStream in = openSealed(digest)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw Failures.of("reading blob " + digest, e);
    }
  }

  public InputStream open(Digest digest) {
    return openPlain(digest).orElseGet(() -> openSealed(digest));
  }

  private Optional<InputStream> openPlain(Digest digest) {
    Optional<byte[]> small = small(digest);
    return small.isPresent()
        ? Optional.of(new ByteArrayInputStream(verified(digest, small.get())))
        : row(digest).map(row -> openLarge(digest, row));
  }

  public void requireKey(Digest digest) {
    if (!hasPlain(digest)) {
      List<SealedCopy> copies = copies(digest);
      if (!copies.isEmpty()) {
        readable(copies);
      }
    }
  }

  private InputStream openSealed(Digest digest) {
    List<SealedCopy> copies = copies(digest);
    if (copies.isEmpty()) {
      throw missing(digest);
    }
    Readable readable = readable(copies);
    return open(readable.copy(), readable.key());
  }

  private record Readable(SealedCopy copy, ContentKey key) {}

  /** The first copy whose key is here. */
  private Readable readable(List<SealedCopy> copies) {
    for (SealedCopy copy : copies) {
      Optional<ContentKey> key = keys.find(copy.owner(), copy.keyId());
      if (key.isPresent()) {
        return new Readable(copy, key.get());
      }
    }
    SealedCopy first = copies.getFirst();
    throw new WritException(
        LedgerError.KEY_MISSING,
        first.content() + " is sealed under key " + first.keyId() + " of " + first.owner());
  }

  private InputStream open(SealedCopy copy, ContentKey key) {
    InputStream form =
        openPlain(copy.stored())
            .orElseThrow(() ->
                new WritException(
                    LedgerError.BLOB_CORRUPT,
                    copy.content() + ": its sealed form " + copy.stored() + " is missing"));
    return new VerifyingStream(key.open(copy.content(), form), copy.content(), copy.size());
  }

  private static byte[] verified(Digest digest, byte[] content) {
    Digest calculated = Digest.sha256(content);
    if (!calculated.equals(digest)) {
      throw new WritException(
          LedgerError.BLOB_CORRUPT, digest + " has the calculated digest " + calculated);
    }
    return content;
  }

  /** Opens what a row names. */
  public InputStream openLarge(Digest digest, byte[] row) {
    long size = Keys.number(row);
    try {
      Optional<InputStream> in = contents.open(digest, place(row), size);
      if (in.isEmpty()) {
        // Perhaps it was deleted since the row was read.
        throw row(digest).isEmpty()
            ? missing(digest)
            : new WritException(LedgerError.BLOB_CORRUPT, digest + ": its file is missing");
      }
      return new VerifyingStream(in.get(), digest, size);
    } catch (IOException e) {
      throw Failures.of("opening blob " + digest, e);
    }
  }

  private static WritException missing(Digest digest) {
    return new WritException(LedgerError.BLOB_MISSING, digest.toString());
  }

  /**
   * Removes what a crash left behind: unfinished files, and files in the home that no batch came to
   * name. Only for the one writer, before it has handed out a sink.
   */
  @Nondeterministic("what is removed does not depend on the order of removal")
  public void sweep() {
    try (DirectoryStream<Path> unfinished = Files.newDirectoryStream(dir.resolve(UNFINISHED))) {
      for (Path file : unfinished) {
        Files.delete(file);
      }
      if (contents instanceof HomeContents home) {
        home.sweep(digest -> row(digest).isPresent());
      }
    } catch (IOException e) {
      throw Failures.of("sweeping " + dir, e);
    }
  }

  @Override
  public void close() {
    contents.close();
  }
}
