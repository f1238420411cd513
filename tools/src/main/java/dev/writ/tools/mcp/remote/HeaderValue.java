package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.rule.SecretGrant;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.ToolHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What a header field holds: a text, and after it a secret where it names one, as in {@code Bearer}
 * and a token.
 */
public record HeaderValue(String text, Optional<String> secret) {
  private static final List<String> OURS =
      List.of("accept", "last-event-id", "origin", "user-agent");

  /**
   * @throws WritException {@code TOL-277}
   */
  public HeaderValue {
    String whole = secret.isPresent() ? text + "x" : text;
    if (!ToolHeaders.isValue(whole) || whole.isEmpty()) {
      throw refuse("a value with what no header may hold");
    }
    if (secret.isPresent() && !SecretGrant.isName(secret.get())) {
      throw refuse("a secret's name is not plain");
    }
  }

  /** A field's name in lower case, for one that Writ does not send itself. */
  public static String requireName(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    boolean free =
        (lower.equals("authorization") || ToolHeaders.maySend(lower))
            && !OURS.contains(lower)
            && !lower.startsWith("mcp-");
    if (!free) {
      throw refuse("\"" + (name.length() > 64 ? name.substring(0, 64) : name) + "\"");
    }
    return lower;
  }

  static HeaderValue parse(String at, JsonValue value) {
    if (!(value instanceof JsonValue.Obj object)) {
      throw refuse("a value that is no object");
    }
    Fields fields = Fields.of(at, object);
    HeaderValue header =
        new HeaderValue(
            object.get("text") == null ? "" : fields.string("text"),
            object.get("secret") == null ? Optional.empty() : Optional.of(fields.string("secret")));
    fields.end();
    return header;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("text", text)
        .putIfPresent("secret", secret, JsonValue::of)
        .build();
  }

  /**
   * The value as it is sent.
   *
   * @throws WritException {@code TOL-041}, {@code TOL-277}; never with a part of the secret
   */
  String with(List<SecretFile> secrets) {
    if (secret.isEmpty()) {
      return text;
    }
    SecretFile found =
        secrets.stream()
            .filter(s -> s.name().equals(secret.get()))
            .findFirst()
            .orElseThrow(() -> new WritException(ToolsError.SECRET_UNKNOWN, secret.get()));
    String value = text + new String(found.bytes(), StandardCharsets.UTF_8).stripTrailing();
    if (!ToolHeaders.isValue(value)) {
      throw refuse("the secret " + secret.get() + " holds what no header may");
    }
    return value;
  }

  private static WritException refuse(String found) {
    return new WritException(ToolsError.UPSTREAM_HEADER, found);
  }
}
