package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.RestatedAccounts;
import dev.writ.guardian.RestatedAccounts.Fate;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.guardian.policy.mandate.MandateAccounts;
import dev.writ.ledger.Batch;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The rows of the accounts after a ledger's time was set back. While the clock was ahead, windows
 * ended and rows were deleted too early, so deleted rows are made again from the log.
 */
final class CorrectedAccounts {
  private static final int OBSERVATIONS_BYTES_MAX = 64 << 20;

  /**
   * How long {@link Policy} keeps rows beyond windows, spans and the age of requests, in seconds.
   */
  private static final long SLACK_S = 3600;

  private final LedgerView ledger;
  private final Instant to;
  private final RestatedAccounts restated;
  private final TreeMap<Digest, Policy> policies = new TreeMap<>();
  private final TreeMap<Digest, Accounts.Row> moved = new TreeMap<>();

  /** Decisions on requests whose rows are deleted or moved. */
  private final TreeMap<Digest, List<Judged>> judged = new TreeMap<>();

  private long neededMaxS;

  /**
   * A decision in the log.
   *
   * @param at its time, or the corrected time if time was set back before it since then
   */
  private record Judged(Digest decision, Instant at) {}

  CorrectedAccounts(LedgerView ledger, Instant to) {
    this.ledger = ledger;
    this.to = to;
    this.restated = new RestatedAccounts(to);
  }

  void addTo(Batch batch) {
    move();
    List<Accounts.Row> rows = new ArrayList<>();
    TreeSet<Long> restarts = new TreeSet<>(ledger.timeRestarts());
    ledger.eventsByIndex(
        0, ledger.treeSize(), (index, event) -> event(event, restarts.contains(index)));
    judged.forEach((request, all) -> restated(request, all).ifPresent(rows::add));
    moved.values().stream().filter(row -> !judged.containsKey(request(row))).forEach(rows::add);
    rows.forEach(row -> batch.put(Tables.ACCOUNT, row.key(), row.value().orElseThrow()));
  }

  /** Finds stored rows whose times are in the future. */
  private void move() {
    ledger.scan(
        Tables.ACCOUNT,
        "",
        (key, value) -> {
          Accounts.Row row = new Accounts.Row(key, Optional.of(value));
          Digest request = request(row);
          restated.moved(row, policyOf(request)).ifPresent(at -> moved.put(request, at));
          return true;
        });
  }

  /** Under which a row was made; what arrived from another cell is kept under that in force. */
  private Policy policyOf(Digest request) {
    return ledger
        .get(Tables.REQUEST, Tables.key(request))
        .map(RequestRow::parse)
        .map(row -> policy(decision(row.decision()).policy()))
        .orElseGet(() -> SystemState.read(ledger).policyInForce());
  }

  private static Digest request(Accounts.Row row) {
    return Digest.parse("sha256:" + row.key().substring(Accounts.ROW_PREFIX.length()));
  }

  private void event(Event event, boolean restarts) {
    if (restarts) {
      judged.replaceAll((_, all) ->
          all.stream()
              .map(j -> new Judged(j.decision(), earlier(j.at(), event.at())))
              .collect(Collectors.toCollection(ArrayList::new)));
    }
    if (event.kind().equals(EventKind.POLICY_ACTIVATED)) {
      neededMaxS = Math.max(neededMaxS, neededMaxS(policy(event.body())));
    }
    boolean young = earlier(event.at(), to).plusSeconds(neededMaxS).isAfter(to);
    if (event.kind().equals(EventKind.DECISION_MADE) && young) {
      Digest request = decision(event.body()).request();
      if (moved.containsKey(request)
          || ledger.get(Tables.ACCOUNT, Accounts.ROW_PREFIX + request.hex()).isEmpty()) {
        judged
            .computeIfAbsent(request, _ -> new ArrayList<>())
            .add(new Judged(event.body(), event.at()));
      }
    }
  }

  private static long neededMaxS(Policy policy) {
    long longest = policy.limits().requestAgeMaxS();
    for (Budget budget : policy.budgets().values()) {
      if (!MandateAccounts.isOne(budget.name())) { // whose rows are never deleted
        longest = Math.max(longest, budget.windowS());
      }
    }
    for (Rate rate : policy.rates().values()) {
      longest = Math.max(longest, rate.perS());
    }
    return longest + SLACK_S;
  }

  private Optional<Accounts.Row> restated(Digest id, List<Judged> all) {
    List<RestatedAccounts.Made> decisions =
        all.stream()
            .map(j -> {
              Decision decision = decision(j.decision());
              return new RestatedAccounts.Made(decision, policy(decision.policy()), j.at());
            })
            .toList();
    Request request = Request.read(ledger.document(id).orElseThrow().document());
    if (moved.containsKey(id)) {
      return Optional.of(restated.remembering(moved.get(id), request, decisions));
    }
    Optional<Receipt> receipt = receipt(id);
    return restated.made(
        request,
        decisions,
        fate(id, all.getLast().decision(), receipt),
        receipt.flatMap(Receipt::observations).map(this::cpuMs).orElseGet(OptionalLong::empty));
  }

  private Optional<Receipt> receipt(Digest request) {
    return ledger
        .get(Tables.SERVED, Tables.key(request))
        .map(Digest::ofBytes)
        .flatMap(ledger::document)
        .map(envelope -> Receipt.read(envelope.document()));
  }

  private Fate fate(Digest request, Digest decision, Optional<Receipt> receipt) {
    if (receipt.isPresent()) {
      boolean inDoubt = receipt.get().status() == Status.IN_DOUBT;
      return inDoubt ? Fate.RESERVED : Fate.SETTLED;
    }
    RequestRow row = stands(request);
    boolean stands = row.state() == RequestRow.State.ALLOWED && row.decision().equals(decision);
    return stands ? Fate.RESERVED : Fate.RELEASED;
  }

  private OptionalLong cpuMs(Digest observations) {
    try {
      Fields observed =
          Fields.of(
              "observations",
              Jcs.parseCanonical(
                  ledger.blob(observations, OBSERVATIONS_BYTES_MAX), Limits.DEFAULT));
      return OptionalLong.of(observed.fields("metrics").count("cpu_ms"));
    } catch (WritException e) {
      return OptionalLong.empty(); // what was declared counts
    }
  }

  private RequestRow stands(Digest request) {
    return ledger.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse).orElseThrow();
  }

  private Decision decision(Digest id) {
    return Decision.read(ledger.document(id).orElseThrow().document());
  }

  private Policy policy(Digest id) {
    return policies.computeIfAbsent(
        id, _ -> Policy.ofCanonical(ledger.document(id).orElseThrow().document()));
  }

  private static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }
}
