package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.TarFilter;
import dev.writ.sandbox.workspace.TarWriter;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.tools.error.ToolsError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;

/**
 * The code of a server as one file of its package: an archive, which the server sees unpacked below
 * {@code /tool}. Its digest is in the package's, so that what runs is what was approved.
 */
public final class PinnedCode {
  /** The archive, among the server's own files. */
  public static final String FILE = "code.tar.gz";

  /** What is unpacked of one at most. */
  public static final TreeLimits LIMITS = new TreeLimits(100_000, 512L << 20, 64);

  /** What a file of a package may have. */
  private static final int BYTES_MAX = 64 << 20;

  private PinnedCode() {}

  /**
   * Packs a directory of a workspace.
   *
   * @throws WritException {@code TOL-298}
   */
  public static byte[] of(Workspace workspace, String directory) {
    return packed(out -> workspace.exportTar(directory, out, LIMITS, new AsItIs()));
  }

  private static final class AsItIs implements TarFilter {
    @Override
    public byte[] content(byte[] bytes) {
      return bytes;
    }

    @Override
    public void name(byte[] bytes) {
      // any name that a directory can have
    }
  }

  /**
   * Packs a folder of this machine: its regular files. Links, and what version control keeps, stay
   * out.
   *
   * @throws WritException {@code TOL-298}
   */
  public static byte[] of(Path folder) {
    SortedMap<String, byte[]> files = files(folder);
    if (files.isEmpty()) {
      throw new WritException(ToolsError.CODE_UNPACKABLE, folder + " has no files");
    }
    return packed(out -> out.write(TarWriter.files(files)));
  }

  private static SortedMap<String, byte[]> files(Path folder) {
    TreeMap<String, byte[]> files = new TreeMap<>();
    try {
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            private long bytes;

            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
              return path.endsWith(".git")
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes attributes)
                throws IOException {
              if (attributes.isRegularFile()) {
                bytes += attributes.size();
                if (bytes > LIMITS.bytes() || files.size() >= LIMITS.entries()) {
                  throw tooLarge();
                }
                files.put(folder.relativize(path).toString(), Files.readAllBytes(path));
              }
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new WritException(ToolsError.CODE_UNPACKABLE, folder + " cannot be read", e);
    }
    return files;
  }

  private static WritException tooLarge() {
    return new WritException(
        ToolsError.CODE_UNPACKABLE,
        "more than "
            + LIMITS.entries()
            + " files, "
            + (LIMITS.bytes() >> 20)
            + " MiB, or "
            + (BYTES_MAX >> 20)
            + " MiB compressed");
  }

  /** Writes an archive. */
  private interface Writing {
    void to(OutputStream out) throws IOException;
  }

  private static byte[] packed(Writing writing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes, 1 << 16)) {
      writing.to(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (WritException e) {
      throw e.code() instanceof SandboxError
          ? new WritException(ToolsError.CODE_UNPACKABLE, e.code().code() + " " + e.found(), e)
          : e;
    }
    if (bytes.size() > BYTES_MAX) {
      throw tooLarge();
    }
    return bytes.toByteArray();
  }

  /** How a path below a folder is seen by a server that has its content. */
  public static String seen(Path folder, String path) {
    Path normal = Path.of(path).normalize();
    return normal.startsWith(folder)
        ? (ServerSpec.PLACE + "/" + folder.relativize(normal)).replaceFirst("/$", "")
        : path;
  }
}
