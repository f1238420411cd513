package dev.writ.bench;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * JSON to canonicalize, always the same: objects as our documents are, keys out of order, numbers
 * that must be rewritten, and text with escapes and beyond ASCII.
 */
final class BenchDocuments {
  private static final int RECORD_BYTES = 302;

  private BenchDocuments() {}

  /** 606 bytes. */
  static byte[] small() {
    return records(2);
  }

  /** About 22 KB. */
  static byte[] medium() {
    return records(22_000 / RECORD_BYTES);
  }

  /** About 1 MB. */
  static byte[] large() {
    return records((1 << 20) / RECORD_BYTES);
  }

  private static byte[] records(int count) {
    StringBuilder text = new StringBuilder("[ ");
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "" : ",").append(record(i));
    }
    return text.append("]").toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String record(int i) {
    return String.format(
        Locale.ROOT,
        """
        {"tool":"word-count","run":"run-%05d","effect":{"params":{"text":"caf\\u00e9 na\u00efve \
        \u20ac\\/","n":%d,"ratio":%d.5E-3},"operation":"count","inputs":[]},"at":\
        "2026-11-21T12:00:00.%03dZ","prev":"sha256:%064x","ok":true,"code":null,"nonce":\
        "%09x"}\
        """,
        i % 100_000,
        i,
        1 + i % 9,
        i % 1000,
        i * 2_654_435_761L,
        i * 40_503L);
  }
}
