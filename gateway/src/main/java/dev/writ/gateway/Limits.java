package dev.writ.gateway;

import java.time.Duration;

/**
 * What the server takes from the network. None of them can be switched off.
 *
 * @param uriBytesMax length of the request line
 * @param headBytesMax length of all header fields
 * @param connectionsMax open at once
 * @param connectionsPerAddressMax open at once from one address
 * @param concurrentMax calls at work at once
 * @param concurrentPerTenantMax calls at work at once for one tenant
 * @param headWithin how long a connection may stand without a complete request head
 * @param bodyWithin how long a body may take, or one piece of a streamed body
 * @param writeWithin how long a client may not read while an answer is sent
 */
public record Limits(
    int uriBytesMax,
    int headBytesMax,
    int connectionsMax,
    int connectionsPerAddressMax,
    int concurrentMax,
    int concurrentPerTenantMax,
    Duration headWithin,
    Duration bodyWithin,
    Duration writeWithin) {

  public static final Limits DEFAULT =
      new Limits(
          4096,
          16384,
          2048,
          1024,
          256,
          64,
          Duration.ofSeconds(15),
          Duration.ofSeconds(30),
          Duration.ofSeconds(30));
}
