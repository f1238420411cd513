package dev.writ.canonicalize.json;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;

/** A refusal as programs read it: code, found, meaning, remedy. */
public final class ErrorJson {
  private ErrorJson() {}

  public static JsonValue.Obj of(WritException refusal) {
    return of(refusal.code(), refusal.found());
  }

  /**
   * @param found what was found; without payloads and secrets
   */
  public static JsonValue.Obj of(ErrorCode code, String found) {
    return JsonValue.object()
        .put("code", code.code())
        .put("found", found)
        .put("meaning", code.meaning())
        .put("remedy", code.remedy())
        .build();
  }
}
