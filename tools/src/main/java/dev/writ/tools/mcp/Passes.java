package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/**
 * What a server may do beside answering calls: the member {@code passes} of {@code server.json},
 * bound by the package digest (spec/tool-mcp-passing.md). What is not in it is announced to nobody.
 *
 * @param names sorted, of {@link #KNOWN}
 */
public record Passes(List<String> names) {
  public static final String COMPLETION = "completion";
  public static final String ELICITATION = "elicitation";
  public static final String LOGGING = "logging";
  public static final String PROMPTS = "prompts";
  public static final String RESOURCES = "resources";
  public static final String ROOTS = "roots";
  public static final String SAMPLING = "sampling";

  /** All that there is. */
  public static final List<String> KNOWN =
      List.of(COMPLETION, ELICITATION, LOGGING, PROMPTS, RESOURCES, ROOTS, SAMPLING);

  public static final Passes NONE = new Passes(List.of());

  /**
   * @throws WritException {@code TOL-243} for a name that is not known
   */
  public Passes {
    names = List.copyOf(new TreeSet<>(names));
    for (String name : names) {
      if (!KNOWN.contains(name)) {
        throw new WritException(
            ToolsError.UPSTREAM_PASSES, "\"" + ToolChange.visible(name) + "\", known are " + KNOWN);
      }
    }
  }

  /**
   * Of names, and of lists of them with commas.
   *
   * @throws WritException {@code TOL-243}
   */
  public static Passes of(Collection<String> lists) {
    return new Passes(lists.stream().flatMap(list -> List.of(list.split(",")).stream()).toList());
  }

  /** What a server is told that its client can. */
  JsonValue.Obj capabilities() {
    var all = JsonValue.object();
    JsonValue.Obj nothing = JsonValue.object().build();
    if (has(ELICITATION)) {
      all.put("elicitation", JsonValue.object().put("form", nothing).put("url", nothing).build());
    }
    if (has(ROOTS)) {
      all.put("roots", nothing);
    }
    if (has(SAMPLING)) {
      all.put("sampling", nothing);
    }
    return all.build();
  }

  public boolean has(String name) {
    return names.contains(name);
  }

  /**
   * Whether the server may ask the client, or tell it, what no message ties to a call: then its
   * calls run one after another, so that there is one that it can be about.
   */
  public boolean talks() {
    return has(ELICITATION) || has(LOGGING) || has(ROOTS) || has(SAMPLING);
  }
}
