package dev.writ.console.tool;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.view.EffectQuery;
import dev.writ.gateway.view.EffectView;
import dev.writ.gateway.view.Effects;
import dev.writ.gateway.view.Sight;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.LedgerView;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What two versions of a tool gave for the same call: same operation, parameters and inputs. It is
 * read from the record; nothing is executed for it (spec/tool-desk.md).
 */
final class SameCalls {
  /** Pages of the list of effects that are searched. */
  private static final int PAGES_MAX = 5;

  private static final int DIFFERENT_MAX = 20;

  private final LedgerView ledger;

  SameCalls(LedgerView ledger) {
    this.ledger = ledger;
  }

  /** What a call came to. */
  private record Came(Digest request, String operation, Receipt receipt) {
    boolean isSameAs(Came other) {
      return receipt.status() == other.receipt.status() && output().equals(other.output());
    }

    private Optional<Digest> output() {
      return receipt.output().map(Content::digest);
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("request", request)
          .put("status", receipt.status().text())
          .putIfPresent("output", output(), digest -> JsonValue.of(digest.toString()))
          .build();
    }
  }

  /**
   * The latest of each call under each version, as far as the caller sees contents.
   *
   * @param read is told before of which effects the contents are compared
   */
  JsonValue.Obj between(
      String tool, String from, String to, Sight sight, Consumer<List<Scope>> read) {
    Effects.Contents found =
        new Effects(ledger)
            .contents(
                EffectQuery.newest(EffectQuery.LIMIT_MAX).ofTool(tool),
                sight,
                Integer.MAX_VALUE,
                PAGES_MAX);
    List<EffectView> rows =
        found.rows().stream()
            .filter(row -> row.receipt().isPresent())
            .filter(row -> row.version().equals(from) || row.version().equals(to))
            .toList();
    read.accept(rows.stream().map(EffectView::scope).toList());
    TreeMap<Digest, Came> before = calls(rows, from);
    TreeMap<Digest, Came> after = calls(rows, to);
    before.keySet().retainAll(after.keySet());
    List<Digest> different =
        before.keySet().stream()
            .filter(call -> !before.get(call).isSameAs(after.get(call)))
            .toList();
    return JsonValue.object()
        .put("compared", before.size())
        .put("same", before.size() - different.size())
        .put("all", JsonValue.of(found.complete()))
        .putList(
            "different",
            different.stream().limit(DIFFERENT_MAX).toList(),
            call ->
                JsonValue.object()
                    .put("operation", before.get(call).operation())
                    .put("before", before.get(call).toJson())
                    .put("after", after.get(call).toJson())
                    .build())
        .build();
  }

  /** Rows are the newest first, so the first of a call counts. */
  private TreeMap<Digest, Came> calls(List<EffectView> rows, String version) {
    TreeMap<Digest, Came> calls = new TreeMap<>();
    rows.stream()
        .filter(row -> row.version().equals(version))
        .forEach(row -> {
          Effect effect =
              Request.read(ledger.document(row.request()).orElseThrow().document()).effect();
          Receipt receipt =
              Receipt.read(ledger.document(row.receipt().orElseThrow()).orElseThrow().document());
          calls.putIfAbsent(call(effect), new Came(row.request(), effect.operation(), receipt));
        });
    return calls;
  }

  private static Digest call(Effect effect) {
    return Jcs.digest(
        JsonValue.object()
            .put("operation", effect.operation())
            .put("params", effect.params())
            .putList(
                "inputs",
                effect.inputs(),
                input ->
                    JsonValue.object()
                        .put("name", input.name())
                        .put("digest", input.digest())
                        .build())
            .build());
  }
}
