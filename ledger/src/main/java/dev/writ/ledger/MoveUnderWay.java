package dev.writ.ledger;

import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * The file {@code database.next} of a ledger's directory: where rows are being moved, and as which
 * writer. A repeat of a move that was killed so removes what that one left there, and nothing that
 * anybody else wrote.
 */
record MoveUnderWay(DurableFiles files, Path file) {
  private static final String FILE = "database.next";

  static MoveUnderWay of(LedgerConfig config) {
    return new MoveUnderWay(config.files(), config.dir().resolve(FILE));
  }

  /**
   * Before the first row is written there.
   *
   * @param epoch of the writer that made the database
   */
  void begin(URI address, long epoch) throws IOException {
    files.write(file, (address + "\n" + epoch + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** The writer of a move to that address that was broken off; empty where there was none. */
  OptionalLong brokenOff(URI address) throws IOException {
    if (!Files.exists(file)) {
      return OptionalLong.empty();
    }
    List<String> lines = Files.readAllLines(file);
    boolean isIt =
        lines.size() == 2
            && lines.get(0).equals(address.toString())
            && lines.get(1).matches("[0-9]{1,18}");
    return isIt ? OptionalLong.of(Long.parseLong(lines.get(1))) : OptionalLong.empty();
  }

  void end() throws IOException {
    Files.deleteIfExists(file);
  }
}
