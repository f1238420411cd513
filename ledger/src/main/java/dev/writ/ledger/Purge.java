package dev.writ.ledger;

/**
 * A step that cuts off what write-ahead logs hold that are not needed any more, before and after
 * the tables are compacted: a log that is taken up again is overwritten from its beginning only,
 * and what an earlier use left behind its end would stay in it.
 *
 * @param isLast whether nothing is left to be removed then
 */
record Purge(boolean isLast) implements StorageStep {}
