package dev.writ.guardian.profile;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.policy.seed.CommandLine;
import dev.writ.guardian.policy.seed.ExecuteIntent;
import dev.writ.guardian.policy.seed.ExecuteProfile;
import dev.writ.guardian.policy.seed.ExecuteTenant;
import dev.writ.guardian.policy.seed.SeedProfile;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The strict gateway of seed 000 as a pure function: seven stages in their fixed order, the first
 * error wins, and the same arguments give the same answer. A request that passes is mapped to one
 * effect (protocol rule 34, spec/surface-execute.md).
 */
public final class ExecuteAdmission {
  /** The surface's name. */
  public static final String PROFILE = "execute";

  /**
   * The effect in the request of a refused execution: it does nothing, under the name of the seed's
   * executor.
   */
  public static final Effect NO_EFFECT =
      new Effect(
          "execution",
          "1.0",
          "execute",
          JsonValue.object().build(),
          List.of(),
          new Resources(0, 0, 0, 0),
          "none",
          Optional.empty());

  private static final String DISABLED = "disabled";
  private static final String EPHEMERAL = "ephemeral";

  /**
   * Who asks, as authenticated.
   *
   * @param credential roles that the credential is narrowed to; absent if it is not
   */
  public record Asker(String tenant, String subject, Optional<List<String>> credential) {
    /** Whose credential is not narrowed. */
    public Asker(String tenant, String subject) {
      this(tenant, subject, Optional.empty());
    }
  }

  /**
   * @param request the request, as far as it could be read
   * @param finding the finding, which the decision records
   * @param effect the effect; present if nothing refuses, or if only approvals are missing
   */
  public record Result(ExecuteRequest request, Finding finding, Optional<Effect> effect) {}

  private final ExecuteRequest request;
  private final Asker asker;
  private final Optional<ExecuteProfile> profile;
  private final ExecuteState state;
  private final Instant now;
  private final boolean approved;

  private ExecuteAdmission(
      ExecuteRequest request,
      Asker asker,
      Policy policy,
      ExecuteState state,
      Instant now,
      boolean approved) {
    this.request = request;
    this.asker = asker;

    this.profile = policy.execute();
    this.state = state;
    this.now = now;
    this.approved = approved;
  }

  /** One refusal of a stage. */
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final RejectionCode code;

    Refused(RejectionCode code, String reason) {
      super(reason, null, false, false);
      this.code = code;
    }

