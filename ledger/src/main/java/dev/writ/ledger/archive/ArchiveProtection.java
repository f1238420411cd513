package dev.writ.ledger.archive;

/**
 * Whether the bundles of an archive can be removed (spec/storage-s3.md, Object lock).
 *
 * @param isLocked whether all bundles that were looked at are locked, and further ones will be
 * @param found what was found, for people
 */
public record ArchiveProtection(boolean isLocked, String found) {}
