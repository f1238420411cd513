package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;

/**
 * Bytes as they lie in a backup's folder, where they are encrypted if the folder is.
 *
 * @param digest SHA-256 of them
 * @param size how many they are
 */
record StoredBytes(Digest digest, long size) {}
