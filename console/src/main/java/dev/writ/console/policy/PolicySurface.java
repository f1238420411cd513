package dev.writ.console.policy;

import static dev.writ.gateway.http.Route.Access.CALLER;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.Reader;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyPerson.Look;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;

/** The policy over HTTP, for those who write and watch it (spec/policy-desk.md). */
public final class PolicySurface implements Surface {
  /** A text of 1 MiB and its cases, also where JSON escapes some of it. */
  private static final int BYTES_MAX = 4 << 20;

  private static final int LAST = 100;
  private static final int LAST_MAX = 1_000;
  private static final EnumSet<Look> READERS =
      EnumSet.of(Look.AUDITOR, Look.OPERATOR, Look.DEVELOPER);

  private final Pipeline pipeline;
  private final Reader reader;
  private final PolicyVersions versions;
  private final PolicyTrial trial;
  private final PolicyWhatIf whatIf;
  private final PolicyProposals proposals;

  /** What reads much, or runs what a caller wrote, is done one at a time. */
  private final Semaphore turn = new Semaphore(1);

  /**
   * @param manifests the tools, by their packages
   */
  public PolicySurface(Pipeline pipeline, Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.pipeline = pipeline;
    this.reader = new Reader(pipeline.kernel());
    this.versions = new PolicyVersions(pipeline.ledger());
    this.trial = new PolicyTrial(manifests);
    this.whatIf = new PolicyWhatIf(pipeline.ledger(), manifests);
    this.proposals = new PolicyProposals(pipeline.ledger(), manifests);
  }

  @Override
  public String name() {
    return "policy";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/v1/policy", CALLER, this::inForce),
        Route.get("/v1/policies", CALLER, call -> answer(call, this::history)),
        Route.get("/v1/policies/{digest}", CALLER, this::version),
        Route.post("/v1/policy-checks", CALLER, BYTES_MAX, this::check),
        Route.post("/v1/policy-what-ifs", CALLER, BYTES_MAX, this::tryAgain),
        Route.post("/v1/policy-what-ifs/{request}", CALLER, BYTES_MAX, this::tryOne),
        Route.post("/v1/policy-proposals", CALLER, BYTES_MAX, this::propose));
  }

  private HttpAnswer answer(HttpCall call, Supplier<JsonValue.Obj> work) {
    requireReader(call.caller());
    return HttpAnswer.json(200, work.get()).with("Cache-Control", "no-store");
  }

  private void requireReader(Caller caller) {
    if (caller.looksAs(pipeline.policy()).stream().noneMatch(READERS::contains)) {
      throw new WritException(PolicyDeskError.NOT_FOR_CALLER, "");
    }
  }

  private Trust trust() {
    return pipeline.kernel().system().trust();
  }

  /**
   * The answer of what tells a policy's rules, stated before it is handed out (spec/read-event.md).
   */
  private HttpAnswer answer(HttpCall call, Digest policy, Supplier<JsonValue.Obj> work) {
    HttpAnswer answer = answer(call, work);
    reader.records().policy(call.caller(), policy);
    return answer;
  }

  private HttpAnswer inForce(HttpCall call) {
    Digest digest = pipeline.policy().digest();
    return answer(call, digest, () -> versions.of(digest).orElseThrow().whole(trust()));
  }

  private JsonValue.Obj history() {
    Trust trust = trust();
    return JsonValue.object()
        .putList("policies", versions.all(), version -> version.toJson(trust))
        .build();
  }

  private HttpAnswer version(HttpCall call) {
    requireReader(call.caller());
    Digest digest = Digest.parse(call.value("digest"));
    return answer(
        call,
        digest,
        () -> versions.of(digest).orElseThrow(() -> Reader.unknown(digest)).whole(trust()));
  }

  private HttpAnswer check(HttpCall call) {
    requireReader(call.caller());
    Fields fields = Fields.of("body", Jcs.parse(call.body()));
    String text = fields.string("text");
    Optional<String> cases = fields.optional("cases", fields::string);
    fields.end();
    Supplier<JsonValue.Obj> work = () -> trial.check(text, cases, pipeline.policy());
    return answer(call, cases.isPresent() ? () -> inTurn(work) : work);
  }

  private HttpAnswer tryAgain(HttpCall call) {
    requireReader(call.caller());
    Fields fields = Fields.of("body", Jcs.parse(call.body()));
    String text = fields.string("text");
    long last = fields.optional("last", fields::count).orElse((long) LAST);
    fields.end();
    if (last < 1 || last > LAST_MAX) {
      throw new WritException(GatewayError.PARAMETER, "last is not between 1 and " + LAST_MAX);
    }
    Policy policy = tried(text);
    Caller caller = call.caller();
    return answer(
        call,
        () ->
            inTurn(() ->
                whatIf.of(
                    policy,
                    Math.toIntExact(last),
                    reader.sight(caller),
                    of -> reader.records().parameters(caller, of))));
  }

  /** One decision, under a text or under a policy of the history. */
  private HttpAnswer tryOne(HttpCall call) {
    requireReader(call.caller());
    Digest request = Digest.parse(call.value("request"));
    Fields fields = Fields.of("body", Jcs.parse(call.body()));
    Optional<String> text = fields.optional("text", fields::string);
    Optional<Digest> digest = fields.optional("policy", fields::digest);
    fields.end();
    if (text.isPresent() == digest.isPresent()) {
      throw new WritException(GatewayError.PARAMETER, "one of text and policy");
    }
    Policy policy =
        text.map(PolicySurface::tried)
            .or(() -> digest.flatMap(versions::of).map(PolicyVersions.Version::policy))
            .orElseThrow(() -> Reader.unknown(digest.orElseThrow()));
    Caller caller = call.caller();
    Supplier<JsonValue.Obj> work =
        () ->
            inTurn(() ->
                whatIf.one(
                    policy,
                    request,
                    reader.sight(caller),
                    of -> reader.records().parameters(caller, of)));
    // Its explanation tells rules of a policy that is named.
    return digest.isPresent() ? answer(call, digest.get(), work) : answer(call, work);
  }

  private static Policy tried(String text) {
    try {
      return PolicyTrial.parse(text);
    } catch (WritException fault) {
      throw new WritException(
          PolicyDeskError.TRIED_TEXT, fault.code().code() + " " + fault.found(), fault);
    }
  }

  private HttpAnswer propose(HttpCall call) {
    requireReader(call.caller());
    Fields fields = Fields.of("body", Jcs.parse(call.body()));
    List<String> runs =
        fields.optional("runs", key -> fields.list(key, Fields::stringItem)).orElseGet(List::of);
    Optional<Instant> since = fields.optional("since", fields::time);
    fields.end();
    Caller caller = call.caller();
    Policy inForce = pipeline.policy();
    return answer(
        call,
        inForce.digest(),
        () ->
            inTurn(() ->
                proposals.of(
                    inForce,
                    caller.tenant(),
                    runs,
                    since,
                    reader.sight(caller),
                    of -> reader.records().parameters(caller, of))));
  }

  private JsonValue.Obj inTurn(Supplier<JsonValue.Obj> work) {
    if (!turn.tryAcquire()) {
      throw new WritException(PolicyDeskError.BUSY, "");
    }
    try {
      return work.get();
    } finally {
      turn.release();
    }
  }
}
