package dev.writ.console.policy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.v1.Reader;
import dev.writ.gateway.view.EffectPage;
import dev.writ.gateway.view.EffectQuery;
import dev.writ.gateway.view.EffectView;
import dev.writ.gateway.view.Effects;
import dev.writ.gateway.view.Sight;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.engine.PolicyCounterfactual;
import dev.writ.replay.engine.PolicyCounterfactual.Answer;
import dev.writ.replay.engine.PolicyCounterfactual.Judged;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The latest decisions under another policy. Only those of which the caller sees the contents are
 * judged: an expression tells of parameters by which verdict it gives.
 */
final class PolicyWhatIf {
  /** Pages of the list that are searched for decisions. */
  private static final int PAGES_MAX = 5;

  private final LedgerView ledger;
  private final Function<ToolRef, Optional<ToolManifest>> manifests;

  PolicyWhatIf(LedgerView ledger, Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.ledger = ledger;
    this.manifests = manifests;
  }

  /**
   * @param last how many decisions
   * @param read is told before of which effects the contents are judged
   * @throws WritException {@code GWY-117}
   */
  JsonValue.Obj of(Policy policy, int last, Sight sight, Consumer<List<Scope>> read) {
    Effects.Contents found =
        new Effects(ledger)
            .contents(EffectQuery.newest(EffectQuery.LIMIT_MAX), sight, last, PAGES_MAX);
    TreeMap<Digest, EffectView> rows = new TreeMap<>();
    found.rows().forEach(row -> rows.put(row.request(), row));
    read.accept(rows.values().stream().map(EffectView::scope).toList());
    LinkedHashSet<RunId> runs = new LinkedHashSet<>();
    TreeSet<Digest> decisions = new TreeSet<>();
    rows.values()
        .forEach(row -> {
          runs.add(new RunId(row.scope().tenant(), row.scope().run()));
          decisions.add(row.decision());
        });
    List<Judged> judged =
        PolicyCounterfactual.judge(new LedgerDecisions(ledger, manifests, runs, decisions), policy);
    return JsonValue.object()
        .put("judged", judged.size())
        .put("unknown", judged.stream().filter(j -> j.answer() == Answer.UNKNOWN).count())
        .put("all", JsonValue.of(found.complete()))
        .putList(
            "changes",
            judged.reversed().stream().filter(Judged::changes).toList(),
            change -> change(change, rows.get(change.request())).build())
        .build();
  }

  /**
   * One decision under another policy, whether it would be another or not.
   *
   * @param read is told before of which effect the contents are judged
   * @throws WritException {@code GWY-040} for a request whose contents the caller does not see,
   *     {@code GWY-117}
   */
  JsonValue.Obj one(Policy policy, Digest request, Sight sight, Consumer<List<Scope>> read) {
    EffectView row =
        new Effects(ledger)
            .find(request, sight)
            .map(EffectPage.Shown::row)
            .filter(found -> sight.contents(found.scope()))
            .orElseThrow(() -> Reader.unknown(request));
    read.accept(List.of(row.scope()));
    RunId run = new RunId(row.scope().tenant(), row.scope().run());
    Judged judged =
        PolicyCounterfactual.judge(
                new LedgerDecisions(ledger, manifests, List.of(run), Set.of(row.decision())),
                policy)
            .getFirst();
    return change(judged, row)
        .put("changes", JsonValue.of(judged.changes()))
        .putIfPresent("explanation", judged.explained(), PolicyWhatIf::explanation)
        .put(
            "policy",
            JsonValue.object()
                .put("name", policy.name())
                .put("version", policy.version())
                .put("digest", policy.digest())
                .build())
        .build();
  }

  /** As the story of an effect has it: without the decision, which nobody signed. */
  private static JsonValue explanation(JsonValue.Obj explained) {
    ObjectBuilder json = JsonValue.object();
    explained
        .members()
        .forEach((name, value) -> {
          if (!name.equals("decision")) {
            json.put(name, value);
          }
        });
    return json.put("checks", ((JsonValue.Obj) explained.get("decision")).get("checks")).build();
  }

  private static ObjectBuilder change(Judged change, EffectView row) {
    return JsonValue.object()
        .put("request", change.request())
        .put("run", row.scope().run())
        .put("subject", row.scope().subject())
        .put("tool", row.tool())
        .put("operation", row.operation())
        .put("decided_at", row.decidedAt())
        .put("before", change.recorded().name())
        .putIfPresent("before_code", change.recordedCode(), JsonValue::of)
        .put("after", change.answer().name())
        .putIfPresent("code", change.code(), JsonValue::of)
        .putIfPresent("check", change.check(), JsonValue::of)
        .put("why", change.why());
  }
}
