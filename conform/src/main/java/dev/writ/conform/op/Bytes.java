package dev.writ.conform.op;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.List;

/** Byte strings in inputs and outputs: standard base64, in members whose names end in _b64. */
final class Bytes {
  private Bytes() {}

  static byte[] get(Fields fields, String key) {
    return StrictBase64.decode(fields.path() + "/" + key, fields.string(key));
  }

  static Digest digest(Fields fields, String key) {
    return Digest.ofBytes(get(fields, key));
  }

  static List<byte[]> list(Fields fields, String key) {
    return fields.list(
        key, (path, value) -> StrictBase64.decode(path, Fields.stringItem(path, value)));
  }

  static ObjectBuilder put(String key, byte[] bytes) {
    return JsonValue.object().put(key, StrictBase64.encode(bytes));
  }

  static ObjectBuilder put(String key, Digest digest) {
    return put(key, digest.bytes());
  }

  /** A document that an input holds as JSON or, where its very bytes matter, as base64. */
  static byte[] document(Fields fields, String key) {
    return fields.has(key) ? Jcs.write(fields.value(key)) : get(fields, key + "_b64");
  }

  /** The output of an operation that has no other output. */
  static JsonValue.Obj valid() {
    return JsonValue.object().put("valid", true).build();
  }
}
