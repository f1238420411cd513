package dev.writ.gateway.v1;

import static dev.writ.gateway.http.Route.Access.DOCUMENT;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.document.ToolApproval;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.pipeline.Running;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.function.Consumer;

/**
 * Signed changes by the installation's owners: a new policy, an enrolment or revocation, a
 * submission or approval of a tool, the resolution of an effect in doubt. They take effect at once.
 */
final class AdminRoutes {
  private static final int BYTES_MAX = 4 << 20;

  /**
   * Types of changes: operators change the installation; publishers submit tools and approvers
   * judge them.
   */
  private static final List<String> WORDS =
      List.of(SystemChange.TYPE, ToolSubmission.TYPE, ToolApproval.TYPE);

  private final Kernel kernel;
  private final Running running;
  private final Changes changes;

  AdminRoutes(Kernel kernel, Running running, Changes changes) {
    this.kernel = kernel;
    this.running = running;
    this.changes = changes;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/v1/policies", DOCUMENT, BYTES_MAX, this::policy),
        Route.post(
            "/v1/system-changes", DOCUMENT, BYTES_MAX, call -> take(call, WORDS, this::change)),
        Route.post(
            "/v1/resolutions",
            DOCUMENT,
            BYTES_MAX,
            call -> take(call, List.of(Resolution.TYPE), kernel::resolve)));
  }

  /** A revocation takes effect at once, also on running calls. */
  private void change(Envelope signed) {
    kernel.change(signed);
    running.prohibit(kernel.system()::isProhibited);
  }

  private HttpAnswer policy(HttpCall call) {
    take(call, List.of(SystemState.POLICY_TYPE), kernel::activate);
    Policy policy = kernel.system().policyInForce();
    return HttpAnswer.json(
        200,
        JsonValue.object()
            .put("name", policy.name())
            .put("version", policy.version())
            .put("digest", policy.digest())
            .build());
  }

  private HttpAnswer take(HttpCall call, List<String> types, Consumer<Envelope> work) {
    Envelope envelope = Bodies.envelope(call);
    if (!types.contains(envelope.payloadType())) {
      throw new WritException(
          GatewayError.PARAMETER, "the body is no " + String.join(", nor ", types));
    }
    Bodies.admit(call, envelope, kernel);
    work.accept(envelope);
    changes.systemChanged();
    return HttpAnswer.json(200, JsonValue.object().put("taken", envelope.id()).build());
  }
}