    Finding.Refusal refusal() {
      return new Finding.Refusal(code.code(), code.meaning() + ": " + getMessage());
    }
  }

  /**
   * @param body the raw request body
   * @param now when it is judged
   */
  public static Result check(
      byte[] body, Asker asker, Policy policy, ExecuteState state, Instant now) {
    ExecuteRequest request = ExecuteRequest.nothing();
    try {
      JsonValue json = parse(body);
      if (json instanceof JsonValue.Obj object) {
        request = new ExecuteRequest(object);
      }
      schema(json); // 1
    } catch (Refused e) {
      return new Result(request, refused(e.refusal()), Optional.empty());
    }
    return check(request, asker, policy, state, now);
  }

  private static Result check(
      ExecuteRequest request, Asker asker, Policy policy, ExecuteState state, Instant now) {
    try {
      Effect effect =
          new ExecuteAdmission(request, asker, policy, state, now, false).stagesFrom2To7();
      return new Result(request, Finding.accepted(PROFILE), Optional.of(effect));
    } catch (Refused e) {
      Optional<Requirement.Approvals> approvals =
          policy.execute().flatMap(ExecuteProfile::privileged);
      if (e.code != RejectionCode.PRIVILEGED || approvals.isEmpty()) {
        return new Result(request, refused(e.refusal()), Optional.empty());
      }
      return beyond(e, approvals, new ExecuteAdmission(request, asker, policy, state, now, true));
    }
  }

  /** The refusal that would follow the missing approvals, if any. */
  private static Result beyond(
      Refused first, Optional<Requirement.Approvals> approvals, ExecuteAdmission approved) {
    Optional<Effect> effect = Optional.empty();
    Optional<Finding.Refusal> beyond = Optional.empty();
    try {
      effect = Optional.of(approved.stagesFrom2To7());
    } catch (Refused then) {
      beyond = Optional.of(then.refusal());
    }
    return new Result(
        approved.request,
        new Finding(PROFILE, Optional.of(first.refusal()), approvals, beyond),
        effect);
  }

  private static Finding refused(Finding.Refusal refusal) {
    return new Finding(PROFILE, Optional.of(refusal), Optional.empty(), Optional.empty());
  }

  private static JsonValue parse(byte[] body) {
    try {
      return Jcs.parse(body, ExecuteRequest.LIMITS);
    } catch (WritException e) {
      throw new Refused(RejectionCode.INVALID_JSON, e.code().code() + " " + e.code().meaning());
    }
  }

  private static void schema(JsonValue json) {
    SeedSchema.unknown(json).ifPresent(at -> refuse(RejectionCode.UNKNOWN_FIELDS, at));
    SeedSchema.violation(json).ifPresent(at -> refuse(RejectionCode.MANDATORY_FIELDS, at));
  }

  private Effect stagesFrom2To7() {
    context(); // 2
    ExecuteIntent intent = intent(); // 3
    security(intent); // 4
    String sandbox = sandbox(intent); // 5
    Resources resources = resources(intent); // 6
    state(); // 7
    return effect(intent, sandbox, resources);
  }

  private void context() {
    String tenantId = need(request.tenantId(), RejectionCode.TENANT_MISSING, "context");
    String subjectId = need(request.subjectId(), RejectionCode.SUBJECT_MISSING, "context");
    need(request.traceId(), RejectionCode.TRACE_MISSING, "context");
    need(request.intentTraceId(), RejectionCode.TRACE_MISSING, "intent_ref");
    ExecuteTenant tenant =
        profile
            .flatMap(p -> p.tenant(asker.tenant))
            .filter(t -> t.id().equals(tenantId))
            .orElseThrow(
                () -> refused(RejectionCode.WORKSPACE_MISMATCH, "not the caller's tenant"));
    require(
        subjectId.equals(tenant.subjects().get(asker.subject)),
        RejectionCode.WORKSPACE_MISMATCH,
        "not the caller's subject");
    require(
        request.workspaceId().filter(tenant.workspaces()::contains).isPresent(),
        RejectionCode.WORKSPACE_MISMATCH,
        "the workspace is not the tenant's");
  }

  private ExecuteIntent intent() {
    String id = need(request.intentId(), RejectionCode.INTENT_MISSING, "intent_ref");
    ExecuteIntent intent =
        profile
            .flatMap(p -> p.intent(asker.tenant, id))
            .orElseThrow(() -> refused(RejectionCode.INTENT_UNKNOWN, "not one of the tenant's"));
    require(
        request.intentVersion().filter(intent.version()::equals).isPresent(),
        RejectionCode.INTENT_VERSION,
        "the intent is at version " + intent.version());
    require(intent.open(), RejectionCode.INTENT_CLOSED, "policy closed it");
    String target = request.target().orElseThrow();
    require(
        intent.targets().stream().anyMatch(allowed -> allowed.covers(target)),
        RejectionCode.INTENT_UNKNOWN,
        "the intent does not allow this target");
    return intent;
  }

  private void security(ExecuteIntent intent) {
    String network = request.network().orElseThrow();
    require(
        network.equals(DISABLED) || intent.network().contains(network),
        RejectionCode.NETWORK_FORBIDDEN,
        "the intent allows no network of that kind");
    require(
        !request.profile().orElseThrow().equals(SeedProfile.PRIVILEGED.text())
            || approved
            || wasApproved(),
        RejectionCode.PRIVILEGED,
        "it needs a signed approval");
    Optional<String> secret =
        SecretLike.find("/execution_spec/parameters", request.parameters())
            .or(() ->
                SecretLike.find(
                    "/execution_spec/target", JsonValue.of(request.target().orElseThrow())))
            .or(() -> SecretLike.find("/artifacts/output_files", request.outputFiles()));
    secret.ifPresent(
        at -> refuse(RejectionCode.SECRETS, "something like a secret at " + pointer(at)));
  }

  /**
   * A request with this very body that runs or ran was approved then; the last stage reports that
   * it exists.
   */
  private boolean wasApproved() {
    ExecuteState.Seen seen = state.seen(request.requestId().orElseThrow());
    return seen == ExecuteState.Seen.RUNNING || seen == ExecuteState.Seen.DONE;
  }

  /** A pointer without names that the caller chose, which may be part of a payload. */
  private static String pointer(String at) {
    return at.startsWith("/execution_spec/parameters") ? "/execution_spec/parameters" : at;
  }

  private String sandbox(ExecuteIntent intent) {
    Optional<SeedProfile> asked = request.profile().flatMap(SeedProfile::of);
    Optional<String> sandbox = asked.map(profile.orElseThrow().sandboxes()::get);
    require(sandbox.isPresent(), RejectionCode.PROFILE_INVALID, "there is no such profile here");
    require(
        request.filesystem().filter(EPHEMERAL::equals).isPresent(),
        RejectionCode.PROFILE_INVALID,
        "the filesystem is always ephemeral");
    SeedProfile tenantCeiling = profile.orElseThrow().tenant(asker.tenant).orElseThrow().ceiling();
    for (SeedProfile ceiling : List.of(intent.ceiling(), tenantCeiling)) {
      require(
          !asked.orElseThrow().isAbove(ceiling),
          RejectionCode.PROFILE_ESCALATION,
          "at most " + ceiling.text());
    }
    return sandbox.orElseThrow();
  }

  private Resources resources(ExecuteIntent intent) {
    long cpuMilli = need(request.cpuMilli(), RejectionCode.CPU_MISSING, "resources");
    long memory = need(request.memoryBytes(), RejectionCode.MEMORY_MISSING, "resources");
    long timeout = need(request.timeoutMs(), RejectionCode.TIMEOUT_MISSING, "resources");
    ExecuteIntent.Ceiling ceiling = intent.resources();
    require(
        cpuMilli <= ceiling.cpuMilli(),
        RejectionCode.EXCEEDS_POLICY,
        "cpu is at most " + ceiling.cpu());
    require(
        memory <= ceiling.memoryBytes(),
        RejectionCode.EXCEEDS_POLICY,
        "memory is at most " + ceiling.memory());
    require(
        timeout <= ceiling.timeoutMs(),
        RejectionCode.EXCEEDS_POLICY,
        "timeout_ms is at most " + ceiling.timeoutMs());
    return new Resources(cpuMs(cpuMilli, timeout), memory, intent.outputBytes(), timeout);
  }

  /** Processor time that a share of it gives within a time, rounded up. */
  static long cpuMs(long cpuMilli, long wallMs) {
    long product = Math.multiplyHigh(cpuMilli, wallMs) == 0 ? cpuMilli * wallMs : Long.MAX_VALUE;
    long capped = product < 0 ? Long.MAX_VALUE : product;
    return Math.min(Math.ceilDiv(capped, 1000L), JsonValue.Num.MAX_INTEGER);
  }

  private void state() {
    ExecuteState.Seen seen = state.seen(request.requestId().orElseThrow());
    require(
        seen != ExecuteState.Seen.DONE,
        RejectionCode.ALREADY_CONSUMED,
        "this request was executed");
    require(seen != ExecuteState.Seen.RUNNING, RejectionCode.REPLAY, "this request is running");
    Duration away = Duration.between(request.timestamp().orElseThrow(), now).abs();
    require(
        seen == ExecuteState.Seen.WAITING
            || away.compareTo(Duration.ofSeconds(profile.orElseThrow().freshnessS())) <= 0,
        RejectionCode.REPLAY,
        "audit.timestamp is not within "
            + profile.orElseThrow().freshnessS()
            + " seconds of the gateway's clock");
    require(
        seen != ExecuteState.Seen.OTHER_BODY,
        RejectionCode.MUTATION,
        "the execution_request_id came before with another body");
    require(
        request.intentTraceId().equals(request.traceId()),
        RejectionCode.CHAINED,
        "intent_ref.trace_id is not context.trace_id");
    Optional<String> parent = request.parentTraceId().filter(p -> !isOwn(p));
    require(
        parent.filter(state::executed).isEmpty(),
        RejectionCode.CHAINED,
        "parent_trace_id names an execution of this gateway");
  }

  /**
   * Whether a parent is the request's own trace, which is not an execution even if requests of it
   * were executed.
   */
  private boolean isOwn(String parent) {
    return request.traceId().filter(parent::equals).isPresent();
  }

  private Effect effect(ExecuteIntent intent, String sandbox, Resources resources) {
    String target = request.target().orElseThrow();
    TreeMap<String, JsonValue> values = new TreeMap<>();
    values.put("$target", JsonValue.of(target));
    values.put("$parameters", request.parameters());
    values.put("$output_files", request.outputFiles());
    values.put("$network", JsonValue.of(request.network().orElseThrow()));
    values.put("$workspace_id", JsonValue.of(request.workspaceId().orElseThrow()));
    values.put("$cpu_milli", JsonValue.of(request.cpuMilli().orElseThrow()));
    CommandLine.parse(target)
        .filter(line -> line.needsShell().isEmpty())
        .ifPresent(line ->
            values.put("$argv", JsonValue.of(line.words().stream().map(JsonValue::of).toList())));
    return new Effect(
        intent.effect().tool(),
        intent.effect().version(),
        intent.effect().operation(),
        intent.effect().fill(values),
        List.of(),
        resources,
        sandbox,
        Optional.empty());
  }

  private static <T> T need(Optional<T> value, RejectionCode code, String where) {
    return value.orElseThrow(() -> refused(code, "it is not in " + where));
  }

  private static void require(boolean holds, RejectionCode code, String reason) {
    if (!holds) {
      refuse(code, reason);
    }
  }

  private static void refuse(RejectionCode code, String reason) {
    throw refused(code, reason);
  }

  private static Refused refused(RejectionCode code, String reason) {
    return new Refused(code, reason);
  }
}
