package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.BackupError;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** The objects that a backup needs, as they are stored; a line each, sorted by name. */
final class StoredObjects {
  private static final String PREFIX = "sha256:";

  private final TreeMap<Digest, StoredBytes> objects = new TreeMap<>();

  /**
   * @param file for messages
   * @throws WritException {@code BAK-010} for another form
   */
  static StoredObjects parse(byte[] bytes, String file) {
    StoredObjects all = new StoredObjects();
    try {
      for (String line : new String(bytes, StandardCharsets.US_ASCII).lines().toList()) {
        List<String> words = List.of(line.split(" "));
        if (words.size() != 3) {
          throw new IllegalArgumentException("a line is not: name, digest, size");
        }
        all.add(
            Digest.parse(PREFIX + words.get(0)),
            new StoredBytes(Digest.parse(PREFIX + words.get(1)), Long.parseLong(words.get(2))));
      }
    } catch (WritException | IllegalArgumentException e) {
      throw new WritException(BackupError.DAMAGED, file + " is no list of objects", e);
    }
    return all;
  }

  byte[] toBytes() {
    StringBuilder text = new StringBuilder();
    objects.forEach((name, stored) ->
        text.append(name.hex())
            .append(' ')
            .append(stored.digest().hex())
            .append(' ')
            .append(stored.size())
            .append('\n'));
    return text.toString().getBytes(StandardCharsets.US_ASCII);
  }

  void add(Digest name, StoredBytes stored) {
    objects.put(name, stored);
  }

  /** How a content is stored, if it is. */
  Optional<StoredBytes> find(Digest name) {
    return Optional.ofNullable(objects.get(name));
  }

  void forEach(BiConsumer<Digest, StoredBytes> each) {
    objects.forEach(each);
  }

  int count() {
    return objects.size();
  }

  long bytes() {
    return objects.values().stream().mapToLong(StoredBytes::size).sum();
  }
}
