package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * A record of a sandbox, written before anything of it exists, so that the next process can remove
 * what a killed process left.
 *
 * @param cgroups the prefix of its cgroups' names, which no other sandbox has until the next boot
 */
record LiveEntry(String id, String engine, long uid, String cgroups) {

  void write(Path directory) {
    JsonValue.Obj json =
        JsonValue.object()
            .put("id", id)
            .put("engine", engine)
            .put("uid", uid)
            .put("cgroups", cgroups)
            .build();
    try {
      Path half = directory.resolve("entry.new");
      Modes.writePrivate(half, Jcs.write(json));
      Files.move(half, directory.resolve("entry.json"), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot write down a sandbox", e);
    }
  }

  /** Empty if the process was killed before it wrote a record; then nothing else exists. */
  static Optional<LiveEntry> read(Path directory) {
    Path file = directory.resolve("entry.json");
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      Fields fields = Fields.of("entry", Jcs.parse(Files.readAllBytes(file)));
      LiveEntry entry =
          new LiveEntry(
              fields.name("id"),
              fields.name("engine"),
              fields.integer("uid"),
              fields.name("cgroups"));
      fields.end();
      return Optional.of(entry);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot read " + file, e);
    }
  }
}
