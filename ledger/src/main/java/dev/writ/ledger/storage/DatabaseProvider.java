package dev.writ.ledger.storage;

import java.net.URI;

/**
 * Knows the databases of one kind by their addresses. A ledger finds it with {@link
 * java.util.ServiceLoader}.
 */
public interface DatabaseProvider {

  /** What its addresses begin with, such as {@code postgresql}. */
  String scheme();

  /**
   * The database at an address. Nothing is asked of it yet.
   *
   * @throws dev.writ.canonicalize.WritException where the address cannot be meant, or has a
   *     password in it
   */
  Database at(URI address);
}
