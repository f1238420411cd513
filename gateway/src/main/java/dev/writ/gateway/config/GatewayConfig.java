package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.GatewayError;
import dev.writ.gateway.Limits;
import dev.writ.gateway.Listen;
import dev.writ.gateway.Tokens;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.guardian.yaml.Section;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The configuration of a server: one YAML file for people, with overrides from the environment
 * (spec/gateway.md). It holds no secret: tokens by digest, keys and other secrets by file.
 *
 * @param surfaces by name; a surface that is not here is not served
 * @param drain how long a stopping server waits for what is at work
 * @param blobBytesMax of one blob
 */
public record GatewayConfig(
    Listen listen,
    Limits limits,
    List<Tokens.Entry> tokens,
    SortedMap<String, SurfaceConfig> surfaces,
    Duration drain,
    long blobBytesMax) {
  private static final long BLOB_BYTES_MAX = 256L << 20;
  private static final int REQUEST_HEAD_MAX = 1 << 20;

  public GatewayConfig {
    tokens = List.copyOf(tokens);
  }

  /** Loopback, a free port, no tokens: nobody but holders of keys. */
  public static GatewayConfig minimal(int port) {
    return new GatewayConfig(
        Listen.loopback(port),
        Limits.DEFAULT,
        List.of(),
        new TreeMap<>(),
        Duration.ofSeconds(30),
        BLOB_BYTES_MAX);
  }

  /**
   * Reads a file.
   *
   * @param environment whose {@code WRIT_LISTEN}, {@code WRIT_TLS}, {@code WRIT_TLS_CERTIFICATE}
   *     and {@code WRIT_TLS_KEY} come before what the file says
   * @throws WritException {@code GWY-002}, naming line, column and field; {@code GWY-003}
   */
  public static GatewayConfig parse(byte[] yaml, String fileName, Map<String, String> environment) {
    try {
      return read(Section.of(fileName, PlainYaml.read(yaml, fileName)), environment);
    } catch (WritException e) {
      // The reader of files for people is policy's, with policy's codes: the places are what helps.
      throw e.code() instanceof GatewayError
          ? e
          : new WritException(GatewayError.CONFIG_FIELD, e.found(), e);
    }
  }

  private static GatewayConfig read(Section file, Map<String, String> environment) {
    file.require("writ_gateway", file.between("writ_gateway", 0, Integer.MAX_VALUE) == 1, "not 1");
    Optional<Section> listen = file.optional("listen", file::section);
    GatewayConfig config =
        new GatewayConfig(
            listen(listen, environment),
            file.optional("limits", file::section)
                .map(GatewayConfig::limits)
                .orElse(Limits.DEFAULT),
            file.listOrNone("tokens", item -> token(item.itemSection())),
            surfaces(file.optional("surfaces", file::section)),
            Duration.ofSeconds(file.optional("drain_s", k -> file.between(k, 0, 3600)).orElse(30L)),
            file.optional("blob_bytes_max", k -> file.between(k, 1, 1L << 40))
                .orElse(BLOB_BYTES_MAX));
    file.end();
    return config;
  }

  private static Listen listen(Optional<Section> section, Map<String, String> environment) {
    String host = "127.0.0.1";
    int port = 8181;
    Optional<String> tls = Optional.empty();
    Optional<String> certificate = Optional.empty();
    Optional<String> key = Optional.empty();
    if (section.isPresent()) {
      Section s = section.get();
      host = s.optional("host", s::name).orElse(host);
      port = s.optional("port", k -> (int) s.between(k, 0, 65535)).orElse(port);
      tls = s.optional("tls", k -> s.oneOf(k, List.of("none", "proxy", "own"), v -> v));
      certificate = s.optional("certificate", s::name);
      key = s.optional("key", s::name);
      s.end();
    }
    String at = environment.getOrDefault("WRIT_LISTEN", "");
    if (!at.isEmpty()) {
      int colon = at.lastIndexOf(':');
      host = colon < 0 ? at : at.substring(0, colon);
      port = colon < 0 ? port : port(at.substring(colon + 1));
    }
    tls = fromEnvironment(environment, "WRIT_TLS").or(orElse(tls));
    certificate = fromEnvironment(environment, "WRIT_TLS_CERTIFICATE").or(orElse(certificate));
    key = fromEnvironment(environment, "WRIT_TLS_KEY").or(orElse(key));
    return new Listen(host, port, protection(tls.orElse("none"), certificate, key));
  }

  private static Supplier<Optional<String>> orElse(Optional<String> otherwise) {
    return () -> otherwise;
  }

  private static Optional<String> fromEnvironment(Map<String, String> environment, String name) {
    return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
  }

  private static int port(String text) {
    if (text.matches("[0-9]{1,5}") && Integer.parseInt(text) <= 65535) {
      return Integer.parseInt(text);
    }
    throw new WritException(GatewayError.CONFIG_FIELD, "WRIT_LISTEN: \"" + text + "\" is no port");
  }

  private static Listen.Protection protection(
      String tls, Optional<String> certificate, Optional<String> key) {
    return switch (tls) {
      case "none" -> new Listen.Protection.None();
      case "proxy" -> new Listen.Protection.Proxy();
      case "own" ->
          new Listen.Protection.Tls(
              Path.of(certificate.orElseThrow(() -> missing("certificate"))),
              Path.of(key.orElseThrow(() -> missing("key"))));
      default ->
          throw new WritException(
              GatewayError.CONFIG_FIELD, "tls \"" + tls + "\" is none of none, proxy, own");
    };
  }

  private static WritException missing(String what) {
    return new WritException(GatewayError.CONFIG_FIELD, "tls: own needs a " + what);
  }

  private static Limits limits(Section s) {
    Limits d = Limits.DEFAULT;
    Limits limits =
        new Limits(
            number(s, "uri_bytes_max", 256, 65536, d.uriBytesMax()),
            number(s, "head_bytes_max", 1024, REQUEST_HEAD_MAX, d.headBytesMax()),
            number(s, "connections_max", 1, 1_000_000, d.connectionsMax()),
            number(s, "connections_per_address_max", 1, 1_000_000, d.connectionsPerAddressMax()),
            number(s, "concurrent_max", 1, 100_000, d.concurrentMax()),
            number(s, "concurrent_per_tenant_max", 1, 100_000, d.concurrentPerTenantMax()),
            seconds(s, "head_within_s", d.headWithin()),
            seconds(s, "body_within_s", d.bodyWithin()),
            seconds(s, "write_within_s", d.writeWithin()));
    s.end();
    return limits;
  }

  private static int number(Section s, String key, int min, int max, int otherwise) {
    return s.optional(key, k -> (int) s.between(k, min, max)).orElse(otherwise);
  }

  private static Duration seconds(Section s, String key, Duration otherwise) {
    return s.optional(key, k -> Duration.ofSeconds(s.between(k, 1, 3600))).orElse(otherwise);
  }

  private static Tokens.Entry token(Section s) {
    Tokens.Entry entry =
        new Tokens.Entry(
            s.name("name"),
            s.digest("digest"),
            s.name("tenant"),
            s.name("subject"),
            s.names("roles", List.of()),
            s.optional("expires_at", s::time));
    s.end();
    return entry;
  }

  private static SortedMap<String, SurfaceConfig> surfaces(Optional<Section> section) {
    TreeMap<String, SurfaceConfig> surfaces = new TreeMap<>();
    section.ifPresent(all -> {
      for (String name : all.keys()) {
        surfaces.put(name, SurfaceConfig.read(all.section(name)));
      }
      all.end();
    });
    return surfaces;
  }

  /** What a surface needs beside its code. */
  public record SurfaceConfig(
      SortedMap<String, String> keys, List<String> secrets, Map<String, String> settings) {
    public SurfaceConfig {
      secrets = List.copyOf(secrets);
      settings = new TreeMap<>(settings);
    }

    /**
     * @return {@code keys}: the name of a key file for each tenant; {@code secrets}: files; {@code
     *     settings}: words that the surface itself understands
     */
    static SurfaceConfig read(Section s) {
      SurfaceConfig config =
          new SurfaceConfig(
              words(s.optional("keys", s::section)),
              s.listOrNone("secrets", Section.Item::name),
              words(s.optional("settings", s::section)));
      s.end();
      return config;
    }

    private static SortedMap<String, String> words(Optional<Section> section) {
      TreeMap<String, String> words = new TreeMap<>();
      section.ifPresent(s -> {
        new ArrayList<>(s.keys()).forEach(key -> words.put(key, s.name(key)));
        s.end();
      });
      return words;
    }
  }
}
