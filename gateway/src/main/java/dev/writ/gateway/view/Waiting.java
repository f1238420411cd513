package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.profile.Finding;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Reads what waits for approval. Thread safe. */
public final class Waiting {
  /** A page ends once the payloads of its requests add up to this many bytes. */
  private static final long BYTES_MAX = 2 << 20;

  private final LedgerView ledger;
  private final Supplier<SystemState> state;
  private final Function<ToolRef, Optional<ToolManifest>> manifests;

  /**
   * @param state in force
   */
  public Waiting(
      LedgerView ledger,
      Supplier<SystemState> state,
      Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.ledger = ledger;
    this.state = state;
    this.manifests = manifests;
  }

  /**
   * A page, by run and then by request.
   *
   * @param next the cursor of the next page; absent where there is none
   */
  public record Page(List<WaitingView> waiting, Optional<Digest> next) {
    public Page {
      waiting = List.copyOf(waiting);
    }
  }

  /**
   * What waits in a tenant.
   *
   * @param now for whose word still counts
   * @param after the request behind which the page begins, whether it still waits or not
   * @return an empty page where the ledger does not have that request in the tenant
   */
  public Page page(String tenant, Instant now, Optional<Digest> after, int limit) {
    return page(tenant, now, after, limit, _ -> {});
  }

  /**
   * The same.
   *
   * @param weighs gets the payload of each request before it is read; it may refuse
   */
  public Page page(
      String tenant, Instant now, Optional<Digest> after, int limit, Consumer<byte[]> weighs) {
    Optional<String> from = after.flatMap(this::row).map(row -> key(tenant, row, after.get()));
    if (from.isEmpty() && after.isPresent()) {
      return new Page(List.of(), Optional.empty());
    }
    SystemState inForce = state.get();
    List<WaitingView> found = new ArrayList<>();
    boolean[] more = {false};
    long[] bytes = {0};
    ledger.scan(
        Tables.PENDING,
        Tables.prefix(tenant),
        from.orElse(Tables.prefix(tenant)),
        (key, _) -> {
          if (from.filter(key::equals).isPresent()) {
            return true;
          }
          more[0] = found.size() >= limit || bytes[0] >= BYTES_MAX;
          if (!more[0]) {
            Digest id = Digest.parse("sha256:" + Tables.lastPart(key));
            Envelope envelope = ledger.document(id).orElseThrow();
            weighs.accept(envelope.payload());
            view(id, Request.read(envelope.document()), inForce, now)
                .ifPresent(view -> {
                  found.add(view);
                  bytes[0] += envelope.payload().length;
                });
          }
          return !more[0];
        });
    return new Page(found, more[0] ? Optional.of(found.getLast().id()) : Optional.empty());
  }

  /** One request with what an approver has to know of it; empty where it does not wait. */
  public Optional<WaitingView> find(Digest id, Instant now) {
    return row(id)
        .filter(row -> row.state() == RequestRow.State.PENDING)
        .map(row ->
            view(
                id,
                Request.read(ledger.document(id).orElseThrow().document()),
                row,
                state.get(),
                now));
  }

  /** The same as a page, which is empty where it does not wait in that tenant. */
  public Page only(String tenant, Instant now, Digest id, Consumer<byte[]> weighs) {
    List<WaitingView> found =
        row(id)
            .filter(row -> row.run().tenant().equals(tenant))
            .flatMap(_ -> ledger.document(id))
            .flatMap(envelope -> {
              weighs.accept(envelope.payload());
              return find(id, now);
            })
            .stream()
            .toList();
    return new Page(found, Optional.empty());
  }

  private static String key(String tenant, RequestRow row, Digest id) {
    return Tables.key(tenant, row.run().run(), id.hex());
  }

  private Optional<RequestRow> row(Digest id) {
    return ledger.get(Tables.REQUEST, Tables.key(id)).map(RequestRow::parse);
  }

  /** Empty where it was decided just now. */
  private Optional<WaitingView> view(Digest id, Request request, SystemState inForce, Instant now) {
    return row(id)
        .filter(row -> row.state() == RequestRow.State.PENDING)
        .map(row -> view(id, request, row, inForce, now));
  }

  private WaitingView view(
      Digest id, Request request, RequestRow row, SystemState system, Instant now) {
    Policy inForce = system.policyInForce();
    Effect effect = request.effect();
    Decision decision = Decision.read(ledger.document(row.decision()).orElseThrow().document());
    JudgeInputs inputs = JudgeInputs.read(decision.inputs());
    Optional<ToolManifest> manifest =
        inForce.tool(effect.tool(), effect.version()).map(ApprovedTool::ref).flatMap(manifests);
    return new WaitingView(
        id,
        request,
        inputs.charged().stream().filter(s -> !s.equals(request.scope().subject())).toList(),
        inForce,
        row.receivedAt(),
        row.receivedAt().plusSeconds(inForce.limits().pendingMaxS()),
        inForce.price(effect.tool(), effect.operation()),
        WaitingView.network(effect, manifest),
        WaitingView.paths(effect, manifest),
        needed(request, decision, inputs, system, now),
        system.placements().movedTo(request.scope().tenant(), ledger.origin()));
  }

  /** An approval is on one policy: under another one those that came before count no more. */
  private static List<WaitingView.Needed> needed(
      Request request, Decision decision, JudgeInputs inputs, SystemState system, Instant now) {
    Policy inForce = system.policyInForce();
    boolean counts = decision.policy().equals(inForce.digest());
    return Stream.concat(
            byRule(request, inForce),
            inputs.profile().filter(_ -> counts).flatMap(Finding::approvals).stream())
        .distinct()
        .map(wanted ->
            new WaitingView.Needed(
                wanted.role(),
                wanted.count(),
                counts ? approvers(inputs, wanted.role(), system.trust(), now) : List.of()))
        .toList();
  }

  private static Stream<Requirement.Approvals> byRule(Request request, Policy policy) {
    Effect effect = request.effect();
    String tenant = request.scope().tenant();
    String subject = request.scope().subject();
    int number =
        policy.ruleNumber(
            effect.tool(), effect.operation(), tenant, subject, policy.rolesOf(tenant, subject));
    return number < 0 ? Stream.empty() : approvals(policy.rules().get(number).require());
  }

  private static Stream<Requirement.Approvals> approvals(Requirement requirement) {
    return switch (requirement) {
      case Requirement.All all -> all.children().stream().flatMap(Waiting::approvals);
      case Requirement.Any any -> any.children().stream().flatMap(Waiting::approvals);
      case Requirement.None _, Requirement.Cel _, Requirement.Artifact _, Requirement.Mandate _ ->
          Stream.empty();
      case Requirement.Approvals wanted -> Stream.of(wanted);
    };
  }

  /**
   * The last judgement counted them; one whose time is over since, or whose key, counts no more.
   */
  private static List<String> approvers(JudgeInputs inputs, String role, Trust trust, Instant now) {
    return inputs.approvals().stream()
        .filter(seen -> seen.role().equals(role))
        .filter(seen -> seen.verdict() == Approval.Verdict.APPROVE)
        .filter(seen -> seen.expiresAt().isAfter(now))
        .filter(seen ->
            trust
                .key(seen.kid())
                .filter(key -> key.revokedAt().isEmpty() && key.isValidAt(now))
                .isPresent())
        .map(JudgeInputs.SeenApproval::approver)
        .distinct()
        .sorted()
        .toList();
  }
}
