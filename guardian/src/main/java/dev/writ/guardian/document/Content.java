package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * Bytes in the content store, by digest.
 *
 * @param size in bytes
 */
public record Content(Digest digest, long size, String mediaType) {

  public static Content read(Fields fields) {
    Content content =
        new Content(fields.digest("digest"), fields.count("size"), fields.name("media_type"));
    fields.end();
    return content;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("digest", digest)
        .put("size", size)
        .put("media_type", mediaType)
        .build();
  }
}
