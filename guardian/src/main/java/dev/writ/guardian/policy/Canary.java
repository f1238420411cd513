package dev.writ.guardian.policy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Who meets a version that is being tried out: some tenants whole, and of all others a share of
 * their subjects. A run meets one version from its first call to its last.
 *
 * @param tenants sorted, each once
 * @param percent of the other tenants' subjects, 0 to 100
 * @param bySubject false in documents from before shares went by subjects: there it is a share of
 *     runs, whose names callers choose
 */
public record Canary(List<String> tenants, int percent, boolean bySubject) {
  private static final int PERCENT_MAX = 100;
  private static final String SUBJECT = "subject";

  public Canary {
    tenants = List.copyOf(tenants);
  }

  /**
   * @throws WritException {@code CAN-023} for tenants out of order, a share that is none, or one by
   *     anything but subjects
   */
  public static Canary read(Fields fields) {
    List<String> tenants = fields.list("tenants", Fields::stringItem);
    long percent = fields.count("percent");
    Optional<String> by = fields.optional("by", fields::string);
    fields.end();
    if (by.filter(name -> !name.equals(SUBJECT)).isPresent()) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          fields.path() + "/by is \"" + by.get() + "\", not \"" + SUBJECT + "\"");
    }
    if (percent > PERCENT_MAX) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          fields.path() + "/percent is " + percent + ", 100 at most");
    }
    if (!tenants.equals(tenants.stream().sorted().distinct().toList())) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, fields.path() + "/tenants are not sorted, each once");
    }
    return new Canary(tenants, (int) percent, by.isPresent());
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putIfPresent(
            "by", bySubject ? Optional.of(SUBJECT) : Optional.<String>empty(), JsonValue::of)
        .put("percent", (long) percent)
        .putList("tenants", tenants, JsonValue::of)
        .build();
  }

  /** Whether a call meets this version. */
  public boolean includes(String tool, String version, CanaryDraw draw) {
    return tenants.contains(draw.tenant())
        || place(tool, version, draw.tenant(), bySubject ? draw.subject() : draw.run()) < percent;
  }

  /** Whether callers choose if they meet it: the share is of runs, and they name their runs. */
  public boolean isChosenByCallers() {
    return !bySubject && percent > 0 && percent < PERCENT_MAX;
  }

  /**
   * Where a subject (or a run) stands among a hundred: the first eight bytes of the SHA-256 of the
   * canonical list of the four names, as a number without sign, modulo 100.
   */
  static int place(String tool, String version, String tenant, String drawn) {
    JsonValue names =
        JsonValue.of(
            Stream.of(tool, version, tenant, drawn).<JsonValue>map(JsonValue::of).toList());
    long first = ByteBuffer.wrap(Digest.sha256(Jcs.write(names)).bytes()).getLong();
    return (int) Long.remainderUnsigned(first, PERCENT_MAX);
  }
}
