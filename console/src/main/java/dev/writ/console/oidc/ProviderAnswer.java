package dev.writ.console.oidc;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Optional;

/** Reads members of what a provider says. */
final class ProviderAnswer {
  private ProviderAnswer() {}

  static Optional<String> text(JsonValue.Obj of, String name) {
    return of.get(name) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  /** One text, or several. Whatever else stands in a list makes it no list of texts. */
  static Optional<List<String>> texts(JsonValue value) {
    return switch (value) {
      case JsonValue.Str one -> Optional.of(List.of(one.value()));
      case JsonValue.Arr all
          when all.items().stream().allMatch(item -> item instanceof JsonValue.Str) ->
          Optional.of(all.items().stream().map(item -> ((JsonValue.Str) item).value()).toList());
      case null, default -> Optional.empty();
    };
  }

  static WritException unreached(String found) {
    return new WritException(OidcError.UNREACHED, found);
  }
}
