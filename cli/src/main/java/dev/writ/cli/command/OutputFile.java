package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.embed.error.EmbedError;
import dev.writ.tools.error.FileTrouble;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/** A file that a command makes: never over another one, and whole or not at all. */
public final class OutputFile {
  private OutputFile() {}

  /** What is in it. */
  public interface Content {
    void to(OutputStream file) throws IOException;
  }

  /**
   * Requires that there is none yet, for what takes long to be made.
   *
   * @throws WritException {@code CLI-023}
   */
  public static void requireNew(String file) {
    if (Files.exists(Path.of(file), LinkOption.NOFOLLOW_LINKS)) {
      throw new WritException(EmbedError.FILE_EXISTS, file);
    }
  }

  /** Writes a text into a new file, as {@link #write(Path, Content)} does. */
  public static void write(String file, String text) {
    write(Path.of(file), out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * Writes a new file. It has its name when all is in it: a command that is stopped leaves nothing.
   *
   * @throws WritException {@code CLI-023} where it is there already, {@code CLI-003} where it
   *     cannot be written, and what the content throws
   */
  public static void write(Path file, Content content) {
    try {
      if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        throw new FileAlreadyExistsException(file.toString());
      }
      Path folder = file.toAbsolutePath().getParent();
      if (!Files.isDirectory(folder)) {
        throw Files.exists(folder)
            ? new NotDirectoryException(folder.toString())
            : new NoSuchFileException(folder.toString());
      }
      try (TemporaryDirectory part = TemporaryDirectory.in(folder, ".writ-out")) {
        Path whole = part.path().resolve("whole");
        fill(Files.newOutputStream(whole), file, content);
        name(whole, file);
      }
    } catch (FileAlreadyExistsException e) {
      throw new WritException(EmbedError.FILE_EXISTS, String.valueOf(file), e);
    } catch (IOException e) {
      IOException told = e.getCause() instanceof IOException cause ? cause : e;
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(file, told), e);
    } catch (UncheckedIOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(file, e.getCause()), e);
    }
  }

  /**
   * The file's own failure is told as that, whatever the content made of it: the system does not
   * say which file it was, where a disk is full.
   */
  public static void fill(OutputStream to, Path name, Content content) throws IOException {
    Watched file = new Watched(to);
    try (OutputStream out = new BufferedOutputStream(file)) {
      content.to(out);
    } catch (IOException | RuntimeException e) {
      if (file.failed == null) {
        throw e;
      }
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(name, file.failed), e);
    }
  }

  /** Remembers that it could not be written. */
  private static final class Watched extends FilterOutputStream {
    private IOException failed;

    Watched(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      try {
        out.write(bytes, from, length);
      } catch (IOException e) {
        failed = e;
        throw e;
      }
    }
  }

  /** A link is never made over a file that came meanwhile. */
  private static void name(Path whole, Path file) throws IOException {
    try {
      Files.createLink(file, whole);
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (FileSystemException | UnsupportedOperationException e) {
      Files.move(whole, file); // a file system without links
    }
  }
}
