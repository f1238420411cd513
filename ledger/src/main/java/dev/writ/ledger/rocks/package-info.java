/** The rows in RocksDB, the default database (spec/storage.md). */
package dev.writ.ledger.rocks;
