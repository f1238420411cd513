package dev.writ.gateway.http.server;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.Placements;
import dev.writ.executor.document.CellRegions;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Client;
import dev.writ.gateway.http.FormerCellList;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.message.Headers;
import dev.writ.guardian.document.AccessDocument;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which cell of the installation a request is for (spec/cells.md, "Routing"). Nothing is verified
 * here: the cell's owner does that, and refuses what belongs elsewhere. Thread safe.
 */
public final class CellChoice {
  /** The header by which a caller names the cell itself. */
  public static final String HEADER = "Writ-Cell";

  /** Statements about the installation. */
  private static final Set<String> OF_SYSTEM =
      new TreeSet<>(List.of("/v1/policies", "/v1/system-changes"));

  /** What takes signed documents of a tenant without a credential. */
  private static final Pattern SIGNED =
      Pattern.compile("/v1/(effects|decisions|executions|approvals|resolutions|runs/[^/]+/close)");

  /** The members of a body in which a document is, whose scope has the tenant. */
  private static final List<String> MEMBERS = List.of("request", "intent", "order");

  /** What has one thing, which a former cell of its tenant may have. */
  private static final Pattern ONE_THING =
      Pattern.compile("/v1/(requests|decisions|intents|receipts|effects|runs|blobs)/.+");

  private static final Set<String> READING = new TreeSet<>(List.of("GET", "HEAD"));

  /** A session's or a sign-in code's, and what follows. */
  private static final Pattern NUMBERED = Pattern.compile("([0-9]{1,6})\\.[A-Za-z0-9_-]+");

  private static final Pattern COOKIE =
      Pattern.compile("(?:^|;)\\s*(?:__Host-)?writ-session=([0-9]{1,6})\\.");

  private final int cells;
  private final String tenant;
  private final Optional<String> region;
  private volatile Placements placements = Placements.NOTHING;
  private volatile Tokens tokens;
  private volatile Certificates certificates;

  /**
   * @param cells how many there are
   * @param tenant in whose cell what names nobody is answered
   * @param region where this gateway stands, if anywhere in particular
   */
  public CellChoice(
      int cells, String tenant, Optional<String> region, Tokens tokens, Certificates certificates) {
    this.cells = cells;
    this.tenant = tenant;
    this.region = region;
    this.tokens = tokens;
    this.certificates = certificates;
  }

  int cells() {
    return cells;
  }

  /** Knows other credentials from now on. */
  public void change(Tokens next, Certificates nextCertificates) {
    tokens = next;
    certificates = nextCertificates;
  }

  /** Operators have put tenants and cells there by now. */
  public void placed(Placements next) {
    placements = next;
  }

  /**
   * Requires that requests for the cell may pass through this gateway.
   *
   * @throws WritException {@code GWY-197}
   */
  public void requireHere(int cell) {
    Optional<CellRegions> stated = placements.regionsOf(cell);
    boolean refuses =
        stated.filter(s -> s.elsewhere() == CellRegions.FromElsewhere.REFUSE).isPresent();
    if (refuses && !placements.mayOwn(cell, region)) {
      throw new WritException(
          GatewayError.OTHER_REGION,
          "cell "
              + cell
              + " is in "
              + String.join(", ", stated.orElseThrow().regions())
              + ", this gateway in "
              + region.orElse("none"));
    }
  }

  /**
   * The cell of a request by its head; empty where only the signed document in its body says it.
   */
  public OptionalInt of(String method, String path, Headers headers, Client client, Instant now) {
    Optional<Integer> named = headers.one(HEADER).flatMap(this::number);
    if (named.isPresent()) {
      return OptionalInt.of(named.get());
    }
    if (method.equals("POST") && OF_SYSTEM.contains(path)) {
      return OptionalInt.of(CellPlacement.SYSTEM);
    }
    Optional<Integer> shown =
        ofNumber(headers).or(() -> tenantShown(headers, client, now).map(this::cellOf));
    if (shown.isPresent()) {
      return OptionalInt.of(shown.get());
    }
    return isSigned(method, path, headers) ? OptionalInt.empty() : OptionalInt.of(otherwise());
  }

  private static boolean isSigned(String method, String path, Headers headers) {
    return method.equals("POST") && !headers.has("authorization") && SIGNED.matcher(path).matches();
  }

  /** As {@link dev.writ.gateway.http.TenantCells#isByTenant}. */
  boolean isByTenant(String method, String path, Headers headers, Client client, Instant now) {
    boolean isNamed =
        headers.one(HEADER).flatMap(this::number).or(() -> ofNumber(headers)).isPresent();
    return !isNamed
        && (tenantShown(headers, client, now).isPresent() || isSigned(method, path, headers));
  }

