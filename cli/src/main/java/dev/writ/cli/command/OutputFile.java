package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file that a command makes: never over another one, and whole or not at all. */
final class OutputFile {
  private OutputFile() {}

  /** What is in it. */
  interface Content {
    void to(OutputStream file) throws IOException;
  }

  /**
   * Writes a new file, and removes it if writing fails.
   *
   * @throws WritException {@code CLI-023} where it is there already, {@code CLI-003} where it
   *     cannot be written, and what the content throws
   */
  static void write(Path file, Content content) {
    boolean whole = false;
    try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
      try (OutputStream buffered = new BufferedOutputStream(out)) {
        content.to(buffered);
        whole = true;
      } finally {
        if (!whole) {
          Files.delete(file);
        }
      }
    } catch (FileAlreadyExistsException e) {
      throw new WritException(EmbedError.FILE_EXISTS, String.valueOf(file), e);
    } catch (IOException | UncheckedIOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file + ": " + e.getMessage(), e);
    }
  }
}
