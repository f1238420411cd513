package dev.writ.cli.publish;

import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.stamp.TimeStamp;
import java.time.Instant;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How far a server is with publishing.
 *
 * @param checkpoint the one that was published, or found where it had been, last
 * @param places by kind, the size of the last checkpoint there
 * @param stamps by the names of authorities, of that checkpoint
 * @param troubles by who is concerned: {@code log}, {@code folder}, {@code bucket}, {@code
 *     witnesses}, or {@code witness} or {@code stamp} and a name
 * @param wholeAt when everything had last succeeded
 */
record Publication(
    Optional<Checkpoint> checkpoint,
    SortedMap<String, Long> places,
    SortedMap<String, TimeStamp> stamps,
    SortedMap<String, Trouble> troubles,
    Optional<Instant> wholeAt) {
  static final Publication NONE =
      new Publication(
          Optional.empty(), new TreeMap<>(), new TreeMap<>(), new TreeMap<>(), Optional.empty());

  Publication {
    places = Collections.unmodifiableSortedMap(new TreeMap<>(places));
    stamps = Collections.unmodifiableSortedMap(new TreeMap<>(stamps));
    troubles = Collections.unmodifiableSortedMap(new TreeMap<>(troubles));
  }

  /** A refusal's code, and since when it has been that. */
  record Trouble(String code, Instant since) {}
}
