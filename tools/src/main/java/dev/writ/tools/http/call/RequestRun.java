package dev.writ.tools.http.call;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.egress.EgressClient;
import dev.writ.sandbox.egress.EgressClient.Field;
import dev.writ.sandbox.egress.EgressClient.NoAnswer;
import dev.writ.sandbox.egress.EgressClient.Received;
import dev.writ.sandbox.egress.EgressClient.Sent;
import dev.writ.sandbox.egress.EgressClient.Why;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.tools.http.Credential;
import dev.writ.tools.http.HttpApi;
import dev.writ.tools.http.HttpOperation;
import dev.writ.tools.http.HttpOperation.Redirects;
import dev.writ.tools.http.PathTemplate;
import dev.writ.tools.http.Server;
import dev.writ.tools.process.Masking;
import dev.writ.tools.wasm.Texts;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * One call of an operation: its request, the repetitions and redirects that are allowed, its end.
 */
final class RequestRun {
  private static final int REDIRECTS_MAX = 5;
  private static final long FIRST_PAUSE_MS = 100;
  private static final String JSON = "application/json";
  private static final List<Integer> TRANSIENT = List.of(429, 502, 503, 504);

  /** By which a server refuses an attempt, whatever became of an earlier one; so does any 5xx. */
  private static final List<Integer> OF_THIS_ATTEMPT = List.of(401, 403, 408, 409, 425, 429);

  /** By which a gateway says that it had no answer of the server it asked (RFC 9110, 15.6). */
  private static final List<Integer> OF_A_GATEWAY = List.of(502, 504);

  private final HttpApi api;
  private final HttpOperation operation;
  private final ToolManifest.Operation declared;
  private final SandboxSettings settings;
  private final EgressClient client;
  private final Invocation invocation;
  private final Supplier<List<SecretFile>> secrets;
  private final List<JsonValue> exchanges = new ArrayList<>();
  private final long start = System.nanoTime();
  private Masking masking = new Masking(List.of());

  /** The server of the last request. */
  private Server server;

  /** Whether a request may have reached a server that repeating or losing it would matter to. */
  private boolean acted;

  RequestRun(
      HttpApi api,
      HttpOperation operation,
      ToolManifest.Operation declared,
      SandboxSettings settings,
      EgressClient client,
      Invocation invocation,
      Supplier<List<SecretFile>> secrets) {
    this.api = api;
    this.server = api.server();
    this.operation = operation;
    this.declared = declared;
    this.settings = settings;
    this.client = client;
    this.invocation = invocation;
    this.secrets = secrets;
  }

  /** A request that goes to one server. */
  private record Leg(
      Server server, String method, String target, List<Field> fields, Optional<byte[]> content) {}

  DriverOutcome run() {
    try {
      List<SecretFile> granted = operation.credentials().isEmpty() ? List.of() : secrets.get();
      masking = new Masking(hidden(granted));
      return answered(send(first(granted)));
    } catch (NoAnswer e) {
      return unanswered(e);
    } catch (Answers.Unusable e) {
      return failed(DriverOutcome.End.FAILED, e.reason(), e.getMessage(), Optional.empty());
    } catch (WritException e) {
      return failed(DriverOutcome.End.FAILED, "refused", e.getMessage(), Optional.empty());
    }
  }

  /** The secrets, and the passwords within them. */
  private List<SecretFile> hidden(List<SecretFile> granted) {
    List<SecretFile> all = new ArrayList<>(granted);
    for (SecretFile secret : granted) {
      Credential credential = api.credentials().get(secret.name());
      if (credential != null && credential.way() == Credential.Way.BASIC) {
        String text = new String(secret.bytes(), StandardCharsets.UTF_8).strip();
        String password = text.substring(text.indexOf(':') + 1);
        all.add(new SecretFile("password", password.getBytes(StandardCharsets.UTF_8)));
      }
    }
    return all;
  }

  private Leg first(List<SecretFile> granted) {
    RequestParts parts = RequestParts.of(api.server(), operation, invocation.params());
    List<Field> fields = new ArrayList<>(parts.fields());
    List<String> query = new ArrayList<>(parts.query());
    fields.add(new Field("Accept", declared.mediaType() + accepted()));
    fields.add(new Field("Accept-Encoding", "gzip"));
    fields.add(new Field("User-Agent", "writ"));
    operation.idempotencyKey().ifPresent(name -> fields.add(new Field(name, key())));
    for (String name : operation.credentials()) {
      Credential credential = api.credentials().get(name);
      SecretFile secret =
          granted.stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
      String value = credential.value(secret.bytes());
      switch (credential.way()) {
        case BEARER, BASIC -> fields.add(new Field("Authorization", value));
        case HEADER -> fields.add(new Field(credential.name(), value));
        case QUERY ->
            query.add(PathTemplate.encoded(credential.name()) + "=" + PathTemplate.encoded(value));
      }
    }
    String target = query.isEmpty() ? parts.path() : parts.path() + "?" + String.join("&", query);
    return new Leg(api.server(), operation.method(), target, fields, parts.content());
  }

