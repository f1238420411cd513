package dev.writ.tools.author;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.host.Trees;
import dev.writ.tools.error.FileTrouble;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/** The small project that {@code writ tool new} creates, which passes its own test. */
public final class Templates {
  private static final String NAME = "@TOOL@";

  private Templates() {}

  /**
   * Makes a new folder, whole or not at all.
   *
   * @throws WritException {@code TOL-021} for a name that no tool can have, {@code TOL-209} where
   *     the folder is there already, {@code TOL-027} where it cannot be written
   */
  public static void make(Language language, String tool, Path folder) {
    if (!tool.matches("[a-z0-9][a-z0-9._-]{0,63}")) {
      throw new WritException(
          ToolsError.TOOL_NAME,
          tool.length() > 64 ? "a name of " + tool.length() + " characters" : "\"" + tool + "\"");
    }
    if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw new WritException(ToolsError.PROJECT_EXISTS, folder.toString());
    }
    boolean isMade = false;
    boolean isWhole = false;
    try {
      if (folder.toAbsolutePath().getParent() != null) {
        Files.createDirectories(folder.toAbsolutePath().getParent());
      }
      Files.createDirectory(folder);
      isMade = true;
      for (String path : paths(language)) {
        byte[] bytes = resource(language.text() + "/" + path);
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, path.equals(ToolSource.FILE) ? named(bytes, tool) : bytes);
        if (path.startsWith("bin/")) {
          Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
      }
      isWhole = true;
    } catch (IOException e) {
      throw e instanceof FileAlreadyExistsException && !isMade && Files.exists(folder)
          ? new WritException(ToolsError.PROJECT_EXISTS, folder.toString(), e)
          : new WritException(ToolsError.PACKAGE_IO, FileTrouble.of(folder, e), e);
    } finally {
      if (!isWhole && isMade) {
        Trees.remove(folder);
      }
    }
  }

  private static List<String> paths(Language language) {
    return Stream.concat(
            Stream.of(ToolSource.FILE, ToolLock.FILE, "test/count.json"),
            language.template().stream())
        .toList();
  }

  private static byte[] named(byte[] manifest, String tool) {
    return new String(manifest, StandardCharsets.UTF_8)
        .replace(NAME, tool)
        .getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] resource(String path) throws IOException {
    try (InputStream in = Templates.class.getResourceAsStream(path)) {
      return in.readAllBytes();
    }
  }
}
