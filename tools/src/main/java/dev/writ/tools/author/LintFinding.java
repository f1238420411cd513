package dev.writ.tools.author;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;

/**
 * A fault for which registration refuses a package.
 *
 * @param place a file of the package, with line and column where they are known
 * @param found what was found, and what was expected
 */
public record LintFinding(ErrorCode code, String place, String found) {

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("code", code.code())
        .put("place", place)
        .put("found", found)
        .put("remedy", code.remedy())
        .build();
  }

  static LintFinding of(String place, WritException refused) {
    return new LintFinding(refused.code(), place, refused.found());
  }

  WritException refusal() {
    return new WritException(code, place + ": " + found);
  }
}