  /** What else is taken where the output is the document: errors come in other types. */
  private String accepted() {
    return declared.output().isPresent() ? ", */*;q=0.1" : "";
  }

  /**
   * The effect's own key: the intent's digest, which receipts name, so that it is the same however
   * often this request is sent, and an operator can ask the server for it.
   */
  private String key() {
    return invocation
        .call()
        .intent()
        .map(Digest::hex)
        .orElseGet(() -> Digest.sha256(invocation.seed()).hex());
  }

  private Duration left() {
    long limit = Math.min(invocation.resources().wallMs(), 86_400_000L) * 1_000_000;
    return Duration.ofNanos(Math.max(0, limit - (System.nanoTime() - start)));
  }

  /** Sends it, again where that is declared to be harmless. */
  private Received send(Leg leg) throws NoAnswer, Answers.Unusable {
    for (int attempt = 0; ; attempt++) {
      boolean last = attempt >= operation.retries();
      try {
        Received answer = follow(leg);
        if (last || !TRANSIENT.contains(answer.status()) || !pause(attempt, answer)) {
          return answer;
        }
      } catch (NoAnswer e) {
        boolean hopeless = e.why() == Why.DENIED || e.why() == Why.TOO_LARGE;
        if (last || hopeless || !pause(attempt, null)) {
          throw e;
        }
      }
    }
  }

