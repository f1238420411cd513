package dev.writ.tools.process;

import dev.writ.sandbox.host.HostCommands;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The Debian package that a program of this host comes from. */
final class DebianPackage {
  private DebianPackage() {}

  /** {@code name version}; empty where the host has no dpkg, or no package has the file. */
  static Optional<String> of(Path program) {
    if (HostCommands.find("dpkg-query").isEmpty()) {
      return Optional.empty();
    }
    for (String path : spellings(program)) {
      String line = HostCommands.firstLine("/usr/bin/dpkg-query", "-S", path);
      int end = line.lastIndexOf(": " + path);
      if (end > 0 && !line.startsWith("diversion ")) {
        String name = line.substring(0, end).split(",", 2)[0];
        String version = HostCommands.firstLine("/usr/bin/dpkg-query", "-W", "-f=${Version}", name);
        return Optional.of(name + " " + version);
      }
    }
    return Optional.empty();
  }

  /** The paths of a program by which dpkg may know it: some are from before /bin became a link. */
  private static List<String> spellings(Path program) {
    String path;
    try {
      path = program.toRealPath().toString();
    } catch (IOException e) {
      path = program.toString();
    }
    return path.startsWith("/usr/bin/") ? List.of(path, path.substring(4)) : List.of(path);
  }
}
