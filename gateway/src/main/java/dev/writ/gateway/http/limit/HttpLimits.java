package dev.writ.gateway.http.limit;

import java.time.Duration;

/**
 * What the server takes from the network. None of them can be switched off.
 *
 * @param uriBytesMax length of the request line
 * @param headBytesMax length of all header fields
 * @param headFieldsMax number of header fields
 * @param connectionsMax open at once
 * @param connectionsPerAddressMax open at once from one address
 * @param concurrentMax calls at work at once
 * @param concurrentPerTenantMax calls at work at once for one tenant
 * @param concurrentPerCredentialMax calls at work at once with one credential
 * @param unverifiedMax requests at once whose credential is in a body that is not there yet
 * @param unverifiedPerAddressMax the same from one address
 * @param unverifiedBytesMax length of such a body, where a signed document is in it
 * @param streamsMax answers at once that are streams; a tenant and a credential have the same part
 *     of them as of the calls at work
 * @param memoryMax bytes that calls at work may hold: bodies, what they are parsed to, answers
 * @param headWithin how long a connection may stand without a complete request head
 * @param bodyWithin how long a body may take, or one piece of a streamed body
 * @param writeWithin how long a client may not read while an answer is sent
 * @param proxies who is asked for the address that a request came from
 */
public record HttpLimits(
    int uriBytesMax,
    int headBytesMax,
    int headFieldsMax,
    int connectionsMax,
    int connectionsPerAddressMax,
    int concurrentMax,
    int concurrentPerTenantMax,
    int concurrentPerCredentialMax,
    int unverifiedMax,
    int unverifiedPerAddressMax,
    int unverifiedBytesMax,
    int streamsMax,
    long memoryMax,
    Duration headWithin,
    Duration bodyWithin,
    Duration writeWithin,
    TrustedProxies proxies) {

  public static final HttpLimits DEFAULT =
      new HttpLimits(
          4096,
          16384,
          100,
          2048,
          1024,
          512,
          128,
          64,
          128,
          64,
          4 << 20,
          256,
          Runtime.getRuntime().maxMemory() / 4,
          Duration.ofSeconds(15),
          Duration.ofSeconds(30),
          Duration.ofSeconds(30),
          TrustedProxies.NONE);

  /**
   * Descriptors that are reserved for the process itself: code, event loops, logs, the ledger's
   * logs.
   */
  private static final long RESERVED = 192;

  /**
   * Lowers the limit of connections, so that descriptors are left for the ledger and for tools. A
   * quarter of the descriptors is for the ledger, {@value #RESERVED} are reserved, and of the rest
   * one half is for connections and the other for files that calls open. One address may have half
   * of the connections.
   *
   * @param descriptors how many the process may have open
   */
  public HttpLimits within(long descriptors) {
    long rest = descriptors - descriptors / 4 - RESERVED;
    int connections = Math.clamp(rest / 2, 1, connectionsMax);
    return new HttpLimits(
        uriBytesMax,
        headBytesMax,
        headFieldsMax,
        connections,
        Math.min(connectionsPerAddressMax, Math.max(1, connections / 2)),
        concurrentMax,
        concurrentPerTenantMax,
        concurrentPerCredentialMax,
        unverifiedMax,
        unverifiedPerAddressMax,
        unverifiedBytesMax,
        streamsMax,
        memoryMax,
        headWithin,
        bodyWithin,
        writeWithin,
        proxies);
  }
}
