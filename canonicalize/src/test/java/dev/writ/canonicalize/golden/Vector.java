package dev.writ.canonicalize.golden;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * One golden vector, which is one file: {@code {"about", "op", "input": {…}, "expect": {…}}}. What
 * is expected is either what comes out or {@code {"code": …}}, the refusal.
 */
record Vector(String about, String op, JsonValue.Obj input, JsonValue.Obj expect) {

  static Vector of(String about, String op, JsonValue.Obj input, CanonicalizeError refusal) {
    return new Vector(about, op, input, JsonValue.object().put("code", refusal.code()).build());
  }

  static Vector read(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    Vector vector =
        new Vector(
            fields.name("about"), fields.name("op"), fields.obj("input"), fields.obj("expect"));
    fields.end();
    return vector;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("about", about)
        .put("op", op)
        .put("input", input)
        .put("expect", expect)
        .build();
  }
}
