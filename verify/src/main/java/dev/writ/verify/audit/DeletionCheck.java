package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.DELETION;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.Deletions;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.RetentionRule;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.Documents.Read;
import dev.writ.verify.error.AuditError;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Checks statements of deletion (spec/retention.md): signed by an executor, by a rule of the policy
 * in force at their place, or by an operator's order before it, of contents that earlier events
 * name, old enough or covered by the order, and needed by nothing. Whether a rule with {@code
 * bytes_max} had as many bytes is not recomputed.
 */
final class DeletionCheck {
  private final Documents documents;
  private final Findings findings;
  private final SystemStateHistory standing;
  private final RunWalk runs;
  private final RunAudit.EventsBefore events;

  /** By run; one for each that is archived. */
  private final TreeMap<RunId, Digest> bundles = new TreeMap<>();

  DeletionCheck(
      Documents documents,
      SystemStateHistory standing,
      RunWalk runs,
      RunAudit.EventsBefore events) {
    this.documents = documents;
    this.findings = documents.findings();
    this.standing = standing;
    this.runs = runs;
    this.events = events;
  }

  /**
   * What names a content.
   *
   * @param size as it is signed; absent for observations
   * @param isNeeded whether something needs it at the time of the statement, beside an effect
   *     without a known end
   */
  private record Named(
      Scope scope, String tool, Digest request, OptionalLong size, boolean isNeeded) {}

  /** An event of the run of deletions; returns the statement if it can be read. */
  Optional<Deletion> event(Event event) {
    String place = Findings.place(event);
    findings.seed(AuditError.BINDING, event, false);
    if (!event.runId().equals(Deletion.RUN) || !event.kind().equals(EventKind.CONTENT_DELETED)) {
      findings.problem(
          AuditError.ORDER, place, event.kind(), EventKind.CONTENT_DELETED + " in " + Deletion.RUN);
      return Optional.empty();
    }
    Optional<Read<Deletion>> read =
        documents.read(event.body(), Deletion.TYPE, Deletion::read, place);
    if (read.isEmpty()) {
      return Optional.empty();
    }
    Deletion deletion = read.get().document();
    standing.verify(read.get().envelope(), Deletion.TYPE, event.at(), place);
    findings.same(AuditError.BINDING, place + " /deleted_at", deletion.deletedAt(), event.at());
    Optional<Policy> policy = standing.policyHere();
    if (!isInForce(deletion, event, policy, place)) {
      return Optional.of(deletion);
    }
    if (standing.isHeld(deletion.of())) {
      findings.problem(DELETION, place, deletion.of(), "no run that a hold covers");
    }
    for (int i = 0; i < deletion.contents().size(); i++) {
      item(event, deletion, policy.get(), deletion.contents().get(i), place + " /contents/" + i);
    }
    if (deletion.reason() instanceof Deletion.Rule) {
      findings.deleted += deletion.contents().size();
    }
    return Optional.of(deletion);
  }

  /** Whether what it names as its reason is there, at its place. */
  private boolean isInForce(Deletion deletion, Event event, Optional<Policy> policy, String place) {
    return switch (deletion.reason()) {
      case Deletion.Rule rule -> isInForce(rule.policy(), policy, place);
      case Deletion.Archived archived ->
          isInForce(archived.policy(), policy, place)
              && mayBeArchived(deletion.of(), archived.bundle(), event, policy.get(), place);
      case Deletion.Order order -> {
        boolean given = policy.isPresent() && standing.erasure(order.id()).isPresent();
        if (!given) {
          findings.problem(
              DELETION, place + " /order", order.id(), "an order that was given before");
        }
        yield given;
      }
    };
  }

  private boolean isInForce(Digest named, Optional<Policy> policy, String place) {
    boolean inForce = policy.filter(p -> p.digest().equals(named)).isPresent();
    if (!inForce) {
      findings.problem(
          AuditError.SYSTEM,
          place + " /policy",
          named,
          policy.map(p -> p.digest().toString()).orElse("none in force"));
    }
    return inForce;
  }

  /** A closed run, as long after its closing as policy says, and into one bundle alone. */
  private boolean mayBeArchived(
      RunId run, Digest bundle, Event event, Policy policy, String place) {
    Optional<Long> after = policy.retention().archiveAfterS();
    if (after.isEmpty()) {
      findings.problem(
          DELETION, place + " /policy", policy.digest(), "a policy that lets runs be archived");
      return false;
    }
    Optional<Event> closing = events.closing(run);
    if (closing.isEmpty()) {
      findings.problem(DELETION, place, run + " is open", "a run that is closed");
      return false;
    }
    Instant earliest = closing.get().at().plusSeconds(after.get());
    if (event.at().isBefore(earliest)) {
      findings.problem(DELETION, place + " /deleted_at", event.at(), "not before " + earliest);
      return false;
    }
    Digest first = bundles.computeIfAbsent(run, _ -> bundle);
    findings.same(DELETION, place + " /bundle", bundle, first);
    return bundle.equals(first);
  }

