package dev.writ.guardian.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The outcome of one check: one of the four, or before them the profile of the vouching surface.
 *
 * @param check {@code profile}, {@code prg}, {@code budget}, {@code temporal} or {@code envelope}
 * @param code the stable code of the refusal, if there is one
 * @param detail what was found, for people; part of the signed bytes like everything else
 */
public record CheckOutcome(String check, Outcome outcome, Optional<String> code, String detail) {
  /** The seed's order; the profile comes first. */
  public static final List<String> ORDER =
      List.of("profile", "prg", "budget", "temporal", "envelope");

  /**
   * The outcomes of a check. Checks after a refusal are not reached; their inputs are recorded
   * nevertheless.
   */
  public enum Outcome {
    PASS,
    REFUSE,
    ESCALATE,
    /** It would refuse, if policy did not only observe. */
    WOULD_REFUSE,
    /** It would wait for approvals, if policy did not only observe. */
    WOULD_ESCALATE,
    NOT_REACHED;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether the next check is reached. */
    public boolean goesOn() {
      return this == PASS || this == WOULD_REFUSE || this == WOULD_ESCALATE;
    }

    /** What it is where policy only observes. */
    public Outcome observed() {
      return switch (this) {
        case REFUSE -> WOULD_REFUSE;
        case ESCALATE -> WOULD_ESCALATE;
        default -> this;
      };
    }
  }

  static CheckOutcome read(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    CheckOutcome outcome =
        new CheckOutcome(
            fields.oneOf("check", ORDER, s -> s),
            fields.oneOf("outcome", List.of(Outcome.values()), Outcome::text),
            fields.optional("code", fields::name),
            fields.string("detail"));
    fields.end();
    return outcome;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("check", check)
        .put("outcome", outcome.text())
        .putIfPresent("code", code, JsonValue::of)
        .put("detail", detail)
        .build();
  }
}
