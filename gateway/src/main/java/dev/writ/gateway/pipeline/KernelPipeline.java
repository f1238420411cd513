package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.journal.TenantContents;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.AccessAuthentication;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.gateway.statistics.Statistics;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** The pipeline over a kernel in this process. */
public final class KernelPipeline implements Pipeline {
  /** The prefix of runs that hold only refusals. */
  private static final String REFUSED_RUN = "refused:";

  private final Backend backend;
  private final Kernel kernel;
  private final SortedMap<String, SigningKey> surfaceKeys;
  private final Credentials credentials;
  private final SecureRandom random;
  private final VouchedRuns runs;
  private final TreeSet<String> keysAtWork;
  private final Duration patience;
  private final SandboxObserver observer;
  private final Consumer<Digest> begins;

  /** For callers whose credentials are not narrowed. */
  public KernelPipeline(
      Backend backend, SortedMap<String, SigningKey> surfaceKeys, SecureRandom random) {
    this(backend, surfaceKeys, Credentials.NOT_NARROWED, random);
  }

  /**
   * @param surfaceKeys by {@link #keyName}
   * @param credentials the roles to which callers' credentials are narrowed
   */
  public KernelPipeline(
      Backend backend,
      SortedMap<String, SigningKey> surfaceKeys,
      Credentials credentials,
      SecureRandom random) {
    this.credentials = credentials;
    this.backend = backend;
    this.kernel = backend.kernel();
    this.surfaceKeys = new TreeMap<>(surfaceKeys);
    this.random = random;
    TreeMap<String, String> openers = new TreeMap<>();
    surfaceKeys.forEach((name, key) -> openers.put(key.kid(), name.split("\u0000", 2)[0]));
    this.runs = new VouchedRuns(kernel, openers);
    this.keysAtWork = new TreeSet<>();
    this.patience = Ticket.AS_POLICY_SAYS;
    this.observer = SandboxObserver.NONE;
    this.begins = _ -> {};
  }

  private KernelPipeline(
      KernelPipeline same, Duration patience, SandboxObserver observer, Consumer<Digest> begins) {
    this.credentials = same.credentials;
    this.backend = same.backend;
    this.kernel = same.kernel;
    this.surfaceKeys = same.surfaceKeys;
    this.random = same.random;
    this.runs = same.runs;
    this.keysAtWork = same.keysAtWork;
    this.patience = patience;
    this.observer = observer;
    this.begins = begins;
  }

  @Override
  public Pipeline withoutWaiting() {
    return new KernelPipeline(this, Ticket.NONE, observer, begins);
  }

  @Override
  public <T> T inSpan(
      String name,
      SortedMap<String, String> attributes,
      Optional<TraceContext> trace,
      Supplier<T> work) {
    return backend.effects().inSpan(name, attributes, trace, work);
  }

  @Override
  public Pipeline observedBy(SandboxObserver watching) {
    return new KernelPipeline(this, patience, watching, begins);
  }

  @Override
  public Pipeline telling(Consumer<Digest> told) {
    return new KernelPipeline(this, patience, observer, told);
  }

  /** Signs and judges once the call has its turn, so that no request ages while it waits. */
  private <T> T inTurn(Scope scope, Effect effect, Supplier<T> work) {
    Ticket ticket = Ticket.of(scope, effect, policy().engine().classes(), patience);
    return backend.lane().run(ticket, work).value();
  }

  /**
   * Closes the runs that surfaces opened and that policy says are over (protocol rule 33). One that
   * cannot be closed does not keep the others open.
   *
   * @param failures gets the first failure: what fails for one run may well fail for thousands
   * @return how many it closed
   */
  public synchronized int closeOverRuns(Consumer<RuntimeException> failures) {
    int closed = 0;
    List<RuntimeException> failed = new ArrayList<>();
    for (VouchedRuns.Over over : runs.over(failed::add)) {
      try {
        closeRun(over.surface(), over.run().tenant(), over.run().run());
        closed++;
      } catch (RuntimeException e) {
        if (!VouchedRuns.isOfTheMoment(e)) {
          failed.add(e);
        }
      }
    }
    failed.stream().limit(1).forEach(failures);
    return closed;
  }

  /** The name of a surface's key for a tenant. */
  public static String keyName(String surface, String tenant) {
    return surface + "\u0000" + tenant;
  }

  @Override
  public Answer vouch(Vouched asked) {
    key(asked.origin(), asked.tenant()); // refuses a call without a key before it waits
    return inTurn(
        new Scope(asked.tenant(), asked.run(), asked.subject()),
        asked.effect(),
        () ->
            refusedElsewhere(
                asked,
                signed ->
                    through(
                        signed.id(),
                        signed.request(),
                        () -> kernel.submit(signed.envelope(), List.of(), asked.body()))));
  }

  @Override
  public Answer decide(Vouched asked) {
    return refusedElsewhere(asked, this::judged);
  }

