package dev.writ.client;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;

/**
 * How a client behaves.
 *
 * @param clock the time of what it signs
 * @param random for nonces, and keys of its own
 * @param retryFor for how long a call is repeated that may be; zero for never
 * @param answerWithin how long an answer may take to begin, each 64 KiB of it to come, and a stream
 *     may be silent
 * @param authority PEM of the authority that issued the server's certificate; absent for those that
 *     Java trusts
 */
public record ClientSettings(
    InstantSource clock,
    SecureRandom random,
    Duration retryFor,
    Duration answerWithin,
    Optional<Path> authority) {

  public ClientSettings {
    Objects.requireNonNull(clock, "clock");
    Objects.requireNonNull(random, "random");
  }

  /** The system's clock and random numbers; 30 s of repeating, 2 minutes for an answer. */
  public static ClientSettings usual() {
    return new ClientSettings(
        InstantSource.system(),
        new SecureRandom(),
        Duration.ofSeconds(30),
        Duration.ofMinutes(2),
        Optional.empty());
  }

  /** The same with another time of repeating. */
  public ClientSettings retryFor(Duration time) {
    return new ClientSettings(clock, random, time, answerWithin, authority);
  }

  /** The same with another time for an answer. */
  public ClientSettings answerWithin(Duration time) {
    return new ClientSettings(clock, random, retryFor, time, authority);
  }

  /** The same with an authority of the caller's own. */
  public ClientSettings authority(Path pem) {
    return new ClientSettings(clock, random, retryFor, answerWithin, Optional.of(pem));
  }
}
