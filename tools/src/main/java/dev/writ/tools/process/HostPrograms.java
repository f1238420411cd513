package dev.writ.tools.process;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Finds programs of this host in the places where sandboxes look for them, and describes them. */
public final class HostPrograms {
  private static final List<String> PLACES = List.of("/usr/local/bin", "/usr/bin", "/bin");

  private final TreeMap<String, CompletableFuture<JsonValue>> known = new TreeMap<>();

  /**
   * The path at which a sandbox of the profile {@code default} finds a program; a path is returned
   * unchanged.
   */
  public static Optional<Path> find(String program) {
    return PLACES.stream()
        .map(place -> Path.of(place).resolve(program))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  /**
   * Its path, size, digest and Debian package, or {@code null} if it does not exist. The digest of
   * a large program takes a while; it is computed in another thread, and again only if the file
   * changes.
   */
  synchronized Supplier<JsonValue> describe(String program) {
    Optional<Path> path = find(program);
    if (path.isEmpty()) {
      return () -> JsonValue.NULL;
    }
    String key;
    try {
      key =
          path.get()
              + " "
              + Files.size(path.get())
              + " "
              + Files.getLastModifiedTime(path.get()).toMillis();
    } catch (IOException e) {
      return () -> JsonValue.NULL;
    }
    return known.computeIfAbsent(key, k -> CompletableFuture.supplyAsync(() -> read(path.get())))
        ::join;
  }

  private static JsonValue read(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      MessageDigest sha256 = Digest.newSha256();
      long size = new DigestInputStream(in, sha256).transferTo(OutputStream.nullOutputStream());
      return JsonValue.object()
          .put("digest", Digest.ofBytes(sha256.digest()))
          .put("path", path.toString())
          .put("size", size)
          .putIfPresent("package", DebianPackage.of(path), JsonValue::of)
          .build();
    } catch (IOException e) {
      return JsonValue.NULL;
    }
  }
}
