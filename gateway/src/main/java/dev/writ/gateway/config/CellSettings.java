package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HopSettings;
import dev.writ.guardian.yaml.Section;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How a gateway shares its installation with others (spec/cells.md).
 *
 * @param hop how the gateways reach each other
 * @param lease how long an owner has a cell before it has to renew that
 * @param margin what it leaves unused of that
 * @param bound the longest time for which a cell acts without having seen the system cell
 * @param roots how often the system cell states how far the others are
 */
public record CellSettings(
    HopSettings hop, Duration lease, Duration margin, Duration bound, Duration roots) {
  private static final long BOUND_MS = 1_000;
  private static final long LEASE_MS = 6_000;
  private static final long MARGIN_MS = 1_500;
  private static final long ROOT_S = 300;

  /** What a takeover takes beside the lease. */
  private static final long TAKEOVER_MS = 6_000;

  private static final List<String> LOOPBACK = List.of("127.0.0.1", "localhost", "::1");
  private static final List<String> ANY = List.of("0.0.0.0", "::");

  /** The same, with file names relative to that folder. */
  public CellSettings inFolder(Path folder) {
    return new CellSettings(hop.inFolder(folder), lease, margin, bound, roots);
  }

  static CellSettings read(Section s) {
    long lease = s.optional("lease_ms", k -> s.between(k, 1_000, 600_000)).orElse(LEASE_MS);
    long margin =
        s.optional("margin_ms", k -> s.between(k, 100, 300_000))
            .orElse(Math.min(MARGIN_MS, lease / 4));
    s.require("margin_ms", 2 * margin <= lease, "more than half of the lease");
    String host = s.optional("host", s::name).orElse("127.0.0.1");
    int port = s.optional("port", k -> (int) s.between(k, 0, 65_535)).orElse(8182);
    Optional<String> address = s.optional("address", k -> address(s, k));
    Optional<HopSettings.Tls> tls = tls(s);
    long wait = s.optional("wait_ms", k -> s.between(k, 0, 3_600_000)).orElse(lease + TAKEOVER_MS);
    long bound = s.optional("system_ms", k -> s.between(k, 200, 60_000)).orElse(BOUND_MS);
    long roots = s.optional("root_s", k -> s.between(k, 1, 86_400)).orElse(ROOT_S);
    s.end();
    if (ANY.contains(host) && address.isEmpty()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "cells needs an address, where other gateways reach this one");
    }
    boolean isHere = LOOPBACK.contains(host) && address.map(CellSettings::isLoopback).orElse(true);
    if (tls.isEmpty() && !isHere) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "cells needs certificate, key and ca, since other machines reach " + host);
    }
    return new CellSettings(
        new HopSettings(host, port, address, tls, Duration.ofMillis(wait)),
        Duration.ofMillis(lease),
        Duration.ofMillis(margin),
        Duration.ofMillis(bound),
        Duration.ofSeconds(roots));
  }

  private static boolean isLoopback(String address) {
    return LOOPBACK.contains(address.substring(0, address.lastIndexOf(':')));
  }

  private static String address(Section s, String key) {
    String address = s.name(key);
    s.require(
        key,
        address.matches("[A-Za-z0-9.-]{1,253}:[1-9][0-9]{0,4}"),
        "\"" + address + "\" is no host with a port");
    return address;
  }

  private static Optional<HopSettings.Tls> tls(Section s) {
    Optional<String> certificate = s.optional("certificate", s::name);
    Optional<String> key = s.optional("key", s::name);
    Optional<String> authority = s.optional("ca", s::name);
    if (certificate.isEmpty() && key.isEmpty() && authority.isEmpty()) {
      return Optional.empty();
    }
    if (certificate.isEmpty() || key.isEmpty() || authority.isEmpty()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "cells needs all of certificate, key and ca, or none");
    }
    return Optional.of(
        new HopSettings.Tls(
            Path.of(certificate.get()), Path.of(key.get()), Path.of(authority.get())));
  }
}
