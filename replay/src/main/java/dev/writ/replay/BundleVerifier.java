package dev.writ.replay;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.SystemState;
import dev.writ.executor.audit.RunAudit;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.Checkpoint;
import dev.writ.ledger.Event;
import dev.writ.ledger.LedgerError;
import dev.writ.ledger.RunId;
import dev.writ.ledger.merkle.Merkle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Verifies a bundle from its bytes alone: a list of checks, in an order in which each rests only on
 * those before. It returns what it verified, or throws at the first thing that does not hold.
 */
public final class BundleVerifier {
  /**
   * @param pinned keys that the auditor holds from elsewhere: the operator's that founded the
   *     installation and the log's must be among them; empty verifies integrity only
   * @param earlier a checkpoint that somebody kept
   * @param requireClosed refuses the bundle of an open run, whose tail can be missing unseen
   */
  public record Options(
      Optional<Trust> pinned, Optional<Checkpoint> earlier, boolean requireClosed) {
    public static final Options UNPINNED = new Options(Optional.empty(), Optional.empty(), false);

    public static Options pinned(Trust trust) {
      return new Options(Optional.of(trust), Optional.empty(), false);
    }
  }

  /**
   * What holds.
   *
   * @param pinned whether it is known whose it is
   * @param verified with counts
   * @param notVerified each with the reason
   */
  public record Verified(
      BundleManifest manifest, boolean pinned, List<String> verified, List<String> notVerified) {
    public Verified {
      verified = List.copyOf(verified);
      notVerified = List.copyOf(notVerified);
    }
  }

  private final Bundle bundle;
  private final Options options;
  private final Consumer<String> progress;
  private final List<String> verified = new ArrayList<>();
  private final List<String> notVerified = new ArrayList<>();

  private BundleVerifier(Bundle bundle, Options options, Consumer<String> progress) {
    this.bundle = bundle;
    this.options = options;
    this.progress = progress;
  }

  /**
   * @param progress hears each line of {@link Verified#verified} when it holds
   * @throws WritException {@code RPL-0xx}, {@code EXE-95x}, {@code LED-0xx}, {@code CAN-0xx}: the
   *     first thing that does not hold, with its place and both values
   */
  public static Verified verify(byte[] file, Options options, Consumer<String> progress) {
    return new BundleVerifier(Bundle.read(file), options, progress).run();
  }

  private Verified run() {
    entries();
    chain(Layout.RUN, bundle.run(), bundle.manifest().run());
    chain(Layout.SYSTEM, bundle.system(), SystemState.RUN);
    closing();
    checkpointIsOfThisLog();
    proofs();
    Trust trust = systemRun();
    checkpointSignature(trust);
    trustFile(trust);
    References references = References.of(bundle.run(), bundle.system(), bundle);
    documents(references);
    consumed(references);
    meaning();
    blobs(references);
    tools(references);
    limits();
    return new Verified(bundle.manifest(), options.pinned().isPresent(), verified, notVerified);
  }

  private void verified(String line) {
    verified.add(line);
    progress.accept(line);
  }

  /** {@link Bundle#read} did the work. */
  private void entries() {
    verified(
        bundle.manifest().entries().size()
            + " entries: listed in bundle.json, with their size and digest");
  }

  private void chain(String journal, List<Event> events, RunId run) {
    if (events.isEmpty()) {
      throw new WritException(ReplayError.RUN_EMPTY, journal);
    }
    Optional<Digest> prev = Optional.empty();
    for (int seq = 0; seq < events.size(); seq++) {
      Event event = events.get(seq);
      String place = journal + " line " + (seq + 1);
      same(ReplayError.EVENT_CHAIN, place + " run", event.runId(), run);
      same(ReplayError.EVENT_CHAIN, place + " /seq", event.seq(), (long) seq);
      same(ReplayError.EVENT_CHAIN, place + " /prev", event.prev(), prev);
      prev = Optional.of(event.id());
    }
    same(
        ReplayError.EVENT_CHAIN,
        journal + " line 1",
        events.getFirst().kind(),
        EventKind.RUN_OPENED);
    verified(events.size() + " events of " + run + ": canonical, chained without gaps");
  }

