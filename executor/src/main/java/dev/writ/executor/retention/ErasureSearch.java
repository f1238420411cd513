package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.journal.TenantContents;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.seal.ContentOwner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Reads the log for what an order of erasure covers: what events before it name for requests of its
 * subject or run; and for who else uses these contents. Used once.
 */
final class ErasureSearch {
  private static final Comparator<Use> BY_PLACE =
      Comparator.comparing(Use::run).thenComparing(use -> use.item().seq());
  private static final TreeSet<String> NOBODY = new TreeSet<>();

  private final LedgerView ledger;
  private final Policy policy;
  private final Instant now;
  private final ErasureOrder order;
  private final long position;
  private final Instant givenAt;
  private final Instant latest;
  private final long size;

  /** What is stated, for each content. */
  final TreeMap<Digest, List<Use>> covered = new TreeMap<>();

  /** Whose keys what is covered may lie under. */
  final TreeSet<ContentOwner> owners = new TreeSet<>();

  /** Runs that have requests which the order covers. */
  final TreeSet<String> runs = new TreeSet<>();

  /** Contents that wait: for the end of an effect, or for the release of a hold. */
  final TreeSet<Digest> waiting = new TreeSet<>();

  /** Whose use of a content the order does not cover; no owner where it is the whole tenant's. */
  final TreeMap<Digest, TreeSet<ContentOwner>> others = new TreeMap<>();

  /** Whose use of a covered content is stated to be erased: under their keys it is of no use. */
  final TreeMap<Digest, TreeSet<ContentOwner>> former = new TreeMap<>();

  /** Of contents that lie under keys of the order. */
  final TreeSet<Digest> underItsKeys = new TreeSet<>();

  /** The subjects whose use of a content the order covers. */
  private final TreeMap<Digest, TreeSet<String>> coveredUsers = new TreeMap<>();

  /** Where a content is named. */
  record Use(RunId run, Deletion.Item item) {}

  ErasureSearch(LedgerView ledger, Policy policy, Digest id, ErasureOrder order, Instant now) {
    this.ledger = ledger;
    this.policy = policy;
    this.now = now;
    this.order = order;
    TreeMap<Long, Event> events = new TreeMap<>();
    ledger.events(ErasureOrder.GIVEN_IN, 0, event -> events.put(event.seq(), event));
    Event given =
        events.descendingMap().values().stream()
            .filter(event -> event.body().equals(id))
            .findFirst()
            .orElseThrow();
    this.position = ledger.indexOf(ErasureOrder.GIVEN_IN, given.seq()).orElseThrow();
    this.givenAt = given.at();
    // Times of a log in which time went back do not tell what was before.
    boolean wentBack = events.headMap(given.seq()).values().stream().anyMatch(this::wentBack);
    this.latest = wentBack ? Instant.MAX : givenAt.plus(ErasureOrder.LATENESS);
    this.size = ledger.treeSize();
  }

  private boolean wentBack(Event event) {
    return event.kind().equals(EventKind.CLOCK_CORRECTED)
        && ClockCorrection.read(
                SystemChange.read(ledger.document(event.body()).orElseThrow().document()).detail())
            .goesBack();
  }

  Instant givenAt() {
    return givenAt;
  }

  /** How much of the log was searched. */
  long searchedTo() {
    return size;
  }

  /** Finds what is covered. */
  void coverage(Predicate<RunId> isHeld) {
    read(
        new NamedContents.Sink() {
          @Override
          public void named(NamedContents.Name name) {
            if (covers(name.index(), name.event().at(), name.scope())) {
              runs.add(name.scope().run());
              owners.add(ContentOwner.subject(name.scope().tenant(), name.scope().subject()));
              owners.add(ContentOwner.run(name.scope().tenant(), name.scope().run()));
              take(name, isHeld);
            }
          }

          @Override
          public void mentioned(
              long index, Optional<NamedContents.Unended> request, Digest digest) {
            if (request
                .filter(r -> r.begun() && covers(index, Instant.MIN, r.scope()))
                .isPresent()) {
              runs.add(request.get().scope().run());
              if (ledger.hasBlob(digest)) {
                waiting.add(digest);
              }
            }
          }
        });
  }

  private void read(NamedContents.Sink sink) {
    new NamedContents(ledger, policy, now, sink).read(size);
  }

  /** Verifiers of a bundle go by time, since they do not have every position. */
  private boolean covers(long index, Instant at, Scope scope) {
    return index < position && !at.isAfter(latest) && order.covers(scope);
  }

