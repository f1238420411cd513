package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;

/**
 * A set of requests whose documents are at hand. A run may have a million, so whoever has the
 * documents decides how to mark them.
 */
public interface RequestMarks {
  /** Marks a request; false where it was marked before. */
  boolean add(Digest request);

  boolean contains(Digest request);
}
