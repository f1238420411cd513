package dev.writ.ledger.storage;

/** The kinds of rows (spec/storage.md, Rows). Each has an order of its own. */
public enum Family {
  /** Rows about the ledger itself. RocksDB insists on the name of this one. */
  DEFAULT,
  /** run key, seq → position in the log, event bytes. */
  EVENTS,
  /** position → the nodes that this leaf completes, then the event's key. */
  LOG,
  /** run key → seq of its last event. */
  RUNS,
  /** payload digest → envelope bytes. */
  DOCUMENTS,
  /** digest → small content. */
  BLOBS,
  /** digest → size of a content that is stored beside the rows. */
  FILES,
  /** table, key → value. */
  TABLES,
  /** size → signed note. */
  CHECKPOINTS
}
