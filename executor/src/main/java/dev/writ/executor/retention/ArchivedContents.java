package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads contents of archived runs out of their bundles. May be called by several threads. */
@FunctionalInterface
public interface ArchivedContents {
  /** Where no archive is known. */
  static ArchivedContents none() {
    return (_, _) -> Optional.empty();
  }

  /**
   * A content of a bundle, compared with its digest before the first byte is handed out.
   *
   * @return empty where no archive is known
   * @throws WritException {@code EXE-947}, {@code EXE-948}, {@code LED-09x}
   */
  Optional<InputStream> open(Digest bundle, Digest content);

  /** A content that was found in the archive. */
  record Found(InputStream content, long size) {}

  /**
   * A content of a tenant that is not in the ledger any more, from the first of its bundles that
   * can be read: each run that had it has it in a bundle of its own.
   *
   * @return empty where it is not in the archive, or none is known
   * @throws WritException {@code EXE-949} where an order of erasure covers it wherever it was
   *     archived, and as {@link #open} where none of its bundles can be read
   */
  default Optional<Found> find(LedgerView ledger, Digest content, String tenant) {
    Optional<WritException> unread = Optional.empty();
    Optional<Digest> order = Optional.empty();
    for (Deletion statement : statements(ledger, content, tenant)) {
      if (statement.reason() instanceof Deletion.Archived archived) {
        Deletion.Item item = item(statement, content);
        Optional<Digest> erased = ArchivedRuns.erasedBy(ledger, statement.of(), item);
        if (erased.isEmpty()) {
          try {
            return open(archived.bundle(), content).map(in -> new Found(in, item.size()));
          } catch (WritException e) {
            if (!isOfOneBundle(e.code())) {
              throw e;
            }
            unread = unread.or(() -> Optional.of(e));
          }
        }
        order = order.or(() -> erased);
      }
    }
    if (unread.isEmpty() && order.isPresent()) {
      throw new WritException(
          ExecutorError.ARCHIVED_AND_ERASED, content + ", order " + order.get());
    }
    unread.ifPresent(e -> {
      throw e;
    });
    return Optional.empty();
  }

  /** Whether it says nothing of the archive's other bundles. */
  private static boolean isOfOneBundle(ErrorCode code) {
    return code == ExecutorError.BUNDLE_MISSING || code == ExecutorError.BUNDLE_DIFFERS;
  }

  private static Deletion.Item item(Deletion statement, Digest content) {
    return statement.contents().stream()
        .filter(one -> one.digest().equals(content))
        .findFirst()
        .orElseThrow();
  }

  private static List<Deletion> statements(LedgerView ledger, Digest content, String tenant) {
    List<Deletion> statements = new ArrayList<>();
    ledger.scan(
        Tables.DELETED,
        Tables.prefix(content.hex(), tenant),
        (_, row) -> {
          ledger
              .document(Digest.ofBytes(row))
              .ifPresent(envelope -> statements.add(Deletion.read(envelope.document())));
          return true;
        });
    return statements;
  }
}
