package dev.writ.ledger.storage;

import java.net.URI;

/**
 * Knows the stores of large contents of one kind by their addresses. A ledger finds it with {@link
 * java.util.ServiceLoader}.
 */
public interface LargeContentsProvider {

  /** What its addresses begin with, such as {@code s3}. */
  String scheme();

  /**
   * The store at an address. Nothing is asked of it yet.
   *
   * @throws dev.writ.canonicalize.WritException where the address cannot be meant, or has a secret
   *     in it
   */
  LargeContents at(URI address);
}
