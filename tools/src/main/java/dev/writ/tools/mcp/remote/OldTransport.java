package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.egress.EgressAnswer;
import dev.writ.sandbox.egress.EgressClient.Field;
import dev.writ.sandbox.egress.EgressClient.NoAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The transport of 2024-11-05, HTTP with SSE, which is not spoken here but known. */
final class OldTransport {
  private static final int PIECE = 1 << 12;
  private static final int BYTES_MAX = 1 << 16;
  private static final Duration WITHIN = Duration.ofSeconds(5);

  private OldTransport() {}

  /** Whether a GET opens a stream whose first event names an endpoint. */
  static boolean isSpoken(RemoteConnection server) {
    List<String> types = new ArrayList<>();
    EventReader events = new EventReader(BYTES_MAX, event -> types.add(event.type()));
    List<Field> fields = List.of(new Field("Accept", "text/event-stream"));
    byte[] piece = new byte[PIECE];
    try (EgressAnswer reply = server.open("GET", fields, Optional.empty(), WITHIN)) {
      boolean stream =
          reply.status() == 200 && PostedRequest.type(reply).equals("text/event-stream");
      for (int n = 0; stream && types.isEmpty() && n >= 0; n = reply.read(piece)) {
        events.next(piece, n);
      }
    } catch (NoAnswer | WritException e) {
      return !types.isEmpty() && types.getFirst().equals("endpoint");
    }
    return !types.isEmpty() && types.getFirst().equals("endpoint");
  }
}
