package dev.writ.sandbox;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How to get programs that are missing, by the Debian packages that have them. */
public final class DebianPackages {
  private static final Path APT = Path.of("/usr/bin/apt-get");

  private DebianPackages() {}

  /**
   * What to do on this machine: a command where it has one. An image of a container has no package
   * manager, and nobody could follow the command there.
   */
  public static String install(List<String> names) {
    return install(names, Files.isExecutable(APT));
  }

  static String install(List<String> names, boolean apt) {
    String all = String.join(" ", names);
    return apt
        ? "apt-get install " + all
        : "there is no apt-get here: in a container, take an image that has what Debian calls "
            + all;
  }
}
