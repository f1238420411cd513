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
 * What is written down of a sandbox before anything of it exists, so that whoever comes after a
 * killed process can take it away.
 *
 * @param cgroups how the names of its cgroups begin: no other sandbox of this host's life has them
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

  /** Nothing where the process was killed before it wrote one: then there is nothing else. */
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
