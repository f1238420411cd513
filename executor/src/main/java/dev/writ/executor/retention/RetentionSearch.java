package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.ContentClass;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.RetentionRule;
import dev.writ.ledger.Event;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.RunId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the whole log for contents that rules of a policy cover, and chooses those that may go: old
 * enough wherever they are named, and needed by nothing. Used once.
 */
final class RetentionSearch {
  private static final Pattern DIGEST = Pattern.compile("sha256:([0-9a-f]{64})");

  private final LedgerView ledger;
  private final Policy policy;
  private final Predicate<RunId> isHeld;
  private final Instant now;
  private final TreeMap<Digest, Found> found = new TreeMap<>();
  private final TreeSet<Digest> needed = new TreeSet<>();

  /** A content that is here, and where it is named. */
  private static final class Found {
    final long size;
    final TreeMap<Place, Named> names = new TreeMap<>();

    Found(long size) {
      this.size = size;
    }

    Instant newest() {
      return names.values().stream().map(Named::at).max(Comparator.naturalOrder()).orElseThrow();
    }

    boolean isOf(RetentionRule rule) {
      return names.values().stream().anyMatch(named -> named.rule().equals(rule));
    }
  }

  /** What of which event names it. */
  private record Place(RunId run, Deletion.Item item) implements Comparable<Place> {
    private static final Comparator<Place> ORDER =
        Comparator.comparing(Place::run).thenComparing(Place::item);

    @Override
    public int compareTo(Place other) {
      return ORDER.compare(this, other);
    }
  }

  private record Named(Instant at, RetentionRule rule) {}

  /** Whose content it is, for the rules. */
  private record Owner(Scope scope, String tool) {}

  /**
   * @param isHeld whether nothing of a run may be deleted
   * @param now by which ages are computed
   */
  RetentionSearch(LedgerView ledger, Policy policy, Predicate<RunId> isHeld, Instant now) {
    this.ledger = ledger;
    this.policy = policy;
    this.isHeld = isHeld;
    this.now = now;
  }

  RetentionPlan plan() {
    long size = ledger.treeSize();
    ledger.eventsByIndex(0, size, (_, event) -> event(event));
    TreeSet<Digest> old = new TreeSet<>();
    found.forEach((digest, content) -> {
      if (content.names.values().stream().allMatch(named -> named.rule().isOver(named.at(), now))) {
        old.add(digest);
      }
    });
    Instant uploaded = ContentRetention.claimedBefore(policy, now);
    old.stream().filter(digest -> ledger.isUploadedSince(digest, uploaded)).forEach(needed::add);
    long kept = old.stream().filter(needed::contains).count();
    old.removeAll(needed);
    TreeSet<Digest> doomed = new TreeSet<>(old);
    for (RetentionRule rule : policy.retention().rules()) {
      rule.bytesMax().ifPresent(max -> keepUpTo(rule, max, old, doomed));
    }
    return new RetentionPlan(doomed.stream().map(this::doomed).toList(), sums(doomed), kept, size);
  }

  private RetentionPlan.Doomed doomed(Digest digest) {
    Found content = found.get(digest);
    return new RetentionPlan.Doomed(
        digest,
        content.size,
        content.names.entrySet().stream()
            .map(named ->
                new RetentionPlan.Use(
                    named.getKey().run(), named.getKey().item(), named.getValue().rule().name()))
            .toList());
  }

  private TreeMap<String, RetentionPlan.Sum> sums(TreeSet<Digest> doomed) {
    TreeMap<String, RetentionPlan.Sum> sums = new TreeMap<>();
    for (RetentionRule rule : policy.retention().rules()) {
      sums.put(rule.name(), RetentionPlan.Sum.NONE);
      found.forEach((digest, content) -> {
        if (content.isOf(rule)) {
          sums.compute(rule.name(), (_, sum) -> sum.plus(content.size, doomed.contains(digest)));
        }
      });
    }
    return sums;
  }

  /** Of a rule with a size, only the oldest go, until the rest is within it. */
  private void keepUpTo(RetentionRule rule, long max, TreeSet<Digest> old, TreeSet<Digest> doomed) {
    long bytes = 0;
    for (Found content : found.values()) {
      bytes += content.isOf(rule) ? content.size : 0;
    }
    List<Digest> oldestFirst =
        old.stream()
            .filter(digest -> found.get(digest).isOf(rule))
            .sorted(
                Comparator.comparing((Digest digest) -> found.get(digest).newest())
                    .thenComparing(Comparator.naturalOrder()))
            .toList();
    for (Digest digest : oldestFirst) {
      if (bytes <= max) {
        doomed.remove(digest);
      } else if (doomed.contains(digest)) {
        bytes -= found.get(digest).size;
      }
    }
  }

