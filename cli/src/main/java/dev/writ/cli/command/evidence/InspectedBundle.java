package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Report;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleManifest;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.error.BundleError;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a bundle says of itself, read event by event; none of it is verified. */
final class InspectedBundle implements Report {
  /** Names that are kept of each sort; uses of further ones count as {@link #OTHERS}. */
  private static final int NAMES_MAX = 1_000;

  private static final String OTHERS = "others";

  private final BundleManifest manifest;
  private final Checkpoint checkpoint;
  private final List<TrustedKey> keys;
  private final TreeMap<String, Long> verdicts = new TreeMap<>();
  private final TreeMap<String, Long> statuses = new TreeMap<>();
  private final TreeMap<String, Long> tools = new TreeMap<>();
  private final TreeMap<String, Long> subjects = new TreeMap<>();
  private final TreeMap<String, Long> policies = new TreeMap<>();
  private final TreeMap<String, Long> entries = new TreeMap<>();
  private final TreeMap<String, Long> bytes = new TreeMap<>();
  private Optional<Instant> from = Optional.empty();
  private Optional<Instant> to = Optional.empty();
  private Optional<Digest> first = Optional.empty();
  private Optional<Digest> last = Optional.empty();
  private long events;

  /** A line for people. */
  record Line(String label, String value) {}

  private InspectedBundle(Bundle bundle) {
    this.manifest = bundle.manifest();
    this.checkpoint = bundle.checkpoint();
    this.keys = List.copyOf(Trust.parse(bundle.trust()).keys().values());
  }

  /**
   * @throws WritException the bundle's codes, where what is read is missing or malformed
   */
  static InspectedBundle read(Bundle bundle) {
    InspectedBundle seen = new InspectedBundle(bundle);
    for (int entry = 0; entry < bundle.entries(); entry++) {
      String folder = bundle.entryName(entry).replaceFirst("/.*", "");
      count(seen.entries, folder, 1);
      count(seen.bytes, folder, bundle.entrySize(entry));
    }
    bundle.events((journal, _, event) -> {
      if (journal == RecordedRun.Journal.RUN) {
        seen.event(bundle, event);
      }
    });
    return seen;
  }

  private void event(Bundle bundle, Event event) {
    events++;
    from = from.or(() -> Optional.of(event.at()));
    to = Optional.of(event.at());
    switch (event.kind()) {
      case EventKind.REQUEST_RECEIVED -> {
        Request request = Request.read(document(bundle, event, Request.TYPE));
        count(subjects, request.scope().subject(), 1);
        count(tools, request.effect().tool() + " " + request.effect().version(), 1);
      }
      case EventKind.DECISION_MADE -> {
        Decision decision = Decision.read(document(bundle, event, Decision.TYPE));
        count(verdicts, decision.verdict().name(), 1);
        count(policies, decision.policy().toString(), 1);
      }
      case EventKind.RECEIPT_SIGNED -> {
        count(statuses, Receipt.read(document(bundle, event, Receipt.TYPE)).status().text(), 1);
        first = first.or(() -> Optional.of(event.body()));
        last = Optional.of(event.body());
      }
      default -> {
        // Counted as an event alone.
      }
    }
  }

  private static JsonValue document(Bundle bundle, Event event, String type) {
    Envelope found =
        bundle
            .document(event.body())
            .orElseThrow(() ->
                new WritException(BundleError.ENTRY_MISSING, "documents/" + event.body().hex()));
    if (!found.payloadType().equals(type)) {
      throw new WritException(
          BundleError.EVENT_FORM, "event " + event.seq() + " names a " + found.payloadType());
    }
    return found.document();
  }

  private static void count(TreeMap<String, Long> counts, String name, long by) {
    boolean kept = counts.containsKey(name) || counts.size() < NAMES_MAX;
    counts.merge(kept ? name : OTHERS, by, Long::sum);
  }

  @Override
  public JsonValue toJson() {
    ObjectBuilder json =
        JsonValue.object()
            .put("verified", JsonValue.of(false))
            .put("bundle", manifest.toJson())
            .put("events", events)
            .putIfPresent("from", from, at -> JsonValue.of(Timestamps.format(at)))
            .putIfPresent("to", to, at -> JsonValue.of(Timestamps.format(at)))
            .put("decisions", counts(verdicts))
            .put("receipts", counts(statuses))
            .putIfPresent("first_receipt", first, id -> JsonValue.of(id.toString()))
            .putIfPresent("last_receipt", last, id -> JsonValue.of(id.toString()))
            .put("tools", counts(tools))
            .put("subjects", counts(subjects))
            .put("policies", counts(policies))
            .putList("keys", keys, TrustedKey::toJson);
    return json.put(
            "checkpoint",
            JsonValue.object()
                .put("size", checkpoint.size())
                .put("root", checkpoint.root())
                .build())
        .put("entries", counts(entries))
        .put("bytes", counts(bytes))
        .build();
  }

  private static JsonValue.Obj counts(TreeMap<String, Long> counts) {
    ObjectBuilder json = JsonValue.object();
    counts.forEach(json::put);
    return json.build();
  }

  List<Line> lines() {
    List<Line> lines = new ArrayList<>();
    lines.add(new Line("run", manifest.run() + (manifest.closed() ? ", closed" : ", open")));
    lines.add(new Line("log", manifest.origin() + ", incarnation " + manifest.incarnation()));
    from.ifPresent(at ->
        lines.add(
            new Line("period", Timestamps.format(at) + " to " + Timestamps.format(to.get()))));
    lines.add(new Line("events", Long.toString(events)));
    lines.add(new Line("decisions", text(verdicts)));
    lines.add(new Line("receipts", text(statuses)));
    first.ifPresent(id -> lines.add(new Line("first", id.toString())));
    last.ifPresent(id -> lines.add(new Line("last", id.toString())));
    tools.forEach((name, n) -> lines.add(new Line("tool", n + " × " + name)));
    subjects.forEach((name, n) -> lines.add(new Line("subject", n + " × " + name)));
    policies.forEach((name, n) -> lines.add(new Line("policy", n + " × " + name)));
    keys.forEach(key ->
        lines.add(
            new Line("key", key.key().kid() + "  " + key.role().text() + "  " + key.subject())));
    lines.add(new Line("checkpoint", checkpoint.size() + " events, root " + checkpoint.root()));
    for (Map.Entry<String, Long> entry : entries.entrySet()) {
      lines.add(
          new Line(
              "entries",
              entry.getValue()
                  + " in "
                  + entry.getKey()
                  + ", "
                  + bytes.get(entry.getKey())
                  + " bytes"));
    }
    return lines;
  }

  private static String text(TreeMap<String, Long> counts) {
    return counts.isEmpty()
        ? "none"
        : counts.entrySet().stream()
            .map(one -> one.getValue() + " " + one.getKey())
            .collect(Collectors.joining(", "));
  }
}
