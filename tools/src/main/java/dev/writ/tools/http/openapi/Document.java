package dev.writ.tools.http.openapi;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.yaml.Located;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.tools.error.ToolsError;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.TreeSet;

/** An OpenAPI document of 3.0 or 3.1, and what its references lead to. Nothing is fetched. */
final class Document {
  private final Node root;
  private final boolean modern;

  private Document(Node root, boolean modern) {
    this.root = root;
    this.modern = modern;
  }

  /**
   * @param file its name, for messages
   * @throws WritException {@code TOL-254}, {@code TOL-255}
   */
  static Document read(byte[] bytes, String file) {
    Located value;
    try {
      value = PlainYaml.readForeign(bytes, file);
    } catch (WritException e) {
      throw new WritException(
          ToolsError.OPENAPI_SYNTAX, e.found() + " (" + e.code().meaning() + ")", e);
    }
    Node root = new Node("#", value);
    if (!root.isMap()) {
      throw root.refuse(ToolsError.OPENAPI_VERSION, "not a mapping");
    }
    if (root.get("swagger").isPresent()) {
      throw root.get("swagger").get().refuse(ToolsError.OPENAPI_VERSION, "Swagger 2");
    }
    Node version =
        root.get("openapi")
            .orElseThrow(
                () -> root.refuse(ToolsError.OPENAPI_VERSION, "there is no `openapi: 3.…`"));
    String text = version.text();
    if (!text.matches("3\\.[01]\\.[0-9]{1,3}(-.{0,20})?")) {
      throw version.refuse(ToolsError.OPENAPI_VERSION, "`openapi` is another version");
    }
    return new Document(root, text.startsWith("3.1"));
  }

  Node root() {
    return root;
  }

  /** Whether its schemas are JSON Schema 2020-12 (OpenAPI 3.1). */
  boolean modern() {
    return modern;
  }

  /** The object itself, or what its reference leads to. */
  Node resolved(Node node) {
    TreeSet<String> seen = new TreeSet<>();
    Node at = node;
    while (at.get("$ref").isPresent()) {
      if (!seen.add(at.pointer())) {
        throw node.refuse(ToolsError.OPENAPI_REFERENCE, "its references lead in a circle");
      }
      at = target(at.get("$ref").get());
    }
    return at;
  }

  /**
   * What a reference leads to.
   *
   * @throws WritException {@code TOL-256}
   */
  Node target(Node reference) {
    String text = reference.text();
    if (!text.startsWith("#/")) {
      throw reference.refuse(
          ToolsError.OPENAPI_REFERENCE, "it leads out of the document, and nothing is fetched");
    }
    Node at = root;
    for (String token : text.substring(2).split("/", -1)) {
      at =
          step(at, decoded(token).replace("~1", "/").replace("~0", "~"))
              .orElseThrow(
                  () -> reference.refuse(ToolsError.OPENAPI_REFERENCE, "it leads nowhere"));
    }
    return at;
  }

  private static Optional<Node> step(Node at, String token) {
    if (at.isMap()) {
      return at.get(token);
    }
    if (at.value() instanceof Located.Seq seq
        && token.matches("0|[1-9][0-9]{0,6}")
        && Integer.parseInt(token) < seq.items().size()) {
      return Optional.of(at.items().get(Integer.parseInt(token)));
    }
    return Optional.empty();
  }

  /** Percent-encoding undone as in fragments. */
  private static String decoded(String token) {
    try {
      return URLDecoder.decode(token.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return token;
    }
  }
}
