package dev.writ.client;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.error.ClientError;
import dev.writ.guardian.document.AccessDocument;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A client of a server (spec/client.md): signs requests, or has the server sign for a token, and
 * accepts an answer only if pinned keys of the installation have signed it and it is about that
 * request. Calls that may be repeated are, where no answer comes. Thread safe.
 */
public final class WritClient implements AutoCloseable {
  private static final long ANSWER_BYTES_MAX = 32L << 20;
  private static final long CONTENT_BYTES_MAX = 64L << 20;
  private static final List<String> JUDGED_ANEW = List.of("EXE-107", "EXE-111", "EXE-201");
  private static final int JUDGED_ANEW_MAX = 3;

  /** The longest that a server lets one call wait for an approval, in seconds. */
  private static final long WAIT_S = 50;

  private final Who who;
  private final Pinned pinned;
  private final ClientSettings settings;
  private final Wire wire;

  /** Who asks. */
  public sealed interface Who {
    String tenant();

    String subject();
  }

  /** Who holds a key: it signs its own requests, and what it reads. */
  public record Agent(String tenant, String subject, SigningKey key) implements Who {}

  /**
   * Who holds a bearer token: the server signs its requests, where it serves the surface {@code
   * vouched}.
   */
  public record Token(String tenant, String subject, String token) implements Who {
    @Override
    public String toString() {
      return "Token[" + tenant + " " + subject + "]";
    }
  }

  /**
   * The pins: what the client trusts about a server, obtained from elsewhere than the server.
   *
   * @param trust with the guardian's and the executor's keys, and for tokens the surface's
   * @param origin the log's name
   */
  public record Pinned(Trust trust, String origin) {}

  /**
   * @throws WritException {@code GWY-063}, {@code GWY-064}
   */
  public WritClient(URI server, Who who, Pinned pinned, ClientSettings settings) {
    this.who = who;
    this.pinned = pinned;
    this.settings = settings;
    this.wire = new Wire(server, settings);
  }

  /** With {@link ClientSettings#usual}, but for clock and random numbers. */
  public WritClient(
      URI server, Agent agent, Pinned pinned, InstantSource clock, SecureRandom random) {
    this(
        server,
        agent,
        pinned,
        new ClientSettings(
            clock, random, Duration.ofSeconds(30), Duration.ofMinutes(2), Optional.empty()));
  }

  // Effects

  /**
   * What a call says beside its effect.
   *
   * @param run the run
   * @param idempotencyKey names the task: the same effect under it is done once
   * @param consumes receipts that it builds on
   * @param keepOutput false: the output is dropped after the answer, its digest stays
   */
  public record Terms(
      String run, Optional<String> idempotencyKey, List<Digest> consumes, boolean keepOutput) {
    public Terms {
      consumes = List.copyOf(consumes);
    }

    /** In a run, without a key. */
    public static Terms in(String run) {
      return new Terms(run, Optional.empty(), List.of(), true);
    }

    /** The same under an idempotency key. */
    public Terms key(String key) {
      return new Terms(run, Optional.of(key), consumes, keepOutput);
    }

    /** The same, building on a receipt. */
    public Terms consuming(Digest receipt) {
      return new Terms(run, idempotencyKey, List.of(receipt), keepOutput);
    }
  }

  /** The operations that the caller's roles may use. */
  public List<AvailableOperation> operations() {
    return operations("/v1/tools");
  }

  private List<AvailableOperation> operations(String path) {
    return items(get(path), "tools").stream()
        .map(JsonValue.Obj.class::cast)
        .flatMap(tool ->
            items(tool, "operations").stream().map(each -> AvailableOperation.read(tool, each)))
        .toList();
  }

  private static List<JsonValue> items(JsonValue.Obj object, String name) {
    return Fields.of("answer", object).list(name, (_, value) -> value);
  }

  /**
   * Has an effect judged and done. What the draft leaves out is completed (spec/client.md, 6).
   *
   * @throws WritException {@code GWY-060} ({@link RefusedException}) where the server refuses
   *     before a decision; {@code GWY-061} where no answer comes; {@code GWY-062}, {@code CAN-0xx}
   *     where it is not believed
   */
  public VerifiedOutcome call(EffectDraft effect, Terms terms) {
    return who instanceof Token ? vouched(effect, terms) : submit(request(effect, terms));
  }

  /**
   * Signs a request without sending it. Kept, its bytes can be sent by whoever comes after a crash,
   * and it runs once.
   */
  public Envelope request(EffectDraft draft, Terms terms) {
    return signed(whole(draft, terms), terms);
  }