  /** What the closing itself says is held against the run further down. */
  private void closing() {
    boolean closed = bundle.run().getLast().kind().equals(EventKind.RUN_CLOSED);
    same(
        ReplayError.RUN_CUT,
        Layout.MANIFEST + " /state",
        bundle.manifest().closed() ? "closed" : "open",
        closed ? "closed" : "open");
    if (!closed && options.requireClosed()) {
      throw new WritException(
          ReplayError.RUN_OPEN, "its last event is " + References.place(bundle.run().getLast()));
    }
  }

  private void checkpointIsOfThisLog() {
    Checkpoint checkpoint = bundle.checkpoint();
    same(
        ReplayError.STATED,
        Layout.MANIFEST + " /origin",
        bundle.manifest().origin(),
        checkpoint.origin());
    same(
        ReplayError.STATED,
        Layout.MANIFEST + " /size",
        bundle.manifest().size(),
        checkpoint.size());
  }

  private void proofs() {
    proofs(Layout.RUN, bundle.run(), bundle.proofs().run());
    proofs(Layout.SYSTEM, bundle.system(), bundle.proofs().system());
    proofs(Layout.CONSUMED, bundle.consumed(), bundle.proofs().consumed());
    verified(
        (bundle.run().size() + bundle.system().size() + bundle.consumed().size())
            + " inclusion proofs: lead to the checkpoint's root at size "
            + bundle.checkpoint().size());
  }

  private void proofs(String journal, List<Event> events, List<Proofs.Proof> proofs) {
    same(ReplayError.EVENT_PROOF, journal + " proofs", proofs.size(), events.size());
    long before = -1;
    for (int i = 0; i < events.size(); i++) {
      Proofs.Proof proof = proofs.get(i);
      String place = journal + " line " + (i + 1) + " at log index " + proof.index();
      if (proof.index() <= before) {
        throw new WritException(ReplayError.EVENT_PROOF, place + ", behind " + before);
      }
      before = proof.index();
      try {
        Merkle.verifyInclusion(
            Merkle.leafHash(events.get(i).toBytes()),
            proof.index(),
            bundle.checkpoint().size(),
            proof.path(),
            bundle.checkpoint().root());
      } catch (WritException e) {
        throw new WritException(
            ReplayError.EVENT_PROOF, place + ": " + e.code().code() + " " + e.found(), e);
      }
    }
  }

  /** Trust comes from the system run alone: {@code trust.jwks} is for reading. */
  private Trust systemRun() {
    SystemState state = SystemState.NOTHING;
    Optional<String> founder = Optional.empty();
    for (Event event : bundle.system()) {
      try {
        state = state.after(event, bundle);
      } catch (WritException e) {
        throw new WritException(e.code(), References.place(event) + ": " + e.found(), e);
      }
      if (founder.isEmpty() && !state.trust().keys().isEmpty()) {
        founder = Optional.of(state.trust().keys().firstKey());
      }
    }
    String kid =
        founder.orElseThrow(
            () -> new WritException(ReplayError.RUN_EMPTY, Layout.SYSTEM + " enrols no key"));
    pin("the operator's key that founded the installation", kid, KeyRole.OPERATOR);
    verified(
        state.trust().keys().size()
            + " keys: enrolled by signed documents, the first by operator key "
            + kid);
    return state.trust();
  }

  private void pin(String what, String kid, KeyRole role) {
    if (options.pinned().isEmpty()) {
      return;
    }
    Optional<TrustedKey> key = options.pinned().get().key(kid);
    if (key.filter(k -> k.role() == role).isEmpty()) {
      throw new WritException(
          ReplayError.NOT_PINNED,
          what
              + " is "
              + kid
              + ", pinned "
              + key.map(k -> "as " + k.role().text())
                  .orElse(
                      "are "
                          + options.pinned().get().keys().values().stream()
                              .filter(k -> k.role() == role)
                              .map(TrustedKey::kid)
                              .toList()));
    }
    verified("key " + kid + ": pinned, " + what);
  }

