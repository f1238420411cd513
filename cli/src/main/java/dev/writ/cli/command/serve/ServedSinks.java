package dev.writ.cli.command.serve;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.CellPlacement;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.sinks.ConfiguredSink;
import dev.writ.sinks.SinkLog;
import dev.writ.sinks.Sinks;
import dev.writ.sinks.feed.Feeder;
import dev.writ.sinks.feed.Pace;
import dev.writ.sinks.feed.SinkOrders;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The sinks of a server that {@code writ serve} runs. */
final class ServedSinks {
  private ServedSinks() {}

  /** Where `writ sink` leaves orders for the server of that home. */
  static SinkOrders orders(Home home) {
    String ofCell = home.cell() == CellPlacement.SYSTEM ? "" : "-" + home.cell();
    return new SinkOrders(home.dir().resolve("sinks" + ofCell));
  }

  /**
   * Reads the sinks of a configuration, with their files.
   *
   * @throws dev.writ.canonicalize.WritException {@code GWY-002}, {@code GWY-005}
   */
  static List<ConfiguredSink> read(Session session, GatewayConfig config, Path folder) {
    return ConfiguredSink.of(config, session.environment(), folder, Homes.clock());
  }

  /**
   * @param log gets lines about trouble and orders
   */
  static Sinks start(
      Gateway gateway, OpenHome open, List<ConfiguredSink> sinks, Consumer<JsonValue.Obj> log) {
    Sinks started =
        new Sinks(
            sinks,
            open.kernel(),
            gateway.changes(),
            orders(open.home()),
            new SinkLog(log, Homes.clock()),
            Pace.NORMAL,
            Homes.clock(),
            new SecureRandom());
    started.feeders().forEach(feeder -> measure(gateway, feeder));
    return started;
  }

  private static void measure(Gateway gateway, Feeder feeder) {
    gauge(gateway, feeder, "behind.events", "Events not read", feeder::eventsBehind);
    gauge(gateway, feeder, "behind.seconds", "Age of the oldest of them", feeder::secondsBehind);
    gauge(gateway, feeder, "paused", "1 if paused", () -> feeder.state().paused() ? 1 : 0);
    if (feeder.deadLetters().isPresent()) {
      gauge(
          gateway,
          feeder,
          "dead.letters",
          "Incidents given up and not sent again",
          () -> feeder.deadLetters().orElse(0L));
    }
    counter(gateway, feeder, "delivered", "Records confirmed", () -> feeder.state().delivered());
    counter(gateway, feeder, "failed", "Attempts that failed", feeder::failures);
    counter(gateway, feeder, "rewound", "Times that the target had lost some", feeder::rewinds);
  }

  private static void gauge(
      Gateway gateway, Feeder feeder, String what, String help, Supplier<Number> value) {
    gateway.gauge("writ.sink." + what, help, "sink", feeder.name(), value);
  }

  private static void counter(
      Gateway gateway, Feeder feeder, String what, String help, Supplier<Number> value) {
    gateway.counter("writ.sink." + what, help, "sink", feeder.name(), value);
  }
}
