package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.embed.error.EmbedError;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.ledger.error.LedgerError;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * What {@link HomeJoiner} reads of a home, in one file: a further gateway joins by it where it has
 * no copy of the home (spec/cells.md, "Joining"). It is a ZIP file, the same for the same home, and
 * as secret as the keys in it.
 */
public final class JoinFile {
  private static final int FILES_MAX = 4096;
  private static final long BYTES_MAX = 256L << 20;

  /** ZIP knows no earlier one. */
  private static final LocalDateTime TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

  private final Path top;
  private final List<Path> files;

  private JoinFile(Path top, List<Path> files) {
    this.top = top;
    this.files = files;
  }

  /**
   * That of a home. Files that this process makes from now on are its owner's alone.
   *
   * @throws WritException {@code CLI-002} where the home has no secret of gateways, {@code LED-082}
   *     where large contents are in this home alone
   */
  public static JoinFile of(Home home) {
    Umask.ownersAlone();
    List<Path> files = new ArrayList<>(HomeJoiner.files(home));
    for (int cell = 0; cell < home.cells(); cell++) {
      Path ledger = home.inCell(cell).ledger();
      if (LedgerPlaces.contents(ledger).isEmpty()) {
        throw new WritException(LedgerError.CONTENTS_NOT_SHARED, ledger.toString());
      }
      files.addAll(LedgerPlaces.addressFiles(ledger));
    }
    GatewaysSecret.read(home);
    for (String folder : HomeJoiner.FOLDERS) {
      files.addAll(filesIn(home.dir().resolve(folder)));
    }
    return new JoinFile(home.dir(), files.stream().filter(Files::exists).sorted().toList());
  }

  private static List<Path> filesIn(Path folder) {
    if (!Files.exists(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).toList();
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, folder + ": " + e.getMessage(), e);
    }
  }

  /** Writes it. */
  public void to(OutputStream out) throws IOException {
    ZipOutputStream zip = new ZipOutputStream(out);
    for (Path file : files) {
      ZipEntry entry = new ZipEntry(top.relativize(file).toString());
      entry.setTimeLocal(TIME);
      zip.putNextEntry(entry);
      Files.copy(file, zip);
      zip.closeEntry();
    }
    zip.finish();
  }

  /**
   * Lays it out in an empty directory, as a home from which another can be made. Files that this
   * process makes from now on are its owner's alone.
   *
   * @throws WritException {@code CLI-029} where it is none, {@code CLI-002} where it cannot be read
   */
  public static void unpack(Path file, Path into) {
    Umask.ownersAlone();
    Path top = into.toAbsolutePath().normalize();
    try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(file))) {
      int files = 0;
      long left = BYTES_MAX;
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (++files > FILES_MAX) {
          throw none(file, "it has more than " + FILES_MAX + " files");
        }
        Path target = inside(file, top, entry.getName());
        DurableFiles.REAL.createDirectories(target.getParent());
        left -= copy(zip, target, left);
        if (left < 0) {
          throw none(file, "it has more than " + BYTES_MAX + " bytes");
        }
      }
      if (files == 0) {
        throw none(file, "it is no ZIP file, or an empty one");
      }
    } catch (FileAlreadyExistsException e) {
      throw none(file, "it has a file twice");
    } catch (ZipException | EOFException | IllegalArgumentException e) {
      throw none(file, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file + ": " + e.getMessage(), e);
    }
  }

  /** Goes at most one piece beyond what is allowed: how many bytes were written. */
  private static long copy(InputStream from, Path target, long most) throws IOException {
    try (OutputStream out = Files.newOutputStream(target, StandardOpenOption.CREATE_NEW)) {
      byte[] piece = new byte[1 << 16];
      long copied = 0;
      for (int n = from.read(piece); n >= 0 && copied <= most; n = from.read(piece)) {
        out.write(piece, 0, n);
        copied += n;
      }
      return copied;
    }
  }

  private static Path inside(Path file, Path top, String name) {
    try {
      Path plain = top.resolve(name);
      if (plain.normalize().equals(plain)
          && !plain.equals(top)
          && top.relativize(plain).toString().equals(name)) {
        return plain;
      }
    } catch (InvalidPathException _) {
      // as any other name that is none
    }
    throw none(file, "it has a file that no home has");
  }

  private static WritException none(Path file, String why) {
    return new WritException(EmbedError.JOIN_FILE, file + ": " + why);
  }
}
