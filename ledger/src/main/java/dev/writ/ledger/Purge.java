package dev.writ.ledger;

/**
 * The last step that removes the bytes of deleted contents from the database's files: contents are
 * compacted away by then, and what is left of them in write-ahead logs is cut off.
 */
final class Purge implements StorageStep {}
