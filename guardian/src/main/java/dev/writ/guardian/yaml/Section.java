package dev.writ.guardian.yaml;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.guardian.error.GuardianError;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Reads the members of one mapping of a file for people, each once. Every refusal names file, line,
 * column and field. {@link #end()} must be called last: it refuses unknown keys.
 */
public final class Section {
  /**
   * Characters that an editor does not show, or shows in another place, so that names with them
   * look like others. Signed documents with such names are still read: they have no lines.
   */
  private static final Pattern UNSEEN =
      Pattern.compile(
          "[\\x7f-\\x9f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]");

  private static final String UNSEEN_FOUND =
      " with a character that is not shown, or turns the direction of text";

  private final String file;
  private final String path;
  private final Located.Map map;
  private final TreeSet<String> left;

  /** The keys that were looked for: what an unknown one may have been meant to be. */
  private final TreeSet<String> known = new TreeSet<>();

  private Section(String file, String path, Located.Map map) {
    this.file = file;
    this.path = path;
    this.map = map;
    this.left = new TreeSet<>(map.members().keySet());
    map.members()
        .forEach((key, member) -> {
          if (isUnseen(key, member.keyAt())) {
            throw refuse(
                GuardianError.POLICY_VALUE, file, path, member.keyAt(), "a key" + UNSEEN_FOUND);
          }
        });
  }

  private static boolean isUnseen(String name, Located.Place at) {
    return at.line() > 0 && UNSEEN.matcher(name).find();
  }

  public static Section of(String file, Located root) {
    return of(file, "", root);
  }

  private static Section of(String file, String path, Located node) {
    if (node instanceof Located.Map map) {
      return new Section(file, path, map);
    }
    throw refuse(GuardianError.POLICY_TYPE, file, path, node.at(), "not a mapping");
  }

  /** The keys in the order of the file, for mappings with names as keys. */
  public List<String> keys() {
    return List.copyOf(map.members().keySet());
  }

  public Located value(String key) {
    known.add(key);
    Located.Member member = map.members().get(key);
    if (member == null) {
      throw refuse(GuardianError.POLICY_KEY_MISSING, file, path + "/" + key, map.at(), kind());
    }
    left.remove(key);
    return member.value();
  }

  /** What a whole file is that lacks a key, where its own first key says so. */
  private String kind() {
    if (!path.isEmpty()) {
      return "";
    }
    if (left.contains("writ_policy")) {
      return "the file is a policy; writ policy check reads it";
    }
    return left.contains("writ_gateway")
        ? "the file is a server's configuration; writ config check reads it"
        : "";
  }

  public <T> Optional<T> optional(String key, Function<String, T> reader) {
    known.add(key);
    return map.members().containsKey(key) ? Optional.of(reader.apply(key)) : Optional.empty();
  }

  /** Any string. */
  public String text(String key) {
    return new Item(key, path + "/" + key, value(key)).text();
  }

  /** A string of 1 to 256 characters, none of them a control character. */
  public String name(String key) {
    return new Item(key, path + "/" + key, value(key)).name();
  }

  /**
   * A text for people in one line: 1 to 1,000 characters, none of them a control character, or one
   * that is not shown or turns the direction of text, in documents too.
   */
  public String sentence(String key) {
    String text = text(key);
    require(
        key,
        !text.isBlank()
            && text.length() <= 1_000
            && text.chars().noneMatch(c -> c < 0x20)
            && !UNSEEN.matcher(text).find(),
        "not 1 to 1000 characters in one line, all of them shown");
    return text;
  }

  /** Names, each once, sorted: the order in the file says nothing. */
  public List<String> names(String key) {
    List<String> names = list(key, Item::name).stream().sorted().toList();
    for (int i = 1; i < names.size(); i++) {
      if (names.get(i).equals(names.get(i - 1))) {
        throw at(key, GuardianError.POLICY_DUPLICATE, "\"" + names.get(i) + "\"");
      }
    }
    return names;
  }

  public List<String> names(String key, List<String> otherwise) {
    return optional(key, this::names).orElse(otherwise);
  }

  /** An integer from 0 to 2^53 − 1. */
  public long count(String key) {
    return between(key, 0, JsonValue.Num.MAX_INTEGER);
  }

  public long between(String key, long min, long max) {
    if (value(key) instanceof Located.Scalar scalar
        && scalar.value() instanceof JsonValue.Num number
        && number.isInteger()) {
      long value = (long) number.value();
      require(key, min <= value && value <= max, value + ", not within " + min + " to " + max);
      return value;
    }
    throw at(key, GuardianError.POLICY_TYPE, "not an integer");
  }

  /** A number above zero, in thousandths, rounded up: {@code 1.5} is 1500. */
  public long milli(String key) {
    if (value(key) instanceof Located.Scalar scalar
        && scalar.value() instanceof JsonValue.Num number) {
      double milli = Math.ceil(number.value() * 1000);
      require(key, milli >= 1 && milli <= JsonValue.Num.MAX_INTEGER, "not above zero");
      return (long) milli;
    }
    throw at(key, GuardianError.POLICY_TYPE, "not a number");
  }

  /** A limit: an integer, or the word {@code unlimited}, which gives nothing. */
  public Optional<Long> limit(String key) {
    if (value(key) instanceof Located.Scalar scalar
        && scalar.value().equals(JsonValue.of("unlimited"))) {
      return Optional.empty();
    }
    return Optional.of(count(key));
  }

  public boolean bool(String key) {
    if (value(key) instanceof Located.Scalar scalar && scalar.value() instanceof JsonValue.Bool b) {
      return b.value();
    }
    throw at(key, GuardianError.POLICY_TYPE, "not true or false");
  }

  public Digest digest(String key) {
    return new Item(key, path + "/" + key, value(key)).digest();
  }

  public Instant time(String key) {
    try {
      return Timestamps.parse(text(key));
    } catch (WritException e) {
      throw at(key, GuardianError.POLICY_VALUE, e.found());
    }
  }

  public <T> T oneOf(String key, List<T> values, Function<T, String> text) {
    return new Item(key, path + "/" + key, value(key)).itemOf(values, text);
  }

  /** A time of day {@code HH:MM}, as minutes; {@code 24:00} is the end of the day. */
  public int minuteOfDay(String key) {
    String text = text(key);
    boolean formed =
        text.length() == 5
            && text.charAt(2) == ':'
            && text.chars().filter(c -> c >= '0' && c <= '9').count() == 4;
    int minute =
        formed
            ? Integer.parseInt(text, 0, 2, 10) * 60 + Integer.parseInt(text, 3, 5, 10)
            : Integer.MAX_VALUE;
    require(
        key,
        minute <= 24 * 60 && Integer.parseInt(text, 3, 5, 10) < 60,
        "\"" + text + "\" is not a time of day like 08:00");
    return minute;
  }

  public ZoneOffset offset(String key) {
    String text = text(key);
    try {
      if (text.length() == 6) {
        return ZoneOffset.of(text);
      }
    } catch (DateTimeException e) {
      // refused below, with the other wrong forms
    }
    throw at(key, GuardianError.POLICY_VALUE, "\"" + text + "\" is not an offset like +01:00");
  }

  public Section section(String key) {
    return of(file, path + "/" + key, value(key));
  }

  /** Free-form JSON. */
  public JsonValue.Obj object(String key) {
    if (value(key).plain() instanceof JsonValue.Obj object) {
      return object;
    }
    throw at(key, GuardianError.POLICY_TYPE, "not a mapping");
  }

  public <T> List<T> list(String key, Function<Item, T> reader) {
    if (!(value(key) instanceof Located.Seq seq)) {
      throw at(key, GuardianError.POLICY_TYPE, "not a list");
    }
    List<T> result = new ArrayList<>();
    for (int i = 0; i < seq.items().size(); i++) {
      Located item = seq.items().get(i);
      if (item != Located.LEFT_OUT) {
        result.add(reader.apply(new Item(key, path + "/" + key + "/" + i, item)));
      }
    }
    return List.copyOf(result);
  }

  public <T> List<T> listOrNone(String key, Function<Item, T> reader) {
    return optional(key, k -> list(k, reader)).orElse(List.of());
  }

  /** The one key of a mapping that must have exactly one, out of a list. */
  public String onlyKey(List<String> allowed) {
    List<String> keys = keys();
    if (keys.size() == 1 && allowed.contains(keys.getFirst())) {
      return keys.getFirst();
    }
    throw refuse(
        GuardianError.POLICY_KEY_UNKNOWN,
        file,
        path,
        map.at(),
        "has the keys " + keys + "; write exactly one of " + allowed);
  }

  public void require(String key, boolean holds, String found) {
    if (!holds) {
      throw at(key, GuardianError.POLICY_VALUE, found);
    }
  }

  /** A refusal at the place of a member, or of this mapping if it has no member with that key. */
  public WritException at(String key, GuardianError code, String found) {
    Located.Member member = map.members().get(key);
    return refuse(
        code,
        file,
        key.isEmpty() ? path : path + "/" + key,
        member == null ? map.at() : member.value().at(),
        found);
  }

  public void end() {
    if (!left.isEmpty()) {
      String key = left.first();
      throw refuse(
          GuardianError.POLICY_KEY_UNKNOWN,
          file,
          path + "/" + key,
          map.members().get(key).keyAt(),
          NearestName.of(key, known).map(near -> "did you mean " + near + "?").orElse(""));
    }
  }

  private static WritException refuse(
      GuardianError code, String file, String path, Located.Place at, String found) {
    return new FileFault(code, file, at, path, found);
  }

  /** One value with its place. */
  public final class Item {
    private final String itemPath;
    private final Located node;

    private Item(String key, String itemPath, Located node) {
      this.itemPath = itemPath;
      this.node = node;
    }

    public String text() {
      if (node instanceof Located.Scalar scalar && scalar.value() instanceof JsonValue.Str text) {
        return text.value();
      }
      throw refuse(GuardianError.POLICY_TYPE, "not a string");
    }

    public String name() {
      String value = text();
      if (value.isEmpty()
          || value.length() > 256
          || value.chars().anyMatch(c -> c < 0x20 || c == 0x7f)) {
        throw refuse(
            GuardianError.POLICY_VALUE, "not 1 to 256 characters without control characters");
      }
      if (isUnseen(value, node.at())) {
        throw refuse(GuardianError.POLICY_VALUE, "a name" + UNSEEN_FOUND);
      }
      return value;
    }

    public Digest digest() {
      try {
        return Digest.parse(text());
      } catch (WritException e) {
        throw refuse(GuardianError.POLICY_VALUE, "not sha256: and 64 lower-case hex digits");
      }
    }

    public <T> T itemOf(List<T> values, Function<T, String> text) {
      String found = text();
      for (T value : values) {
        if (text.apply(value).equals(found)) {
          return value;
        }
      }
      throw refuse(
          GuardianError.POLICY_VALUE,
          "\"" + found + "\" is none of " + values.stream().map(text).toList());
    }

    public Section itemSection() {
      return Section.of(file, itemPath, node);
    }

    public WritException refuse(GuardianError code, String found) {
      return Section.refuse(code, file, itemPath, node.at(), found);
    }
  }
}