  /** Signs a request for a whole effect; sent again, it is the same request. */
  public Envelope request(String run, Effect effect, Optional<String> idempotencyKey) {
    return signed(effect, new Terms(run, idempotencyKey, List.of(), true));
  }

  private Effect whole(EffectDraft draft, Terms terms) {
    String path = "/v1/tools?run=" + encoded(terms.run());
    List<AvailableOperation> known = Completion.isWhole(draft) ? List.of() : operations(path);
    return Completion.complete(draft, known);
  }

  private Envelope signed(Effect effect, Terms terms) {
    return new PreparedRequest(unsigned(effect, terms)).sign(now(), key());
  }

  private Request unsigned(Effect effect, Terms terms) {
    return new Request(
        new Scope(who.tenant(), terms.run(), who.subject()),
        effect,
        terms.consumes(),
        terms.idempotencyKey(),
        random(),
        now(),
        retention(terms),
        JsonValue.object().build(),
        Optional.empty(),
        List.of(),
        List.of());
  }

  /**
   * A request that is not signed yet, to whose {@linkplain PreparedRequest#challenge challenge} a
   * wallet can bind a mandate.
   */
  public PreparedRequest prepare(EffectDraft draft, Terms terms) {
    key(); // a token signs nothing
    return new PreparedRequest(unsigned(whole(draft, terms), terms));
  }

  /**
   * Signs a prepared request as of now, with a mandate that is bound to it.
   *
   * @param mandate an SD-JWT with its disclosures and key binding, as a wallet presents it
   */
  public SignedRequest sign(PreparedRequest prepared, String mandate) {
    return prepared.sign(mandate, now(), key());
  }

  private static String retention(Terms terms) {
    return terms.keepOutput() ? "keep" : "drop-output";
  }

  private SigningKey key() {
    if (who instanceof Agent agent) {
      return agent.key();
    }
    throw new IllegalStateException("a token signs nothing: use call");
  }