  private void event(Event event) {
    if (event.tenant().equals(Deletion.RUN.tenant())) {
      if (!event.runId().equals(Deletion.RUN)) {
        ledger.document(event.body()).ifPresent(this::needsWhatItMentions);
      }
      return;
    }
    switch (event.kind()) {
      case EventKind.REQUEST_RECEIVED -> received(event);
      case EventKind.EFFECT_DISPATCHED -> {
        Digest request = Intent.read(document(event.body())).request();
        inputs(event, Request.read(document(request)));
      }
      case EventKind.RECEIPT_SIGNED -> receipt(event, Receipt.read(document(event.body())));
      case EventKind.DOUBT_RESOLVED -> // its evidence
          needsWhatItMentions(ledger.document(event.body()).orElseThrow());
      default -> {
        // names no content
      }
    }
  }

  private JsonValue document(Digest id) {
    return ledger.document(id).orElseThrow().document();
  }

  private void received(Event event) {
    Envelope envelope = ledger.document(event.body()).orElseThrow();
    if (!isFinished(event)) {
      needsWhatItMentions(envelope);
    } else if (ledger.get(Tables.SERVED, Tables.key(event.body())).isEmpty()) {
      inputs(event, Request.read(envelope.document())); // it was never dispatched
    }
  }

  /** Any digest in it, whatever it stands for. */
  private void needsWhatItMentions(Envelope envelope) {
    Matcher digests = DIGEST.matcher(new String(envelope.payload(), StandardCharsets.UTF_8));
    while (digests.find()) {
      needed.add(Digest.parse(digests.group()));
    }
  }

  /** Whether a request can neither be executed any more, nor has an outcome in doubt. */
  private boolean isFinished(Event received) {
    Digest request = received.body();
    Optional<byte[]> receipt = ledger.get(Tables.SERVED, Tables.key(request));
    if (receipt.isPresent()) {
      return ledger
          .get(Tables.DOUBT, Tables.key(Digest.ofBytes(receipt.get())))
          .filter(resolution -> resolution.length == 0)
          .isEmpty();
    }
    if (ledger.get(Tables.DISPATCHED, Tables.key(request)).isPresent()) {
      return false;
    }
    RequestRow row =
        ledger.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse).orElseThrow();
    return row.state() == RequestRow.State.DENIED
        || Deletions.executableUntil(received.at(), policy).isBefore(now);
  }

  private void inputs(Event event, Request request) {
    Owner owner = new Owner(request.scope(), request.effect().tool());
    for (Input input : request.effect().inputs()) {
      named(event, event.seq(), owner, ContentClass.INPUTS, input.digest());
    }
  }

  private void receipt(Event event, Receipt receipt) {
    Owner owner = new Owner(receipt.scope(), receipt.tool().name());
    receipt
        .observations()
        .ifPresent(
            observed -> named(event, event.seq() - 1, owner, ContentClass.OBSERVATIONS, observed));
    if (!receipt.retained() || receipt.status() == Status.IN_DOUBT) {
      return;
    }
    receipt.output().map(Content::digest).ifPresent(output(event, owner));
    receipt.rawOutput().map(Content::digest).ifPresent(output(event, owner));
    receipt
        .artifacts()
        .forEach(artifact ->
            named(event, event.seq(), owner, ContentClass.ARTIFACTS, artifact.content().digest()));
  }

  private Consumer<Digest> output(Event event, Owner owner) {
    return digest -> named(event, event.seq(), owner, ContentClass.OUTPUTS, digest);
  }

  private void named(Event event, long seq, Owner owner, ContentClass content, Digest digest) {
    if (!ledger.hasBlob(digest)) {
      return;
    }
    Scope scope = owner.scope();
    Optional<RetentionRule> rule =
        policy.retention().rule(content, scope.tenant(), scope.subject(), owner.tool());
    if (rule.isEmpty() || isHeld.test(event.runId())) {
      needed.add(digest);
    }
    if (rule.isEmpty()) {
      return;
    }
    Deletion.Item item = new Deletion.Item(content, digest, seq, ledger.blobSize(digest));
    if (ledger.get(Tables.DELETED, Deletions.key(event.runId(), item)).isPresent()) {
      return; // it came again for another event
    }
    found
        .computeIfAbsent(digest, _ -> new Found(item.size()))
        .names
        .put(new Place(event.runId(), item), new Named(event.at(), rule.get()));
  }
}
