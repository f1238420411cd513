package dev.writ.cli.command.serve;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.home.ArchivingServer;
import dev.writ.cli.home.ServedSandbox;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.OpenHome;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.GatewayInstallation;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.server.FrontCell;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.RunBundle;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.BiFunction;

/** The gateway of an open home. */
final class ServedGateway {
  private ServedGateway() {}

  /** What it works over: by this machine's clock, with a log on stderr. */
  static GatewayInstallation of(
      Session session, OpenHome open, Running running, SortedMap<String, SigningKey> keys) {
    GatewayInstallation installation =
        new GatewayInstallation(
            open.kernel(),
            running,
            open.home().dir(),
            keys,
            new RunBundle(open.packages()),
            Homes.clock(),
            new SecureRandom(),
            ServerLog.stream(session));
    // Where the executor is elsewhere, tools run there, and nothing is confined here.
    return ExecutorCard.elsewhere(open.home()).isPresent()
        ? installation
        : installation.with(new ServedSandbox(open.drivers(), open.registry()));
  }

  /** Starts it; the home is closed where it does not start. */
  static Gateway start(
      OpenHome open,
      GatewayInstallation installation,
      GatewayConfig config,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces) {
    try {
      return start(open, installation, config, surfaces, Optional.empty());
    } catch (RuntimeException e) {
      open.close();
      throw e;
    }
  }

  /** The same, behind a front if there is one; the home is left open where it does not start. */
  static Gateway start(
      OpenHome open,
      GatewayInstallation installation,
      GatewayConfig config,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces,
      Optional<FrontCell> front) {
    Gateway gateway = Gateway.start(config, installation, surfaces, front);
    gateway.archive(new ArchivingServer(open));
    gateway.gauge("writ.guests.running", "Guests that run", open.guests()::running);
    gateway.gauge("writ.guests.waiting", "Calls that wait for a guest", open.guests()::waiting);
    return gateway;
  }
}
