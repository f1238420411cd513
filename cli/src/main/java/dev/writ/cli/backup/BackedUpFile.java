package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;

/**
 * A file of an installation, as a backup has it. A small one of the home stands in the list itself,
 * since its digest as a name could tell what is in it; any other is an object.
 *
 * @param path relative to the home, with slashes
 * @param content of a small file
 * @param object of any other
 * @param isExecutable by its owner
 */
record BackedUpFile(
    String path, Optional<byte[]> content, Optional<Digest> object, boolean isExecutable) {

  static BackedUpFile small(String path, byte[] content, boolean isExecutable) {
    return new BackedUpFile(path, Optional.of(content), Optional.empty(), isExecutable);
  }

  static BackedUpFile large(String path, Digest object, boolean isExecutable) {
    return new BackedUpFile(path, Optional.empty(), Optional.of(object), isExecutable);
  }

  /** One that the backup does not have, since it holds secrets. */
  static BackedUpFile leftOut(String path) {
    return new BackedUpFile(path, Optional.empty(), Optional.empty(), false);
  }

  boolean isLeftOut() {
    return content.isEmpty() && object.isEmpty();
  }

  byte[] toLine() {
    ObjectBuilder line = JsonValue.object().put("path", path);
    content.ifPresent(bytes -> line.put("content", Base64.getEncoder().encodeToString(bytes)));
    object.ifPresent(digest -> line.put("object", digest));
    if (isExecutable) {
      line.put("executable", true);
    }
    return Jcs.write(line.build());
  }

  /**
   * @throws dev.writ.canonicalize.WritException {@code CAN-0xx} for another form
   * @throws IllegalArgumentException for a path that leads out of the home, and for bad base64
   */
  static BackedUpFile parse(byte[] line) {
    Fields fields = Fields.of("file", Jcs.parse(line));
    BackedUpFile file =
        new BackedUpFile(
            requireInside(fields.string("path")),
            fields.optional("content", fields::string).map(Base64.getDecoder()::decode),
            fields.optional("object", fields::digest),
            fields.has("executable") && fields.bool("executable"));
    fields.end();
    return file;
  }

  /** A backup may come from somebody who wants a file to be written elsewhere. */
  private static String requireInside(String path) {
    Path parsed = Path.of(path);
    if (path.isEmpty()
        || parsed.isAbsolute()
        || path.startsWith("..")
        || !parsed.normalize().toString().equals(path)) {
      throw new InvalidPathException(path, "a path that leads out of the home");
    }
    return path;
  }
}
