package dev.writ.guardian.policy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;

/**
 * Who meets a version that is being tried out: some tenants whole, and of all others a share of
 * their runs. A run meets one version from its first call to its last.
 *
 * @param tenants sorted, each once
 * @param percent of the runs of other tenants, 0 to 100
 */
public record Canary(List<String> tenants, int percent) {
  private static final int PERCENT_MAX = 100;

  public Canary {
    tenants = List.copyOf(tenants);
  }

  /**
   * @throws WritException {@code CAN-023} for tenants out of order, or a share that is none
   */
  public static Canary read(Fields fields) {
    List<String> tenants = fields.list("tenants", Fields::stringItem);
    long percent = fields.count("percent");
    fields.end();
    if (percent > PERCENT_MAX) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          fields.path() + "/percent is " + percent + ", 100 at most");
    }
    if (!tenants.equals(tenants.stream().sorted().distinct().toList())) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, fields.path() + "/tenants are not sorted, each once");
    }
    return new Canary(tenants, (int) percent);
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("percent", (long) percent)
        .putList("tenants", tenants, JsonValue::of)
        .build();
  }

  /** Whether a run of a tenant meets this version. */
  public boolean includes(String tool, String version, String tenant, String run) {
    return tenants.contains(tenant) || place(tool, version, tenant, run) < percent;
  }

  /**
   * Where a run stands among a hundred: the first eight bytes of the SHA-256 of the canonical list
   * of the four names, as a number without sign, modulo 100.
   */
  static int place(String tool, String version, String tenant, String run) {
    JsonValue names =
        JsonValue.of(Stream.of(tool, version, tenant, run).<JsonValue>map(JsonValue::of).toList());
    long first = ByteBuffer.wrap(Digest.sha256(Jcs.write(names)).bytes()).getLong();
    return (int) Long.remainderUnsigned(first, PERCENT_MAX);
  }
}