  private void checkpointSignature(Trust trust) {
    Checkpoint checkpoint = bundle.checkpoint();
    TrustedKey signer = logKey(trust, checkpoint, Layout.CHECKPOINT);
    pin("the log's key that signed the checkpoint", signer.kid(), KeyRole.LOG);
    verified(
        "checkpoint of size "
            + checkpoint.size()
            + ": signed by log key "
            + signer.kid()
            + ", root "
            + checkpoint.root());
    options.earlier().ifPresent(earlier -> earlier(trust, earlier));
  }

  private static TrustedKey logKey(Trust trust, Checkpoint checkpoint, String place) {
    String found = "no log key is enrolled";
    for (TrustedKey key : trust.keys().values()) {
      if (key.role() == KeyRole.LOG && key.revokedAt().isEmpty()) {
        try {
          checkpoint.verify(checkpoint.origin(), key.key());
          return key;
        } catch (WritException e) {
          found = "key " + key.kid() + ": " + e.code().code() + " " + e.found();
        }
      }
    }
    throw new WritException(ReplayError.CHECKPOINT_KEY, place + ": " + found);
  }

  /** A bundle has no consistency proof, so only checkpoints of one size can be compared. */
  private void earlier(Trust trust, Checkpoint earlier) {
    Checkpoint checkpoint = bundle.checkpoint();
    if (!earlier.origin().equals(checkpoint.origin())) {
      throw new WritException(
          LedgerError.CHECKPOINT_ORIGIN, earlier.origin() + " instead of " + checkpoint.origin());
    }
    logKey(trust, earlier, "the earlier checkpoint");
    if (earlier.size() == checkpoint.size()) {
      same(
          ReplayError.FORK,
          "at size " + earlier.size() + " the root",
          checkpoint.root(),
          earlier.root());
      verified("the kept checkpoint: of the same size and root");
    } else {
      notVerified.add(
          "that the log of size "
              + checkpoint.size()
              + " is consistent with the kept checkpoint of size "
              + earlier.size()
              + ": a bundle has no consistency proof; ask the ledger for one");
    }
  }

  private void trustFile(Trust trust) {
    if (!Arrays.equals(Jcs.write(trust.toJson()), bundle.trust())) {
      throw new WritException(
          ReplayError.STATED, Layout.TRUST + " is not what the system run adds up to");
    }
  }

  private void documents(References references) {
    TreeSet<Digest> unused = new TreeSet<>(bundle.documents().keySet());
    unused.removeAll(references.documents.keySet());
    requireNone(unused.stream().map(Layout::document));
    verified(
        bundle.documents().size() + " documents: those that the events name, with these digests");
  }

  /** Receipts of other runs that this one consumes: each once, and in the log before it is used. */
  private void consumed(References references) {
    TreeSet<Digest> missing = new TreeSet<>(references.foreign.keySet());
    for (Event event : bundle.consumed()) {
      RunId run = references.foreign.get(event.body());
      if (run == null || !missing.remove(event.body())) {
        throw new WritException(
            ReplayError.ENTRY_UNUSED, Layout.CONSUMED + " " + References.place(event));
      }
      same(ReplayError.EVENT_CHAIN, Layout.CONSUMED + " run", event.runId(), run);
    }
    if (!missing.isEmpty()) {
      throw new WritException(
          ReplayError.ENTRY_MISSING,
          Layout.CONSUMED + " has no event of receipt " + missing.first());
    }
  }

