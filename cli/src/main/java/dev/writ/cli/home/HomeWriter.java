package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.client.error.ClientError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.ledger.error.LedgerError;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * How every command that writes gets at a home (spec/cli.md, The running server). A server that has
 * the home open does the work. Otherwise this process opens the home, and where another command has
 * it just then, waits for that.
 */
public final class HomeWriter {
  /** How long to wait for another command that has the home open. */
  public static final Duration PATIENCE = Duration.ofSeconds(15);

  private static final Duration LOOK_EVERY = Duration.ofMillis(50);

  private HomeWriter() {}

  /**
   * Works in a home.
   *
   * @param opening made anew each time that the home is opened
   * @param patience how long to wait for another command
   * @param here works with the home open in this process; it is closed whatever happens
   * @param there has the server do it
   * @throws WritException {@code LED-003} where another process has the home all the time and
   *     serves nobody, {@code LED-077} where a gateway on another machine has it
   */
  public static <T> T work(
      Home home,
      Supplier<Opening> opening,
      Duration patience,
      Function<OpenHome, T> here,
      Function<HomeServer, T> there) {
    long until = System.nanoTime() + patience.toNanos();
    while (true) {
      Optional<HomeServer> server = HomeServer.of(home);
      if (server.filter(HomeServer::listens).isPresent()) {
        return there.apply(server.get());
      }
      boolean isLast = System.nanoTime() - until >= 0;
      Optional<OpenHome> open = open(home, opening.get(), isLast);
      if (open.isPresent()) {
        try (OpenHome mine = open.get()) {
          return here.apply(mine);
        }
      }
      pause();
    }
  }

  /** Empty where another process has it, and there is time left to wait. */
  private static Optional<OpenHome> open(Home home, Opening opening, boolean isLast) {
    try {
      return Optional.of(OpenHome.open(home, opening));
    } catch (WritException e) {
      boolean served = HomeServer.of(home).isPresent();
      boolean passes =
          e.code() == LedgerError.LOCKED || e.code() == LedgerError.LEASE_HELD && served;
      if (passes && !isLast) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private static void pause() {
    try {
      Thread.sleep(LOOK_EVERY);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, "interrupted", e);
    }
  }
}
