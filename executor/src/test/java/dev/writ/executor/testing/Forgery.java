package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** Changes signed documents as a forger would. */
public final class Forgery {
  private Forgery() {}

  /** One change, and what it was. */
  public record Change(String what, JsonValue.Obj document) {}

  /** Another payload under the signatures of the old one. */
  public static Envelope keepingSignatures(Envelope envelope, JsonValue document) {
    return changed(envelope, "payload", StrictBase64.encode(Jcs.write(document)));
  }

  /** The same payload and signatures, called something else. */
  public static Envelope called(Envelope envelope, String payloadType) {
    return changed(envelope, "payloadType", payloadType);
  }

  /** The same payload, signed by that key instead. */
  public static Envelope signedBy(Envelope envelope, String name) {
    return Envelope.signBytes(envelope.payloadType(), envelope.payload(), TestKeys.key(name));
  }

  public static Envelope signedBy(Envelope envelope, JsonValue document, String name) {
    return Envelope.sign(envelope.payloadType(), document, TestKeys.key(name));
  }

  private static Envelope changed(Envelope envelope, String member, String value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(envelope.toJson().members());
    members.put(member, JsonValue.of(value));
    return Envelope.parse(Jcs.write(new JsonValue.Obj(members)));
  }

  public static JsonValue.Obj with(Envelope envelope, String member, JsonValue value) {
    TreeMap<String, JsonValue> members =
        new TreeMap<>(((JsonValue.Obj) envelope.document()).members());
    members.put(member, value);
    return new JsonValue.Obj(members);
  }

  /**
   * Every value changed, every member removed, and a member added to every object: one at a time.
   */
  public static List<Change> changes(Envelope envelope) {
    List<Change> changes = new ArrayList<>();
    walk(
        "",
        envelope.document(),
        UnaryOperator.identity(),
        (what, document) -> changes.add(new Change(what, (JsonValue.Obj) document)));
    return changes;
  }

  private interface Sink {
    void accept(String what, JsonValue whole);
  }

  private static void walk(String path, JsonValue value, UnaryOperator<JsonValue> rest, Sink sink) {
    switch (value) {
      case JsonValue.Obj object -> {
        TreeMap<String, JsonValue> more = new TreeMap<>(object.members());
        more.put("added", JsonValue.TRUE);
        sink.accept("added to " + path, rest.apply(new JsonValue.Obj(more)));
        for (String key : object.members().keySet()) {
          TreeMap<String, JsonValue> fewer = new TreeMap<>(object.members());
          fewer.remove(key);
          sink.accept("removed " + path + "/" + key, rest.apply(new JsonValue.Obj(fewer)));
          walk(
              path + "/" + key,
              object.get(key),
              changed -> {
                TreeMap<String, JsonValue> other = new TreeMap<>(object.members());
                other.put(key, changed);
                return rest.apply(new JsonValue.Obj(other));
              },
              sink);
        }
      }
      case JsonValue.Arr list -> {
        List<JsonValue> longer = new ArrayList<>(list.items());
        longer.add(list.items().isEmpty() ? JsonValue.of("more") : list.items().getLast());
        sink.accept("longer " + path, rest.apply(JsonValue.of(longer)));
        for (int i = 0; i < list.items().size(); i++) {
          int at = i;
          walk(
              path + "/" + i,
              list.items().get(i),
              changed -> {
                List<JsonValue> other = new ArrayList<>(list.items());
                other.set(at, changed);
                return rest.apply(JsonValue.of(other));
              },
              sink);
        }
      }
      default -> sink.accept("changed " + path, rest.apply(other(value)));
    }
  }

  /** Another value that is as well-formed as this one. */
  private static JsonValue other(JsonValue value) {
    return switch (value) {
      case JsonValue.Str s -> JsonValue.of(other(s.value()));
      case JsonValue.Num n -> new JsonValue.Num(n.value() + 1);
      case JsonValue.Bool b -> JsonValue.of(!b.value());
      default -> JsonValue.TRUE;
    };
  }

  private static String other(String text) {
    if (text.startsWith("sha256:")) {
      return Digest.sha256(text.getBytes(StandardCharsets.UTF_8)).toString();
    }
    if (text.length() == 24 && text.endsWith("Z")) {
      try {
        return Timestamps.format(Instant.parse(text).plusMillis(1));
      } catch (DateTimeParseException e) {
        return text + "x";
      }
    }
    return switch (text) {
      case "ALLOW" -> "DENY";
      case "DENY", "ESCALATE" -> "ALLOW";
      case "keep" -> "drop-output";
      default -> text.length() == 64 ? text.replace('a', 'b').replace('1', '2') : text + "x";
    };
  }
}
