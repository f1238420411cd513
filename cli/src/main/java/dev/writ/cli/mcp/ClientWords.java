package dev.writ.cli.mcp;

import dev.writ.surfaces.mcp.McpMessage;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a client said once and what counts from then on: who it is and what it can be asked, and
 * what it wants of logs. Whoever answers it next has to hear it, too. Two of these are the same
 * where they are one object.
 */
final class ClientWords {
  static final ClientWords NONE = new ClientWords(List.of(), Optional.empty());

  private static final String INITIALIZE = "initialize";
  private static final String SET_LEVEL = "logging/setLevel";

  /** Of initialize, its line; none, or one. */
  private final List<byte[]> begun;

  private final Optional<byte[]> logs;

  private ClientWords(List<byte[]> begun, Optional<byte[]> logs) {
    this.begun = begun;
    this.logs = logs;
  }

  static boolean begins(Optional<McpMessage.Request> request) {
    return request.filter(r -> r.method().equals(INITIALIZE)).isPresent();
  }

  /** With one more request that was answered; this one where it is none of these. */
  ClientWords and(Optional<McpMessage.Request> request, byte[] line) {
    if (begins(request)) {
      return new ClientWords(List.of(line), Optional.empty());
    }
    return request.filter(r -> r.method().equals(SET_LEVEL)).isPresent()
        ? new ClientWords(begun, Optional.of(line))
        : this;
  }

  /** As the client sent them, in their order. */
  List<byte[]> lines() {
    return Stream.concat(begun.stream(), logs.stream()).toList();
  }
}
