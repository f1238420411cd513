package dev.writ.guardian.mandate;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Puts disclosures into the payload that names their digests (RFC 9901, 7.1), more strictly: what
 * stays undisclosed may only make the mandate narrower. So an agent cannot leave out what limits
 * it: only items of the lists {@code allowed} and {@code delegate_payload} may be missing.
 */
final class Disclosed {
  private static final String DIGESTS = "_sd";
  private static final String ITEM = "...";
  private static final List<String> MAY_LACK = List.of("allowed", "delegate_payload");
  private static final int DEPTH_MAX = 32;

  private final TreeMap<String, SdJwt.Disclosure> left = new TreeMap<>();
  private final TreeSet<String> named = new TreeSet<>();

  private Disclosed() {}

  /**
   * @throws WritException {@code GRD-623} for a disclosure that is there twice, that nothing names,
   *     or whose claim is there already, and for what may not be hidden
   */
  static JsonValue.Obj payload(SdJwt presented) {
    Disclosed disclosed = new Disclosed();
    for (SdJwt.Disclosure one : presented.disclosures()) {
      require(disclosed.left.put(one.digest(), one) == null, "a disclosure twice");
    }
    TreeMap<String, JsonValue> payload = new TreeMap<>(presented.issued().payload().members());
    payload.remove("_sd_alg");
    JsonValue.Obj whole = disclosed.object(new JsonValue.Obj(payload), 0);
    require(disclosed.left.isEmpty(), disclosed.left.size() + " disclosures that nothing names");
    return whole;
  }

  private JsonValue value(JsonValue value, String member, int depth) {
    return switch (value) {
      case JsonValue.Obj object -> object(object, depth);
      case JsonValue.Arr list -> list(list, member, depth);
      default -> value;
    };
  }

  private JsonValue.Obj object(JsonValue.Obj object, int depth) {
    require(depth <= DEPTH_MAX, "disclosures nested more than " + DEPTH_MAX + " deep");
    require(object.get(ITEM) == null, "a member named " + ITEM);
    TreeMap<String, JsonValue> whole = new TreeMap<>();
    object
        .members()
        .forEach((name, value) -> {
          if (!name.equals(DIGESTS)) {
            whole.put(name, value(value, name, depth + 1));
          }
        });
    if (object.get(DIGESTS) != null) {
      require(object.get(DIGESTS) instanceof JsonValue.Arr, DIGESTS + " that is no list");
      for (JsonValue digest : ((JsonValue.Arr) object.get(DIGESTS)).items()) {
        SdJwt.Disclosure one = take(digest).orElse(null);
        require(one != null, "a member that is not disclosed");
        require(one.name().isPresent(), "an item of a list in the place of a member");
        String name = one.name().get();
        require(
            whole.put(name, value(one.value(), name, depth + 1)) == null,
            "the member " + name + " twice");
      }
    }
    return new JsonValue.Obj(whole);
  }

  private JsonValue.Arr list(JsonValue.Arr list, String member, int depth) {
    require(depth <= DEPTH_MAX, "disclosures nested more than " + DEPTH_MAX + " deep");
    List<JsonValue> items = new ArrayList<>();
    for (JsonValue item : list.items()) {
      if (item instanceof JsonValue.Obj object && object.get(ITEM) != null) {
        require(object.members().size() == 1, ITEM + " beside other members");
        SdJwt.Disclosure one = take(object.get(ITEM)).orElse(null);
        require(one != null || MAY_LACK.contains(member), "an item that is not disclosed");
        if (one != null) {
          require(one.name().isEmpty(), "a member in the place of an item of a list");
          items.add(value(one.value(), "", depth + 1));
        }
      } else {
        items.add(value(item, "", depth + 1));
      }
    }
    return new JsonValue.Arr(items);
  }

  /** The disclosure of a digest, which is named once. */
  private Optional<SdJwt.Disclosure> take(JsonValue digest) {
    require(digest instanceof JsonValue.Str, "a digest that is no text");
    String text = ((JsonValue.Str) digest).value();
    require(named.add(text), "a digest twice");
    return Optional.ofNullable(left.remove(text));
  }

  private static void require(boolean holds, String found) {
    if (!holds) {
      throw new WritException(GuardianError.MANDATE_DISCLOSURE, found);
    }
  }
}