  private String random() {
    byte[] bytes = new byte[16];
    settings.random().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private Instant now() {
    return Timestamps.truncate(settings.clock().instant());
  }

  /**
   * Submits a signed request and verifies what comes back; sent again it gets its stored outcome.
   *
   * @throws WritException as {@link #call}
   */
  public VerifiedOutcome submit(Envelope request) {
    return submit(new SignedRequest(request, List.of()));
  }

  /** The same with the documents that go with the request. */
  public VerifiedOutcome submit(SignedRequest request) {
    JsonValue.Obj answer =
        judged(() -> post("/v1/effects", request.toBytes(), true, false).object());
    return withOutput(believed(answer, request.request()));
  }

  private VerifiedOutcome believed(JsonValue.Obj answer, Envelope request) {
    return VerifiedOutcome.of(answer, request, pinned.trust(), now());
  }

  private VerifiedOutcome vouched(EffectDraft draft, Terms terms) {
    // A key of our own binds the answer to this call, and lets it be repeated.
    String key = terms.idempotencyKey().orElseGet(() -> "once-" + random());
    List<AvailableOperation> known =
        draft.resources().equals(EffectDraft.Declared.NONE) ? List.of() : operations();
    JsonValue.Obj stated = Completion.stated(draft, known);
    byte[] body =
        Jcs.write(
            JsonValue.object()
                .put("run", terms.run())
                .put("effect", stated)
                .put("idempotency_key", key)
                .putList("consumes", terms.consumes(), d -> JsonValue.of(d.toString()))
                .put("retention", retention(terms))
                .build());
    JsonValue.Obj answer = judged(() -> post("/v1/vouched-effects", body, true, true).object());
    return withOutput(believed(answer, asked(answer, stated, key)));
  }

  /** The request that the server signed for us, where it is the one that we stated. */
  private Envelope asked(JsonValue.Obj answer, JsonValue.Obj stated, String key) {
    require(answer.get("request") != null, "it has no request");
    Envelope envelope = Envelope.parse(Jcs.write(answer.get("request")));
    boolean bySurface =
        pinned.trust().verify(envelope, Request.TYPE, now()).stream()
            .allMatch(signer -> signer.role() == KeyRole.SURFACE);
    require(bySurface, "no surface has signed the request");
    Request request = Request.read(envelope.document());
    require(
        request.scope().tenant().equals(who.tenant())
            && request.scope().subject().equals(who.subject()),
        "the server knows the token as "
            + request.scope().tenant()
            + "/"
            + request.scope().subject()
            + ", this client says "
            + who.tenant()
            + "/"
            + who.subject());
    require(
        request.idempotencyKey().equals(Optional.of(key)), "the server asked under another key");
    JsonValue.Obj effect = request.effect().toJson();
    stated
        .members()
        .forEach((name, value) ->
            require(
                value.equals(effect.get(name)), "the server asked for another effect: " + name));
    return envelope;
  }

  /** The same request once more: after its approval it is executed. */
  public VerifiedOutcome again(VerifiedOutcome outcome) {
    if (who instanceof Agent) {
      return submit(outcome.request());
    }
    String path = "/v1/vouched-effects/" + outcome.requestId();
    JsonValue.Obj answer =
        judged(() -> wire.send(this::postNothing, path, true, ANSWER_BYTES_MAX).object());
    return withOutput(believed(answer, outcome.request()));
  }

  /** Asks again where what was decided is no longer in force: it is then judged anew. */
  private static JsonValue.Obj judged(Supplier<JsonValue.Obj> send) {
    for (int attempt = 1; ; attempt++) {
      try {
        return send.get();
      } catch (RefusedException e) {
        if (attempt > JUDGED_ANEW_MAX || !JUDGED_ANEW.contains(e.serverCode())) {
          throw e;
        }
      }
    }
  }

  /**
   * Waits for an approval or a rejection.
   *
   * @param atMost after which it is told as it then is
   */
  public VerifiedOutcome await(VerifiedOutcome outcome, Duration atMost) {
    long until = System.nanoTime() + atMost.toNanos();
    VerifiedOutcome now = outcome;
    while (now.waits()) {
      long left = Math.max(0, (until - System.nanoTime()) / 1_000_000);
      // What comes later than this client listens is no answer.
      long listened = settings.answerWithin().toSeconds() / 2;
      long asked = Math.min(Math.min(WAIT_S, listened), left / 1000);
      String waiting = "/outcome?wait_s=" + asked;
      JsonValue state = get("/v1/requests/" + now.requestId() + waiting).get("state");
      if (!JsonValue.of("pending").equals(state)) {
        now = again(now);
      } else if (left == 0) {
        break;
      } else if (asked == 0) {
        Wire.sleep(Math.min(left, 1000));
      }
    }
    return now;
  }

  /** Interrupts the running effect of a request. It ends in its receipt all the same. */
  public void cancel(Digest request) {
    wire.send(this::postNothing, "/v1/executions/" + request + "/cancel", false, ANSWER_BYTES_MAX);
  }

  /** Large outputs are not in the answer; they are read at their own address. */
  private VerifiedOutcome withOutput(VerifiedOutcome outcome) {
    Optional<Content> stated = outcome.receipt().filter(Receipt::retained).flatMap(Receipt::output);
    if (outcome.output().isPresent()
        || stated.isEmpty()
        || stated.get().size() > CONTENT_BYTES_MAX) {
      return outcome;
    }
    String path = "/v1/receipts/" + outcome.receiptId().orElseThrow() + "/output";
    return outcome.with(content(path, stated.get().digest(), stated.get().size()));
  }

  // Content

  private byte[] content(String path, Digest digest, long bytesMax) {
    byte[] content = wire.send(this::reading, path, true, bytesMax).body();
    require(Digest.sha256(content).equals(digest), "the content has another digest");
    return content;
  }

  /** Stores content, which an effect can then name as an input. */
  public Input put(byte[] content, String name, String mediaType) {
    Digest digest = Digest.sha256(content);
    JsonValue.Obj stored =
        wire.send(
                request ->
                    reading(request)
                        .header("Content-Type", mediaType)
                        .PUT(HttpRequest.BodyPublishers.ofByteArray(content)),
                "/v1/blobs/" + digest,
                true,
                ANSWER_BYTES_MAX)
            .object();
    require(
        JsonValue.of(digest.toString()).equals(stored.get("digest")), "other content is stored");
    return new Input(name, digest, content.length, mediaType);
  }

  /**
   * Content by its digest, 64 MiB at most.
   *
   * @param of a receipt or request that names it and that the caller may read; absent for what it
   *     put itself, or its effects produced
   */
  public byte[] blob(Digest digest, Optional<Digest> of) {
    return content(
        "/v1/blobs/" + digest + of.map(d -> "?of=" + d).orElse(""), digest, CONTENT_BYTES_MAX);
  }

  // Runs

  /**
   * Gives the run's events as they are committed, until the run is closed or {@code each} says
   * false. A connection that breaks is taken up where it broke.
   *
   * @param after the event after which to begin
   */
  public void events(String run, OptionalLong after, Predicate<RunEvent> each) {
    new RunStream(wire, settings, this::reading, "/v1/runs/" + encoded(run) + "/events")
        .follow(after, each);
  }

  /**
   * Ends a run that this key opened.
   *
   * @return the checkpoint that covers its end, a note (spec/log.md)
   */
  public String closeRun(String run) {
    JsonValue.Obj close =
        JsonValue.object()
            .put("tenant", who.tenant())
            .put("run", run)
            .put("requested_at", now())
            .build();
    Envelope signed = Envelope.sign(PayloadTypes.of("run-close"), close, key());
    String path = "/v1/runs/" + encoded(run) + "/close";
    return new String(post(path, signed.toBytes(), false, false).body(), StandardCharsets.UTF_8);
  }

  /**
   * The run in one file, for {@code writ verify}.
   *
   * @param bytesMax a larger one is refused
   */
  public byte[] bundle(String run, int bytesMax) {
    return wire.send(this::reading, "/v1/runs/" + encoded(run) + "/bundle", true, bytesMax).body();
  }

  // Approving

  /** What waits for an approval, for approvers. */
  public List<WaitingRequest> waiting() {
    return items(get("/v1/approvals"), "waiting").stream()
        .map(each -> {
          Fields fields = Fields.of("waiting", each);
          Effect effect = Effect.read(fields.fields("effect"));
          require(
              effect.digest().equals(fields.digest("effect_digest")),
              "the effect that is shown is not the one named");
          return new WaitingRequest(
              fields.digest("request_id"),
              fields.name("run"),
              fields.name("subject"),
              effect,
              fields.digest("policy"));
        })
        .toList();
  }

  /**
   * Approves or rejects exactly this request, under the policy that it was shown with.
   *
   * @param role the approver role, as policy names it
   * @param validFor how long the approval holds
   * @return the request's verdict from then on
   */
  public String decide(
      WaitingRequest waiting, String role, Approval.Verdict verdict, Duration validFor) {
    Instant now = now();
    Approval approval =
        new Approval(
            who.tenant(),
            who.subject(),
            role,
            waiting.request(),
            waiting.effect().digest(),
            waiting.policy(),
            verdict,
            now,
            Timestamps.truncate(now.plus(validFor)));
    Envelope signed = Envelope.sign(Approval.TYPE, approval.toJson(), key());
    JsonValue.Obj answer = post("/v1/approvals", signed.toBytes(), false, false).object();
    return Fields.of("answer", answer).string("verdict");
  }

  // Reading

  /** Reads JSON that the caller may see, for example {@code /v1/runs}. None of it is signed. */
  public JsonValue.Obj get(String path) {
    return wire.send(this::reading, path, true, ANSWER_BYTES_MAX).object();
  }

  /**
   * A signed document by its address, verified by the pinned keys.
   *
   * @param path for example {@code /v1/receipts/sha256:…}
   */
  public Envelope document(String path, Digest id, String type) {
    byte[] body = wire.send(this::reading, path, true, ANSWER_BYTES_MAX).body();
    Envelope envelope = Envelope.parse(body);
    pinned.trust().verify(envelope, type, now());
    require(envelope.id().equals(id), envelope.id() + " instead of " + id);
    return envelope;
  }

  private HttpRequest.Builder reading(HttpRequest.Builder request) {
    return request.header("Authorization", authorization());
  }

  private String authorization() {
    return switch (who) {
      case Token token -> "Bearer " + token.token();
      case Agent agent -> {
        Instant now = now();
        AccessDocument access =
            new AccessDocument(agent.tenant(), pinned.origin(), now, now.plusSeconds(60));
        yield AccessDocument.header(
            Envelope.sign(AccessDocument.TYPE, access.toJson(), agent.key()));
      }
    };
  }

  private HttpRequest.Builder postNothing(HttpRequest.Builder request) {
    return reading(request).POST(HttpRequest.BodyPublishers.noBody());
  }

  /**
   * @param credential whether the body is no signed document, so that the head has to say who asks
   */
  private Wire.Reply post(String path, byte[] body, boolean repeatable, boolean credential) {
    Function<HttpRequest.Builder, HttpRequest.Builder> head =
        credential ? this::reading : Function.identity();
    return wire.send(
        request ->
            head.apply(request)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(body)),
        path,
        repeatable,
        ANSWER_BYTES_MAX);
  }

  private static String encoded(String part) {
    return URLEncoder.encode(Objects.requireNonNull(part), StandardCharsets.UTF_8)
        .replace("+", "%20");
  }

  private static void require(boolean holds, String found) {
    if (!holds) {
      throw new WritException(ClientError.ANSWER_REFUSED, found);
    }
  }

  @Override
  public void close() {
    wire.close();
  }
}
