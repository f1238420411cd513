package dev.writ.guardian.policy.governance;

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
 * The callers that get a canary version: all of some tenants, and a share of the subjects of the
 * others. All calls in a run get the same version.
 *
 * @param tenants sorted, each once
 * @param percent of the other tenants' subjects, 0 to 100
 * @param bySubject false in older documents, in which the share is one of runs, whose names callers
 *     choose
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

  /** Whether a call gets this version. */
  public boolean includes(String tool, String version, CanaryDraw draw) {
    return tenants.contains(draw.tenant())
        || place(tool, version, draw.tenant(), bySubject ? draw.subject() : draw.run()) < percent;
  }

  /** Whether callers can choose to get it: the share is of runs, whose names they choose. */
  public boolean isChosenByCallers() {
    return !bySubject && percent > 0 && percent < PERCENT_MAX;
  }

  /**
   * The place of a subject (or run) from 0 to 99: the first eight bytes of the SHA-256 of the
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
