package dev.writ.sandbox.egress;

import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Optional;

/** An event at the proxy of a command. */
public sealed interface EgressEvent {
  JsonValue.Obj toJson();

  /** Whether something was refused. */
  boolean denied();

  /** Place and reason, for people. */
  String text();

  /**
   * A name was looked up.
   *
   * @param addresses in the resolver's order; empty if there are none
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
    public String text() {
      return host;
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
   * A request that the proxy sent.
   *
   * @param path without its query, and only if the broker lists it; otherwise empty
   * @param status of the answer; 0 if there was none
   * @param brokered whether the proxy sent it on behalf of the command, over TLS
   */
  record Http(String method, String path, int status, boolean brokered) {
    JsonValue.Obj toJson() {
      var json = JsonValue.object().put("method", method);
      if (!path.isEmpty()) {
        json.put("path", path);
      }
      return json.put("status", (long) status).put("brokered", brokered).build();
    }
  }

  /**
   * A connection, made or refused.
   *
   * @param address the address of the connection; empty if there was none
   * @param verdict {@code connected}, {@code denied} or {@code failed}
   * @param reason why it was not connected; empty if it was
   * @param sent payload bytes from the command
   * @param received bytes towards the command
   * @param http the request, if it was plain HTTP
   */
  record Connection(
      String host,
      int port,
      String address,
      String verdict,
      String reason,
      long sent,
      long received,
      Optional<Http> http)
      implements EgressEvent {
    public Connection(
        String host,
        int port,
        String address,
        String verdict,
        String reason,
        long sent,
        long received) {
      this(host, port, address, verdict, reason, sent, received, Optional.empty());
    }

    @Override
    public boolean denied() {
      return verdict.equals("denied");
    }

    @Override
    public String text() {
      return (port == 0 ? "a request" : host + ":" + port) + " (" + reason + ")";
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
          .putIfPresent("http", http, Http::toJson)
          .build();
    }
  }
}