  private void item(
      Event event, Deletion deletion, Policy policy, Deletion.Item item, String place) {
    Optional<Event> naming = events.event(deletion.of(), item.seq());
    Optional<Named> named = naming.flatMap(e -> named(e, item, event.at(), policy, place));
    if (named.isEmpty()) {
      findings.problem(
          DELETION,
          place,
          item.content().text() + " " + item.digest() + " of event " + item.seq(),
          "a content that this event names so");
      return;
    }
    Named found = named.get();
    found.size().ifPresent(size -> findings.same(DELETION, place + " /size", item.size(), size));
    if (found.isNeeded() || runs.isUnfinished(deletion.of(), found.request())) {
      findings.problem(
          DELETION,
          place,
          item.digest(),
          "nothing that an effect needs which may still be executed or has no known end");
    }
    switch (deletion.reason()) {
      case Deletion.Rule rule ->
          byRule(event, deletion, policy, item, found, naming.get(), rule.name(), place);
      case Deletion.Order order -> {
        byOrder(standing.erasure(order.id()).orElseThrow(), found, naming.get(), place);
        findings.erased(order.id(), event.at());
      }
      case Deletion.Archived archived -> findings.archived(archived.bundle());
    }
  }

  private void byOrder(
      SystemStateHistory.Erasure erasure, Named found, Event naming, String place) {
    if (!erasure.order().covers(found.scope())) {
      findings.problem(
          DELETION,
          place,
          "subject " + found.scope().subject() + ", run " + found.scope().run(),
          erasure.order().toString());
    }
    if (naming.at().isAfter(erasure.latest())) {
      findings.problem(
          DELETION, place, "named at " + naming.at(), "before the order, by " + erasure.latest());
    }
  }

  private void byRule(
      Event event,
      Deletion deletion,
      Policy policy,
      Deletion.Item item,
      Named found,
      Event naming,
      String name,
      String place) {
    Optional<RetentionRule> rule =
        policy
            .retention()
            .rule(item.content(), deletion.of().tenant(), found.scope().subject(), found.tool());
    findings.same(
        DELETION,
        place + " /rule",
        name,
        rule.map(RetentionRule::name).orElse("no rule: it is kept"));
    rule.filter(r -> !r.isOver(naming.at(), event.at()))
        .ifPresent(r ->
            findings.problem(
                DELETION,
                place + " /deleted_at",
                event.at(),
                "not before " + naming.at().plusSeconds(r.keepS())));
    if (rule.flatMap(RetentionRule::bytesMax).isPresent()) {
      findings.deletedBySize++;
    }
  }

  private Optional<Named> named(
      Event event, Deletion.Item item, Instant at, Policy policy, String place) {
    return switch (item.content()) {
      case INPUTS -> input(event, item, at, policy, place);
      case OBSERVATIONS -> observations(event, item, place);
      case OUTPUTS, ARTIFACTS -> output(event, item, place);
    };
  }

  /** Of an effect that was dispatched, or of a request that never was. */
  private Optional<Named> input(
      Event event, Deletion.Item item, Instant at, Policy policy, String place) {
    return switch (event.kind()) {
      case EventKind.EFFECT_DISPATCHED ->
          documents
              .read(event.body(), Intent.TYPE, Intent::read, place)
              .flatMap(intent -> input(intent.document().request(), item, false, place));
      case EventKind.REQUEST_RECEIVED ->
          runs.wasDispatched(event.runId(), event.body())
              ? Optional.empty()
              : input(
                  event.body(),
                  item,
                  runs.isWaiting(event.runId(), event.body())
                      && !Deletions.executableUntil(event.at(), policy).isBefore(at),
                  place);
      default -> Optional.empty();
    };
  }

  private Optional<Named> input(Digest id, Deletion.Item item, boolean isNeeded, String place) {
    return documents
        .read(id, Request.TYPE, Request::read, place)
        .flatMap(request ->
            request.document().effect().inputs().stream()
                .filter(input -> input.digest().equals(item.digest()))
                .findFirst()
                .map(input ->
                    new Named(
                        request.document().scope(),
                        request.document().effect().tool(),
                        request.id(),
                        OptionalLong.of(input.size()),
                        isNeeded)));
  }

  private Optional<Receipt> receipt(Event event, String place) {
    return event.kind().equals(EventKind.RECEIPT_SIGNED)
        ? documents.read(event.body(), Receipt.TYPE, Receipt::read, place).map(Read::document)
        : Optional.empty();
  }

  /** The receipt of observations is in the next event. */
  private Optional<Named> observations(Event event, Deletion.Item item, String place) {
    if (!event.kind().equals(EventKind.EFFECT_FINISHED) || !event.body().equals(item.digest())) {
      return Optional.empty();
    }
    return events
        .event(event.runId(), event.seq() + 1)
        .flatMap(next -> receipt(next, place))
        .map(receipt -> named(receipt, OptionalLong.empty(), false));
  }

  private Optional<Named> output(Event event, Deletion.Item item, String place) {
    return receipt(event, place)
        .flatMap(receipt -> {
          Stream<Content> contents =
              switch (item.content()) {
                case ARTIFACTS -> receipt.artifacts().stream().map(Receipt.Artifact::content);
                default -> Stream.concat(receipt.output().stream(), receipt.rawOutput().stream());
              };
          boolean isNeeded = !receipt.retained() || receipt.status() == Status.IN_DOUBT;
          return contents
              .filter(content -> content.digest().equals(item.digest()))
              .findFirst()
              .map(content -> named(receipt, OptionalLong.of(content.size()), isNeeded));
        });
  }

  private static Named named(Receipt receipt, OptionalLong size, boolean isNeeded) {
    return new Named(receipt.scope(), receipt.tool().name(), receipt.request(), size, isNeeded);
  }
}
