package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.journal.EventKind;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.config.GatewayConfig.SurfaceConfig;
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
   * Whether the home has a key with which the surface vouches in its tenant. One is made and
   * enrolled where the operator's key is at hand and there is none yet.
   */
  static boolean hasKey(Session session, OpenHome open, GatewayConfig config) {
    if (!wantsKey(config)) {
      return false;
    }
    Home home = open.home();
    if (Files.exists(home.keyFile(KEY))) {
      return isEnrolled(open, home.key(KEY));
    }
    if (!home.hasKey(OPERATOR) || home.cells() > 1) { // several cells are made with the key
      return false;
    }
    SecureRandom random = new SecureRandom();
    Instant now = open.kernel().now();
    SigningKey key = SigningKey.generateEd25519(random);
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
      signed = KeyCommand.signed(home.key(OPERATOR), EventKind.KEY_ENROLLED, trusted.toJson(), now);
    } catch (WritException e) {
      return false; // the operator's key is in an agent, or encrypted, and this server has neither
    }
    KeyFiles.write(home.keyFile(KEY), key, Homes.passphrase(session), random);
    KeyCommand.change(open, signed);
    return true;
  }

  /**
   * The configuration with the surface, unless it says that it is not to be served.
   *
   * @param hasKey what {@link #hasKey} said when the server started
   */
  static GatewayConfig in(GatewayConfig config, Home home, boolean hasKey) {
    if (!hasKey || !wantsKey(config)) {
      return config;
    }
    SurfaceConfig said = said(config);
    TreeMap<String, String> keys = new TreeMap<>(Map.of(home.tenant(), KEY));
    return config.withSurface(
        McpSurface.NAME, new SurfaceConfig(keys, said.secrets(), said.settings()));
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

  private static boolean isEnrolled(OpenHome open, SigningKey key) {
    return open.kernel()
        .system()
        .trust()
        .key(key.kid())
        .filter(found -> found.revokedAt().isEmpty())
        .filter(found -> found.role() == KeyRole.SURFACE)
        .filter(found -> found.subject().equals(McpSurface.NAME))
        .filter(found -> found.tenant().filter(open.home().tenant()::equals).isPresent())
        .isPresent();
  }
}
