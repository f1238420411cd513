package dev.writ.surfaces.logline;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The configuration of seed 001's surface. It completes the seed's requests to effects; policy
 * decides what a tool may do.
 *
 * @param secrets one at least; several while one replaces another
 * @param tools by {@code tool_id}
 * @param artifactsBytes how many bytes of artifacts an answer carries itself; each artifact beyond
 *     is fetched from its own address
 */
public record LoglineConfig(
    List<Secret> secrets, SortedMap<String, Tool> tools, long artifactsBytes) {
  public static final long ARTIFACTS_BYTES_DEFAULT = 1 << 20;

  /** Shortest secret, in bytes. */
  public static final int SECRET_BYTES_MIN = 16;

  /**
   * A shared secret.
   *
   * @param name its name in the journal; never the secret
   * @param subjects for each tenant that it may act for, the subject it acts as
   */
  public record Secret(String name, byte[] key, SortedMap<String, String> subjects) {
    public Secret {
      key = key.clone();
      subjects = Collections.unmodifiableSortedMap(new TreeMap<>(subjects));
    }

    @Override
    public byte[] key() {
      return key.clone();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /**
   * The effect for a {@code tool_id}.
   *
   * @param name of our tool
   * @param operation of it, or {@link #BY_INPUT}
   * @param resources the declared ceiling of each call
   * @param defaults params where an input does not state them
   */
  public record Tool(
      String name,
      String version,
      String operation,
      Resources resources,
      String sandbox,
      JsonValue.Obj defaults) {
    /**
     * The input's member {@code operation} names the operation; its other members are the params.
     */
    public static final String BY_INPUT = "$operation";
  }

  /**
   * @throws WritException {@code GWY-101}, {@code GWY-102}
   */
  public LoglineConfig {
    secrets = List.copyOf(secrets);
    tools = Collections.unmodifiableSortedMap(new TreeMap<>(tools));
    if (secrets.isEmpty()) {
      throw new WritException(LoglineError.NO_SECRET, "");
    }
    for (Secret secret : secrets) {
      if (secret.key.length < SECRET_BYTES_MIN) {
        throw new WritException(
            LoglineError.SECRET_SHORT,
            secret.name + " has " + secret.key.length + " bytes, at least " + SECRET_BYTES_MIN);
      }
    }
  }
}
