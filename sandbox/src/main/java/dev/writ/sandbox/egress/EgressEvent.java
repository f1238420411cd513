package dev.writ.sandbox.egress;

import dev.writ.canonicalize.json.JsonValue;
import java.util.List;

/** What the proxy did for a command. */
public sealed interface EgressEvent {
  JsonValue.Obj toJson();

  /** Whether something was refused. */
  boolean denied();

  /**
   * A name was looked up.
   *
   * @param addresses in the resolver's order; empty where there are none
   */
  record Lookup(String host, List<String> addresses) implements EgressEvent {
    public Lookup {
      addresses = List.copyOf(addresses);
    }

    @Override
    public boolean denied() {
      return false;
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("kind", "lookup")
          .put("host", host)
          .putList("addresses", addresses, JsonValue::of)
          .build();
    }
  }

  /**
   * A connection, made or refused.
   *
   * @param address that was connected to; empty where none was
   * @param verdict {@code connected}, {@code denied} or {@code failed}
   * @param reason why not; empty where connected
   * @param sent bytes from the command outwards, of its payload
   * @param received bytes towards the command
   */
  record Connection(
      String host,
      int port,
      String address,
      String verdict,
      String reason,
      long sent,
      long received)
      implements EgressEvent {
    @Override
    public boolean denied() {
      return verdict.equals("denied");
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("kind", "connection")
          .put("host", host)
          .put("port", port)
          .put("address", address)
          .put("verdict", verdict)
          .put("reason", reason)
          .put("sent", sent)
          .put("received", received)
          .build();
    }
  }
}
