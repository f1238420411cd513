package dev.writ.gateway.v1;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.ReadAccess;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.view.Sight;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.PolicyPerson;
import dev.writ.ledger.LedgerView;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What a caller may read (protocol rules 3 and 4): documents of its own subject, those of runs that
 * policy shares with it, or all of its tenant if policy names its role in {@code execute_for}.
 * Unauthorized and unknown ids get the same refusal.
 */
public final class Reader {
  private final Kernel kernel;
  private final ReadRecords records;

  public Reader(Kernel kernel) {
    this.kernel = kernel;
    this.records = new ReadRecords(kernel);
  }

  /** Has the log state what people read. */
  public ReadRecords records() {
    return records;
  }

  /** Whether this is the refusal that unknown and unauthorized ids both get. */
  public static boolean isUnknown(WritException e) {
    return e.code() == GatewayError.UNKNOWN_ID || e.code() == ExecutorError.UNKNOWN_ID;
  }

  /** The refusal that unknown and unauthorized ids both get. */
  public static WritException unknown(Object id) {
    return new WritException(GatewayError.UNKNOWN_ID, String.valueOf(id));
  }

  /**
   * A document that carries a scope.
   *
   * @throws WritException {@code GWY-040}, for unknown and unauthorized ids alike
   */
  public Envelope document(Caller caller, Digest id, String type) {
    return find(id, type).filter(e -> maySee(caller, e)).orElseThrow(() -> unknown(id));
  }

  private Optional<Envelope> find(Digest id, String type) {
    return kernel.ledger().document(id).filter(e -> e.payloadType().equals(type));
  }

  private boolean maySee(Caller caller, Envelope envelope) {
    return envelope.document() instanceof JsonValue.Obj document
        && document.get("tenant") instanceof JsonValue.Str tenant
        && document.get("run") instanceof JsonValue.Str run
        && document.get("subject") instanceof JsonValue.Str subject
        && maySee(caller, new Scope(tenant.value(), run.value(), subject.value()));
  }

  /** Whether a caller may read documents of that scope, by the policy in force. */
  public boolean maySee(Caller caller, Scope scope) {
    return kernel.access().mayRead(who(caller), scope) || audits(caller, scope);
  }

  /** What a caller may see of effects; for one thread. */
  public Sight sight(Caller caller) {
    return new CallerSight(this, caller);
  }

  /** Whether a caller may read that run, by the policy in force. */
  boolean maySee(Caller caller, String run) {
    return kernel.access().mayRead(who(caller), run)
        || looks(caller, PolicyPerson.Look::seesContents);
  }

  private boolean audits(Caller caller, Scope scope) {
    return scope.tenant().equals(caller.tenant()) && looks(caller, PolicyPerson.Look::seesContents);
  }

  private boolean looks(Caller caller, Predicate<PolicyPerson.Look> at) {
    return caller.looksAs(kernel.system().policyInForce()).stream().anyMatch(at);
  }

  /** Whether a caller may see the rows of such effects: who, which tool, how it ended. */
  boolean seesRows(Caller caller, Scope scope) {
    return maySee(caller, scope)
        || scope.tenant().equals(caller.tenant()) && looks(caller, PolicyPerson.Look::seesRows);
  }

  /** Whether a caller may see the rows of a run's effects, and its counts. */
  boolean seesRows(Caller caller, String run) {
    return maySee(caller, run) || looks(caller, PolicyPerson.Look::seesRows);
  }

  /** Whether a caller may see the rows of all effects of its tenant. */
  public boolean seesAllRows(Caller caller) {
    return seesTenant(caller) || looks(caller, PolicyPerson.Look::seesRows);
  }

  /** Whether a caller may see what all effects of its tenant were given and gave. */
  public boolean seesAllContents(Caller caller) {
    return seesTenant(caller) || looks(caller, PolicyPerson.Look::seesContents);
  }

  /** Whether a caller may see what such effects were given and gave. */
  boolean seesContents(Caller caller, Scope scope) {
    return maySee(caller, scope);
  }

  /** Whether a caller's subject uploaded that content, or a run that it may read produced it. */
  public boolean mayName(Caller caller, Digest content) {
    return kernel.access().mayName(who(caller), content);
  }

  private ReadAccess.Who who(Caller caller) {
    return caller.who(kernel.system().policyInForce());
  }

  /** Whether policy lets the caller read for everybody in its tenant. */
  boolean seesTenant(Caller caller) {
    return caller.seesTenant(kernel.system().policyInForce());
  }

  /** Whether policy lets the caller approve in its tenant. */
  boolean approves(Caller caller) {
    return caller.approves(kernel.system().policyInForce());
  }

  /**
   * The payload of a request or its decision, for an approver. The envelope is not handed out: with
   * its signature the approver could submit the request.
   */
  Optional<Envelope> waiting(Caller caller, Digest id, String type) {
    return approves(caller)
        ? find(id, type).filter(e -> ofTenant(caller, e)).filter(this::waits)
        : Optional.empty();
  }

  private static boolean ofTenant(Caller caller, Envelope envelope) {
    return envelope.document() instanceof JsonValue.Obj scope
        && JsonValue.of(caller.tenant()).equals(scope.get("tenant"));
  }

  private boolean waits(Envelope envelope) {
    Digest request =
        envelope.payloadType().equals(Request.TYPE)
            ? envelope.id()
            : envelope.document() instanceof JsonValue.Obj decision
                    && decision.get("request") instanceof JsonValue.Str text
                ? Digest.parse(text.value())
                : envelope.id();
    return row(request).filter(r -> r.state() == RequestRow.State.PENDING).isPresent();
  }

  /**
   * Whether an approver may look at an input of a request that waits: the request's own party may
   * name that content. Its author could write any digest there.
   */
  boolean waitsWith(Caller caller, Digest request, Digest input) {
    return waiting(caller, request, Request.TYPE)
        .flatMap(envelope ->
            row(request).map(row -> mayName(Request.read(envelope.document()), row, input)))
        .orElse(false);
  }

  private boolean mayName(Request request, RequestRow row, Digest content) {
    Envelope decision = kernel.ledger().document(row.decision()).orElseThrow();
    List<String> charged = JudgeInputs.read(Decision.read(decision.document()).inputs()).charged();
    return kernel.access().mayName(request, charged, content);
  }

  Optional<RequestRow> row(Digest request) {
    return kernel.ledger().get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
  }

  /**
   * A run that the caller opened, that a surface opened for it, or that policy shares with it.
   *
   * @throws WritException {@code GWY-040}
   */
  public RunState run(Caller caller, String run) {
    LedgerView ledger = kernel.ledger();
    return ledger
        .get(Tables.RUN, Tables.key(caller.tenant(), run))
        .map(RunState::parse)
        .filter(_ -> maySee(caller, run))
        .orElseThrow(() -> unknown(run));
  }

  Kernel kernel() {
    return kernel;
  }
}
