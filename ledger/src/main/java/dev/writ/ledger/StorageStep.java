package dev.writ.ledger;

/** What the appender's thread does at a place of its own in the order of commits. */
sealed interface StorageStep permits StorageCollection, ContentDeletion, Purge {}
