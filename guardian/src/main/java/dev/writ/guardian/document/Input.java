package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * A file that an effect reads, by digest from the content store.
 *
 * @param name the name the tool sees, unique within the effect
 * @param digest of its bytes
 * @param size in bytes
 * @param mediaType as the caller states it
 */
public record Input(String name, Digest digest, long size, String mediaType) {

  /** Reads an entry of a list of inputs. */
  public static Input read(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    Input input =
        new Input(
            fields.name("name"),
            fields.digest("digest"),
            fields.count("size"),
            fields.name("media_type"));
    fields.end();
    return input;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("digest", digest)
        .put("size", size)
        .put("media_type", mediaType)
        .build();
  }
}
