package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.key.KeyCommand;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.journal.EventKind;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.surfaces.mcp.McpSettings;
import dev.writ.surfaces.mcp.McpSurface;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The MCP surface of a server whose configuration says nothing of it: it is served, with a key that
 * the first start makes.
 */
final class ServedMcp {
  static final String KEY = "surface-mcp";
  private static final String OPERATOR = "operator";
  private static final SurfaceConfig NOTHING_SAID =
      new SurfaceConfig(new TreeMap<>(), List.of(), Map.of());

  private ServedMcp() {}

  /**
   * Whether the home has a key with which the surface vouches in its tenant. Where the operator's
   * key is at hand one is made and enrolled where there is none yet, and one is enrolled that an
   * earlier start made before it was killed. The log knows a key that was revoked, so that such a
   * one stays revoked.
   */
  static boolean hasKey(Session session, OpenHome open, GatewayConfig config) {
    if (!wantsKey(config)) {
      return false;
    }
    Home home = open.home();
    Optional<SigningKey> made = made(home);
    Optional<Boolean> vouches = vouches(home, open.kernel().system().trust(), made);
    if (vouches.isPresent()) {
      return vouches.get();
    }
    Optional<SigningKey> operator = operator(home);
    if (operator.isEmpty()) {
      return false;
    }
    SecureRandom random = new SecureRandom();
    Instant now = open.kernel().now();
    SigningKey key = made.orElseGet(() -> SigningKey.generateEd25519(random));
    TrustedKey trusted =
        new TrustedKey(
            key.verifyingKey(),
            KeyRole.SURFACE,
            Optional.of(home.tenant()),
            McpSurface.NAME,
            now,
            Optional.empty(),
            Optional.empty());
    Envelope signed;
    try {
      signed = KeyCommand.signed(operator.get(), EventKind.KEY_ENROLLED, trusted.toJson(), now);
    } catch (WritException e) {
      return false; // the agent that has the operator's key does not sign
    }
    if (made.isEmpty()) {
      KeyFiles.write(home.keyFile(KEY), key, Homes.passphrase(session), random);
    }
    KeyCommand.change(open, signed);
    return true;
  }

  /** The configuration as a server that starts now serves it. */
  static GatewayConfig served(GatewayConfig config, Home home, Trust trust) {
    if (!McpSettings.parse(said(config).settings()).served()) {
      return config.withoutSurface(McpSurface.NAME);
    }
    boolean willHaveKey =
        wantsKey(config)
            && vouches(home, trust, made(home)).orElseGet(() -> operator(home).isPresent());
    return in(config, home, willHaveKey);
  }

  /**
   * The configuration with the surface, unless it says that it is not to be served, or there is no
   * key for it: what nobody can vouch for could be listed and never called.
   *
   * @param hasKey what {@link #hasKey} said when the server started
   */
  static GatewayConfig in(GatewayConfig config, Home home, boolean hasKey) {
    if (!wantsKey(config)) {
      return config;
    }
    if (!hasKey) {
      return config.withoutSurface(McpSurface.NAME);
    }
    SurfaceConfig said = said(config);
    TreeMap<String, String> keys = new TreeMap<>(Map.of(home.tenant(), KEY));
    return config.withSurface(
        McpSurface.NAME, new SurfaceConfig(keys, said.secrets(), said.settings()));
  }

  /** What to say where the configuration asks for the surface by its name, and none is served. */
  static Optional<String> notServed(GatewayConfig written, GatewayConfig served) {
    return Optional.of(
            "MCP is not served: no key "
                + KEY
                + " is in force, and none can be made. With another one: writ key new NAME --role"
                + " surface --subject mcp, and under surfaces: mcp: { keys: { TENANT: NAME } }")
        .filter(_ -> written.surfaces().containsKey(McpSurface.NAME) && wantsKey(written))
        .filter(_ -> !served.surfaces().containsKey(McpSurface.NAME));
  }

  /**
   * @throws WritException {@code GWY-002} for wrong settings
   */
  private static boolean wantsKey(GatewayConfig config) {
    SurfaceConfig said = said(config);
    return said.keys().isEmpty() && McpSettings.parse(said.settings()).served();
  }

  private static SurfaceConfig said(GatewayConfig config) {
    return config.surfaces().getOrDefault(McpSurface.NAME, NOTHING_SAID);
  }

  private static Optional<SigningKey> made(Home home) {
    return Files.exists(home.keyFile(KEY)) ? Optional.of(home.key(KEY)) : Optional.empty();
  }

  /** The key that can enrol one; several cells are made with one, or have none. */
  private static Optional<SigningKey> operator(Home home) {
    if (!home.hasKey(OPERATOR) || home.cells() > 1) {
      return Optional.empty();
    }
    try {
      return Optional.of(home.key(OPERATOR));
    } catch (WritException e) {
      return Optional.empty(); // it is in an agent, or encrypted, and this server has neither
    }
  }

  /** Whether the surface may sign with its key; empty where nobody ever enrolled it. */
  private static Optional<Boolean> vouches(Home home, Trust trust, Optional<SigningKey> made) {
    return made.flatMap(key -> trust.key(key.kid()))
        .map(found ->
            found.revokedAt().isEmpty()
                && found.role() == KeyRole.SURFACE
                && found.subject().equals(McpSurface.NAME)
                && found.tenant().filter(home.tenant()::equals).isPresent());
  }
}
