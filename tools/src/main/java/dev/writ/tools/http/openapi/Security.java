package dev.writ.tools.http.openapi;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.ToolHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The security schemes that operations use, as credentials of the package. */
final class Security {
  private static final int NAME_CHARS = 64;

  private final Document document;
  private final String tool;
  private final TreeMap<String, JsonValue> credentials = new TreeMap<>();
  private final TreeMap<String, String> secrets = new TreeMap<>();

  /**
   * @param tool names of secrets begin with it
   */
  Security(Document document, String tool) {
    this.document = document;
    this.tool = tool;
  }

  /** What the package declares, for the operations so far. */
  Optional<JsonValue> credentials() {
    if (credentials.isEmpty()) {
      return Optional.empty();
    }
    var all = JsonValue.object();
    credentials.forEach(all::put);
    return Optional.of(all.build());
  }

  /** The secrets of an operation: those of its first alternative that can be sent. */
  List<String> of(Node operation) {
    Optional<Node> security = operation.get("security").or(() -> document.root().get("security"));
    if (security.isEmpty() || security.get().items().isEmpty()) {
      return List.of();
    }
    Optional<String> why = Optional.empty();
    for (Node alternative : security.get().items()) {
      Map<String, Node> schemes = alternative.members();
      Optional<String> refusal =
          schemes.keySet().stream()
              .map(name -> refusal(scheme(alternative, name)))
              .flatMap(Optional::stream)
              .findFirst();
      if (refusal.isEmpty()) {
        List<String> names = new ArrayList<>();
        schemes.keySet().forEach(name -> names.add(secret(name, scheme(alternative, name))));
        return names;
      }
      why = refusal;
    }
    throw HeldSchema.unheld(security.get(), "every way in takes " + why.orElseThrow());
  }

  private Node scheme(Node alternative, String name) {
    return document
        .root()
        .get("components")
        .flatMap(components -> components.get("securitySchemes"))
        .flatMap(all -> all.get(name))
        .map(document::resolved)
        .orElseThrow(() ->
            alternative.refuse(
                ToolsError.OPENAPI_REFERENCE, "there is no security scheme of that name"));
  }

  private static Optional<String> refusal(Node scheme) {
    String type = scheme.required("type");
    return switch (type) {
      case "http" -> {
        String how = scheme.required("scheme").toLowerCase(Locale.ROOT);
        yield how.equals("bearer") || how.equals("basic")
            ? Optional.empty()
            : Optional.of("another scheme than bearer and basic");
      }
      case "apiKey" -> {
        String in = scheme.required("in");
        boolean header = in.equals("header") && ToolHeaders.maySend(scheme.required("name"));
        boolean plainBearer =
            in.equals("header") && scheme.required("name").equalsIgnoreCase("authorization");
        yield header || plainBearer || in.equals("query")
            ? Optional.empty()
            : Optional.of("a key in a cookie, or in a header that is not for tools");
      }
      case "oauth2", "openIdConnect" -> Optional.empty();
      default -> Optional.of("a scheme of another type");
    };
  }

  private String secret(String name, Node scheme) {
    String known = secrets.get(name);
    if (known != null) {
      return known;
    }
    String base =
        (tool.replace('-', '_') + "_" + name)
            .replaceAll("[^A-Za-z0-9_.-]", "_")
            .replaceAll("^[.-]+", "");
    String secret = base.substring(0, Math.min(NAME_CHARS, base.length()));
    for (int n = 2; credentials.containsKey(secret); n++) {
      secret = base.substring(0, Math.min(NAME_CHARS - 4, base.length())) + "_" + n;
    }
    var credential = JsonValue.object();
    String type = scheme.required("type");
    if (type.equals("apiKey")) {
      String field = scheme.required("name");
      boolean bearer = scheme.required("in").equals("header") && !ToolHeaders.maySend(field);
      credential.put("as", bearer ? "bearer" : scheme.required("in"));
      if (!bearer) {
        credential.put("name", field);
      }
    } else {
      boolean basic = type.equals("http") && scheme.required("scheme").equalsIgnoreCase("basic");
      credential.put("as", basic ? "basic" : "bearer");
    }
    credentials.put(secret, credential.build());
    secrets.put(name, secret);
    return secret;
  }
}
