package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The prompts and the templates of resources of a server as they were when somebody approved them:
 * the file {@code prompts.json}, of a package that passes them.
 *
 * @param prompts by name
 * @param templates by template
 */
public record PinnedOffers(
    SortedMap<String, ListedOffer> prompts, SortedMap<String, ListedOffer> templates) {
  public static final String FILE = "prompts.json";

  public static final PinnedOffers NONE = new PinnedOffers(new TreeMap<>(), new TreeMap<>());

  private static final int BYTES_MAX = 16 << 20;

  public PinnedOffers {
    prompts = Collections.unmodifiableSortedMap(new TreeMap<>(prompts));
    templates = Collections.unmodifiableSortedMap(new TreeMap<>(templates));
  }

  /**
   * Takes a server's lists.
   *
   * @throws WritException {@code TOL-231} for two of one name, {@code TOL-235}
   */
  static PinnedOffers of(List<JsonValue.Obj> prompts, List<JsonValue.Obj> templates) {
    return new PinnedOffers(
        byKey(prompts, ListedOffer::prompt), byKey(templates, ListedOffer::template));
  }

  private static TreeMap<String, ListedOffer> byKey(
      List<JsonValue.Obj> listed, Function<JsonValue.Obj, ListedOffer> read) {
    TreeMap<String, ListedOffer> all = new TreeMap<>();
    for (JsonValue.Obj each : listed) {
      ListedOffer offer = read.apply(each);
      if (all.put(offer.key(), offer) != null) {
        throw new WritException(
            ToolsError.UPSTREAM_TOOL, "two of the name " + ToolChange.visible(offer.key()));
      }
    }
    return all;
  }

  /**
   * Reads {@code prompts.json}.
   *
   * @throws WritException {@code TOL-238}
   */
  static PinnedOffers parse(byte[] bytes) {
    try {
      JsonValue value = Jcs.parse(bytes, new Limits(BYTES_MAX, Limits.DEFAULT.depthMax()));
      if (value instanceof JsonValue.Obj file) {
        return of(list(file, "prompts"), list(file, "templates"));
      }
    } catch (WritException e) {
      throw new WritException(ToolsError.UPSTREAM_PACKAGE, FILE + ": " + e.code().code(), e);
    }
    throw new WritException(ToolsError.UPSTREAM_PACKAGE, FILE + " is no object");
  }

  private static List<JsonValue.Obj> list(JsonValue.Obj file, String name) {
    List<JsonValue.Obj> all = new ArrayList<>();
    if (file.get(name) instanceof JsonValue.Arr list) {
      for (JsonValue item : list.items()) {
        if (item instanceof JsonValue.Obj object) {
          all.add(object);
        }
      }
    }
    return all;
  }

  byte[] toBytes() {
    return Jcs.write(toJson());
  }

  /** As the protocol lists them. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("prompts", List.copyOf(prompts.values()), ListedOffer::toJson)
        .putList("templates", List.copyOf(templates.values()), ListedOffer::toJson)
        .build();
  }

  /** What is different in a later list, by name; empty where it is the same. */
  List<ToolChange> changes(PinnedOffers later) {
    List<ToolChange> changes = new ArrayList<>();
    changes(changes, "prompt ", prompts, later.prompts);
    changes(changes, "template ", templates, later.templates);
    return changes;
  }

  private static void changes(
      List<ToolChange> changes,
      String kind,
      SortedMap<String, ListedOffer> before,
      SortedMap<String, ListedOffer> after) {
    TreeSet<String> keys = new TreeSet<>(before.keySet());
    keys.addAll(after.keySet());
    for (String key : keys) {
      Optional<ListedOffer> was = Optional.ofNullable(before.get(key));
      Optional<ListedOffer> is = Optional.ofNullable(after.get(key));
      if (!was.equals(is)) {
        changes.add(new ToolChange(kind + key, was, is));
      }
    }
  }

  /** Each of them, as if it were new: to show it. */
  public List<ToolChange> shown() {
    return NONE.changes(this);
  }
}