  /** Everything in the order of the log, under the trust at each place. */
  private void meaning() {
    RunAudit audit =
        new RunAudit(bundle, bundle.manifest().origin(), new Tools(new Registered(), List.of()));
    bundle.events((journal, index, event) -> {
      if (journal == Recording.Journal.CONSUMED) {
        audit.consumed(event);
      } else {
        audit.event(index, event);
      }
    });
    audit.end(bundle.manifest().incarnation());
    audit.verified().forEach(this::verified);
    if (bundle.manifest().closed()) {
      verified("1 closing: counts every event and receipt of the run, and names its last");
    }
    notVerified.addAll(audit.notVerified());
  }

  /** The manifests in the bundle; nothing here runs a tool. */
  private final class Registered implements Tools.Registry {
    @Override
    public Optional<ToolManifest> manifest(String name, String version) {
      return bundle.tools().values().stream()
          .filter(tool -> tool.name().equals(name) && tool.version().equals(version))
          .findFirst();
    }

    @Override
    public Driver.PackageContent content(ToolManifest manifest) {
      throw new WritException(ReplayError.TOOL_MISSING, manifest.name() + ": its files");
    }
  }

  private void blobs(References references) {
    if (!bundle.manifest().blobs()) {
      requireNone(bundle.blobs().keySet().stream().map(Layout::blob));
      notVerified.add(
          references.blobs.size()
              + " blobs: left out; their digests are signed, they are not here");
      return;
    }
    references.blobs.forEach(this::blob);
    TreeSet<Digest> unused = new TreeSet<>(bundle.blobs().keySet());
    unused.removeAll(references.blobs.keySet());
    requireNone(unused.stream().map(Layout::blob));
    verified(bundle.blobs().size() + " blobs: hashed again, of the size that is signed");
    if (references.notKept() > 0) {
      notVerified.add(
          references.notKept() + " outputs: not kept, as the request asked; only their digests");
    }
  }

  private void blob(Digest digest, OptionalLong size) {
    byte[] blob = bundle.blobs().get(digest);
    if (blob == null) {
      throw new WritException(ReplayError.ENTRY_MISSING, Layout.blob(digest));
    }
    if (size.isPresent()) {
      same(
          ReplayError.ENTRY_DIGEST,
          Layout.blob(digest) + " size",
          (long) blob.length,
          size.getAsLong());
    }
  }

  private void tools(References references) {
    TreeSet<String> unused = new TreeSet<>(bundle.tools().keySet());
    if (!bundle.manifest().tools()) {
      requireNone(unused.stream());
      notVerified.add(references.tools.size() + " tool manifests: left out");
      return;
    }
    for (String entry : references.tools.keySet()) {
      if (!unused.remove(entry)) {
        throw new WritException(ReplayError.ENTRY_MISSING, entry);
      }
    }
    requireNone(unused.stream());
    verified(bundle.tools().size() + " tool manifests: of the packages that the intents name");
  }

  private static void requireNone(Stream<String> unused) {
    unused
        .findFirst()
        .ifPresent(entry -> {
          throw new WritException(ReplayError.ENTRY_UNUSED, entry);
        });
  }

  /** What no bundle can show. */
  private void limits() {
    if (!bundle.manifest().closed()) {
      notVerified.add(
          "the end of the run: it is open at size "
              + bundle.checkpoint().size()
              + "; events can follow, or be left out here");
    }
    notVerified.add(
        "that the system run has no further event before size "
            + bundle.checkpoint().size()
            + ", such as a revocation: only the whole log shows that");
    notVerified.add("balances, rates and nonces across runs: that is `writ audit`");
    notVerified.add("outcomes: no tool ran again, and no stage; that is for replay");
    if (options.pinned().isEmpty()) {
      notVerified.add("whose it is: integrity only; signer not pinned (--trust)");
    }
  }

  private static void same(ReplayError code, String place, Object found, Object wanted) {
    if (!found.equals(wanted)) {
      throw new WritException(
          code, place + ": recorded " + text(found) + ", recomputed " + text(wanted));
    }
  }

  private static String text(Object value) {
    return value instanceof Optional<?> optional
        ? optional.map(Object::toString).orElse("none")
        : value.toString();
  }
}
