package dev.writ.guardian.profile;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Request;
import java.util.Arrays;
import java.util.Optional;

/**
 * The refusal of a surface that sees what the Guardian cannot: where the links of its host lead. It
 * stands in the request's context, so that the signed decision has the code of the answer. A
 * surface can only refuse by it.
 *
 * @param reason for people; no payload
 */
public record SurfaceRefusal(ProfileError code, String reason) {
  /** The member of the request's context. */
  public static final String CONTEXT = "refused";

  /** That of a request; a code that is no profile's refuses as another effect does. */
  static Optional<SurfaceRefusal> of(Request request) {
    if (!(request.context().get(CONTEXT) instanceof JsonValue.Obj stated)) {
      return Optional.empty();
    }
    ProfileError code =
        Arrays.stream(ProfileError.values())
            .filter(error -> JsonValue.of(error.code()).equals(stated.get("code")))
            .findFirst()
            .orElse(ProfileError.NOT_THE_EFFECT);
    String reason = stated.get("reason") instanceof JsonValue.Str text ? text.value() : "";
    return Optional.of(new SurfaceRefusal(code, reason));
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object().put("code", code.code()).put("reason", reason).build();
  }

  WritException exception() {
    return new WritException(code, reason);
  }
}
