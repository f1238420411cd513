package dev.writ.gateway.apart;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HopSettings;
import dev.writ.guardian.yaml.Section;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Where a guardian's executor is (spec/apart.md).
 *
 * @param address host and port
 * @param tls what protects the connection; absent on loopback alone
 * @param patience how long a call waits for the end of an effect while nobody answers
 */
public record ExecutorSettings(String address, Optional<HopSettings.Tls> tls, Duration patience) {
  private static final long PATIENCE_MS = 15_000;
  private static final List<String> LOOPBACK = List.of("127.0.0.1", "localhost");

  /** The same, with file names relative to that folder. */
  public ExecutorSettings inFolder(Path folder) {
    return new ExecutorSettings(
        address,
        tls.map(t ->
            new HopSettings.Tls(
                folder.resolve(t.certificate()),
                folder.resolve(t.key()),
                folder.resolve(t.authority()))),
        patience);
  }

  /**
   * Reads the section of a configuration.
   *
   * @throws WritException {@code GWY-002} where something is missing
   */
  public static ExecutorSettings read(Section s) {
    String address = s.name("address");
    s.require(
        "address",
        address.matches("[A-Za-z0-9.-]{1,253}:[1-9][0-9]{0,4}"),
        "\"" + address + "\" is no host with a port");
    Optional<String> certificate = s.optional("certificate", s::name);
    Optional<String> key = s.optional("key", s::name);
    Optional<String> authority = s.optional("ca", s::name);
    long patience = s.optional("patience_ms", k -> s.between(k, 0, 3_600_000)).orElse(PATIENCE_MS);
    s.end();
    boolean all = certificate.isPresent() && key.isPresent() && authority.isPresent();
    boolean none = certificate.isEmpty() && key.isEmpty() && authority.isEmpty();
    boolean isHere = LOOPBACK.contains(address.substring(0, address.lastIndexOf(':')));
    if (!all && !(none && isHere)) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "executor needs certificate, key and ca, unless it is on loopback");
    }
    return new ExecutorSettings(
        address,
        all
            ? Optional.of(
                new HopSettings.Tls(
                    Path.of(certificate.get()), Path.of(key.get()), Path.of(authority.get())))
            : Optional.empty(),
        Duration.ofMillis(patience));
  }
}
