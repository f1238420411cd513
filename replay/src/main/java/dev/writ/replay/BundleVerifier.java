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
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

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
  public static Verified verify(Bundle bundle, Options options, Consumer<String> progress) {
    return new BundleVerifier(bundle, options, progress).run();
  }

  /**
   * The same of a file's bytes.
   *
   * @throws WritException as the other, and as {@link Bundle#of}
   */
  public static Verified verify(byte[] file, Options options, Consumer<String> progress) {
    try (Bundle bundle = Bundle.of(file)) {
      return verify(bundle, options, progress);
    }
  }

  private Verified run() {
    entries();
    Event last = chain(Recording.Journal.RUN, bundle.manifest().run());
    chain(Recording.Journal.SYSTEM, SystemState.RUN);
    closing(last);
    checkpointIsOfThisLog();
    inclusion();
    Trust trust = systemRun();
    checkpointSignature(trust);
    trustFile(trust);
    meaning();
    limits();
    return new Verified(bundle.manifest(), options.pinned().isPresent(), verified, notVerified);
  }

  private void verified(String line) {
    verified.add(line);
    progress.accept(line);
  }

  /** Documents, manifests and files of tools are hashed when they are read; blobs are not. */
  private void entries() {
    Archive archive = bundle.archive();
    byte[] buffer = new byte[1 << 16];
    for (int entry = 0; entry < archive.entries(); entry++) {
      String name = archive.name(entry);
      archive.verify(
          entry,
          name.startsWith(Layout.BLOBS) ? Optional.of(new BlobHash(name)) : Optional.empty(),
          buffer);
    }
    verified(archive.entries() + " entries: in the one form, with their checksums");
  }

  /** Holds a blob against its name. */
  private record BlobHash(String name, MessageDigest hash) implements Archive.Hash {
    BlobHash(String name) {
      this(name, Digest.newSha256());
    }

    @Override
    public void update(byte[] bytes, int from, int length) {
      hash.update(bytes, from, length);
    }

    @Override
    public void end() {
      Digest found = Digest.ofBytes(hash.digest());
      if (!Layout.blob(found).equals(name)) {
        throw new WritException(
            ReplayError.ENTRY_DIGEST, name + " has the content of " + Layout.blob(found));
      }
    }
  }

  /** Returns the journal's last event. */
  private Event chain(Recording.Journal journal, RunId run) {
    Lines lines = bundle.lines(journal);
    Event last = null;
    Optional<Digest> prev = Optional.empty();
    for (byte[] line = lines.next(); line != null; line = lines.next()) {
      Event event = Lines.event(line, lines.place());
      same(ReplayError.EVENT_CHAIN, lines.place() + " run", event.runId(), run);
      same(ReplayError.EVENT_CHAIN, lines.place() + " /seq", event.seq(), lines.lines() - 1);
      same(ReplayError.EVENT_CHAIN, lines.place() + " /prev", event.prev(), prev);
      if (last == null) {
        same(ReplayError.EVENT_CHAIN, lines.place(), event.kind(), EventKind.RUN_OPENED);
      }
      prev = Optional.of(Digest.sha256(line));
      last = event;
    }
    if (last == null) {
      throw new WritException(ReplayError.RUN_EMPTY, Layout.journal(journal));
    }
    verified(lines.lines() + " events of " + run + ": canonical, chained without gaps");
    return last;
  }

  /** What the closing itself says is held against the run further down. */
  private void closing(Event last) {
    boolean closed = last.kind().equals(EventKind.RUN_CLOSED);
    same(
        ReplayError.RUN_CUT,
        Layout.MANIFEST + " /state",
        bundle.manifest().closed() ? "closed" : "open",
        closed ? "closed" : "open");
    if (!closed && options.requireClosed()) {
      throw new WritException(
          ReplayError.RUN_OPEN, "its last event is " + References.place(last));
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

  private void inclusion() {
    Checkpoint checkpoint = bundle.checkpoint();
    Digest root =
        LogRoot.of(checkpoint.size(), new LogOrder(bundle), bundle.inclusion().hashes());
    same(
        ReplayError.EVENT_PROOF,
        "root of the log of size " + checkpoint.size(),
        checkpoint.root(),
        root);
    long events = 0;
    for (Recording.Journal journal : Inclusion.JOURNALS) {
      events += bundle.inclusion().events(journal);
    }
    verified(events + " events: proven to be in the log of size " + checkpoint.size());
  }

  /** Trust comes from the system run alone: {@code trust.jwks} is for reading. */
  private Trust systemRun() {
    SystemState state = SystemState.NOTHING;
    Optional<String> founder = Optional.empty();
    Lines lines = bundle.lines(Recording.Journal.SYSTEM);
    for (byte[] line = lines.next(); line != null; line = lines.next()) {
      Event event = Lines.event(line, lines.place());
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

  /** Of the same size, roots are compared; of another, the proof must lead from one to the other. */
  private void earlier(Trust trust, Checkpoint kept) {
    Checkpoint checkpoint = bundle.checkpoint();
    if (!kept.origin().equals(checkpoint.origin())) {
      throw new WritException(
          LedgerError.CHECKPOINT_ORIGIN, kept.origin() + " instead of " + checkpoint.origin());
    }
    logKey(trust, kept, "the kept checkpoint");
    if (kept.size() == checkpoint.size()) {
      same(
          ReplayError.FORK,
          "at size " + kept.size() + " the root",
          checkpoint.root(),
          kept.root());
      verified("the kept checkpoint: of the same size and root");
      return;
    }
    Checkpoint first = kept.size() < checkpoint.size() ? kept : checkpoint;
    Checkpoint second = kept.size() < checkpoint.size() ? checkpoint : kept;
    Optional<Consistency> proof =
        bundle
            .consistency()
            .filter(p -> p.size1() == first.size() && p.size2() == second.size());
    if (proof.isEmpty()) {
      notVerified.add(
          "that the log of size "
              + checkpoint.size()
              + " is consistent with the kept checkpoint of size "
              + kept.size()
              + ": the bundle has no proof of that; export it with --checkpoint");
      return;
    }
    consistent(first, second, proof.get());
    verified(
        "the kept checkpoint of size "
            + kept.size()
            + ": of one history with the log of size "
            + checkpoint.size());
  }

  private static void consistent(Checkpoint first, Checkpoint second, Consistency proof) {
    try {
      Merkle.verifyConsistency(
          first.size(), first.root(), second.size(), second.root(), proof.path());
    } catch (WritException e) {
      throw new WritException(
          ReplayError.FORK,
          "size "
              + first.size()
              + " root "
              + first.root()
              + ", size "
              + second.size()
              + " root "
              + second.root()
              + ": "
              + e.code().code()
              + " "
              + e.found(),
          e);
    }
  }

  private void trustFile(Trust trust) {
    if (!Arrays.equals(Jcs.write(trust.toJson()), bundle.trust())) {
      throw new WritException(
          ReplayError.STATED, Layout.TRUST + " is not what the system run adds up to");
    }
  }

  /**
   * Everything in the order of the log, under the trust at each place: what an event refers to must
   * be here, and then hold.
   */
  private void meaning() {
    Presence presence = new Presence(bundle);
    References references = new References(presence);
    RunAudit audit =
        new RunAudit(bundle, bundle.manifest().origin(), new Tools(new Registered(), List.of()));
    bundle.events((journal, index, event) -> {
      if (journal == Recording.Journal.CONSUMED) {
        presence.received(event.body(), References.place(event));
        audit.consumed(event);
      } else {
        references.event(event);
        audit.event(index, event);
      }
    });
    audit.end(bundle.manifest().incarnation());
    audit.verified().forEach(this::verified);
    if (bundle.manifest().closed()) {
      verified("1 closing: counts every event and receipt of the run, and names its last");
    }
    notVerified.addAll(audit.notVerified());
    presence.requireNothingElse();
    present(presence);
  }

  private void present(Presence presence) {
    verified(
        presence.documents + " documents: those that the events name, with these digests");
    if (bundle.manifest().blobs()) {
      verified(presence.blobs + " blobs: hashed again, of the size that is signed");
    } else {
      notVerified.add(
          presence.leftOut() + " blobs: left out; their digests are signed, they are not here");
    }
    long notKept = presence.notKept();
    if (notKept > 0) {
      notVerified.add(notKept + " outputs: not kept, as the request asked; only their digests");
    }
    if (bundle.manifest().tools()) {
      verified(presence.tools + " tool manifests: of the packages that the intents name");
      verified(presence.files + " files of tools: of the packages that were dispatched");
    } else {
      notVerified.add("tool manifests and packages: left out");
    }
  }

  /** The manifests in the bundle; nothing here runs a tool. */
  private final class Registered implements Tools.Registry {
    private final TreeMap<String, Optional<ToolManifest>> known = new TreeMap<>();

    @Override
    public Optional<ToolManifest> manifest(String name, String version) {
      if (known.size() > 100) {
        known.clear();
      }
      return known.computeIfAbsent(name + " " + version, _ -> bundle.tool(name, version));
    }

    @Override
    public Driver.PackageContent content(ToolManifest manifest) {
      throw new WritException(ReplayError.TOOL_MISSING, manifest.name() + ": its files");
    }
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
