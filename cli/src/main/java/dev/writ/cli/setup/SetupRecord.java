package dev.writ.cli.setup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/**
 * A client's file, its backup beside it, and a note of what setup wrote: the digest of the file as
 * it left it, and whether there was one before. Where the file still has that digest, undoing gives
 * back the bytes from before.
 */
final class SetupRecord {
  private static final String NONE = "none";

  private final Path file;
  private final Path backup;
  private final Path note;

  /**
   * @param place of the file; where it is a link, what it leads to is changed
   */
  SetupRecord(String place) {
    this(place, ".before-writ", ".writ-setup");
  }

  /**
   * The same for another change of such a file.
   *
   * @param before behind the name of the backup
   * @param written behind that of the note
   */
  SetupRecord(String place, String before, String written) {
    Path named = Path.of(place);
    this.file = real(named);
    this.backup = file.resolveSibling(file.getFileName() + before);
    this.note = file.resolveSibling(file.getFileName() + written);
  }

  private static Path real(Path named) {
    try {
      return Files.isSymbolicLink(named) ? named.toRealPath() : named;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, named.toString(), e);
    }
  }

  Path file() {
    return file;
  }

  Path backup() {
    return backup;
  }

  /** The file's text; empty where there is no file. */
  Optional<String> text() {
    return bytes(file).map(this::decoded);
  }

  private String decoded(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file + " is not UTF-8", e);
    }
  }

  private static Optional<byte[]> bytes(Path path) {
    try {
      return Optional.of(Files.readAllBytes(path));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, path.toString(), e);
    }
  }

  /**
   * Writes the file.
   *
   * @param before its text without what setup wrote: what undoing is to give back
   */
  void write(Optional<String> before, String after) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      if (!isAsWritten()) {
        if (before.isPresent()) {
          replace(backup, before.get());
        } else {
          Files.deleteIfExists(backup);
        }
      }
      replace(file, after);
      replace(note, digest(after));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file.toString(), e);
    }
  }

  /** Whether nobody changed the file since setup wrote it. */
  boolean isAsWritten() {
    return bytes(note)
        .map(bytes -> new String(bytes, StandardCharsets.UTF_8))
        .equals(Optional.of(text().map(SetupRecord::digest).orElse(NONE)));
  }

  private static String digest(String text) {
    return Digest.sha256(text.getBytes(StandardCharsets.UTF_8)).toString();
  }

  /** Gives back what was there before: the same bytes, or no file. */
  void restore() {
    try {
      if (Files.exists(backup, LinkOption.NOFOLLOW_LINKS)) {
        replace(file, new String(Files.readAllBytes(backup), StandardCharsets.UTF_8));
        Files.delete(backup);
      } else {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(note);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file.toString(), e);
    }
  }

  /** Writes the file without what setup wrote; the backup stays. */
  void write(String without) {
    try {
      replace(file, without);
      Files.deleteIfExists(note);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file.toString(), e);
    }
  }

  /** As a whole, with the rights of the client's file; a new one is its owner's alone. */
  private void replace(Path target, String text) throws IOException {
    Path fresh = target.resolveSibling(target.getFileName() + ".writ-new");
    Files.deleteIfExists(fresh);
    boolean posix =
        Files.getFileStore(target.toAbsolutePath().getParent()).supportsFileAttributeView("posix");
    if (posix) {
      Files.createFile(
          fresh,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    Files.writeString(fresh, text);
    if (posix && Files.exists(file)) {
      Files.setPosixFilePermissions(fresh, Files.getPosixFilePermissions(file));
    }
    Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