  /** The former cells of a tenant, for the cell in which it is. */
  FormerCellList former(String tenant, int cell) {
    return cellOf(tenant) == cell
        ? new FormerCellList(placements.formerCells(tenant, cell))
        : FormerCellList.NONE;
  }

  /**
   * Whether a request for the cell reads one thing that a former cell of the caller's tenant may
   * have: it names no cell, and some tenant was moved to this one. A session is known in one cell
   * alone.
   */
  boolean mayBeElsewhere(int cell, HttpServerRequest request) {
    boolean isMovedTo =
        placements.moves().values().stream()
            .anyMatch(moves -> moves.getLast().move().cell() == cell);
    return isMovedTo
        && READING.contains(request.method().name())
        && request.path() != null
        && ONE_THING.matcher(request.path()).matches()
        && Headers.of(request.headers()).one(HEADER).flatMap(this::number).isEmpty()
        && (request.headers().contains(HttpHeaders.AUTHORIZATION)
            || !request.headers().contains(HttpHeaders.COOKIE));
  }

  private Optional<Integer> number(String text) {
    return text.matches("[0-9]{1,6}") && Integer.parseInt(text) < cells
        ? Optional.of(Integer.valueOf(text))
        : Optional.empty();
  }

  /** What is known in one cell alone says which: a session, and the code that begins one. */
  private Optional<Integer> ofNumber(Headers headers) {
    Optional<String> header = headers.one("authorization");
    if (header.isPresent()) {
      String[] parts = header.get().strip().split(" +", 2);
      return parts.length == 2 && parts[0].equalsIgnoreCase("writ-code")
          ? Optional.of(NUMBERED.matcher(parts[1]))
              .filter(Matcher::matches)
              .flatMap(found -> number(found.group(1)))
          : Optional.empty();
    }
    return headers.all("cookie").stream()
        .map(COOKIE::matcher)
        .filter(Matcher::find)
        .findFirst()
        .flatMap(found -> number(found.group(1)));
  }

  private Optional<String> tenantShown(Headers headers, Client client, Instant now) {
    Optional<String> header = headers.one("authorization");
    if (header.isPresent()) {
      String[] parts = header.get().strip().split(" +", 2);
      return parts.length == 2 ? ofAuthorization(parts[0], parts[1], now) : Optional.empty();
    }
    return client.chain().stream()
        .findFirst()
        .filter(certificates::knows)
        .map(certificate -> certificates.caller(certificate, now).tenant());
  }

  private Optional<String> ofAuthorization(String scheme, String credentials, Instant now) {
    try {
      return switch (scheme.toLowerCase(Locale.ROOT)) {
        case "bearer" -> tokens.authenticate("bearer", credentials, now).map(Caller::tenant);
        case "writ" ->
            Optional.of(
                AccessDocument.read(
                        Envelope.parse(Base64.getUrlDecoder().decode(credentials)).document())
                    .tenant());
        default -> Optional.empty();
      };
    } catch (WritException | IllegalArgumentException e) {
      return Optional.empty(); // whoever answers says what is wrong with it
    }
  }

  /** The cell of the tenant that the signed document in a body names. */
  public int ofBody(byte[] body) {
    try {
      return Jcs.parse(body) instanceof JsonValue.Obj whole
          ? document(whole).flatMap(CellChoice::tenant).map(this::cellOf).orElse(otherwise())
          : otherwise();
    } catch (WritException e) {
      return otherwise(); // whoever answers says what is wrong with it
    }
  }

  private static Optional<JsonValue.Obj> document(JsonValue.Obj whole) {
    if (whole.get("payload") != null) {
      return Envelope.parse(Jcs.write(whole)).document() instanceof JsonValue.Obj document
          ? Optional.of(document)
          : Optional.empty();
    }
    return MEMBERS.stream()
        .map(whole::get)
        .filter(JsonValue.Obj.class::isInstance)
        .map(JsonValue.Obj.class::cast)
        .filter(member -> member.get("payload") != null)
        .findFirst()
        .flatMap(CellChoice::document);
  }

  private static Optional<String> tenant(JsonValue.Obj document) {
    JsonValue.Obj holder = document.get("scope") instanceof JsonValue.Obj scope ? scope : document;
    return holder.get("tenant") instanceof JsonValue.Str tenant
        ? Optional.of(tenant.value())
        : Optional.empty();
  }

  private int cellOf(String tenant) {
    return placements.cellOf(tenant, cells);
  }

  private int otherwise() {
    return cellOf(tenant);
  }
}