  /**
   * Submits the request in the run that the caller named. If that run belongs to another subject
   * nothing is written in it: the request is submitted in a run of this caller's refusals, where
   * the Guardian refuses it with a signed decision.
   */
  private Answer refusedElsewhere(Vouched asked, Function<Signed, Answer> ask) {
    boolean reserved = asked.run().startsWith(REFUSED_RUN);
    if (!reserved) {
      try {
        return ask.apply(signed(asked, asked.run(), Optional.empty()));
      } catch (WritException e) {
        if (e.code() != GuardianError.RUN_FOREIGN && e.code() != ExecutorError.NOT_THE_OPENER) {
          throw e;
        }
      }
    }
    try {
      return ask.apply(signed(asked, refusedRun(asked), Optional.of(asked.run())));
    } catch (WritException e) {
      if (e.code() == ExecutorError.NOT_THE_OPENER) { // opened by an agent's key: sign nothing
        throw new WritException(GuardianError.RUN_FOREIGN, "run \"" + asked.run() + "\"", e);
      }
      throw e;
    }
  }

  /** The run of one surface and subject; callers may not name a run with this prefix. */
  private static String refusedRun(Vouched asked) {
    byte[] subject = asked.subject().getBytes(StandardCharsets.UTF_8);
    return REFUSED_RUN + asked.origin() + ":" + Digest.sha256(subject).hex().substring(0, 32);
  }

  @Override
  public Answer decideAgain(Caller caller, Digest id) {
    return judged(again(caller, id));
  }

  /** Judges only. An allowed effect is counted when it is executed. */
  private Answer judged(Signed signed) {
    Request request = signed.request();
    try {
      Answer answer = kernel.decide(signed.envelope(), List.of());
      if (answer.decision().verdict() != Verdict.ALLOW) {
        observe(request, answer, new ToolWork());
      }
      return answer;
    } finally {
      runs.used(new RunId(request.scope().tenant(), request.scope().run()));
      backend.changes().happened();
    }
  }

  /** A request and its bytes. */
  private record Signed(Envelope envelope, Request request) {
    Digest id() {
      return envelope.id();
    }
  }

  /**
   * @param run the run in which it is submitted
   * @param named the run that the caller named, if it is refused in another one
   */
  private Signed signed(Vouched asked, String run, Optional<String> named) {
    requireAsking(asked.method());
    SigningKey key = key(asked.origin(), asked.tenant());
    byte[] nonce = new byte[16];
    random.nextBytes(nonce);
    Request request =
        new Request(
            new Scope(asked.tenant(), run, asked.subject()),
            asked.effect(),
            asked.consumes(),
            asked.idempotencyKey(),
            HexFormat.of().formatHex(nonce),
            kernel.now(),
            asked.keepOutput() ? "keep" : "drop-output",
            asked.context(),
            Optional.of(
                new Origin(
                    asked.origin(),
                    asked.method(),
                    asked.principal(),
                    asked.raw(),
                    asked.execution(),
                    named,
                    rolesOf(asked.method(), asked.principal()))),
            List.of(),
            List.of());
    return new Signed(Envelope.sign(Request.TYPE, request.toJson(), key), request);
  }

  private static void requireAsking(String method) {
    if (method.equals(AccessAuthentication.METHOD)) {
      throw new WritException(GatewayError.NOT_GRANTED, "an access document asks for no effect");
    }
    if (method.equals(Sessions.METHOD)) {
      throw new WritException(GatewayError.NOT_GRANTED, "a session asks for no effect");
    }
  }

  private Optional<List<String>> rolesOf(String method, String principal) {
    return Optional.of(credentials.rolesOf(method, principal).stream().sorted().toList())
        .filter(roles -> !roles.isEmpty());
  }

  @Override
  public void cancel(Caller caller, Digest request) {
    backend.running().cancel(request, caller.tenant(), caller.subject());
  }

  @Override
  public Runnable inAnotherThread(Runnable work) {
    return backend.effects().inBackground(work);
  }

  @Override
  public void inBackground(String tenant, Runnable work) {
    ConcurrencyLimiter.Held place = backend.places().inBackground(tenant);
    Runnable observed = inAnotherThread(work);
    Thread.ofVirtual()
        .name("writ-background")
        .start(() -> {
          try {
            observed.run();
          } finally {
            place.free();
          }
        });
  }

  @Override
  public Answer again(Caller caller, Digest id, Optional<byte[]> body) {
    Signed signed = again(caller, id);
    Request request = signed.request();
    return inTurn(
        request.scope(),
        request.effect(),
        () -> through(id, request, () -> kernel.submit(signed.envelope(), List.of(), body)));
  }

  @Override
  public Answer giveUp(Caller caller, Digest id, WritException why) {
    Signed signed = again(caller, id);
    return through(id, signed.request(), () -> kernel.giveUp(signed.envelope(), why));
  }

