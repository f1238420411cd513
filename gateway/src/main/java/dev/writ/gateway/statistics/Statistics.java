package dev.writ.gateway.statistics;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.view.EffectPage;
import dev.writ.gateway.view.EffectQuery;
import dev.writ.gateway.view.EffectView;
import dev.writ.gateway.view.Effects;
import dev.writ.gateway.view.Sight;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Counts the answers of the last day, for each tenant. Its memory is bounded; it is told of each
 * effect, and of those before its time it reads the newest from the log when it is first asked.
 * Thread safe.
 */
public final class Statistics {
  /** Rows from before the start, which take about a second. */
  private static final int ROWS_MAX = 5_000;

  private static final Duration DAY = Duration.ofDays(1);

  private final Kernel kernel;
  private final long begunAt;
  private final Instant begun;
  private final Rings rings;
  private boolean filled;

  public Statistics(Kernel kernel) {
    this.kernel = kernel;
    this.begunAt = kernel.ledger().treeSize();
    this.begun = kernel.ledger().highWater();
    this.rings = new Rings(begun);
  }

  /** A request was answered. */
  public void answered(Request request, Answer answer) {
    Optional<Served> served = answer.served();
    if (served.isPresent() && !served.get().repeated()) {
      Receipt receipt = served.get().receipt();
      add(
          request,
          receipt.finishedAt(),
          receipt.status() == Status.SUCCEEDED ? Happened.Kind.SUCCEEDED : Happened.Kind.FAILED,
          OptionalLong.of(Duration.between(receipt.startedAt(), receipt.finishedAt()).toMillis()),
          cost(request.effect()),
          receipt.status() == Status.SUCCEEDED ? Optional.empty() : receipt.code());
    } else if (served.isEmpty() && !answer.isKnown()) {
      Verdict verdict = answer.decision().verdict();
      if (verdict != Verdict.ALLOW) {
        add(
            request,
            answer.decision().decidedAt(),
            verdict == Verdict.DENY ? Happened.Kind.DENIED : Happened.Kind.WAITING,
            OptionalLong.empty(),
            0,
            verdict == Verdict.DENY ? answer.decision().code() : Optional.empty());
      }
    }
  }

  /** The kernel refused to judge or to execute it. */
  public void refused(Request request, ErrorCode code) {
    add(request, now(), Happened.Kind.REFUSED, OptionalLong.empty(), 0, Optional.of(code.code()));
  }

  private void add(
      Request request,
      Instant at,
      Happened.Kind kind,
      OptionalLong durationMs,
      long cost,
      Optional<String> code) {
    rings.add(
        new Happened(
            request.scope().tenant(),
            request.scope().subject(),
            tool(request.effect().tool(), request.effect().version()),
            at,
            kind,
            durationMs,
            cost,
            code));
  }

  private Policy policy() {
    return kernel.system().policyInForce();
  }

  private Happened.Tool tool(String name, String version) {
    return policy().tool(name, version).isPresent()
        ? new Happened.Tool(name, version)
        : Happened.Tool.OTHER;
  }

  private long cost(Effect effect) {
    return policy().price(effect.tool(), effect.operation()).orElse(0L);
  }

  /** The ledger's time where the clock does not fit it. */
  private Instant now() {
    try {
      return kernel.look();
    } catch (WritException e) {
      return kernel.ledger().highWater();
    }
  }

  /**
   * A tenant's, as JSON.
   *
   * @param step in minutes
   */
  public JsonValue.Obj table(String tenant, int step, int steps) {
    fill();
    return rings.table(tenant, now(), step, steps).toJson();
  }

  /** The versions of one tool in a tenant's last day, the most used first, as JSON. */
  public JsonValue.Obj ofTool(String tenant, String tool) {
    fill();
    StatisticsTable day = rings.table(tenant, now(), Ring.SPAN, Ring.MINUTES / Ring.SPAN);
    return JsonValue.object()
        .put("named_from", day.namedFrom())
        .putList(
            "versions",
            day.tools().stream().filter(entry -> entry.getKey().name().equals(tool)).toList(),
            entry ->
                entry
                    .getValue()
                    .addTo(JsonValue.object().put("version", entry.getKey().version()))
                    .build())
        .build();
  }

  /**
   * Counts what the log has from before the start, the newest first, as far as that is bearable.
   */
  private void fill() {
    synchronized (this) {
      if (filled) {
        return;
      }
      filled = true;
    }
    Instant from = now().minus(DAY);
    Effects effects = new Effects(kernel.ledger());
    EffectQuery query = EffectQuery.newest(EffectQuery.LIMIT_MAX).before(begunAt);
    Instant reached = from;
    for (int rows = 0; ; ) {
      EffectPage page = effects.page(query, Sight.ALL);
      for (EffectPage.Shown shown : page.effects()) {
        before(shown.row());
      }
      rows += page.effects().size();
      Optional<Instant> oldest = page.searched().fromAt();
      if (page.complete() || oldest.filter(at -> at.isBefore(from)).isPresent()) {
        break;
      }
      if (rows >= ROWS_MAX) {
        reached = oldest.orElse(begun);
        break;
      }
      query = query.before(page.nextBefore().orElseThrow());
    }
    rings.reachBackTo(reached);
  }

  /** What ended behind the start was counted when it did. */
  private void before(EffectView row) {
    Instant at = row.finishedAt().orElse(row.decidedAt());
    if (at.isAfter(begun)) {
      return;
    }
    Optional<Happened.Kind> kind =
        switch (row.state()) {
          case DONE, IN_DOUBT ->
              Optional.of(
                  row.outcome().filter(s -> s == Status.SUCCEEDED).isPresent()
                      ? Happened.Kind.SUCCEEDED
                      : Happened.Kind.FAILED);
          case DENIED -> Optional.of(Happened.Kind.DENIED);
          case WAITING -> Optional.of(Happened.Kind.WAITING);
          case REFUSED -> Optional.of(Happened.Kind.REFUSED);
          case JUDGED, EXECUTING -> Optional.empty();
        };
    kind.ifPresent(k ->
        rings.add(
            new Happened(
                row.scope().tenant(),
                row.scope().subject(),
                tool(row.tool(), row.version()),
                at,
                k,
                row.durationMs().map(OptionalLong::of).orElse(OptionalLong.empty()),
                k == Happened.Kind.SUCCEEDED || k == Happened.Kind.FAILED
                    ? row.cost().orElse(0L)
                    : 0,
                k == Happened.Kind.SUCCEEDED || k == Happened.Kind.WAITING
                    ? Optional.empty()
                    : row.code())));
  }
}
