package dev.writ.replay.proposal;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** A policy's canonical document, with some of its members replaced. */
final class PolicyDocument {
  private final TreeMap<String, JsonValue> members;

  PolicyDocument(JsonValue.Obj document) {
    this.members = new TreeMap<>(document.members());
    members.remove("previous");
    members.remove("mode");
  }

  PolicyDocument put(String member, JsonValue value) {
    members.put(member, value);
    return this;
  }

  PolicyDocument put(String member, List<? extends JsonValue> values) {
    return put(member, JsonValue.of(List.copyOf(values)));
  }

  JsonValue get(String member) {
    return members.get(member);
  }

  List<JsonValue> list(String member) {
    return ((JsonValue.Arr) members.get(member)).items();
  }

  JsonValue.Obj object(String member) {
    return (JsonValue.Obj) members.get(member);
  }

  static JsonValue texts(Collection<String> texts) {
    return JsonValue.of(texts.stream().map(JsonValue::of).toList());
  }

  static JsonValue greater(JsonValue a, JsonValue b) {
    return ((JsonValue.Num) a).value() >= ((JsonValue.Num) b).value() ? a : b;
  }

  static JsonValue lesser(JsonValue a, JsonValue b) {
    return greater(a, b) == a ? b : a;
  }

  /** Replaces a member of an object. */
  static JsonValue.Obj with(JsonValue.Obj object, String member, UnaryOperator<JsonValue> change) {
    TreeMap<String, JsonValue> changed = new TreeMap<>(object.members());
    changed.put(member, change.apply(changed.get(member)));
    return new JsonValue.Obj(changed);
  }

  /** Without members that say nothing: the canonical form has every default written out. */
  JsonValue.Obj toJson() {
    TreeMap<String, JsonValue> said = new TreeMap<>(members);
    said.computeIfPresent("roles", (_, roles) -> ofEach(roles, "environment", "network", "paths"));
    said.computeIfPresent("temporal", (_, temporal) -> said(temporal, "hours", "order", "rates"));
    said.computeIfPresent("principals", (_, all) -> ofEach(all, "surfaces"));
    for (String list : List.of("budgets", "requirements")) {
      said.computeIfPresent(list, (_, items) -> ofEach(items, "match"));
    }
    return (JsonValue.Obj)
        said(new JsonValue.Obj(said), "execute_for", "prices", "revoked", "temporal");
  }

  private static JsonValue ofEach(JsonValue all, String... optional) {
    if (all instanceof JsonValue.Arr list) {
      return JsonValue.of(list.items().stream().map(item -> said(item, optional)).toList());
    }
    TreeMap<String, JsonValue> members = new TreeMap<>(((JsonValue.Obj) all).members());
    members.replaceAll((_, value) -> said(value, optional));
    return new JsonValue.Obj(members);
  }

  private static JsonValue said(JsonValue object, String... optional) {
    TreeMap<String, JsonValue> members = new TreeMap<>(((JsonValue.Obj) object).members());
    members
        .entrySet()
        .removeIf(
            member -> List.of(optional).contains(member.getKey()) && isEmpty(member.getValue()));
    return new JsonValue.Obj(members);
  }

  private static boolean isEmpty(JsonValue value) {
    return switch (value) {
      case JsonValue.Arr list -> list.items().isEmpty();
      case JsonValue.Obj object -> object.members().isEmpty();
      default -> false;
    };
  }
}