  private Signed again(Caller caller, Digest id) {
    requireAsking(caller.method());
    Envelope signed =
        kernel
            .ledger()
            .document(id)
            .filter(envelope -> envelope.payloadType().equals(Request.TYPE))
            .filter(e -> isOf(caller, Request.read(e.document()).scope()))
            .orElseThrow(() -> new WritException(GatewayError.UNKNOWN_ID, id.toString()));
    Request request = Request.read(signed.document());
    if (!request
        .origin()
        .flatMap(Origin::roles)
        .equals(rolesOf(caller.method(), caller.principal()))) {
      throw new WritException(
          GatewayError.NOT_GRANTED, "it was asked for by a credential with other roles");
    }
    return new Signed(signed, request);
  }

  private static boolean isOf(Caller caller, Scope scope) {
    return scope.tenant().equals(caller.tenant()) && scope.subject().equals(caller.subject());
  }

  private Answer through(Digest id, Request request, Supplier<Answer> submit) {
    Optional<String> atWork =
        request
            .idempotencyKey()
            .map(key -> row(request.scope().tenant(), request.scope().subject(), key));
    boolean first = atWork.map(this::begin).orElse(false);
    ToolWork work = new ToolWork(observer, backend.effects().tools());
    try {
      Scope scope = request.scope();
      Answer answer =
          backend
              .running()
              .during(
                  id,
                  scope.tenant(),
                  scope.subject(),
                  work,
                  () -> {
                    begins.accept(id);
                    return submit.get();
                  });
      observe(request, answer, work);
      return answer;
    } catch (WritException e) {
      backend.effects().refused(surface(request), id, request, e.code(), work);
      throw e;
    } finally {
      if (first) {
        end(atWork.get());
      }
      runs.used(new RunId(request.scope().tenant(), request.scope().run()));
      backend.changes().happened();
    }
  }

  private void observe(Request request, Answer answer, ToolWork work) {
    backend.effects().answered(surface(request), request, answer, work);
  }

  private static String surface(Request request) {
    return request.origin().orElseThrow().surface();
  }

  private SigningKey key(String surface, String tenant) {
    SigningKey key = surfaceKeys.get(keyName(surface, tenant));
    if (key == null) {
      throw new WritException(GatewayError.SURFACE_KEY, surface + " for " + tenant);
    }
    return key;
  }

  private boolean begin(String row) {
    synchronized (keysAtWork) {
      return keysAtWork.add(row);
    }
  }

  private void end(String row) {
    synchronized (keysAtWork) {
      keysAtWork.remove(row);
    }
  }

  private static String row(String tenant, String subject, String idempotencyKey) {
    return Tables.key(tenant, subject, idempotencyKey);
  }

  @Override
  public Standing standing(String tenant, String subject, String idempotencyKey) {
    String row = row(tenant, subject, idempotencyKey);
    synchronized (keysAtWork) {
      if (keysAtWork.contains(row)) {
        return new Standing.Running();
      }
    }
    LedgerView ledger = kernel.ledger();
    return ledger
        .get(Tables.IDEMPOTENCY, row)
        .map(Digest::ofBytes)
        .<Standing>map(this::known)
        .orElseGet(Standing.New::new);
  }

  private Standing.Known known(Digest id) {
    LedgerView ledger = kernel.ledger();
    Request request = Request.read(ledger.document(id).orElseThrow().document());
    Optional<Served> served =
        ledger
            .get(Tables.SERVED, Tables.key(id))
            .map(Digest::ofBytes)
            .map(receipt -> kernel.receipt(request.scope().tenant(), receipt));
    return new Standing.Known(id, request.origin().map(Origin::raw), request.effect(), served);
  }

  @Override
  public Optional<byte[]> content(String tenant, Content content, long bytesMax) {
    LedgerView ledger = kernel.ledger();
    boolean known =
        TenantContents.has(ledger, tenant, content.digest()) && ledger.hasBlob(content.digest());
    return known ? Optional.of(ledger.blob(content.digest(), bytesMax)) : Optional.empty();
  }

  @Override
  public void closeRun(String surface, String tenant, String run) {
    SigningKey key = key(surface, tenant);
    kernel.closeRun(
        Envelope.sign(RunClose.TYPE, new RunClose(tenant, run, kernel.now()).toJson(), key));
    backend.changes().happened();
  }

  @Override
  public Policy policy() {
    return kernel.system().policyInForce();
  }

  @Override
  public LedgerView ledger() {
    return kernel.ledger();
  }

  @Override
  public Kernel kernel() {
    return kernel;
  }

  @Override
  public Statistics statistics() {
    return backend.statistics();
  }

  @Override
  public Changes changes() {
    return backend.changes();
  }

  @Override
  public Instant now() {
    return kernel.now();
  }

  @Override
  public Instant look() {
    return kernel.look();
  }

  @Override
  public boolean isDraining() {
    return backend.places().isDraining();
  }
}
