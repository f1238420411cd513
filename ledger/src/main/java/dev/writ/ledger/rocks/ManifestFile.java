package dev.writ.ledger.rocks;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The manifest of a database, as its file {@code CURRENT} names it. */
final class ManifestFile {
  private static final Pattern MANIFEST_NAME = Pattern.compile("MANIFEST-[0-9]{6,20}");

  private ManifestFile() {}

  /** Name and size of the manifest, which grows with every flush and compaction. */
  static String state(Path dir) {
    return currentFile(dir, file -> file.getFileName() + " " + Files.size(file));
  }

  /**
   * @throws WritException {@code LED-006} where there is none
   */
  static Path path(Path dir) {
    return currentFile(dir, file -> file);
  }

  static byte[] read(Path dir) {
    return currentFile(dir, Files::readAllBytes);
  }

  /** Something done with a file. */
  @FunctionalInterface
  private interface FileUse<T> {
    T apply(Path file) throws IOException;
  }

  private static <T> T currentFile(Path dir, FileUse<T> use) {
    try {
      byte[] name = Files.readAllBytes(dir.resolve("CURRENT"));
      String text = new String(name, StandardCharsets.ISO_8859_1).strip();
      if (!MANIFEST_NAME.matcher(text).matches()) {
        throw new WritException(LedgerError.CORRUPT, dir + "/CURRENT names no manifest");
      }
      return use.apply(dir.resolve(text));
    } catch (NoSuchFileException e) {
      throw new WritException(LedgerError.CORRUPT, "there is no " + e.getMessage(), e);
    } catch (IOException e) {
      throw Failures.of("reading the manifest of " + dir, e);
    }
  }
}
