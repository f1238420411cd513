package dev.writ.surfaces.tools;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.WaitingRequests;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.seed.CommandProfile;
import dev.writ.guardian.profile.CommandAdmission;
import dev.writ.guardian.profile.CommandRequest;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.guardian.profile.ProfileError;
import dev.writ.guardian.profile.SurfaceRefusal;
import dev.writ.ledger.LedgerView;
import dev.writ.surfaces.text.ToolText;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Runs the commands of seed 002, whatever protocol they are asked for by. */
public final class ExecCalls {
  private final Pipeline pipeline;
  private final LedgerView ledger;
  private final Optional<WorkspaceRoot> root;
  private final WaitingRequests waiting;

  ExecCalls(Pipeline pipeline, Optional<WorkspaceRoot> root) {
    this.pipeline = pipeline;
    this.ledger = pipeline.ledger();
    this.root = root;
    this.waiting = new WaitingRequests(ledger, pipeline.kernel()::system);
  }

  /**
   * A call.
   *
   * @param body the seed's JSON
   */
  public record Asked(Caller caller, byte[] body, TraceContext trace) {}

  /** How a call ended. */
  public sealed interface Ended {
    /** The command ran, whatever its exit code is; {@code response} is the seed's JSON. */
    record Executed(JsonValue.Obj response, String execId, Digest request, Digest receipt)
        implements Ended {}

    /**
     * The profile or the Guardian refused it.
     *
     * @param status in HTTP
     * @param remedy of the code, unless {@code guidance} has better
     * @param guidance what would help, where the Guardian judged it
     * @param signed the request and the Guardian's decision on it; empty where nothing could be
     *     signed
     */
    record Denied(
        int status,
        String code,
        String title,
        String detail,
        Optional<String> remedy,
        Optional<Guidance> guidance,
        Optional<Signed> signed)
        implements Ended {
      Denied(int status, ProfileError code, String found, Optional<Signed> signed) {
        this(
            status,
            code.code(),
            code.meaning(),
            found,
            Optional.of(code.remedy()),
            Optional.empty(),
            signed);
      }
    }

    /** The ids of the documents that a denial left in the log. */
    record Signed(Digest request, Digest decision) {
      private static Signed of(Answer answer) {
        return new Signed(answer.request(), answer.decisionEnvelope().id());
      }
    }
  }

  /**
   * Judges and executes; blocks until the command has ended.
   *
   * @throws WritException for what is refused elsewhere: by the queue, or where the ledger fails
   */
  public Ended exec(Asked asked) {
    return exec(asked, pipeline);
  }

  /**
   * The same for a caller that may give up.
   *
   * @param begins as for {@link Pipeline#telling}
   */
  public Ended exec(Asked asked, Consumer<Digest> begins) {
    return exec(asked, pipeline.telling(begins));
  }

  /**
   * Ends a running command; its call ends with the receipt that says so.
   *
   * @throws WritException {@code GWY-041}
   */
  public void cancel(Caller caller, Digest request) {
    pipeline.cancel(caller, request);
  }

  private Ended exec(Asked asked, Pipeline through) {
    Caller caller = asked.caller();
    CommandAdmission.Admitted admitted;
    try {
      admitted =
          CommandAdmission.admit(
              asked.body(),
              new ExecuteAdmission.Asker(caller.tenant(), caller.subject(), narrowed(caller)),
              pipeline.policy());
      root.ifPresent(directory -> require(directory, caller, admitted.request()));
    } catch (WritException e) {
      return refused(asked, through, e);
    }
    Pipeline.Vouched vouched =
        vouched(asked, admitted.request(), admitted.effect(), Optional.empty());
    // The same bytes, while a request of them waits for approval or after it was decided, are that
    // one.
    Optional<Digest> earlier = waiting.find(vouched, caller, pipeline.look());
    Answer answer =
        earlier.isPresent()
            ? through.again(caller, earlier.get(), vouched.body())
            : through.vouch(vouched);
    if (answer.served().isEmpty()) {
      return denied(answer, pipeline.kernel().explanations().guidance(answer));
    }
    Served served = answer.served().get();
    Request request =
        Request.read(ledger.document(served.receipt().request()).orElseThrow().document());
    ExecEvent told =
        new ExecEvent(
            served.receipt().request(), request, served.receipt(), ToolText.of(served, pipeline));
    return new Ended.Executed(
        told.response(), told.execId(), served.receipt().request(), served.id());
  }

