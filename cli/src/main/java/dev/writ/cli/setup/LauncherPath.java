package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Where {@code writ} is, for files that start it. */
public final class LauncherPath {
  private LauncherPath() {}

  /**
   * The launcher as it was called, or found by its name.
   *
   * @param named by the option {@code --command}
   * @throws WritException {@code CLI-001} where it is not found
   */
  public static Path of(Session session, Optional<String> named) {
    String name = named.orElseGet(Homes::name);
    if (name.indexOf('/') >= 0 || name.indexOf(File.separatorChar) >= 0) {
      return Path.of(name).toAbsolutePath().normalize();
    }
    for (String folder : session.environment().getOrDefault("PATH", "").split(File.pathSeparator)) {
      Path found = Path.of(folder).resolve(name);
      if (!folder.isEmpty() && Files.isExecutable(found) && !Files.isDirectory(found)) {
        return found.toAbsolutePath().normalize();
      }
    }
    throw new WritException(CliError.USAGE, "where writ is, only --command PATH can say");
  }
}
