package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.LogRow;
import dev.writ.ledger.form.StoredForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file {@code FORMAT}, which is written last and read first.
 *
 * <p>Format 2 writes rows in a binary form ({@link StoredForm}), format 3 leaves out what follows
 * from other rows ({@link LogRow}). Rows of the earlier formats are read beside them, so that an
 * upgrade changes no row: the file alone keeps earlier versions out.
 */
public final class Format {
  static final int VERSION = 3;

  /** Rows are JSON. */
  static final int FIRST = 1;

  private static final Pattern TEXT = Pattern.compile("writ-ledger ([0-9]{1,6})\n");

  private Format() {}

  static void write(DurableFiles files, Path dir) throws IOException {
    files.write(
        dir.resolve("FORMAT"), ("writ-ledger " + VERSION + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /**
   * @throws WritException {@code LED-002} where there is no ledger, {@code LED-007} for one of a
   *     later format, {@code LED-006} for a file that cannot be read
   */
  public static void require(Path dir) {
    read(dir);
  }

  /** The format of the ledger in this directory, as {@link #require}. */
  static int version(Path dir) {
    return read(dir);
  }

  /**
   * Makes a ledger one of this format, before a row of it is written, and keeps its state of before
   * ({@link WayBack}). What a crash interrupts is either format, and readable.
   *
   * @throws WritException as {@link #require}
   */
  static void upgrade(DurableFiles files, Path dir) {
    if (read(dir) == VERSION) {
      return;
    }
    try {
      WayBack.keep(files, dir);
      write(files, dir);
    } catch (IOException e) {
      throw Failures.of("writing " + dir + "/FORMAT", e);
    }
  }

  private static int read(Path dir) {
    String text;
    try {
      Path file = dir.resolve("FORMAT");
      if (Files.exists(file) && Files.size(file) > 64) {
        throw new WritException(LedgerError.CORRUPT, dir + "/FORMAT is too long");
      }
      text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    } catch (NoSuchFileException e) {
      throw new WritException(LedgerError.MISSING, dir + " has no file FORMAT", e);
    } catch (IOException e) {
      throw Failures.of("reading " + dir + "/FORMAT", e);
    }
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new WritException(LedgerError.CORRUPT, dir + "/FORMAT is not of a ledger");
    }
    int version = Integer.parseInt(matcher.group(1));
    if (version < FIRST || version > VERSION) {
      throw new WritException(
          LedgerError.FORMAT_FUTURE,
          "format " + version + ", this version knows " + FIRST + " to " + VERSION);
    }
    return version;
  }
}
