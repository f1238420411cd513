package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.RetentionRule;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Reads the whole log for contents that rules of a policy cover, and chooses those that may go: old
 * enough wherever they are named, and needed by nothing. Used once.
 */
final class RetentionSearch implements NamedContents.Sink {
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
    new NamedContents(ledger, policy, now, this).read(size);
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

  @Override
  public void mentioned(long index, Optional<NamedContents.Unended> request, Digest digest) {
    needed.add(digest);
  }

  @Override
  public void named(NamedContents.Name name) {
    Digest digest = name.digest();
    if (!ledger.hasBlob(digest)) {
      return;
    }
    RunId run = name.event().runId();
    Scope scope = name.scope();
    Optional<RetentionRule> rule =
        policy.retention().rule(name.content(), scope.tenant(), scope.subject(), name.tool());
    if (rule.isEmpty() || isHeld.test(run)) {
      needed.add(digest);
    }
    if (rule.isEmpty()) {
      return;
    }
    Deletion.Item item =
        new Deletion.Item(name.content(), digest, name.seq(), ledger.blobSize(digest));
    if (ledger.get(Tables.DELETED, Deletions.key(run, item)).isPresent()) {
      return; // it came again for another event
    }
    found
        .computeIfAbsent(digest, _ -> new Found(item.size()))
        .names
        .put(new Place(run, item), new Named(name.event().at(), rule.get()));
  }
}
