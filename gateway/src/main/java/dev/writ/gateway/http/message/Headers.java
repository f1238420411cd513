package dev.writ.gateway.http.message;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Header fields: names without case, each with its values in the order they came. Immutable. */
public final class Headers {
  private final SortedMap<String, List<String>> fields;

  private Headers(SortedMap<String, List<String>> fields) {
    this.fields = fields;
  }

  /** From pairs of name and value; a name may occur several times. */
  public static Headers of(Iterable<Map.Entry<String, String>> pairs) {
    TreeMap<String, List<String>> fields = new TreeMap<>(Comparator.naturalOrder());
    for (Map.Entry<String, String> pair : pairs) {
      fields
          .computeIfAbsent(pair.getKey().toLowerCase(Locale.ROOT), _ -> new ArrayList<>())
          .add(pair.getValue());
    }
    fields.replaceAll((_, values) -> List.copyOf(values));
    return new Headers(fields);
  }

  /** All values of a field; none where it is absent. */
  public List<String> all(String name) {
    return fields.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
  }

  /**
   * The value of a field that may stand once at most.
   *
   * @throws dev.writ.canonicalize.WritException {@code GWY-013} where it stands several times
   */
  public Optional<String> one(String name) {
    List<String> values = all(name);
    if (values.size() > 1) {
      throw new WritException(GatewayError.HEADER_TWICE, name + ", " + values.size() + " times");
    }
    return values.stream().findFirst();
  }

  public boolean has(String name) {
    return fields.containsKey(name.toLowerCase(Locale.ROOT));
  }

  /** Every field by its name in lower case. */
  public SortedMap<String, List<String>> fields() {
    return Collections.unmodifiableSortedMap(fields);
  }
}
