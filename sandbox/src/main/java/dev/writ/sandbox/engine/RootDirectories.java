package dev.writ.sandbox.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.TreeMap;

/**
 * Empty root directories for OCI containers, with only links and mount points. They are mounted
 * read-only, so containers with the same mount points share one.
 */
final class RootDirectories {
  private static final List<String> ALWAYS = List.of("/proc", "/dev", "/run", "/tmp", "/workspace");

  private final Path parent;

  RootDirectories(Path parent) {
    this.parent = parent;
  }

  /** Removes all; only at a start, when no container uses one. */
  synchronized void clear() {
    try {
      Trees.clear(parent);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot clear " + parent, e);
    }
  }

  synchronized Path of(List<Mounted> view) {
    TreeMap<String, String> places = new TreeMap<>();
    ALWAYS.forEach(place -> places.put(place, "directory"));
    for (Mounted mounted : view) {
      String target = mounted.target();
      boolean inMounted = ALWAYS.stream().anyMatch(place -> target.startsWith(place + "/"));
      if (!inMounted) {
        places.put(target, kind(mounted));
      }
    }
    String name = Digest.sha256(places.toString().getBytes(StandardCharsets.UTF_8)).hex();
    Path root = parent.resolve(name.substring(0, 32));
    if (!Files.exists(root)) {
      make(root, places);
    }
    return root;
  }

  private static String kind(Mounted mounted) {
    return switch (mounted) {
      case Mounted.Link link -> "link " + link.to();
      case Mounted.ReadOnly m when !Files.isDirectory(m.source()) -> "file";
      default -> "directory";
    };
  }

  private void make(Path root, TreeMap<String, String> places) {
    Path half = parent.resolve("new");
    try {
      Trees.remove(half);
      Files.createDirectories(half);
      for (var place : places.entrySet()) {
        Path path = half.resolve(place.getKey().substring(1));
        Files.createDirectories(path.getParent());
        if (place.getValue().startsWith("link ")) {
          Files.createSymbolicLink(path, Path.of(place.getValue().substring("link ".length())));
        } else if (place.getValue().equals("file")) {
          Files.createFile(path);
        } else {
          Files.createDirectories(path);
        }
      }
      try (var all = Files.walk(half)) {
        for (Path path : all.toList()) {
          if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
          }
        }
      }
      Files.move(half, root, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot make a root directory", e);
    }
  }
}
