package dev.writ.gateway.error;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of the gateway itself; what the kernel refuses keeps its own codes. */
public enum GatewayError implements ErrorCode {
  CONFIG_UNREADABLE(
      "GWY-001",
      "the configuration cannot be read",
      "Name a file that exists and that you may read."),
  CONFIG_FIELD(
      "GWY-002",
      "a field of the configuration is unknown, missing or has a wrong value",
      "Correct the field that is named; spec/gateway.md lists all."),
  LISTEN_UNSAFE(
      "GWY-003",
      "the address is reachable from other machines and nothing protects the connection",
      "Configure tls, or state `tls: proxy` if a proxy protects it."),
  LISTEN_FAILED(
      "GWY-004", "the server cannot listen on the address", "Choose another address or port."),
  SECRET_UNREADABLE(
      "GWY-005", "a secret's file cannot be read", "Name a file that only the server can read."),
  RESTART_NEEDED(
      "GWY-006",
      "the configuration changes a setting that is fixed while the server runs",
      "Restart the server, or undo that change."),
  TLS_UNUSABLE(
      "GWY-007",
      "the files of TLS cannot be used",
      "Name a valid certificate, its own key, and the authority of clients, as PEM."),
  SURFACE_KEY_OTHER(
      "GWY-008",
      "a key that the configuration gives a surface is not enrolled for it",
      "Make one: writ key new FILE --role surface --tenant TENANT --subject SURFACE."),
  REQUEST_MALFORMED("GWY-010", "the HTTP request is malformed", "Send HTTP/1.1 as RFC 9112 says."),
  NO_ROUTE(
      "GWY-011", "nothing answers to that path", "See the OpenAPI document, /v1/openapi.json."),
  METHOD("GWY-012", "the path does not take that method", "Use one that the Allow header names."),
  HEADER_TWICE("GWY-013", "a header that may occur once occurs several times", "Send it once."),
  BODY_TOO_LARGE("GWY-014", "the body is too large", "Send less, or put content as blobs."),
  BODY_UNEXPECTED("GWY-015", "the request has a body and must not", "Send none."),
  HEAD_TOO_LARGE(
      "GWY-016", "the request's head is too large", "Send a shorter address and fewer headers."),
  TOO_SLOW("GWY-017", "the request did not arrive in time", "Send it faster."),
  PARAMETER("GWY-018", "a parameter of the address is not understood", "See /v1/openapi.json."),
  MEDIA_TYPE(
      "GWY-019",
      "the media type is not accepted",
      "Send JSON, with Content-Type: application/json."),
  NOT_AUTHENTICATED(
      "GWY-020", "the caller is not known", "Send a token or a signed access document."),
  ACCESS_REFUSED("GWY-021", "the access document is not valid", "Sign a new one for this server."),
  NOT_GRANTED(
      "GWY-022",
      "the credential does not allow that",
      "Send a signed request, or a token; an access document reads only."),
  TENANT_BUSY(
      "GWY-025",
      "the tenant has too many requests running",
      "Wait as Retry-After says, and retry."),
  SERVER_BUSY("GWY-026", "the server is at its limit", "Wait as Retry-After says, and retry."),
  DRAINING("GWY-027", "the server is shutting down", "Retry; another instance will answer."),
  SURFACE_KEY(
      "GWY-030",
      "the surface has no key for that tenant",
      "Make one: writ key new FILE --role surface --tenant TENANT --subject SURFACE; then name it"
          + " in the surface's keys in gateway.yaml, and restart the server."),
  IDEMPOTENCY_KEY(
      "GWY-031",
      "the Idempotency-Key header differs from the key in the signed request",
      "Send the signed one, or none."),
  BLOB_DIGEST("GWY-032", "the content is not what the address names", "Send the named bytes."),
  RANGE("GWY-033", "the range is outside of the content", "Ask for bytes that are there."),
  HOST(
      "GWY-034",
      "the Host header is not a name of this server",
      "Call it by the address it listens on, or name the host in `hosts`."),
  CREDENTIAL_BUSY(
      "GWY-035",
      "the credential has too many requests running",
      "Wait as Retry-After says, and retry."),
  ADDRESS_BUSY(
      "GWY-036",
      "the address sends too many requests at once that show no credential in their head",
      "Wait as Retry-After says, and retry; or send an Authorization header."),
  UNVERIFIED_BUSY(
      "GWY-037",
      "too many requests are being sent that show no credential in their head",
      "Wait as Retry-After says, and retry; or send an Authorization header."),
  MEMORY_BUSY(
      "GWY-038",
      "the memory for calls is used up",
      "Wait as Retry-After says, and retry; send less at once."),
  STREAMS_BUSY(
      "GWY-039",
      "the tenant or the credential has too many streams open",
      "Close one, or wait as Retry-After says, and retry."),
  UNKNOWN_ID(
      "GWY-040", "nothing of that id is here for this caller", "Check the id and the tenant."),
  NOT_CANCELLED(
      "GWY-041",
      "the execution cannot be cancelled",
      "See its outcome: it has ended or not begun, or there is none of that id for this caller."),
  ALL_STREAMS_BUSY(
      "GWY-042", "the server has too many streams open", "Wait as Retry-After says, and retry."),
  BODY_NEEDS_CREDENTIAL(
      "GWY-043",
      "the body is too large for a request that shows no credential in its head",
      "Send an Authorization header, or put content as blobs."),
  HTTP_VERSION("GWY-044", "the version of HTTP is not supported", "Send HTTP/1.1."),
  SIGNATURES_FULL(
      "GWY-045",
      "too many signed requests arrived within the lifetime of a timestamp",
      "Wait as Retry-After says, and retry with a new timestamp."),
  BODY_PIECES(
      "GWY-046", "the body comes in too many pieces", "Send it in larger chunks, or undivided."),
  MEMORY_NEEDED(
      "GWY-047",
      "the call needs more memory than one may have",
      "Send less, or put content as blobs; or raise limits/memory_max."),
  STORAGE("GWY-050", "the server's temporary storage failed", "Make room on its disk."),
  STORAGE_BUSY(
      "GWY-051",
      "bundles that are made or sent take all the room that temporary storage has for them",
      "Wait as Retry-After says, and retry; or take the bundle with `writ export`."),
  INTERNAL("GWY-070", "an unexpected failure in the server", "Report the trace id."),
  STORE_REFUSED(
      "GWY-085",
      "policy does not let this caller upload content",
      "Have policy give the subject a role that has a tool, or one of storage/put_by."),
  SESSION_ENDED("GWY-090", "the session has ended", "Sign in again."),
  CSRF(
      "GWY-091",
      "the call does not show that it comes from the page that signed in",
      "Send the session's token as Writ-Csrf; load the page again."),
  CROSS_SITE(
      "GWY-092",
      "another site's page sent this call with a session's cookie or a client certificate",
      "Call from a page of this server's own origin."),
  SESSIONS_MANY(
      "GWY-093",
      "as many sessions are open as may be",
      "Sign out where it is not needed any more, or everywhere (DELETE /console/sessions), or wait:"
          + " one that nobody uses ends after 30 minutes."),
  NO_SESSION_FOR(
      "GWY-094",
      "this credential cannot open a session",
      "Sign in with a token or a client certificate of the configuration, or by writ console."),
  SIGN_IN_CODE(
      "GWY-095",
      "the sign-in code was used, has expired, or never was",
      "Run writ console again; an address counts once, within two minutes."),
  STATISTICS_OF_ALL(
      "GWY-100",
      "statistics are for those who see the effects of the whole tenant",
      "Have policy give the subject a role of people or of execute_for."),
  READ_NOT_RECORDED(
      "GWY-140",
      "policy has this read recorded, and it could not be, so nothing is handed out",
      "Have an operator look why the log takes no events; then read again."),
  NOT_AUDITOR(
      "GWY-141",
      "what people read is shown to the auditors of their tenant",
      "Have policy give the subject the role auditor in `people`."),
  NO_OWNER(
      "GWY-190",
      "no gateway owns the cell just now: nothing was done",
      "Send the request again in a moment; if it stays so, look whether the gateways run and reach"
          + " the database."),
  UNKNOWN_TO_OWNER(
      "GWY-185",
      "the owner of the cell does not take requests from this gateway: nothing was done",
      "Give all gateways the same `gateways.secret`, and clocks that agree to within five minutes."
          + " Until then, send the request to another gateway."),
  OWNER_LOST(
      "GWY-191",
      "the owner of the cell was lost while it had the request: nobody knows yet what became of it",
      "Send the same signed request again: what was accepted is not executed twice. Otherwise look"
          + " for the effect before you repeat it."),
  NOT_OWNER(
      "GWY-192",
      "this gateway does not own the cell: nothing was done",
      "The gateway that forwarded the request sends it to the owner."),
  NOT_A_GATEWAY(
      "GWY-193",
      "only gateways of the installation may call here",
      "Call the address on which the gateway listens for its callers; for a gateway, give all of"
          + " them the same `gateways.secret` and clocks that agree."),
  OTHER_REGION(
      "GWY-197",
      "the tenant's requests are not taken in this gateway's region: nothing was done",
      "Send it to a gateway in one of the regions that the answer names."),
  NOT_THE_GUARDIAN(
      "GWY-198",
      "only the guardian that this executor serves may call here",
      "Give both the same `executor.secret`, and clocks that agree to within a minute.");

  private final Entry entry;

  GatewayError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
