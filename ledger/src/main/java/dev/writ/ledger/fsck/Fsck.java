package dev.writ.ledger.fsck;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.Format;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Rebuilds everything from the raw entries and compares it with what is stored. It may run while a
 * writer works, changes nothing, and holds one row at a time.
 */
public final class Fsck {
  /** How often the check of checksums is repeated because a writer compacted files meanwhile. */
  private static final int COMPACTED_MEANWHILE_MAX = 5;

  /** Documents of ours, whose payload must be canonical JSON. */
  private static final String OURS = "application/vnd.writ.";

  /** Gets the progress of the examination; called for every row, so it must be quick. */
  @FunctionalInterface
  public interface Progress {
    /**
     * @param step what is being examined, in the plural: "events"
     * @param done how many were
     */
    void at(String step, long done);
  }

  /**
   * What to examine, and what to compare it with.
   *
   * @param dir the data directory
   * @param logKeys each checkpoint is signed with one of them; without any, signatures are not
   *     verified
   * @param anchor the file to compare with; without it a restored backup is not detected
   * @param secondOpinion gets the canonical bytes of every event and document, and throws if it
   *     would write them differently
   */
  public record Options(
      Path dir,
      List<VerifyingKey> logKeys,
      Optional<Path> anchor,
      Optional<Consumer<byte[]>> secondOpinion,
      Progress progress) {

    /** The directory alone. */
    public static Options of(Path dir) {
      return new Options(dir, List.of(), Optional.empty(), Optional.empty(), (step, done) -> {});
    }

    public Options withLogKey(VerifyingKey key) {
      return withLogKeys(List.of(key));
    }

    /** For a log whose key was exchanged. */
    public Options withLogKeys(List<VerifyingKey> keys) {
      return new Options(dir, List.copyOf(keys), anchor, secondOpinion, progress);
    }

    public Options withAnchor(Path file) {
      return new Options(dir, logKeys, Optional.of(file), secondOpinion, progress);
    }

    public Options withSecondOpinion(Consumer<byte[]> canonicalizer) {
      return new Options(dir, logKeys, anchor, Optional.of(canonicalizer), progress);
    }

    public Options withProgress(Progress hears) {
      return new Options(dir, logKeys, anchor, secondOpinion, hears);
    }
  }

  private final Options options;
  private final Storage store;
  private final Blobs blobs;
  private final Examination found;
  private final LogCheck log;
  private final EventsCheck events;
  private final ContentsCheck contents;

  private Fsck(Options options, Storage store) {
    this.options = options;
    this.store = store;
    this.blobs = Blobs.reading(store, options.dir());
    this.found = new Examination(store, options, blobs.contents()::requireAsked);
    this.log = new LogCheck(store, blobs, options, found);
    this.events = new EventsCheck(store, blobs, found, log);
    this.contents = new ContentsCheck(store, blobs, found);
  }

  /**
   * Examines a ledger.
   *
   * @throws WritException {@code LED-002}, {@code LED-004}, {@code LED-007} where there is nothing
   *     to examine, {@code LED-006} where the database does not open at all, and where the store of
   *     large contents cannot be asked
   */
  public static FsckReport check(Options options) {
    Path dir = options.dir().toAbsolutePath().normalize();
    return check(options, Databases.of(DurableFiles.REAL, dir));
  }

  /** With a database that the directory need not name. */
  public static FsckReport check(Options options, Database database) {
    Format.require(options.dir());
    try (Storage store = database.openReader()) {
      Fsck fsck = new Fsck(options, store);
      try (fsck.blobs) {
        return fsck.run();
      }
    }
  }

  private FsckReport run() {
    log.readSize();
    found.step("log", log::readForm);
    found.step("database", this::checksums);
    found.step("anchor", log::readAnchors);
    found.step("events", events::examine);
    found.step("log", log::examine);
    found.step("checkpoints", this::checkpoints);
    found.step("documents", this::documents);
    found.step("blobs", contents::smallBlobs);
    found.step("blob files", contents::fileBlobs);
    found.step("sealed contents", contents::sealedCopies);
    found.step("uploads", contents::uploads);
    found.step("meta", log::times);
    found.notVerified("index tables: what they hold can be rebuilt only by whoever wrote them");
    found.notVerified("envelope signatures: that is `writ audit`, which knows the keys");
    if (events.deleted() > 0) {
      found.notVerified(
          events.deleted()
              + " observations: deleted, as a document states that is here; whether a rule of"
              + " policy allowed it, is for `writ audit`");
    }
    if (options.secondOpinion().isEmpty()) {
      found.notVerified("canonical form by a second implementation: not asked for");
    }
    return found.report(log.size(), log.root());
  }

  private void checksums() {
    verifyChecksums(COMPACTED_MEANWHILE_MAX);
    found.verified("checksums of all database files");
  }

  /**
   * A writer may compact a file away between our listing and reading it; then the newer list is
   * loaded and the check repeated. A file that is really lost fails every time.
   */
  private void verifyChecksums(int attempts) {
    try {
      store.verifyChecksums();
    } catch (WritException e) {
      if (attempts == 0 || !e.found().contains("No such file")) {
        throw e;
      }
      store.catchUp();
      verifyChecksums(attempts - 1);
    }
  }

  private void checkpoints() {
    long[] count = {0};
    String origin = log.origin();
    found.scan(
        Family.CHECKPOINTS,
        (key, note) -> {
          long size = Keys.number(key);
          String where = "checkpoint " + size;
          if (size > log.size()) {
            found.problem(where, "the log has " + log.size() + " events");
          }
          try {
            Checkpoint checkpoint = Checkpoint.parse(note);
            if (checkpoint.size() != size) {
              found.problem(where, "it claims size " + checkpoint.size());
            }
            verify(checkpoint, origin);
          } catch (WritException e) {
            found.problem(where, e.getMessage());
          }
          found.done("checkpoints", ++count[0]);
          return true;
        });
    if (!options.logKeys().isEmpty()) {
      found.verified(count[0] + " checkpoints: form, size, signature");
    } else {
      found.verified(count[0] + " checkpoints: form, size");
      found.notVerified("signatures of checkpoints: no log key is known");
    }
  }

  /** By one of the keys; where none of them made the signature, what the last one found. */
  private void verify(Checkpoint checkpoint, String origin) {
    Optional<WritException> refused = Optional.empty();
    for (VerifyingKey key : options.logKeys()) {
      try {
        checkpoint.verify(origin, key);
        return;
      } catch (WritException e) {
        refused = Optional.of(e);
      }
    }
    if (refused.isPresent()) {
      throw refused.get();
    }
  }

  private void documents() {
    long[] count = {0};
    found.scan(
        Family.DOCUMENTS,
        (key, row) -> {
          Digest id = Digest.ofBytes(key);
          String where = "document " + id;
          try {
            Envelope envelope = StoredForm.document(id, row);
            if (envelope.payloadType().startsWith(OURS)) {
              envelope.document();
              found.secondOpinion(where, envelope.payload());
            }
            found.secondOpinion(where, envelope.toBytes());
          } catch (WritException e) {
            found.problem(where, e.getMessage());
          }
          found.done("documents", ++count[0]);
          return true;
        });
    found.verified(count[0] + " documents: canonical envelope, canonical payload, id");
  }
}
