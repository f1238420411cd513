package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.publish.PublishingCheck;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.RotatedKeys;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.OidcFiles;
import dev.writ.gateway.config.CellSettings;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HopSettings;
import dev.writ.gateway.http.ListenCheck;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.sinks.ConfiguredSink;
import dev.writ.surfaces.seed.SeedSurfaces;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * A server's configuration, and all that it is made of: the one check by which {@code writ serve}
 * and {@code writ config check} refuse the same.
 */
public final class ServedConfiguration {
  private final GatewayConfig config;
  private final List<ConfiguredSink> sinks;

  private ServedConfiguration(GatewayConfig config, List<ConfiguredSink> sinks) {
    this.config = config;
    this.sinks = List.copyOf(sinks);
  }

  /**
   * Requires surfaces, credentials, files and sinks that a server can be made of.
   *
   * @param folder to which file names are relative
   * @throws WritException {@code GWY-002}, {@code GWY-005}, {@code GWY-007}, {@code GWY-101},
   *     {@code GWY-102}, {@code OBJ-001}
   */
  public static ServedConfiguration of(
      GatewayConfig read, Path folder, Map<String, String> environment, InstantSource clock) {
    GatewayConfig config = read.inFolder(folder);
    ConfiguredSurfaces.require(config, environment, folder);
    requireTokens(config);
    new Certificates(config.extras().certificates());
    OidcFiles.read(config);
    config.extras().checkpoints().ifPresent(PublishingCheck::require);
    ListenCheck.requireTls(config.listen(), hop(config), clock.instant());
    return new ServedConfiguration(config, ConfiguredSink.of(config, environment, folder, clock));
  }

  private static void requireTokens(GatewayConfig config) {
    new Tokens(config.tokens());
    if (config.tokens().stream().anyMatch(token -> token.name().equals(GatewayConfig.OWN_TOKEN))) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "tokens: the server has one named \"" + GatewayConfig.OWN_TOKEN + "\" itself");
    }
  }

  private static Optional<HopSettings> hop(GatewayConfig config) {
    return config.extras().cells().map(CellSettings::hop);
  }

  /** The same with a configuration that has been completed. */
  public ServedConfiguration with(GatewayConfig completed) {
    return new ServedConfiguration(completed, sinks);
  }

  /** With file names from its folder. */
  public GatewayConfig config() {
    return config;
  }

  public List<ConfiguredSink> sinks() {
    return sinks;
  }

  /**
   * Requires what it needs of a home: the kernel's keys, those of its surfaces, and for several
   * gateways a database that knows leases.
   *
   * @param trust the keys that are enrolled
   * @return the keys of surfaces
   * @throws WritException {@code GWY-008}, {@code LED-078}; why a key cannot be read
   */
  public SortedMap<String, SigningKey> require(Home home, Trust trust) {
    requireFitting(home, config);
    requireOfCells(config, home);
    RotatedKeys.ROLES.stream()
        .filter(role -> role != KeyRole.EXECUTOR || config.extras().executor().isEmpty())
        .forEach(role -> home.key(role.text()));
    if (config.extras().cells().isPresent()) {
      LedgerPlaces.watch(home.ledger()).close();
    }
    return ConfiguredSurfaces.keys(config, home, trust);
  }

  /**
   * Requires what an installation of several cells needs.
   *
   * @throws WritException {@code GWY-002}
   */
  public static void requireOfCells(GatewayConfig config, Home home) {
    if (home.cells() == 1) {
      return;
    }
    if (config.extras().cells().isEmpty()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "cells is missing: the installation has " + home.cells() + " cells");
    }
    if (SeedSurfaces.grpcPort(config.surfaces()).isPresent()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "surfaces/tools: a gRPC port, and several cells behind it");
    }
    config
        .extras()
        .sinks()
        .forEach((name, sink) -> {
          if (sink.kind().equals("file")) {
            throw new WritException(
                GatewayError.CONFIG_FIELD,
                "sinks/" + name + ": several cells would write into one file");
          }
        });
  }

  /**
   * Refuses what a guardian whose executor is apart cannot do (spec/apart.md).
   *
   * @throws WritException {@code EXE-938}
   */
  public static void requireFitting(Home home, GatewayConfig config) {
    boolean apart = config.extras().executor().isPresent();
    if (apart && config.extras().cells().isPresent()) {
      throw new WritException(ExecutorError.NOT_APART, "cells and executor in one configuration");
    }
    if (apart && ExecutorCard.elsewhere(home).isEmpty()) {
      throw new WritException(
          ExecutorError.NOT_APART,
          home.dir() + " knows no executor: `writ executor enrol` comes first");
    }
  }

  /**
   * The ports that another process has now.
   *
   * @throws WritException {@code GWY-004} for one that this user can never have here
   */
  public List<String> takenPorts() {
    List<String> taken = new ArrayList<>();
    addIfTaken(taken, config.listen().host(), config.listen().port());
    hop(config).ifPresent(hop -> addIfTaken(taken, hop.host(), hop.port()));
    SeedSurfaces.grpcPort(config.surfaces())
        .ifPresent(port -> addIfTaken(taken, config.listen().host(), port));
    return taken;
  }

  private static void addIfTaken(List<String> taken, String host, int port) {
    if (ListenCheck.isTaken(host, port)) {
      taken.add(host + ":" + port);
    }
  }

  /** What a server starts with, and what will be refused at each call all the same. */
  public List<String> warnings(Policy policy, Instant now) {
    List<String> warnings = new ArrayList<>();
    for (Tokens.Entry token : config.tokens()) {
      token
          .expiresAt()
          .filter(end -> !end.isAfter(now))
          .ifPresent(end ->
              warnings.add("token " + token.name() + ": it expired at " + Timestamps.format(end)));
      warn(policy, "token " + token.name(), token.tenant(), token.subject(), token.roles())
          .ifPresent(warnings::add);
    }
    for (Certificates.Entry each : config.extras().certificates()) {
      warn(policy, "certificate " + each.name(), each.tenant(), each.subject(), each.roles())
          .ifPresent(warnings::add);
    }
    return warnings;
  }

  /** What a policy does not know of those for whom a credential stands. */
  public static Optional<String> warn(
      Policy policy, String credential, String tenant, String subject, List<String> roles) {
    List<String> held = policy.rolesOf(tenant, subject);
    boolean isSomebody =
        !held.isEmpty()
            || !policy.approverRoles(tenant, subject).isEmpty()
            || !policy.looksAs(tenant, subject).isEmpty();
    if (!isSomebody) {
      return Optional.of(
          credential
              + ": the policy in force knows no "
              + tenant
              + "/"
              + subject
              + " (principals, approvers, people)");
    }
    List<String> foreign = roles.stream().filter(role -> !held.contains(role)).toList();
    return foreign.isEmpty() || held.isEmpty()
        ? Optional.empty()
        : Optional.of(
            credential + ": " + tenant + "/" + subject + " does not have the roles " + foreign);
  }
}
