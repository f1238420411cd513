package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Optional;

/**
 * A version of JSON Schema. A keyword that a version does not know checks nothing in its schemas,
 * so it must check nothing here.
 */
enum SchemaDraft {
  /** Draft 3 and before: {@code required}, {@code type} and much else mean other things. */
  ANCIENT("https?://json-schema\\.org/draft-0[0-3]/(hyper-)?schema"),
  DRAFT_04("https?://json-schema\\.org/draft-04/(hyper-)?schema"),
  DRAFT_06("https?://json-schema\\.org/draft-06/(hyper-)?schema"),
  DRAFT_07("https?://json-schema\\.org/draft-07/(hyper-)?schema"),
  DRAFT_2019_09("https?://json-schema\\.org/draft/2019-09/schema"),
  DRAFT_2020_12("https?://json-schema\\.org/draft/2020-12/schema");

  private static final List<String> SINCE_06 = List.of("const", "contains", "propertyNames");
  private static final List<String> SINCE_07 = List.of("else", "if", "then");
  private static final List<String> SINCE_2019 =
      List.of("dependentRequired", "dependentSchemas", "maxContains", "minContains");

  private final String name;

  SchemaDraft(String name) {
    this.name = name;
  }

  /**
   * What a schema says it is written in: 2020-12 where it says nothing, as the protocol has it;
   * empty for a version that is not known.
   */
  static Optional<SchemaDraft> of(JsonValue.Obj root) {
    if (!(root.get("$schema") instanceof JsonValue.Str named)) {
      return Optional.of(DRAFT_2020_12);
    }
    for (SchemaDraft draft : values()) {
      if (named.value().matches(draft.name + "#?")) {
        return Optional.of(draft);
      }
    }
    return Optional.empty();
  }

  /** Whether a reference hides what stands beside it. */
  boolean hidesSiblings() {
    return compareTo(DRAFT_2019_09) < 0;
  }

  /** Whether {@code true} and {@code false} are schemas. */
  boolean hasBooleans() {
    return compareTo(DRAFT_06) >= 0;
  }

  /** Whether a keyword that manifests hold is one of this version. */
  boolean knows(String keyword) {
    if (SINCE_06.contains(keyword)) {
      return compareTo(DRAFT_06) >= 0;
    }
    if (SINCE_07.contains(keyword)) {
      return compareTo(DRAFT_07) >= 0;
    }
    if (SINCE_2019.contains(keyword)) {
      return compareTo(DRAFT_2019_09) >= 0;
    }
    return !keyword.equals("prefixItems") || this == DRAFT_2020_12;
  }
}
