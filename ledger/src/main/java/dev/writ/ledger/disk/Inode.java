package dev.writ.ledger.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** What a name leads to: a file or directory, by the number that its device has for it. */
public record Inode(long device, long number) {
  /**
   * Of what is at a path, through links; empty if nothing is there.
   *
   * @throws IOException where it cannot be told
   */
  public static Optional<Inode> of(Path path) throws IOException {
    try {
      Map<String, Object> is = Files.readAttributes(path, "unix:dev,ino");
      return Optional.of(new Inode((long) is.get("dev"), (long) is.get("ino")));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return number + " of device " + device;
  }
}
