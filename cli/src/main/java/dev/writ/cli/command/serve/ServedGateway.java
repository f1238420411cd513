package dev.writ.cli.command.serve;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.home.ArchivingServer;
import dev.writ.cli.home.ServedSandbox;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.OpenHome;
import dev.writ.gateway.CellDoor;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.GatewayInstallation;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.server.FrontCell;
import dev.writ.gateway.ops.Probe;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.RunBundle;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.BiFunction;

/** Starts the gateway of an open home. */
final class ServedGateway {
  private ServedGateway() {}

  /**
   * @param probes further conditions of readiness
   */
  static Gateway start(
      Session session,
      OpenHome open,
      Running running,
      GatewayConfig config,
      SortedMap<String, SigningKey> keys,
      List<Probe> probes,
      Sessions sessions,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces) {
    try {
      return start(
          session,
          open,
          running,
          config,
          keys,
          probes,
          sessions,
          surfaces,
          Optional.empty(),
          Optional.empty());
    } catch (RuntimeException e) {
      open.close();
      throw e;
    }
  }

  /** The same, behind a front; the home is left open where it does not start. */
  static Gateway start(
      Session session,
      OpenHome open,
      Running running,
      GatewayConfig config,
      SortedMap<String, SigningKey> keys,
      List<Probe> probes,
      Sessions sessions,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces,
      Optional<FrontCell> front,
      Optional<CellDoor> door) {
    GatewayInstallation plain =
        new GatewayInstallation(
                open.kernel(),
                running,
                open.home().dir(),
                keys,
                new RunBundle(open.packages()),
                Homes.clock(),
                new SecureRandom(),
                ServerLog.stream(session))
            .withProbes(probes)
            .with(sessions);
    // Where the executor is elsewhere, tools run there, and nothing is confined here.
    GatewayInstallation confined =
        ExecutorCard.elsewhere(open.home()).isPresent()
            ? plain
            : plain.with(new ServedSandbox(open.drivers(), open.registry()));
    Gateway gateway =
        Gateway.start(config, door.map(confined::with).orElse(confined), surfaces, front);
    gateway.archive(new ArchivingServer(open));
    gateway.gauge("writ.guests.running", "Guests that run", open.guests()::running);
    gateway.gauge("writ.guests.waiting", "Calls that wait for a guest", open.guests()::waiting);
    return gateway;
  }
}