  private static Optional<List<String>> narrowed(Caller caller) {
    return caller.roles().isEmpty() ? Optional.empty() : Optional.of(caller.roles());
  }

  /**
   * @throws WritException {@code GRD-716} for what only this host can tell: which directory the
   *     tenant has, and where links lead
   */
  private void require(WorkspaceRoot directory, Caller caller, CommandRequest request) {
    Policy policy = pipeline.policy();
    CommandProfile profile = policy.commands().orElseThrow();
    String relative =
        profile
            .underRoot(request.cwd().orElse(profile.workspaceRoot()))
            .orElse("."); // the profile accepted it, perhaps under an earlier policy
    directory.require(
        policy
            .host()
            .workspaceOf(caller.tenant())
            .orElseThrow(() ->
                new WritException(
                    ProfileError.COMMAND_CWD,
                    "policy names no directory of tenant " + caller.tenant())),
        relative);
  }

  private Pipeline.Vouched vouched(
      Asked asked, CommandRequest request, Effect effect, Optional<SurfaceRefusal> refused) {
    JsonValue.Obj exec =
        JsonValue.object()
            .put("role", request.role())
            .put("cmd", request.cmd())
            .putIfPresent("subtask_id", request.subtaskId(), JsonValue::of)
            .build();
    return new Pipeline.Vouched(
        ToolsSurface.NAME,
        asked.caller().method(),
        asked.caller().principal(),
        Digest.sha256(asked.body()),
        asked.caller().tenant(),
        request.caseId(),
        asked.caller().subject(),
        effect,
        List.of(),
        Optional.empty(),
        true,
        asked
            .trace()
            .putTo(
                JsonValue.object()
                    .put("exec", exec)
                    .put("role", request.role())
                    .putIfPresent(SurfaceRefusal.CONTEXT, refused, SurfaceRefusal::toJson))
            .build(),
        Optional.of(asked.body()),
        Optional.empty());
  }

  /** Refused by the profile: 400 for a body that cannot be read, otherwise 403. */
  private Ended refused(Asked asked, Pipeline through, WritException e) {
    if (!(e.code() instanceof ProfileError code)) {
      throw e;
    }
    if (code == ProfileError.COMMAND_BODY) {
      return new Ended.Denied(400, code, e.found(), Optional.empty());
    }
    Optional<Ended.Signed> signed = Optional.empty();
    try { // lets the Guardian sign the refusal, too
      Answer answer =
          through.vouch(
              vouched(
                  asked,
                  CommandRequest.parse(asked.body()),
                  ExecuteAdmission.NO_EFFECT,
                  Optional.of(new SurfaceRefusal(code, e.found()))));
      signed = Optional.of(Ended.Signed.of(answer));
    } catch (WritException again) {
      // Not admitted, or the ledger cannot be written: the profile's unsigned refusal stands.
    }
    return new Ended.Denied(403, code, e.found(), signed);
  }

  private static Ended denied(Answer answer, Optional<Guidance> guidance) {
    Decision decision = answer.decision();
    String detail = decision.refusing().map(check -> check.detail()).orElse("");
    String code = decision.code().orElse("");
    return new Ended.Denied(
        403,
        code,
        meaning(code).orElse(decision.verdict().name()),
        detail,
        guidance.flatMap(Guidance::remedy),
        guidance,
        Optional.of(Ended.Signed.of(answer)));
  }

  /** What the catalogue says of a decision's code. */
  private static Optional<String> meaning(String code) {
    return Stream.<ErrorCode>concat(
            Arrays.stream(GuardianError.values()), Arrays.stream(ProfileError.values()))
        .filter(known -> known.code().equals(code))
        .map(ErrorCode::meaning)
        .findFirst();
  }
}
