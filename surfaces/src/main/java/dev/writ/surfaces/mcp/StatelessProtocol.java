package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.Headers;
import dev.writ.ledger.LedgerView;
import io.modelcontextprotocol.spec.McpSchema;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/**
 * Version 2026-07-28, in which each request says what a session said before: the version, what the
 * client can, and in which run it is.
 */
final class StatelessProtocol {
  static final String PREFIX = "io.modelcontextprotocol/";
  static final String PROTOCOL_VERSION = PREFIX + "protocolVersion";
  static final String CAPABILITIES = PREFIX + "clientCapabilities";
  static final String SERVER = PREFIX + "serverInfo";
  static final String DISCOVER = "server/discover";
  static final String LISTEN = "subscriptions/listen";

  /** In {@code _meta}: the caller's own name for the run that a call belongs to. */
  static final String RUN = Results.META + "run";

  private static final int RUN_DIGITS = 32;
  private static final String ENCODED = "=?base64?";
  private static final String ENCODED_END = "?=";

  private StatelessProtocol() {}

  /** Whether a request is of a version without sessions, well-formed or not. */
  static boolean is(McpMessage.Request request) {
    return request.meta(PROTOCOL_VERSION).isPresent() || request.method().equals(DISCOVER);
  }

  /**
   * What the request says of its sender.
   *
   * @throws WritException {@code GWY-152}, {@code GWY-159}
   */
  static McpPeer peer(McpMessage.Request request) {
    if (!(request.meta(PROTOCOL_VERSION).orElse(JsonValue.NULL) instanceof JsonValue.Str version)) {
      throw new WritException(McpRefusal.META, PROTOCOL_VERSION);
    }
    McpVersion spoken =
        McpVersion.of(version.value())
            .filter(McpVersion::isStateless)
            .orElseThrow(() -> new WritException(McpRefusal.PROTOCOL_VERSION, version.value()));
    if (!(request.meta(CAPABILITIES).orElse(JsonValue.NULL)
        instanceof JsonValue.Obj capabilities)) {
      throw new WritException(McpRefusal.META, CAPABILITIES);
    }
    return McpPeer.of(spoken, capabilities);
  }

  /**
   * Requires that the headers say what the message says: others on the way may have decided by
   * them.
   *
   * @throws WritException {@code GWY-158}
   */
  static void requireHeaders(Headers headers, McpMessage.Request request) {
    require(headers, McpSurface.VERSION, request.meta(PROTOCOL_VERSION), false);
    require(headers, "Mcp-Method", Optional.of(JsonValue.of(request.method())), false);
    switch (request.method()) {
      case McpSchema.METHOD_TOOLS_CALL, McpSchema.METHOD_PROMPT_GET ->
          require(headers, "Mcp-Name", request.param("name"), true);
      case McpSchema.METHOD_RESOURCES_READ ->
          require(headers, "Mcp-Name", request.param("uri"), true);
      default -> {
        // the other methods name nothing
      }
    }
  }

  private static void require(
      Headers headers, String name, Optional<JsonValue> said, boolean mayBeEncoded) {
    Optional<String> sent = headers.one(name);
    if (!(said.orElse(JsonValue.NULL) instanceof JsonValue.Str text)) {
      return; // a call without a name is judged, and its denial says so
    }
    if (sent.isEmpty()) {
      throw new WritException(McpRefusal.HEADERS, name + " is missing");
    }
    String value = mayBeEncoded ? decoded(name, sent.get()) : sent.get();
    if (!value.equals(text.value())) {
      throw new WritException(McpRefusal.HEADERS, name);
    }
  }

  private static String decoded(String name, String value) {
    if (!value.startsWith(ENCODED) || !value.endsWith(ENCODED_END)) {
      return value;
    }
    if (value.length() < ENCODED.length() + ENCODED_END.length()) {
      throw new WritException(McpRefusal.HEADERS, name);
    }
    try {
      return new String(
          Base64.getDecoder()
              .decode(value.substring(ENCODED.length(), value.length() - ENCODED_END.length())),
          StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new WritException(McpRefusal.HEADERS, name, e);
    }
  }

  /**
   * The run of a request: the one that it names, or the open one of its credential. Nothing is kept
   * for it: the ledger says which runs are closed.
   *
   * @throws WritException {@code GWY-159} for a name that cannot be one
   */
  static String run(LedgerView ledger, Caller caller, McpMessage.Request request) {
    String own =
        "mcp-"
            + Digest.sha256(
                    Jcs.write(
                        JsonValue.object()
                            .put("principal", caller.principal())
                            .put("subject", caller.subject())
                            .put("tenant", caller.tenant())
                            .build()))
                .hex()
                .substring(0, RUN_DIGITS);
    Optional<JsonValue> named = request.meta(RUN);
    if (named.isEmpty()) {
      return open(ledger, caller.tenant(), own);
    }
    if (named.get() instanceof JsonValue.Str name
        && name.value().matches("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")) {
      return own + "-" + name.value();
    }
    throw new WritException(McpRefusal.META, RUN + " is no name of 1 to 64 of A-Z a-z 0-9 . _ -");
  }

  /** The first of the credential's runs that is not closed: they are closed one after another. */
  private static String open(LedgerView ledger, String tenant, String own) {
    int closed = 0;
    int next = 1;
    while (isClosed(ledger, tenant, numbered(own, next))) {
      closed = next;
      next *= 2;
    }
    while (next - closed > 1) {
      int middle = closed + (next - closed) / 2;
      if (isClosed(ledger, tenant, numbered(own, middle))) {
        closed = middle;
      } else {
        next = middle;
      }
    }
    return numbered(own, next);
  }

  private static String numbered(String own, int number) {
    return number == 1 ? own : own + "." + number;
  }

  private static boolean isClosed(LedgerView ledger, String tenant, String run) {
    return ledger
        .get(Tables.RUN, Tables.key(tenant, run))
        .map(RunState::parse)
        .filter(RunState::closed)
        .isPresent();
  }
}
