package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.embed.home.Home;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.v1.VouchedSurface;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.surfaces.engine.EngineSurface;
import dev.writ.surfaces.logline.LoglineSurface;
import dev.writ.surfaces.mcp.McpSettings;
import dev.writ.surfaces.mcp.McpSurface;
import dev.writ.surfaces.seed.SeedSurfaces;
import dev.writ.surfaces.tools.ToolsSurface;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** What a configuration says of surfaces, checked before any of them is served. */
public final class ConfiguredSurfaces {
  /** All that there are, sorted. */
  public static final List<String> NAMES =
      List.of(
          EngineSurface.NAME,
          ExecuteAdmission.PROFILE,
          LoglineSurface.NAME,
          McpSurface.NAME,
          ToolsSurface.NAME,
          VouchedSurface.NAME);

  private static final List<String> WITHOUT_SETTINGS =
      List.of(EngineSurface.NAME, ExecuteAdmission.PROFILE, VouchedSurface.NAME);

  private ConfiguredSurfaces() {}

  /**
   * Requires surfaces that exist, with settings and secrets that they can be made of.
   *
   * @param directory to which file names are relative
   * @throws WritException {@code GWY-002}, {@code GWY-005}, {@code GWY-101}, {@code GWY-102}
   */
  public static void require(
      GatewayConfig config, Map<String, String> environment, Path directory) {
    SortedMap<String, SurfaceConfig> surfaces = config.surfaces();
    for (String name : surfaces.keySet()) {
      if (!NAMES.contains(name)) {
        throw new WritException(
            GatewayError.CONFIG_FIELD, "surfaces/" + name + " is none of " + NAMES);
      }
    }
    SeedSurfaces.require(surfaces, environment, directory);
    if (surfaces.containsKey(McpSurface.NAME)) {
      McpSettings.parse(surfaces.get(McpSurface.NAME).settings());
    }
    for (String name : WITHOUT_SETTINGS) {
      if (surfaces.containsKey(name) && !surfaces.get(name).settings().isEmpty()) {
        throw new WritException(
            GatewayError.CONFIG_FIELD,
            "surfaces/" + name + " has no settings: " + surfaces.get(name).settings().keySet());
      }
    }
  }

  /**
   * The keys with which surfaces vouch for callers, by {@link KernelPipeline#keyName}.
   *
   * @param trust the keys that are enrolled
   * @throws WritException {@code GWY-008} for a key that is enrolled as something else; why its
   *     file cannot be read
   */
  public static SortedMap<String, SigningKey> keys(GatewayConfig config, Home home, Trust trust) {
    TreeMap<String, SigningKey> keys = new TreeMap<>();
    config
        .surfaces()
        .forEach((surface, c) ->
            c.keys()
                .forEach((tenant, file) -> {
                  SigningKey key = home.key(file);
                  requireEnrolled(surface, tenant, file, key, trust);
                  keys.put(KernelPipeline.keyName(surface, tenant), key);
                }));
    return keys;
  }

  private static void requireEnrolled(
      String surface, String tenant, String file, SigningKey key, Trust trust) {
    String as =
        trust
            .key(key.kid())
            .map(k -> k.role().text() + " " + k.subject() + " of " + k.tenant().orElse("no tenant"))
            .orElse("nothing");
    boolean fits = trust.key(key.kid()).filter(k -> isOf(k, surface, tenant)).isPresent();
    if (!fits) {
      throw new WritException(
          GatewayError.SURFACE_KEY_OTHER,
          "surfaces/"
              + surface
              + "/keys/"
              + tenant
              + ": the key "
              + file
              + " is enrolled as "
              + as
              + ", and needed as surface "
              + surface
              + " of "
              + tenant);
    }
  }

  private static boolean isOf(TrustedKey key, String surface, String tenant) {
    return key.role() == KeyRole.SURFACE
        && key.subject().equals(surface)
        && key.tenant().filter(tenant::equals).isPresent();
  }
}