  private void take(NamedContents.Name name, Predicate<RunId> isHeld) {
    if (!ledger.hasBlob(name.digest())) {
      return;
    }
    RunId run = name.event().runId();
    if (isHeld.test(run)) {
      waiting.add(name.digest());
      return;
    }
    coveredUsers.computeIfAbsent(name.digest(), _ -> new TreeSet<>()).add(name.scope().subject());
    List<Use> uses = covered.computeIfAbsent(name.digest(), _ -> new ArrayList<>());
    if (!isStated(name)) {
      uses.add(new Use(run, item(name, ledger.blobSize(name.digest()))));
    }
  }

  private static Deletion.Item item(NamedContents.Name name, long size) {
    return new Deletion.Item(name.content(), name.digest(), name.seq(), size);
  }

  /** Whether the content is stated to be deleted where it is named; then it came again. */
  private boolean isStated(NamedContents.Name name) {
    String key = Deletions.key(name.event().runId(), item(name, 0));
    return ledger.get(Tables.DELETED, key).isPresent();
  }

  /** Finds who else uses what is covered, and what lies under these keys. */
  void otherUses(Predicate<SealedCopy> isUnderItsKeys) {
    ledger.scan(
        SealedCopy.TABLE,
        "",
        (key, row) -> {
          SealedCopy copy = SealedCopy.parse(key, row);
          if (isUnderItsKeys.test(copy)) {
            underItsKeys.add(copy.content());
          }
          return true;
        });
    read(
        new NamedContents.Sink() {
          @Override
          public void named(NamedContents.Name name) {
            if (isStated(name)) {
              former(name.digest(), name.scope());
            } else if (!covers(name.index(), name.event().at(), name.scope())
                && !name.event().kind().equals(EventKind.REQUEST_RECEIVED)) {
              other(name.digest(), Sealing.ownerOfUse(policy, name.scope()));
            }
          }

          @Override
          public void mentioned(
              long index, Optional<NamedContents.Unended> request, Digest digest) {
            // An effect that has begun has an event that names its inputs.
            request
                .filter(r -> !r.begun() && r.hasInput(digest) && holds(r.scope(), digest))
                .ifPresent(r -> other(digest, Sealing.ownerOfUse(policy, r.scope())));
          }
        });
    TenantContents.uploads(ledger, this::uploaded);
  }

  private boolean holds(Scope scope, Digest digest) {
    return TenantContents.holds(ledger, scope.tenant(), scope.subject(), digest);
  }

  /**
   * What others uploaded is theirs, whether or not a request names it yet: of another subject than
   * those whose use is covered, and of one whose own use is not erased.
   */
  private void uploaded(String tenant, String subject, Digest digest) {
    if (!isOfOrder(digest)) {
      return;
    }
    ContentOwner uploader = ContentOwner.subject(tenant, subject);
    boolean isCovered =
        tenant.equals(order.tenant())
            && (order.subject().filter(subject::equals).isPresent()
                || coveredUsers.getOrDefault(digest, NOBODY).contains(subject));
    if (isCovered
        || former.getOrDefault(digest, new TreeSet<>()).contains(uploader)
        || !ledger.isUploaded(digest, tenant)) {
      return;
    }
    TreeSet<ContentOwner> owners = others.computeIfAbsent(digest, _ -> new TreeSet<>());
    if (!subject.equals(Tables.EVERYBODY)) {
      owners.add(uploader);
    }
  }

  private boolean isOfOrder(Digest digest) {
    return covered.containsKey(digest) || underItsKeys.contains(digest);
  }

  /**
   * Contents run by run, in the order of the events that name them: each step of the removal has a
   * statement for each run of which it removes something. What no event names comes last.
   */
  List<Digest> byRun(Collection<Digest> contents) {
    List<Digest> ordered = new ArrayList<>(contents);
    ordered.sort(
        Comparator.comparing(this::firstUse, Comparator.nullsLast(BY_PLACE))
            .thenComparing(Comparator.naturalOrder()));
    return ordered;
  }

  private Use firstUse(Digest content) {
    List<Use> uses = covered.getOrDefault(content, List.of());
    return uses.isEmpty() ? null : uses.getFirst();
  }

  private void former(Digest digest, Scope scope) {
    if (covered.containsKey(digest)) {
      TreeSet<ContentOwner> all = former.computeIfAbsent(digest, _ -> new TreeSet<>());
      all.add(ContentOwner.subject(scope.tenant(), scope.subject()));
      all.add(ContentOwner.run(scope.tenant(), scope.run()));
    }
  }

  private void other(Digest digest, ContentOwner owner) {
    if (isOfOrder(digest)) {
      others.computeIfAbsent(digest, _ -> new TreeSet<>()).add(owner);
    }
  }
}
