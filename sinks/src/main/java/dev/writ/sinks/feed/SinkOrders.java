package dev.writ.sinks.feed;

import dev.writ.canonicalize.WritException;
import dev.writ.sinks.error.SinkError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * Orders for the sinks of a running server: one file for each sink, in the data directory. Whoever
 * can write there owns the installation anyway.
 */
public final class SinkOrders {
  private final Path dir;

  /**
   * @param dir need not exist
   */
  public SinkOrders(Path dir) {
    this.dir = dir;
  }

  private Path file(String sink) {
    return dir.resolve(sink + ".order");
  }

  /** An order that is being followed: one that is left meanwhile does not replace it. */
  private Path taken(String sink) {
    return dir.resolve(sink + ".taken");
  }

  /** Leaves an order in place of one that was not taken yet. */
  public void leave(String sink, SinkOrder order) {
    try {
      Files.createDirectories(dir);
      Path written = Files.createTempFile(dir, sink, ".new"); // only its owner can read it
      Files.write(written, order.toBytes());
      Files.move(written, file(sink), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new WritException(
          SinkError.ORDER, dir + ": " + e.getClass().getSimpleName() + " on writing it", e);
    }
  }

  /** Whether an order waits. */
  public boolean waits(String sink) {
    return Files.exists(file(sink)) || Files.exists(taken(sink));
  }

  /**
   * The order that is next; it stays until {@link #done}, also after a crash.
   *
   * @throws WritException {@code SNK-006}
   */
  Optional<SinkOrder> take(String sink) {
    try {
      if (!Files.exists(taken(sink))) {
        Files.move(file(sink), taken(sink), StandardCopyOption.ATOMIC_MOVE);
      }
      return Optional.of(SinkOrder.parse(Files.readAllBytes(taken(sink))));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new WritException(SinkError.ORDER, e.getClass().getSimpleName(), e);
    }
  }

  void done(String sink) {
    try {
      Files.deleteIfExists(taken(sink));
    } catch (IOException e) {
      throw new WritException(SinkError.ORDER, e.getClass().getSimpleName(), e);
    }
  }
}
