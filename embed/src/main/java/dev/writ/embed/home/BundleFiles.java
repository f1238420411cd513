package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.tools.error.FileTrouble;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes bundles to files. */
public final class BundleFiles {
  private BundleFiles() {}

  /**
   * Exports a run. An incomplete file is removed.
   *
   * @throws WritException {@code CLI-023} where the file is there already, {@code CLI-003} where it
   *     cannot be written, and the codes of {@link BundleExport#write}
   */
  public static void write(
      LedgerView ledger,
      RunId run,
      BundleExport.Packages packages,
      BundleExport.Options options,
      Path file) {
    boolean whole = false;
    try (FileChannel out =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      try {
        BundleExport.write(ledger, run, packages, options, out);
        out.force(true);
        whole = true;
      } finally {
        if (!whole) {
          Files.delete(file);
        }
      }
    } catch (WritException e) {
      throw e.code() == BundleError.STORAGE
          ? new WritException(BundleError.STORAGE, file + ": " + e.found(), e)
          : e;
    } catch (FileAlreadyExistsException e) {
      throw new WritException(EmbedError.FILE_EXISTS, String.valueOf(file), e);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(file, e), e);
    }
  }
}
