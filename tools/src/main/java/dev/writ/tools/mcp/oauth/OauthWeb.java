package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.egress.EgressClient;
import dev.writ.sandbox.egress.EgressClient.Field;
import dev.writ.sandbox.egress.EgressClient.NoAnswer;
import dev.writ.sandbox.egress.EgressClient.Received;
import dev.writ.sandbox.egress.EgressClient.Sent;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.PathTemplate;
import dev.writ.tools.mcp.web.WebAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Asks authorization servers, by the egress rules: over https alone, at public addresses alone. A
 * server on this machine may have its authorization server here, too.
 */
public final class OauthWeb implements AutoCloseable {
  private static final Duration WITHIN = Duration.ofSeconds(30);
  private static final int BYTES_MAX = 1 << 18;
  private static final int REDIRECTS_MAX = 3;

  private final SandboxSettings settings;
  private final WebAddress server;
  private final EgressClient client;

  /**
   * @param server the MCP server, whose address a person wrote
   */
  public OauthWeb(SandboxSettings settings, WebAddress server) {
    this.settings = settings;
    this.server = server;
    this.client = new EgressClient(settings.resolver(), settings.tls());
  }

  /** An answer, of which the document is read where it is one. */
  record Answer(int status, Optional<JsonValue.Obj> document, List<String> challenges) {}

  WebAddress server() {
    return server;
  }

  /**
   * Reads an address that another server named.
   *
   * @param what for the message
   * @throws WritException {@code TOL-284} for one that is not https
   */
  WebAddress require(String what, String text) {
    WebAddress address =
        WebAddress.parse(text)
            .orElseThrow(() ->
                new WritException(ToolsError.OAUTH_ENDPOINT, "the " + what + " is no address"));
    boolean here = address.isLoopback() && server.isLoopback();
    if (!address.secure() && !here) {
      throw new WritException(
          ToolsError.OAUTH_ENDPOINT, "the " + what + " " + address.origin() + " is not https");
    }
    return address;
  }

  /** Gets a document; redirects are followed within the origin. */
  Answer get(WebAddress address) {
    WebAddress at = address;
    for (int redirects = 0; ; redirects++) {
      Received answer =
          send("GET", at, List.of(new Field("Accept", "application/json")), Optional.empty());
      boolean moved = List.of(301, 302, 303, 307, 308).contains(answer.status());
      if (!moved) {
        return answer(answer);
      }
      Optional<WebAddress> to = answer.values("location").stream().findFirst().flatMap(at::resolve);
      if (to.isEmpty() || !to.get().isAt(at) || redirects == REDIRECTS_MAX) {
        throw new WritException(
            ToolsError.OAUTH_ENDPOINT,
            at.origin()
                + " leads to "
                + to.map(WebAddress::origin).orElse("a place that cannot be read"));
      }
      at = to.get();
    }
  }

  /** Sends a form. */
  Answer post(WebAddress address, SortedMap<String, String> form, Optional<String> authorization) {
    List<String> pairs = new ArrayList<>();
    for (Map.Entry<String, String> entry : form.entrySet()) {
      pairs.add(encoded(entry.getKey()) + "=" + encoded(entry.getValue()));
    }
    return post(
        address,
        "application/x-www-form-urlencoded",
        String.join("&", pairs).getBytes(StandardCharsets.US_ASCII),
        authorization);
  }

  /** Sends a document. */
  Answer post(WebAddress address, JsonValue.Obj document) {
    return post(address, "application/json", Jcs.write(document), Optional.empty());
  }

  private Answer post(
      WebAddress address, String type, byte[] content, Optional<String> authorization) {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("Accept", "application/json, text/event-stream"));
    fields.add(new Field("Content-Type", type));
    authorization.ifPresent(value -> fields.add(new Field("Authorization", value)));
    return answer(send("POST", address, fields, Optional.of(content)));
  }

  private Received send(
      String method, WebAddress address, List<Field> fields, Optional<byte[]> content) {
    List<Field> all = new ArrayList<>(fields);
    all.add(new Field("Accept-Encoding", "identity"));
    all.add(new Field("User-Agent", "writ"));
    boolean trusted = address.isAt(server) || address.isLoopback() && server.isLoopback();
    try {
      return client.send(
          new Sent(
              address.rule(settings, trusted),
              address.secure(),
              method,
              address.target(),
              all,
              content),
          WITHIN,
          BYTES_MAX);
    } catch (NoAnswer e) {
      throw new WritException(ToolsError.UPSTREAM_UNREACHED, address.unreached(e), e);
    }
  }

  private static Answer answer(Received answer) {
    Optional<JsonValue.Obj> document;
    try {
      document =
          Jcs.parse(answer.content()) instanceof JsonValue.Obj object
              ? Optional.of(object)
              : Optional.empty();
    } catch (WritException e) {
      document = Optional.empty();
    }
    return new Answer(answer.status(), document, answer.values("www-authenticate"));
  }

  /** As {@code application/x-www-form-urlencoded} has it, with a space as {@code %20}. */
  static String encoded(String text) {
    return PathTemplate.encoded(text);
  }

  @Override
  public void close() {
    client.close();
  }
}
