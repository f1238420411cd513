package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Probe;
import dev.writ.guardian.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Checks in a thread of its own whether tools can be confined. A request for readiness gets the
 * last result and cannot cause a check, since a check starts programs.
 */
final class ConfiningWatch {
  static final Duration EVERY = Duration.ofSeconds(10);

  /** After a successful check the next one comes later. */
  static final Duration FOUND_EVERY = Duration.ofSeconds(60);

  private static final Probe.Result NOT_NEEDED = new Probe.Result(true, Optional.of("not-needed"));

  private final Confining confining;
  private final Supplier<Optional<Policy>> policy;
  private final InstantSource clock;
  private final JsonLog log;
  private volatile Probe.Result seen = new Probe.Result(false, Optional.of("not-looked-yet"));
  private volatile Optional<String> found = Optional.empty();
  private Optional<Instant> foundAt = Optional.empty();

  /**
   * @param policy the policy in force now, if there is one
   */
  ConfiningWatch(
      Confining confining, Supplier<Optional<Policy>> policy, InstantSource clock, JsonLog log) {
    this.confining = confining;
    this.policy = policy;
    this.clock = clock;
    this.log = log;
  }

  /** What the last look came to. */
  Probe.Result seen() {
    return seen;
  }

  /** What confines, as the last look found it; absent where nothing does, or need not. */
  Optional<String> found() {
    return found;
  }

  /** To be called every {@link #EVERY}, by one thread. */
  void look() {
    try {
      seen = looked();
    } catch (RuntimeException e) {
      seen = refused(new WritException(GatewayError.INTERNAL, "while it was looked for"));
      throw e;
    }
  }

  private Probe.Result looked() {
    Optional<Policy> inForce = policy.get().filter(confining::isNeeded);
    if (inForce.isEmpty()) {
      foundAt = Optional.empty();
      found = Optional.empty();
      return NOT_NEEDED;
    }
    Instant now = clock.instant();
    if (foundAt.filter(at -> now.isBefore(at.plus(FOUND_EVERY))).isPresent()) {
      return seen;
    }
    foundAt = Optional.empty();
    try {
      String said = confining.require(inForce.get());
      if (!seen.equals(Probe.Result.OK)) {
        log.event("sandbox", said);
      }
      found = Optional.of(said);
      foundAt = Optional.of(now);
      return Probe.Result.OK;
    } catch (WritException e) {
      return refused(e);
    }
  }

  /** Writes to the log only if the reason differs from the last one. */
  private Probe.Result refused(WritException e) {
    found = Optional.empty();
    Probe.Result result = new Probe.Result(false, Optional.of(e.code().code()));
    if (!seen.equals(result)) {
      log.refused("sandbox", e);
    }
    return result;
  }
}
