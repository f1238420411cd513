package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The tools of a server as they were when somebody approved them, the file {@code tools.json}, and
 * its prompts and templates where its package passes them.
 */
public final class PinnedTools {
  public static final String FILE = "tools.json";

  private static final int BYTES_MAX = 16 << 20;

  private final TreeMap<String, ListedTool> byName = new TreeMap<>();
  private final PinnedOffers offers;

  private PinnedTools(Collection<ListedTool> tools, PinnedOffers offers) {
    this.offers = offers;
    for (ListedTool tool : tools) {
      if (byName.put(tool.name(), tool) != null) {
        throw new WritException(ToolsError.UPSTREAM_TOOL, "two tools named " + tool.name());
      }
    }
  }

  /**
   * Takes a server's list.
   *
   * @throws WritException {@code TOL-231}, {@code TOL-235}
   */
  public static PinnedTools of(List<JsonValue.Obj> listed) {
    return new PinnedTools(listed.stream().map(ListedTool::read).toList(), PinnedOffers.NONE);
  }

  /** The same tools with those prompts and templates. */
  PinnedTools with(PinnedOffers others) {
    return new PinnedTools(byName.values(), others);
  }

  /** Its prompts and templates. */
  public PinnedOffers offers() {
    return offers;
  }

  /**
   * Reads {@code tools.json}.
   *
   * @throws WritException {@code TOL-238}
   */
  static PinnedTools parse(byte[] bytes) {
    try {
      JsonValue value = Jcs.parse(bytes, new Limits(BYTES_MAX, Limits.DEFAULT.depthMax()));
      if (value instanceof JsonValue.Obj file
          && file.get("tools") instanceof JsonValue.Arr list
          && list.items().stream().allMatch(item -> item instanceof JsonValue.Obj)) {
        return of(list.items().stream().map(item -> (JsonValue.Obj) item).toList());
      }
    } catch (WritException e) {
      throw new WritException(ToolsError.UPSTREAM_PACKAGE, FILE + ": " + e.code().code(), e);
    }
    throw new WritException(ToolsError.UPSTREAM_PACKAGE, FILE + " has no list of tools");
  }

  byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .putList("tools", List.copyOf(byName.values()), ListedTool::toJson)
            .build());
  }

  /** The tools by name. */
  public SortedMap<String, ListedTool> byName() {
    return new TreeMap<>(byName);
  }

  /** One tool. */
  public Optional<ListedTool> tool(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  /** What is different in a later list, by name; empty where it is the same. */
  public List<ToolChange> changes(PinnedTools later) {
    TreeSet<String> names = new TreeSet<>(byName.keySet());
    names.addAll(later.byName.keySet());
    List<ToolChange> changes = new ArrayList<>();
    for (String name : names) {
      Optional<ListedTool> before = tool(name);
      Optional<ListedTool> after = later.tool(name);
      if (!before.equals(after)) {
        changes.add(new ToolChange(name, before, after));
      }
    }
    changes.addAll(offers.changes(later.offers));
    return changes;
  }
}
