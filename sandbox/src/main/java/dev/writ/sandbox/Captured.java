package dev.writ.sandbox;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Objects;

/**
 * One output stream of a process.
 *
 * @param bytes the first bytes that it wrote
 * @param total how many bytes it wrote until it was stopped; more than were kept if truncated
 */
public record Captured(byte[] bytes, long total) {
  public Captured {
    Objects.requireNonNull(bytes);
    if (total < bytes.length) {
      throw new IllegalArgumentException("kept " + bytes.length + " of " + total);
    }
  }

  /** Whether bytes are missing at the end. */
  public boolean truncated() {
    return total > bytes.length;
  }

  /** Digest, size and truncation mark for receipts; never the bytes. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("digest", Digest.sha256(bytes))
        .put("kept", (long) bytes.length)
        .put("total", total)
        .put("truncated", truncated())
        .build();
  }
}
