package dev.writ.tools.registry;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.document.ToolManifest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Optional;

/**
 * What the tools of the release are for, for those who read lists of them. It is no part of the
 * packages, so that a better word does not make an approved tool another one.
 */
public final class BuiltinWords {
  private static final String DESCRIPTION = "description";

  private static final class Holder {
    static final JsonValue.Obj WORDS = read();

    private static JsonValue.Obj read() {
      try (InputStream in = BuiltinWords.class.getResourceAsStream("builtin/words.json")) {
        return (JsonValue.Obj) Jcs.parse(in.readAllBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private BuiltinWords() {}

  /** What an operation does: the words of its manifest, or of the release for its own tools. */
  public static Optional<String> description(
      ToolManifest manifest, ToolManifest.Operation operation) {
    return input(manifest, operation).get(DESCRIPTION) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  /** The input schema with descriptions, for a tool of the release; of others the schema as is. */
  public static JsonValue.Obj input(ToolManifest manifest, ToolManifest.Operation operation) {
    boolean ours =
        BuiltinTools.manifest(manifest.name(), manifest.version())
            .filter(manifest::equals)
            .isPresent();
    if (!ours
        || !(Holder.WORDS.get(manifest.name() + "/" + operation.name())
            instanceof JsonValue.Obj words)) {
      return operation.input();
    }
    JsonValue.Obj params = (JsonValue.Obj) words.get("params");
    ObjectBuilder schema = JsonValue.object();
    operation
        .input()
        .members()
        .forEach((key, value) ->
            schema.put(
                key,
                key.equals("properties") && value instanceof JsonValue.Obj properties
                    ? described(properties, params)
                    : value));
    return schema.put(DESCRIPTION, words.get(DESCRIPTION)).build();
  }

  private static JsonValue.Obj described(JsonValue.Obj properties, JsonValue.Obj words) {
    ObjectBuilder all = JsonValue.object();
    properties
        .members()
        .forEach((name, value) ->
            all.put(
                name,
                value instanceof JsonValue.Obj schema && words.get(name) != null
                    ? with(schema, words.get(name))
                    : value));
    return all.build();
  }

  private static JsonValue.Obj with(JsonValue.Obj schema, JsonValue word) {
    ObjectBuilder all = JsonValue.object();
    schema.members().forEach(all::put);
    return all.put(DESCRIPTION, word).build();
  }
}
