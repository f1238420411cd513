package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.Deletion;
import dev.writ.ledger.event.RunId;
import java.util.List;
import java.util.SortedMap;

/**
 * What the rules of a policy would delete now.
 *
 * @param contents to be deleted, in the order of their digests
 * @param rules by name, what each rule covers and what of it would go
 * @param needed covered contents that stay although they are old enough, because something needs
 *     them: a request without an outcome, a receipt in doubt, a hold, or an event whose content is
 *     to be kept longer
 * @param searchedTo the size of the log that was searched
 */
public record RetentionPlan(
    List<Doomed> contents, SortedMap<String, Sum> rules, long needed, long searchedTo) {

  /** A content and every event that names it. */
  public record Doomed(Digest digest, long size, List<Use> uses) {}

  /**
   * Where a content is named.
   *
   * @param rule that covers it
   */
  public record Use(RunId run, Deletion.Item item, String rule) {}

  /**
   * Contents of a rule: different ones, each counted once.
   *
   * @param kept how many there are before
   * @param keptBytes of these
   * @param doomed how many of them would go
   * @param doomedBytes of these
   */
  public record Sum(long kept, long keptBytes, long doomed, long doomedBytes) {
    static final Sum NONE = new Sum(0, 0, 0, 0);

    Sum plus(long size, boolean isDoomed) {
      return new Sum(
          kept + 1,
          keptBytes + size,
          doomed + (isDoomed ? 1 : 0),
          doomedBytes + (isDoomed ? size : 0));
    }
  }

  /** Bytes of all contents that would go. */
  public long bytes() {
    return contents.stream().mapToLong(Doomed::size).sum();
  }
}
