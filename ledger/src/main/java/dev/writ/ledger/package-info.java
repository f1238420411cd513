/**
 * One append-only log on RocksDB: commits in groups, blobs, checkpoints, the anchor, fsck
 * (spec/log.md, spec/storage.md).
 */
package dev.writ.ledger;
