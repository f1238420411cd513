package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.embed.home.OpenHome;
import dev.writ.gateway.Gateway;
import java.time.Duration;
import java.util.concurrent.ExecutionException;

/** How a server ends: asked by a signal, or because its ledger has failed. */
final class ServerEnd {
  private static final int TERMINATED = 128 + 15;

  private ServerEnd() {}

  /**
   * Stops the server when the process is asked to end: calls at work finish, then {@code after}
   * runs.
   *
   * @param beforeLedger runs when no more calls come and the ledger is still open
   */
  static void stopWhenAsked(
      Session session, Gateway gateway, Runnable beforeLedger, OpenHome open, Runnable after) {
    session.terminal().out().flush();
    Runtime.getRuntime()
        .addShutdownHook(
            Thread.ofPlatform()
                .name("writ-stop")
                .unstarted(() -> {
                  haltAfter(gateway.stopsWithin());
                  gateway.close();
                  beforeLedger.run();
                  try {
                    open.close();
                  } catch (WritException e) {
                    // The ledger had failed before.
                    ServerLog.of(session).refused("ledger-stopped", e);
                  } finally {
                    after.run();
                  }
                }));
  }

  /**
   * Blocks until the process ends. If the ledger fails for good this ends the process, so that its
   * supervisor starts it again.
   */
  static ExitCode serveUntilStopped(Gateway gateway) {
    try {
      gateway.ledgerStopped().get();
      return ExitCode.LEDGER_STOPPED;
    } catch (InterruptedException | ExecutionException e) {
      Thread.currentThread().interrupt();
      return ExitCode.OK;
    }
  }

  /** Ends the process after this time even if something hangs. */
  static void haltAfter(Duration time) {
    Thread.ofPlatform()
        .daemon()
        .name("writ-halt")
        .start(() -> {
          try {
            Thread.sleep(time);
          } catch (InterruptedException e) {
            return; // the process ends
          }
          Runtime.getRuntime().halt(TERMINATED);
        });
  }
}
