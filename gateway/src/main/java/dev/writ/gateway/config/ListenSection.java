package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Listen;
import dev.writ.guardian.yaml.Section;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Reads {@code listen} of the configuration, with what the environment says of it. */
final class ListenSection {
  private ListenSection() {}

  /**
   * How the server listens.
   *
   * @param section absent where the file does not say
   * @param environment overrides the section: {@code WRIT_LISTEN}, {@code WRIT_TLS}, {@code
   *     WRIT_TLS_CERTIFICATE}, {@code WRIT_TLS_KEY}
   * @throws WritException {@code GWY-002}, {@code GWY-003}
   */
  static Listen read(Optional<Section> section, Map<String, String> environment) {
    String host = "127.0.0.1";
    int port = 8181;
    Optional<String> tls = Optional.empty();
    Optional<String> certificate = Optional.empty();
    Optional<String> key = Optional.empty();
    Optional<Listen.Clients> clients = Optional.empty();
    if (section.isPresent()) {
      Section s = section.get();
      host = s.optional("host", k -> bare(s.name(k))).orElse(host);
      port = s.optional("port", k -> (int) s.between(k, 0, 65535)).orElse(port);
      tls = s.optional("tls", k -> s.oneOf(k, List.of("none", "proxy", "own"), v -> v));
      certificate = s.optional("certificate", s::name);
      key = s.optional("key", s::name);
      clients = clients(s);
      s.end();
    }
    String at = environment.getOrDefault("WRIT_LISTEN", "");
    if (!at.isEmpty()) {
      int colon = at.endsWith("]") ? -1 : at.lastIndexOf(':');
      host = bare(colon < 0 ? at : at.substring(0, colon));
      port = colon < 0 ? port : port(at.substring(colon + 1));
    }
    tls = fromEnvironment(environment, "WRIT_TLS").or(orElse(tls));
    certificate = file(environment, "WRIT_TLS_CERTIFICATE").or(orElse(certificate));
    key = file(environment, "WRIT_TLS_KEY").or(orElse(key));
    Listen listen =
        new Listen(host, port, protection(tls.orElse("none"), certificate, key, clients));
    if (clients.isPresent() && !(listen.protection() instanceof Listen.Protection.Tls)) {
      throw new WritException(GatewayError.CONFIG_FIELD, "listen/client_ca needs tls: own");
    }
    return listen;
  }

  /** An address of IPv6 may stand in brackets, as in a URL; they are no part of it. */
  private static String bare(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /** If an authority is named, a client without a certificate of it gets no connection. */
  private static Optional<Listen.Clients> clients(Section s) {
    Optional<Path> authority = s.optional("client_ca", k -> Path.of(s.name(k)));
    Optional<Boolean> required =
        s.optional(
            "client_certificate",
            k -> s.oneOf(k, List.of("required", "offered"), v -> v).equals("required"));
    if (authority.isEmpty() && required.isPresent()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "listen/client_certificate needs a client_ca");
    }
    return authority.map(ca -> new Listen.Clients(ca, required.orElse(true)));
  }

  /**
   * A file name from the environment is relative to the directory in which the server was started.
   */
  private static Optional<String> file(Map<String, String> environment, String name) {
    return fromEnvironment(environment, name)
        .map(path -> Path.of(path).toAbsolutePath().toString());
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
      String tls,
      Optional<String> certificate,
      Optional<String> key,
      Optional<Listen.Clients> clients) {
    return switch (tls) {
      case "none" -> new Listen.Protection.None();
      case "proxy" -> new Listen.Protection.Proxy();
      case "own" ->
          new Listen.Protection.Tls(
              Path.of(certificate.orElseThrow(() -> missing("certificate"))),
              Path.of(key.orElseThrow(() -> missing("key"))),
              clients);
      default ->
          throw new WritException(
              GatewayError.CONFIG_FIELD, "tls \"" + tls + "\" is none of none, proxy, own");
    };
  }

  private static WritException missing(String what) {
    return new WritException(GatewayError.CONFIG_FIELD, "tls: own needs a " + what);
  }
}
