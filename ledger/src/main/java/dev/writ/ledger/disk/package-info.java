/**
 * The lock of the one writer, and the disk that fails for good once a sync failed (spec/log.md).
 */
package dev.writ.ledger.disk;
