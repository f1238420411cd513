package dev.writ.cli.doctor;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * The result of one check.
 *
 * @param what a short stable name, for example {@code rocksdb}
 * @param found what was found
 * @param mend what {@code writ doctor --fix} does about it
 * @param command what somebody else has to run, or beside the mend
 */
public record HostFinding(
    State state, String what, String found, Optional<Mend> mend, Optional<String> command) {

  /** How bad it is. */
  public enum State {
    GOOD("ok"),
    NOTE("note"),
    WARNING("warn"),
    BAD("bad");

    private final String sign;

    State(String sign) {
      this.sign = sign;
    }

    /** As people and programs see it. */
    public String sign() {
      return sign;
    }
  }

  /** One about which nothing is to be done, or whose words say what. */
  public HostFinding(State state, String what, String found) {
    this(state, what, found, Optional.empty(), Optional.empty());
  }

  /** The same with a command that helps. */
  public HostFinding helpedBy(String line) {
    return new HostFinding(state, what, found, mend, Optional.of(line));
  }

  /** The same with what mends it. */
  public HostFinding mendedBy(Mend by) {
    return new HostFinding(state, what, found, Optional.of(by), command);
  }

  /** With what helps, where something does. */
  public JsonValue toJson() {
    return JsonValue.object()
        .putIfPresent("command", command, JsonValue::of)
        .put("found", found)
        .putIfPresent("mend", mend, by -> JsonValue.of(by.text()))
        .put("state", state.sign())
        .put("what", what)
        .build();
  }
}