  /** Waits before the next attempt; false where there is no time left for it. */
  private boolean pause(int attempt, Received answer) {
    long wait = FIRST_PAUSE_MS << attempt;
    if (answer != null) {
      String said = answer.values("retry-after").stream().findFirst().orElse("");
      if (said.matches("[0-9]{1,6}")) {
        wait = Math.max(wait, Long.parseLong(said) * 1_000);
      }
    }
    if (left().toMillis() <= wait) {
      return false;
    }
    long end = System.nanoTime() + wait * 1_000_000;
    while (System.nanoTime() < end && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
    return !Thread.currentThread().isInterrupted();
  }

  private Received follow(Leg from) throws NoAnswer, Answers.Unusable {
    Leg leg = from;
    for (int redirects = 0; ; redirects++) {
      Received answer = exchange(leg);
      boolean moved = List.of(301, 302, 303, 307, 308).contains(answer.status());
      if (!moved
          || operation.redirects() == Redirects.NONE
          || answer.values("location").isEmpty()) {
        return answer;
      }
      if (redirects == REDIRECTS_MAX) {
        throw new Answers.Unusable("redirect-refused", "more than " + REDIRECTS_MAX + " in a row");
      }
      leg = redirected(leg, answer);
    }
  }

  /** The next request after a redirect. */
  private Leg redirected(Leg leg, Received answer) throws Answers.Unusable {
    boolean reads = List.of("GET", "HEAD").contains(leg.method());
    if (!reads && answer.status() != 303) {
      throw new Answers.Unusable(
          "redirect-refused",
          leg.method() + " to " + leg.server().place() + " is not sent again elsewhere");
    }
    List<String> locations = answer.values("location");
    String location = locations.getFirst();
    if (locations.size() > 1 || !location.matches("[!-~]{1,8000}")) {
      throw new Answers.Unusable("redirect-refused", "its location cannot be read");
    }
    Server to;
    String target;
    try {
      String path = leg.target().split("\\?", 2)[0];
      // The JDK resolves a query alone as RFC 2396 did, without the last segment.
      String reference = location.startsWith("?") ? path + location : location;
      URI base = new URI(leg.server().text()).resolve(path);
      URI uri = base.resolve(new URI(reference)).normalize();
      target =
          (uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath())
              + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
      to = Server.parse(uri.getScheme() + "://" + uri.getRawAuthority()).orElse(null);
    } catch (URISyntaxException | IllegalArgumentException e) {
      throw new Answers.Unusable("redirect-refused", "its location cannot be read");
    }
    boolean plain = target.matches("/[!-~]*") && !target.startsWith("/..");
    if (to == null || !plain) {
      throw new Answers.Unusable("redirect-refused", "its location cannot be read");
    }
    boolean same = to.isAt(leg.server());
    boolean listed =
        operation.redirects() == Redirects.LISTED
            && (to.isAt(api.server()) || api.redirectServers().stream().anyMatch(to::isAt));
    if (!same && !listed) {
      throw new Answers.Unusable(
          "redirect-refused",
          leg.server().place()
              + " leads to "
              + to.place()
              + ", which `redirects: "
              + operation.redirects().text()
              + "` does not allow");
    }
    List<Field> fields = same ? withoutContent(leg) : plainFields();
    String method = leg.method().equals("HEAD") ? "HEAD" : "GET";
    return new Leg(to, method, target, fields, Optional.empty());
  }

  private static List<Field> withoutContent(Leg leg) {
    return leg.fields().stream()
        .filter(field -> !field.name().equalsIgnoreCase("content-type"))
        .toList();
  }

  /** What is sent to a server that the parameters and credentials are not meant for. */
  private List<Field> plainFields() {
    return List.of(
        new Field("Accept", declared.mediaType() + accepted()),
        new Field("Accept-Encoding", "gzip"),
        new Field("User-Agent", "writ"));
  }

  private Received exchange(Leg leg) throws NoAnswer {
    server = leg.server();
    // A literal address may be private, since policy must list it literally.
    EgressRule rule =
        settings.placed(new EgressRule(server.host(), server.port(), server.isAddress()));
    var seen = JsonValue.object().put("method", leg.method()).put("place", server.place());
    long began = System.nanoTime();
    try {
      Received answer =
          client.send(
              new Sent(
                  rule, server.secure(), leg.method(), leg.target(), leg.fields(), leg.content()),
              left(),
              operation.bytesMax());
      seen.put("address", answer.address())
          .put("status", (long) answer.status())
          .put("bytes", (long) answer.content().length);
      acted |= OF_A_GATEWAY.contains(answer.status()) && leg.method().equals(operation.method());
      return answer;
    } catch (NoAnswer e) {
      acted |= e.sent() && leg.method().equals(operation.method());
      seen.put("status", (long) e.status()).put("failure", word(e));
      throw e;
    } finally {
      exchanges.add(seen.put("wall_ms", (System.nanoTime() - began) / 1_000_000).build());
    }
  }

  private static String word(NoAnswer e) {
    return switch (e.why()) {
      case DENIED -> "egress-denied";
      case UNREACHABLE -> "unreachable";
      case UNVERIFIED -> "tls-unverified";
      case TIMED_OUT -> "timed-out";
      case BROKEN_OFF -> e.status() == 0 ? "no-answer" : "answer-cut";
      case MALFORMED -> "answer-malformed";
      case TOO_LARGE -> "answer-too-large";
    };
  }

  private DriverOutcome unanswered(NoAnswer e) {
    String message = server.place() + ": " + e.getMessage();
    // An answer that is too large is the server's; only its content is not kept.
    if (acted && !operation.repeatable() && e.why() != Why.TOO_LARGE) {
      return inDoubt(message + (e.status() == 0 ? "" : "; the status was " + e.status()));
    }
    DriverOutcome.End end =
        e.why() == Why.TIMED_OUT ? DriverOutcome.End.TIMED_OUT : DriverOutcome.End.FAILED;
    return failed(end, word(e), message, Optional.empty());
  }

  private DriverOutcome inDoubt(String found) {
    return DriverOutcome.inDoubt(Texts.message(operation.method() + " was sent to " + found));
  }

  private DriverOutcome answered(Received answer) throws Answers.Unusable {
    boolean success = operation.succeeds(answer.status());
    boolean leavesOpen = answer.status() >= 500 || OF_THIS_ATTEMPT.contains(answer.status());
    if (!success && acted && leavesOpen && !operation.repeatable()) {
      return inDoubt(server.place() + ": the last status was " + answer.status());
    }
    byte[] content = Answers.content(answer, operation);
    if (!success && !(operation.failuresAsOutput() && declared.output().isPresent())) {
      JsonValue.Obj document = Answers.document(answer, content, operation, masking, false);
      return failed(
          DriverOutcome.End.FAILED,
          "http-" + answer.status(),
          server.place() + " answered with " + answer.status(),
          Optional.of(output(document)));
    }
    if (declared.output().isPresent()) {
      JsonValue.Obj document = Answers.document(answer, content, operation, masking, success);
      return succeeded(output(document));
    }
    String type = Answers.mediaType(answer);
    if (!type.equals(declared.mediaType())) {
      throw new Answers.Unusable(
          "answer-media-type",
          "it is "
              + (type.isEmpty() ? "of no stated type" : type)
              + ", not "
              + declared.mediaType());
    }
    return succeeded(new DriverOutcome.Output(masking.apply(content), type));
  }

  private static DriverOutcome.Output output(JsonValue.Obj document) {
    return new DriverOutcome.Output(Jcs.write(document), JSON);
  }

  private DriverOutcome succeeded(DriverOutcome.Output output) {
    if (output.bytes().length > invocation.resources().outputBytes()) {
      return failed(
          DriverOutcome.End.KILLED,
          "output-limit",
          "the output has more than " + invocation.resources().outputBytes() + " bytes",
          Optional.empty());
    }
    return new DriverOutcome(
        DriverOutcome.End.SUCCEEDED,
        "ok",
        "",
        Optional.of(output),
        List.of(),
        metrics(),
        observations());
  }

  private DriverOutcome failed(
      DriverOutcome.End end, String reason, String message, Optional<DriverOutcome.Output> output) {
    return new DriverOutcome(
        end,
        reason,
        Texts.message(masking.apply(message)),
        output.filter(o -> o.bytes().length <= invocation.resources().outputBytes()),
        List.of(),
        metrics(),
        observations());
  }

  private DriverOutcome.Metrics metrics() {
    return new DriverOutcome.Metrics(0, 0, (System.nanoTime() - start) / 1_000_000, 0);
  }

  private JsonValue.Obj observations() {
    return (JsonValue.Obj)
        masking.apply(JsonValue.object().put("exchanges", JsonValue.of(exchanges)).build());
  }
}
