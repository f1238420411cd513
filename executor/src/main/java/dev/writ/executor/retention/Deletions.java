package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.RequestLimits;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** What a ledger states of contents that it no longer has. */
public final class Deletions {
  /** A clock's difference and a call at work. */
  private static final Duration MARGIN = Duration.ofSeconds(60);

  private Deletions() {}

  /**
   * Until when a request that was received at that time may be executed, at the latest: its inputs
   * stay as long, unless it was denied before.
   */
  public static Instant executableUntil(Instant receivedAt, Policy policy) {
    RequestLimits limits = policy.limits();
    return receivedAt
        .plusSeconds(Math.max(limits.pendingMaxS(), limits.requestAgeMaxS()))
        .plus(Intent.LIFE_MAX)
        .plus(MARGIN);
  }

  /** A statement, and its id. */
  public record Stated(Digest id, Deletion deletion) {
    /**
     * The refusal of a content that this states to be deleted.
     *
     * @return {@code EXE-960}, or {@code EXE-944} of one that was moved to the archive
     */
    public WritException gone(Digest content) {
      String then = content + " at " + deletion.deletedAt();
      return switch (deletion.reason()) {
        case Deletion.Archived in ->
            new WritException(
                ExecutorError.CONTENT_ARCHIVED, then + ", into the bundle " + in.bundle());
        case Deletion.Rule _, Deletion.Order _ ->
            new WritException(ExecutorError.CONTENT_DELETED, then + " " + deletion.reason().text());
      };
    }
  }

  /** The key of the row that names the statement about one content of a run. */
  public static String key(RunId run, Deletion.Item item) {
    return key(run, item.digest(), item.seq(), item.content().text());
  }

  private static String key(RunId run, Digest digest, long seq, String content) {
    return Tables.key(digest.hex(), run.tenant(), run.run(), Tables.number(seq), content);
  }

  /** What is stated about a content, whichever runs named it. */
  public static Optional<Stated> of(LedgerState ledger, Digest content) {
    return first(ledger, Tables.prefix(content.hex()));
  }

  /** What is stated about a content of one tenant. */
  public static Optional<Stated> of(LedgerState ledger, Digest content, String tenant) {
    return first(ledger, Tables.prefix(content.hex(), tenant));
  }

  /** What is stated about a content that one event of a run names. */
  public static Optional<Stated> of(LedgerState ledger, RunId run, Deletion.Item item) {
    return ledger.get(Tables.DELETED, key(run, item)).flatMap(row -> stated(ledger, row));
  }

  private static Optional<Stated> first(LedgerState ledger, String prefix) {
    byte[][] found = {null};
    ledger.scan(
        Tables.DELETED,
        prefix,
        (_, row) -> {
          found[0] = row;
          return false;
        });
    return Optional.ofNullable(found[0]).flatMap(row -> stated(ledger, row));
  }

  private static Optional<Stated> stated(LedgerState ledger, byte[] row) {
    Digest id = Digest.ofBytes(row);
    return ledger
        .document(id)
        .map(Envelope::document)
        .map(document -> new Stated(id, Deletion.read(document)));
  }

  /**
   * A content of a tenant; empty if it was deleted by a rule.
   *
   * @throws WritException {@code LED-030} where it is lost, {@code LED-031}
   */
  public static Optional<byte[]> read(
      LedgerState ledger, Digest content, long bytesMax, String tenant) {
    try {
      return Optional.of(ledger.blob(content, bytesMax));
    } catch (WritException e) {
      if (e.code() == LedgerError.BLOB_MISSING && of(ledger, content, tenant).isPresent()) {
        return Optional.empty();
      }
      throw e;
    }
  }
}
