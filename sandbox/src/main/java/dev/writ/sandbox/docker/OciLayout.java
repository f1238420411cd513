package dev.writ.sandbox.docker;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Reads an OCI image layout. */
final class OciLayout {
  private static final Limits LIMITS = new Limits(4 << 20, 32);
  private static final String NAME = "org.opencontainers.image.ref.name";

  private OciLayout() {}

  /** Digests of manifests by their names. */
  static Map<String, Digest> manifests(Path directory) {
    TreeMap<String, Digest> found = new TreeMap<>();
    JsonValue index = Jcs.parse(read(directory.resolve("index.json")), LIMITS);
    if (index instanceof JsonValue.Obj object
        && object.get("manifests") instanceof JsonValue.Arr manifests) {
      for (JsonValue manifest : manifests.items()) {
        if (manifest instanceof JsonValue.Obj entry
            && entry.get("annotations") instanceof JsonValue.Obj annotations
            && annotations.get(NAME) instanceof JsonValue.Str name
            && entry.get("digest") instanceof JsonValue.Str digest) {
          found.putIfAbsent(name.value(), Digest.parse(digest.value()));
        }
      }
    }
    return found;
  }

  static void require(Path directory, Digest digest) {
    byte[] manifest = read(directory.resolve("blobs/sha256").resolve(digest.hex()));
    if (!Digest.sha256(manifest).equals(digest)) {
      throw new WritException(SandboxError.IMAGE, "the manifest is not " + digest);
    }
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new WritException(SandboxError.IMAGE, "there is no " + file.getFileName(), e);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "an image layout cannot be read", e);
    }
  }
}
