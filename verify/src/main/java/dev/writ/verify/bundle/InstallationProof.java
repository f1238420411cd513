package dev.writ.verify.bundle;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.error.BundleError;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Shows that an installation states how far the log of one of its cells was (spec/cells.md, "One
 * root"): the system cell's checkpoint, a statement in it, and where it is asked for, that the
 * stated log continues a smaller one.
 */
public final class InstallationProof {
  private static final long FORMAT = 1;

  private final Checkpoint root;
  private final long index;
  private final Event event;
  private final MerkleProof path;
  private final CellCheckpoints statement;
  private final Optional<Consistency> consistency;

  InstallationProof(
      Checkpoint root,
      long index,
      Event event,
      MerkleProof path,
      CellCheckpoints statement,
      Optional<Consistency> consistency) {
    this.root = root;
    this.index = index;
    this.event = event;
    this.path = path;
    this.statement = statement;
    this.consistency = consistency;
  }

  /**
   * Reads the file; nothing in it is verified yet.
   *
   * @throws WritException {@code RPL-026} for any other form
   */
  public static InstallationProof parse(byte[] file) {
    try {
      Fields fields = Fields.of("installation", Jcs.parseCanonical(file, Limits.DEFAULT));
      if (fields.integer("format") != FORMAT) {
        throw new WritException(
            CanonicalizeError.FIELD_VALUE, "format " + fields.integer("format"));
      }
      InstallationProof read =
          new InstallationProof(
              Checkpoint.parse(fields.string("checkpoint").getBytes(StandardCharsets.UTF_8)),
              fields.count("index"),
              Event.parse(Jcs.write(fields.obj("event"))),
              MerkleProof.read(fields, "path"),
              CellCheckpoints.read(fields.obj("document")),
              fields.optional("consistency", key -> Consistency.read(fields.obj(key))));
      fields.end();
      return read;
    } catch (WritException e) {
      throw new WritException(BundleError.INSTALLATION, e.code().code() + " " + e.found(), e);
    }
  }

  /** The file. */
  public byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .put("checkpoint", new String(root.toBytes(), StandardCharsets.UTF_8))
            .putIfPresent("consistency", consistency, Consistency::toJson)
            .put("document", statement.toJson())
            .put("event", event.toJson())
            .put("format", FORMAT)
            .put("index", index)
            .put("path", path.toJson())
            .build());
  }

  /** What it is about, in words; nothing of it is verified. */
  public String says(String origin) {
    return origin
        + statement.of(origin).map(stated -> " of size " + stated.checkpoint().size()).orElse("")
        + " is stated under "
        + root.origin()
        + " of size "
        + root.size();
  }

  /** The system cell's. */
  Checkpoint root() {
    return root;
  }

  /**
   * What the installation states of a log. That the statement is under the root is verified; who
   * signed the two checkpoints is not.
   *
   * @throws WritException {@code RPL-026} where the statement is not under the root, or does not
   *     name that log
   */
  Checkpoint stated(String origin) {
    boolean isStatement =
        event.runId().equals(CellCheckpoints.RUN)
            && event.kind().equals(EventKind.CELLS_STATED)
            && event.body().equals(Jcs.digest(statement.toJson()));
    if (!isStatement) {
      throw refused("event " + event.runId() + " " + event.seq() + " is not of this statement");
    }
    try {
      Merkle.verifyInclusion(
          Merkle.leafHash(event.toBytes()), index, root.size(), path, root.root());
    } catch (WritException e) {
      throw refused("the inclusion of event " + index + ": " + e.code().code() + " " + e.found());
    }
    return statement
        .of(origin)
        .map(CellCheckpoints.Stated::checkpoint)
        .orElseThrow(() -> refused("it states nothing of " + origin));
  }

  /**
   * Requires that a log is a beginning of the stated one, or that one.
   *
   * @param stated from {@link #stated}, and signed
   * @throws WritException {@code RPL-027} for another root of the stated size, {@code RPL-026}
   *     where it is not shown
   */
  void requireCovers(Checkpoint stated, long size, Digest ofLog) {
    if (stated.size() == size && consistency.isEmpty()) {
      if (!stated.root().equals(ofLog)) {
        throw new WritException(
            BundleError.INSTALLATION_FORK,
            "size " + size + " root " + ofLog + ", stated root " + stated.root());
      }
      return;
    }
    Optional<Consistency> proof =
        consistency.filter(
            p -> p.size1() == size && p.size2() == stated.size() && p.size1() < p.size2());
    if (proof.isEmpty()) {
      throw refused("no proof leads from size " + size + " to the stated size " + stated.size());
    }
    try {
      Merkle.verifyConsistency(size, ofLog, stated.size(), stated.root(), proof.get().path());
    } catch (WritException e) {
      throw refused(
          "size "
              + size
              + " root "
              + ofLog
              + " is not shown to be a beginning of size "
              + stated.size()
              + ": "
              + e.code().code());
    }
  }

  private static WritException refused(String found) {
    return new WritException(BundleError.INSTALLATION, found);
  }
}
