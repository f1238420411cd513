package dev.writ.gateway.v1;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.reads.ReadLog;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.view.WaitingView;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.event.RunId;
import java.util.List;

/**
 * Has the log state what people read of others, as far as policy asks for it (spec/read-event.md).
 * It is asked when a caller was found to have the right, and before anything is handed out: where
 * it throws, nothing may be.
 */
public final class ReadRecords {
  /** How many are stated in one batch: meanwhile nothing of the installation changes. */
  private static final int AT_ONCE = 1_000;

  private final Kernel kernel;

  ReadRecords(Kernel kernel) {
    this.kernel = kernel;
  }

  /**
   * Something of an effect is read.
   *
   * @param scope of the effect
   * @param id of the request, document or content that is asked for
   * @throws WritException {@code GWY-140}
   */
  public void effect(Caller caller, Scope scope, Digest id, ReadClass... what) {
    if (!isOwn(caller, scope.subject())) {
      record(caller, List.of(ReadEvent.Thing.of(scope.run(), id)), what);
    }
  }

  /**
   * The outputs of a run are read as they come.
   *
   * @throws WritException {@code GWY-140}
   */
  public void outputs(Caller caller, Scope scope) {
    if (!isOwn(caller, scope.subject())) {
      record(caller, List.of(ReadEvent.Thing.ofRun(scope.run())), ReadClass.OUTPUTS);
    }
  }

  /**
   * Something of whole runs of the caller's tenant is read.
   *
   * @throws WritException {@code GWY-140}
   */
  public void runs(Caller caller, List<String> runs, ReadClass what) {
    record(
        caller,
        runs.stream()
            .filter(run -> !isOwn(caller, owner(new RunId(caller.tenant(), run))))
            .map(ReadEvent.Thing::ofRun)
            .toList(),
        what);
  }

  /**
   * A content is read by its digest alone, which the caller may name.
   *
   * @throws WritException {@code GWY-140}
   */
  void content(Caller caller, Digest content) {
    if (!kernel.access().holds(caller.tenant(), caller.subject(), content)) {
      record(caller, List.of(ReadEvent.Thing.of(content)), ReadClass.OUTPUTS);
    }
  }

  /**
   * What effects were given is judged or summed up for the caller; it is stated of each run that
   * has one of others.
   *
   * @throws WritException {@code GWY-140}
   */
  public void parameters(Caller caller, List<Scope> scopes) {
    List<ReadEvent.Thing> runs =
        scopes.stream()
            .filter(scope -> !isOwn(caller, scope.subject()))
            .map(Scope::run)
            .distinct()
            .map(ReadEvent.Thing::ofRun)
            .toList();
    for (int i = 0; i < runs.size(); i += AT_ONCE) {
      record(caller, runs.subList(i, Math.min(i + AT_ONCE, runs.size())), ReadClass.PARAMETERS);
    }
  }

  /**
   * A policy is read. It is nobody's own.
   *
   * @throws WritException {@code GWY-140}
   */
  public void policy(Caller caller, Digest policy) {
    record(caller, List.of(ReadEvent.Thing.of(policy)), ReadClass.POLICY);
  }

  /**
   * What waits for approval is read, with its parameters.
   *
   * @throws WritException {@code GWY-140}
   */
  void waiting(Caller caller, List<WaitingView> waiting) {
    record(
        caller,
        waiting.stream()
            .filter(view -> !isOwn(caller, view.request().scope().subject()))
            .map(view -> ReadEvent.Thing.of(view.request().scope().run(), view.id()))
            .toList(),
        ReadClass.PARAMETERS);
  }

  private static boolean isOwn(Caller caller, String subject) {
    return subject.equals(caller.subject());
  }

  private String owner(RunId run) {
    return Runs.firstSubject(kernel.ledger(), run);
  }

  private void record(Caller caller, List<ReadEvent.Thing> things, ReadClass... what) {
    if (things.isEmpty() || !isPerson(caller)) {
      return;
    }
    try {
      kernel.recordRead(
          new ReadLog.Look(
              caller.credential(),
              new ReadEvent.Person(caller.tenant(), caller.subject(), caller.method()),
              things,
              List.of(what)));
    } catch (WritException e) {
      throw new WritException(GatewayError.READ_NOT_RECORDED, e.code().code(), e);
    }
  }

  /**
   * Whether a credential is one of people: of a session, a client certificate, or of somebody whom
   * policy names as a person or an approver, whatever it is narrowed to.
   */
  private boolean isPerson(Caller caller) {
    Policy policy = kernel.system().policyInForce();
    return caller.method().equals(Sessions.METHOD)
        || caller.method().equals(Certificates.METHOD)
        || !policy.looksAs(caller.tenant(), caller.subject()).isEmpty()
        || !policy.approverRoles(caller.tenant(), caller.subject()).isEmpty();
  }
}
