/**
 * What a ledger asks of the database below it (spec/storage.md, "The database below"): ordered
 * rows, written in groups by one writer at a time.
 */
package dev.writ.ledger.storage;
