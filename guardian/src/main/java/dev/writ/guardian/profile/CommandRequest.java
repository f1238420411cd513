package dev.writ.guardian.profile;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A request of seed 002.
 *
 * @param caseId the run
 * @param cwd absolute; the workspace root where it is absent
 * @param cpuMilli thousandths of a processor; the role's limit where it is absent
 */
public record CommandRequest(
    String role,
    String caseId,
    Optional<String> subtaskId,
    String cmd,
    Optional<String> cwd,
    Optional<Long> timeoutSec,
    SortedMap<String, String> env,
    Optional<Long> cpuMilli,
    Optional<Long> memMb) {

  private static final Limits LIMITS = new Limits(1 << 20, 16);

  /**
   * @throws WritException {@code GRD-711}
   */
  public static CommandRequest parse(byte[] body) {
    try {
      Fields fields = Fields.of("request", Jcs.parse(body, LIMITS));
      Optional<Fields> limits = fields.optional("limits", fields::fields);
      CommandRequest request =
          new CommandRequest(
              fields.name("role"),
              fields.name("case_id"),
              fields.optional("subtask_id", fields::name),
              text(fields, "cmd"),
              fields.optional("cwd", fields::name),
              fields.optional("timeout_sec", key -> positive(fields, key)),
              fields.optional("env", key -> env(fields.obj(key))).orElseGet(TreeMap::new),
              limits.flatMap(l -> l.optional("cpu", key -> milli(l, key))),
              limits.flatMap(l -> l.optional("mem_mb", key -> positive(l, key))));
      limits.ifPresent(Fields::end);
      fields.end();
      return request;
    } catch (WritException e) {
      throw e.code() instanceof CanonicalizeError
          ? new WritException(ProfileError.COMMAND_BODY, e.code().code() + " " + e.found())
          : e;
    }
  }

  private static String text(Fields fields, String key) {
    String text = fields.string(key);
    if (text.isBlank() || text.indexOf('\0') >= 0) {
      throw new WritException(ProfileError.COMMAND_BODY, "request/" + key + " holds no command");
    }
    return text;
  }

  private static long positive(Fields fields, String key) {
    long value = fields.integer(key);
    if (value <= 0) {
      throw new WritException(
          ProfileError.COMMAND_BODY, fields.path() + "/" + key + " is not above zero");
    }
    return value;
  }

  /** The seed writes processors as a number with a fraction. */
  private static long milli(Fields fields, String key) {
    if (fields.value(key) instanceof JsonValue.Num number) {
      double milli = Math.ceil(number.value() * 1000);
      if (milli >= 1 && milli <= JsonValue.Num.MAX_INTEGER) {
        return (long) milli;
      }
    }
    throw new WritException(
        ProfileError.COMMAND_BODY, fields.path() + "/" + key + " is not a number above zero");
  }

  private static SortedMap<String, String> env(JsonValue.Obj object) {
    TreeMap<String, String> env = new TreeMap<>();
    object
        .members()
        .forEach((name, value) -> {
          if (!(value instanceof JsonValue.Str text) || text.value().indexOf('\0') >= 0) {
            throw new WritException(ProfileError.COMMAND_BODY, "a variable of env is not a text");
          }
          env.put(name, text.value());
        });
    return env;
  }
}
