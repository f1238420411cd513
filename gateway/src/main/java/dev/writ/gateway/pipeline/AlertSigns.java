package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.profile.ProfileError;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** What seed 002's alerts count, for metrics and for webhooks alike. */
public final class AlertSigns {
  /** Refusals of commands that an operator wants to hear of, by the profile of seed 002. */
  public static final List<String> SUSPICIOUS =
      List.of(
          ProfileError.COMMAND_ROLE.code(),
          ProfileError.COMMAND_LINE.code(),
          ProfileError.COMMAND_NOT_ALLOWED.code(),
          ProfileError.COMMAND_SHELL.code(),
          ProfileError.COMMAND_CWD.code(),
          ProfileError.COMMAND_ENVIRONMENT.code(),
          ProfileError.COMMAND_LIMIT.code());

  /** The sandbox could not be made. */
  public static final String NOT_MADE = "not-made";

  /** Reasons in receipts: something broke the rules of its sandbox. */
  private static final List<String> BROKEN_RULES =
      List.of("egress-denied", "protocol-violation", "seccomp-violation");

  /** Words for why a sandbox failed. */
  public static final List<String> SANDBOX_FAILURES =
      Stream.concat(Stream.of(NOT_MADE), BROKEN_RULES.stream()).toList();

  private static final String SANDBOX_CODES = "SBX-";

  /** Of them, those that say that a host or a cluster did not make a sandbox. */
  private static final String NO_SANDBOX = "SBX-(00[1-9]|037)";

  private static final String REFUSED = "refused";

  private AlertSigns() {}

  /**
   * Why the sandbox of an execution failed; absent if it did not.
   *
   * @param observations of its driver, read where they decide
   */
  public static Optional<String> sandboxFailure(
      Receipt receipt, Supplier<Optional<JsonValue.Obj>> observations) {
    if (BROKEN_RULES.contains(receipt.reason())) {
      return Optional.of(receipt.reason());
    }
    Optional<String> code = Optional.empty();
    if (receipt.code().filter(ExecutorError.DRIVER_FAILED.code()::equals).isPresent()) {
      code = Optional.of(receipt.message()); // the driver's name for it, nothing else
    } else if (receipt.reason().equals(REFUSED)) {
      code = observations.get().flatMap(AlertSigns::refusedWith);
    }
    return code.filter(found -> found.matches(NO_SANDBOX)).map(_ -> NOT_MADE);
  }

  private static Optional<String> refusedWith(JsonValue.Obj observations) {
    return observations.get(REFUSED) instanceof JsonValue.Str code
        ? Optional.of(code.value())
        : Optional.empty();
  }

  /** Whether a refusal before the dispatch says that there is no such sandbox. */
  public static boolean isSandboxFailure(String refusal) {
    return refusal.startsWith(SANDBOX_CODES);
  }
}
