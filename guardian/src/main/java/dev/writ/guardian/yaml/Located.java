package dev.writ.guardian.yaml;

import dev.writ.canonicalize.json.JsonValue;
import java.util.LinkedHashMap;
import java.util.List;

/** A value of a file for people, with the place where it stands. */
public sealed interface Located {

  /** Line and column, counted from 1; 0 where a document has none. */
  record Place(int line, int column) {
    static final Place NONE = new Place(0, 0);
  }

  Place at();

  /** The members in the order of the file; each key with its own place. */
  record Map(Place at, LinkedHashMap<String, Member> members) implements Located {}

  /** One member of a mapping. */
  record Member(Place keyAt, Located value) {}

  record Seq(Place at, List<Located> items) implements Located {}

  record Scalar(Place at, JsonValue value) implements Located {}

  /**
   * Stands in place of an item that was found faulty, so that the items behind it keep their
   * numbers; {@link Section} passes over it.
   */
  Scalar LEFT_OUT = new Scalar(Place.NONE, JsonValue.of("left out"));

  /** A value that comes from no file. */
  static Located of(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object -> {
        LinkedHashMap<String, Member> members = new LinkedHashMap<>();
        object
            .members()
            .forEach((key, member) -> members.put(key, new Member(Place.NONE, of(member))));
        yield new Map(Place.NONE, members);
      }
      case JsonValue.Arr array ->
          new Seq(Place.NONE, array.items().stream().map(Located::of).toList());
      default -> new Scalar(Place.NONE, value);
    };
  }

  /** The plain value, without places. */
  default JsonValue plain() {
    return switch (this) {
      case Map map -> {
        var object = JsonValue.object();
        map.members.forEach((key, member) -> object.put(key, member.value().plain()));
        yield object.build();
      }
      case Seq seq -> JsonValue.of(seq.items.stream().map(Located::plain).toList());
      case Scalar scalar -> scalar.value;
    };
  }
}
