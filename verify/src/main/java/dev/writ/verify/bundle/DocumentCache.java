package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.function.Function;

/** The documents that were read last: a walk uses each of them a few times. */
final class DocumentCache {
  /** The limit for the sum of their bytes; in memory they take about twice as much. */
  private static final long BYTES_MAX = 1 << 20;

  private final LinkedHashMap<Digest, Bundle.Sized> recent = new LinkedHashMap<>(64, 0.75f, true);
  private long bytes;

  Optional<Envelope> get(Digest id, Function<Digest, Optional<Bundle.Sized>> read) {
    synchronized (recent) {
      Bundle.Sized known = recent.get(id);
      if (known != null) {
        return Optional.of(known.envelope());
      }
    }
    Optional<Bundle.Sized> found = read.apply(id);
    found.ifPresent(document -> put(id, document));
    return found.map(Bundle.Sized::envelope);
  }

  private void put(Digest id, Bundle.Sized document) {
    synchronized (recent) {
      Bundle.Sized before = recent.put(id, document);
      bytes += document.bytes() - (before == null ? 0 : before.bytes());
      Iterator<Bundle.Sized> oldest = recent.values().iterator();
      while (bytes > BYTES_MAX && oldest.hasNext()) {
        bytes -= oldest.next().bytes();
        oldest.remove();
      }
    }
  }
}
