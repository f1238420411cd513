package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.verify.bundle.RecordedRun.Journal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * An inclusion proof taken apart and made again, as a forger can who has the bundle: a second
 * implementation of its rules, on a tree in memory.
 */
final class Reproof {
  private final long size;
  private final EnumMap<Journal, List<Long>> indexes = new EnumMap<>(Journal.class);
  private final TreeMap<Long, Digest> leaves = new TreeMap<>();
  private final TreeMap<String, Digest> nodes = new TreeMap<>();
  private Iterator<Digest> given;
  private List<JsonValue> needed;

  private Reproof(TreeMap<String, byte[]> entries, long size) {
    this.size = size;
    Fields fields = Fields.of("inclusion", Jcs.parse(entries.get(BundleEntryNames.INCLUSION)));
    for (Journal journal : Journal.values()) {
      List<Long> places = new ArrayList<>();
      fields.list(
          journal.name().toLowerCase(Locale.ROOT),
          (_, range) -> {
            List<JsonValue> pair = ((JsonValue.Arr) range).items();
            long first = number(pair.get(0));
            for (long i = 0; i < number(pair.get(1)); i++) {
              places.add(first + i);
            }
            return range;
          });
      List<String> lines =
          new String(entries.get(BundleEntryNames.journal(journal)), StandardCharsets.UTF_8)
              .lines()
              .toList();
      for (int i = 0; i < places.size(); i++) {
        leaves.put(places.get(i), Merkle.leafHash(lines.get(i).getBytes(StandardCharsets.UTF_8)));
      }
      indexes.put(journal, places);
    }
    given = fields.list("hashes", Fields::digestItem).iterator();
    learn(0, size);
  }

  private static long number(JsonValue value) {
    return (long) ((JsonValue.Num) value).value();
  }

  private Digest learn(long from, long to) {
    long middle = from + Long.highestOneBit(to - from - 1);
    Digest hash =
        leaves.subMap(from, to).isEmpty()
            ? given.next()
            : to - from == 1
                ? leaves.get(from)
                : Merkle.nodeHash(learn(from, middle), learn(middle, to));
    nodes.put(from + " " + to, hash);
    return hash;
  }

  /** Makes the proof fit after the last line of a journal was cut off. */
  static void withoutLast(TreeMap<String, byte[]> entries, Journal journal) {
    Reproof proof = of(entries);
    Sample.lines(BundleEntryNames.journal(journal), lines -> lines.subList(0, lines.size() - 1))
        .apply(entries);
    proof.indexes.get(journal).removeLast();
    entries.put(BundleEntryNames.INCLUSION, proof.toBytes());
  }

  static Reproof of(TreeMap<String, byte[]> entries) {
    BundleManifest manifest =
        BundleManifest.read(Jcs.parse(entries.get(BundleEntryNames.MANIFEST)));
    return new Reproof(entries, manifest.size());
  }

  List<Long> indexes(Journal journal) {
    return indexes.get(journal);
  }

  byte[] toBytes() {
    needed = new ArrayList<>();
    TreeSet<Long> all = new TreeSet<>();
    indexes.values().forEach(all::addAll);
    need(0, size, all);
    return Jcs.write(
        JsonValue.object()
            .put("consumed", ranges(Journal.CONSUMED))
            .put("hashes", JsonValue.of(needed))
            .put("run", ranges(Journal.RUN))
            .put("system", ranges(Journal.SYSTEM))
            .build());
  }

  private void need(long from, long to, TreeSet<Long> events) {
    if (events.subSet(from, to).isEmpty()) {
      needed.add(JsonValue.of(nodes.get(from + " " + to).toString()));
    } else if (to - from > 1) {
      long middle = from + Long.highestOneBit(to - from - 1);
      need(from, middle, events);
      need(middle, to, events);
    }
  }

  private JsonValue ranges(Journal journal) {
    List<JsonValue> ranges = new ArrayList<>();
    List<Long> places = indexes.get(journal);
    for (int i = 0; i < places.size(); ) {
      int end = i + 1;
      while (end < places.size() && places.get(end) == places.get(end - 1) + 1) {
        end++;
      }
      ranges.add(
          JsonValue.of(List.of(JsonValue.of(places.get(i)), JsonValue.of((long) (end - i)))));
      i = end;
    }
    return JsonValue.of(ranges);
  }
}
