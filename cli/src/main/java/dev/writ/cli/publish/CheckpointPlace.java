package dev.writ.cli.publish;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.publish.PublicPlace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Optional;

/**
 * A place with the checkpoints of one log: {@code SIZE.txt}, which is written once, and {@code
 * latest.txt}, a copy of the largest one.
 */
final class CheckpointPlace {
  static final String LATEST = "latest.txt";

  private final String kind;
  private final PublicPlace place;
  private final OwnLog log;

  /**
   * @param kind {@code folder} or {@code bucket}
   */
  CheckpointPlace(String kind, PublicPlace place, OwnLog log) {
    this.kind = kind;
    this.place = place;
    this.log = log;
  }

  String kind() {
    return kind;
  }

  static String name(long size) {
    return size + ".txt";
  }

  /**
   * The checkpoint of that size, if it was published before.
   *
   * @throws WritException {@code CLI-104} where this or the latest one is of another history,
   *     {@code CLI-105}, and what a store refuses
   */
  Optional<Checkpoint> find(long size) {
    return using(() -> {
      place.read(LATEST).ifPresent(note -> log.require(note, LATEST));
      Optional<Checkpoint> found =
          place.read(name(size)).map(note -> log.require(note, name(size)));
      if (found.filter(note -> note.size() != size).isPresent()) {
        throw new WritException(CliError.PLACE_UNUSABLE, name(size) + " is of another size");
      }
      return found;
    });
  }

  /**
   * Publishes a checkpoint. One of that size that is there stays as it is.
   *
   * @throws WritException as {@link #find}
   */
  void publish(Checkpoint checkpoint) {
    using(() -> {
      if (!place.create(name(checkpoint.size()), checkpoint.toBytes())) {
        place
            .read(name(checkpoint.size()))
            .ifPresent(note -> log.require(note, name(checkpoint.size())));
      }
      // Where another writer was faster, what it wrote is no smaller, or the next round mends it.
      return place.change(
          LATEST,
          before ->
              before
                      .filter(note -> log.require(note, LATEST).size() >= checkpoint.size())
                      .isPresent()
                  ? Optional.empty()
                  : Optional.of(checkpoint.toBytes()));
    });
  }

  /**
   * A stamp that is kept beside a checkpoint.
   *
   * @throws WritException as {@link #find}
   */
  Optional<byte[]> stamp(Checkpoint checkpoint, String authority) {
    return using(() ->
        place
            .read(name(checkpoint.size()))
            .filter(note -> Arrays.equals(note, checkpoint.toBytes()))
            .flatMap(_ -> read(stampName(checkpoint, authority))));
  }

  private Optional<byte[]> read(String name) {
    return using(() -> place.read(name));
  }

  private static String stampName(Checkpoint checkpoint, String authority) {
    return checkpoint.size() + "." + authority + ".tsr";
  }

  /**
   * Keeps a stamp beside its checkpoint, if the place has exactly that one. A stamp that is there
   * stays as it is.
   *
   * @throws WritException as {@link #find}
   */
  void keep(Checkpoint checkpoint, String authority, byte[] reply) {
    using(() -> {
      boolean isStamped =
          place
              .read(name(checkpoint.size()))
              .filter(note -> Arrays.equals(note, checkpoint.toBytes()))
              .isPresent();
      return isStamped && place.create(stampName(checkpoint, authority), reply);
    });
  }

  private interface Use<T> {
    T run() throws IOException;
  }

  private <T> T using(Use<T> use) {
    try {
      return use.run();
    } catch (IOException | UncheckedIOException e) {
      throw new WritException(CliError.PLACE_UNUSABLE, kind + ": " + e, e);
    }
  }
}
