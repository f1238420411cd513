package dev.writ.guardian.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.Optional;

/**
 * What a stage found in place of what was expected, where a replay cannot compute it from the
 * documents: {@code spec/execution.md}. Exactly one of them is there.
 *
 * @param snapshot the snapshot in force (stage 2, {@code EXE-201})
 * @param input the name of the input that the request may not read (stage 3, {@code EXE-306})
 * @param workspace the digest of the workspace's tree (stage 3, {@code EXE-310})
 */
public record Observed(
    Optional<Digest> snapshot, Optional<String> input, Optional<Digest> workspace) {

  public static Observed snapshot(Digest current) {
    return new Observed(Optional.of(current), Optional.empty(), Optional.empty());
  }

  public static Observed input(String name) {
    return new Observed(Optional.empty(), Optional.of(name), Optional.empty());
  }

  public static Observed workspace(Digest tree) {
    return new Observed(Optional.empty(), Optional.empty(), Optional.of(tree));
  }

  /**
   * @throws WritException {@code CAN-023} unless exactly one is there
   */
  static Observed read(Fields fields) {
    Observed observed =
        new Observed(
            fields.optional("snapshot", fields::digest),
            fields.optional("input", fields::string),
            fields.optional("workspace", fields::digest));
    fields.end();
    if (observed.toJson().members().size() != 1) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          fields.path() + " has " + observed.toJson().members().size() + " members, 1 is right");
    }
    return observed;
  }

  JsonValue.Obj toJson() {
    ObjectBuilder json = JsonValue.object();
    snapshot.ifPresent(digest -> json.put("snapshot", digest));
    input.ifPresent(name -> json.put("input", name));
    workspace.ifPresent(digest -> json.put("workspace", digest));
    return json.build();
  }
}
