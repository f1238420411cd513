package dev.writ.gateway.http;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * How gateways of one installation reach each other.
 *
 * @param host where this one listens for the others
 * @param port 0 for any free one
 * @param address by which the others reach it, host and port; absent for what it listens on
 * @param tls what protects the connections; absent on loopback alone
 * @param patience how long a request waits while nobody owns what it is for
 */
public record HopSettings(
    String host, int port, Optional<String> address, Optional<Tls> tls, Duration patience) {

  /**
   * Files in PEM. Each gateway shows its certificate to the others, as a server and as a client.
   *
   * @param authority which issues certificates to gateways and to nobody else
   */
  public record Tls(Path certificate, Path key, Path authority) {}

  /** Both sides show a certificate of the authority. */
  public Optional<Listen.Protection.Tls> protection() {
    return tls.map(t ->
        new Listen.Protection.Tls(
            t.certificate(), t.key(), Optional.of(new Listen.Clients(t.authority(), true))));
  }

  /** The same, with file names relative to that folder. */
  public HopSettings inFolder(Path folder) {
    return new HopSettings(
        host,
        port,
        address,
        tls.map(t ->
            new Tls(
                folder.resolve(t.certificate()),
                folder.resolve(t.key()),
                folder.resolve(t.authority()))),
        patience);
  }
}
