package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Uses of nonces by requests that are over, as they are stored beside a summary: 64 bytes each, the
 * nonce's digest (16), the request (32), when it was judged, in milliseconds (8), and the step (8).
 *
 * @param newestMs the latest time among them, in milliseconds
 */
public record NonceUses(long newestMs, byte[] records) {
  private static final int RECORD = 64;

  /** Uses of one row: as many as a summary usually has. */
  private static final int MOST = 4096;

  /** A use, and by which digest its nonce is found. */
  record Named(UsedNonces.Key nonce, UsedNonces.Use use) {}

  static NonceUses of(List<Named> uses) {
    ByteBuffer records = ByteBuffer.allocate(uses.size() * RECORD);
    long newest = Long.MIN_VALUE;
    for (Named named : uses) {
      newest = Math.max(newest, named.use().atMs());
      records
          .putLong(named.nonce().high())
          .putLong(named.nonce().low())
          .put(named.use().request().bytes())
          .putLong(named.use().atMs())
          .putLong(named.use().step());
    }
    return new NonceUses(newest, records.array());
  }

  /** In as many rows as it takes. */
  static List<NonceUses> all(List<Named> uses) {
    List<NonceUses> rows = new ArrayList<>();
    for (int from = 0; from < uses.size(); from += MOST) {
      rows.add(of(uses.subList(from, Math.min(from + MOST, uses.size()))));
    }
    return rows;
  }

  void forEach(BiConsumer<UsedNonces.Key, UsedNonces.Use> consumer) {
    ByteBuffer buffer = ByteBuffer.wrap(records);
    while (buffer.remaining() >= RECORD) {
      UsedNonces.Key nonce = new UsedNonces.Key(buffer.getLong(), buffer.getLong());
      byte[] request = new byte[Digest.LENGTH];
      buffer.get(request);
      consumer.accept(
          nonce, new UsedNonces.Use(Digest.ofBytes(request), buffer.getLong(), buffer.getLong()));
    }
  }
}
