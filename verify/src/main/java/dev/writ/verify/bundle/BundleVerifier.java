package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.SystemState;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.verify.audit.RunAudit;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.stamp.Stamps;
import dev.writ.verify.stamp.TimeStamp;
import dev.writ.verify.work.Ahead;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Verifies a bundle from its bytes alone: a list of checks, each of which depends only on those
 * before it. It returns what it verified, or throws at the first failure.
 */
public final class BundleVerifier {
  /**
   * @param pinned keys that the auditor obtained from elsewhere; they must include the operator's
   *     key that founded the installation, and the log's; if empty, only integrity is verified
   * @param earlier a checkpoint that somebody kept
   * @param requireClosed refuses the bundle of an open run, whose end could be cut off unnoticed
   * @param witnesses who must have cosigned the kept checkpoint, or without one the bundle's
   * @param stamps time stamps of that checkpoint, each of which must hold
   * @param installation the proof that the installation's root covers the log of the bundle
   */
  public record Options(
      Optional<Trust> pinned,
      Optional<Checkpoint> earlier,
      boolean requireClosed,
      Witnesses witnesses,
      Stamps stamps,
      Optional<InstallationProof> installation) {
    /** Without the proof of an installation. */
    public Options(
        Optional<Trust> pinned,
        Optional<Checkpoint> earlier,
        boolean requireClosed,
        Witnesses witnesses,
        Stamps stamps) {
      this(pinned, earlier, requireClosed, witnesses, stamps, Optional.empty());
    }

    /** Without time stamps. */
    public Options(
        Optional<Trust> pinned,
        Optional<Checkpoint> earlier,
        boolean requireClosed,
        Witnesses witnesses) {
      this(pinned, earlier, requireClosed, witnesses, Stamps.NONE);
    }

    /** Without witnesses. */
    public Options(Optional<Trust> pinned, Optional<Checkpoint> earlier, boolean requireClosed) {
      this(pinned, earlier, requireClosed, Witnesses.NONE);
    }

    public static final Options UNPINNED = new Options(Optional.empty(), Optional.empty(), false);

    public static Options pinned(Trust trust) {
      return new Options(Optional.of(trust), Optional.empty(), false);
    }
  }

  /**
   * Gets each line of {@link Verified#verified} as soon as it is verified, and the progress of long
   * work.
   */
  @FunctionalInterface
  public interface Listener extends Consumer<String> {
    /** So many of so many are done. */
    default void progress(String what, long done, long total) {}
  }

  /**
   * The result of a successful verification.
   *
   * @param pinned whether the signers are pinned
   * @param verified what was verified, with counts
   * @param notVerified what was not, each with the reason
   * @param witnesses what those of the witnesses said that were asked for and cosigned
   * @param stamps what time stamp authorities said
   */
  public record Verified(
      BundleManifest manifest,
      boolean pinned,
      List<String> verified,
      List<String> notVerified,
      List<Cosignature> witnesses,
      List<TimeStamp> stamps) {
    public Verified {
      verified = List.copyOf(verified);
      notVerified = List.copyOf(notVerified);
      witnesses = List.copyOf(witnesses);
      stamps = List.copyOf(stamps);
    }
  }

  /** How many entries, or lines, are one piece of work. */
  private static final int PIECE = 1024;

  private final Bundle bundle;
  private final Options options;
  private final Listener listener;
  private final List<String> verified = new ArrayList<>();
  private final List<String> notVerified = new ArrayList<>();
  private String founder = "";
  private final List<Cosignature> seen = new ArrayList<>();
  private final List<TimeStamp> stamped = new ArrayList<>();
  private Optional<PinnedSigners> signers = Optional.empty();

  private BundleVerifier(Bundle bundle, Options options, Listener listener) {
    this.bundle = bundle;
    this.options = options;
    this.listener = listener;
  }

  /**
   * @param listener gets each line of {@link Verified#verified} as soon as it is verified
   * @throws WritException {@code RPL-0xx}, {@code EXE-95x}, {@code LED-0xx}, {@code CAN-0xx}: the
   *     first failed check, with its place and both values
   */
  public static Verified verify(Bundle bundle, Options options, Listener listener) {
    return new BundleVerifier(bundle, options, listener).run();
  }

  /**
   * The same of a file's bytes.
   *
   * @throws WritException as the other, and as {@link Bundle#of}
   */
  public static Verified verify(byte[] file, Options options, Listener listener) {
    try (Bundle bundle = Bundle.of(file)) {
      return verify(bundle, options, listener);
    }
  }

  private Verified run() {
    entries();
    Event last = chain(Recording.Journal.RUN, bundle.manifest().run());
    chain(Recording.Journal.SYSTEM, SystemState.RUN);
    closing(last);
    checkpointIsOfThisLog();
    Event covered = inclusion();
    Trust trust = systemRun();
    signers = options.pinned().map(_ -> new PinnedSigners(trust));
    TrustedKey checkpointSigner = checkpointSignature(trust, covered);
    tellWitnesses();
    tellStamps();
    trustFile(trust);
    meaning(trust);
    pins(checkpointSigner);
    limits();
    return new Verified(
        bundle.manifest(), options.pinned().isPresent(), verified, notVerified, seen, stamped);
  }

  private void verified(String line) {
    verified.add(line);
    listener.accept(line);
  }

  /** Hashes blobs; documents, manifests and files of tools are hashed when they are read. */
  private void entries() {
    Archive archive = bundle.archive();
    int[] begun = {0};
    try (Ahead<Integer, Integer> pieces =
        new Ahead<>(
            () -> {
              int from = begun[0];
              begun[0] = Math.min(archive.entries(), from + PIECE);
              return from == begun[0] ? Optional.empty() : Optional.of(from);
            },
            this::piece)) {
      for (var done = pieces.next(); done.isPresent(); done = pieces.next()) {
        listener.progress("entries", done.get(), archive.entries());
      }
    }
    verified(archive.entries() + " entries: in the one form, with their checksums");
  }

  /** Returns where it ends. */
  private int piece(int from) {
    Archive archive = bundle.archive();
    int to = Math.min(archive.entries(), from + PIECE);
    Window window = archive.window();
    Optional<Archive.Hash> hash = Optional.of(new BlobHash());
    for (int entry = from; entry < to; entry++) {
      archive.verify(entry, archive.isBlob(entry) ? hash : Optional.empty(), window);
    }
    return to;
  }

  /** Compares a blob's digest with its name. */
  private record BlobHash(MessageDigest hash) implements Archive.Hash {
    BlobHash() {
      this(Digest.newSha256());
    }

    @Override
    public void update(byte[] bytes, int from, int length) {
      hash.update(bytes, from, length);
    }

    @Override
    public void end(String name) {
      Digest found = Digest.ofBytes(hash.digest());
      if (!Layout.blob(found).equals(name)) {
        throw new WritException(
            BundleError.ENTRY_DIGEST, name + " has the content of " + Layout.blob(found));
      }
    }
  }

  /**
   * A line with its event, or the reason why it is invalid, which is thrown when the line's turn
   * comes.
   */
  private record Read(
      Optional<Event> event, Optional<WritException> refused, Digest id, Lines.Place place) {
    Event orThrow() {
      refused.ifPresent(e -> {
        throw e;
      });
      return event.orElseThrow();
    }
  }

  /** Returns the journal's last event. */
  private Event chain(Recording.Journal journal, RunId run) {
    Lines lines = bundle.lines(journal);
    long total = bundle.inclusion().events(journal);
    Event last = null;
    Optional<Digest> prev = Optional.empty();
    try (Ahead<List<Line>, List<Read>> pieces =
        new Ahead<>(() -> lines(lines), BundleVerifier::read)) {
      for (var piece = pieces.next(); piece.isPresent(); piece = pieces.next()) {
        for (Read read : piece.get()) {
          Event event = read.orThrow();
          long seq = last == null ? 0 : last.seq() + 1;
          same(read.place(), "run", event.runId(), run);
          same(read.place(), "/seq", event.seq(), seq);
          same(read.place(), "/prev", event.prev(), prev);
          boolean opens = event.kind().equals(EventKind.RUN_OPENED);
          if (opens != (last == null)) {
            String wanted = opens ? "another kind" : EventKind.RUN_OPENED;
            throw new WritException(
                BundleError.EVENT_CHAIN,
                read.place() + " /kind: recorded " + event.kind() + ", recomputed " + wanted);
          }
          prev = Optional.of(read.id());
          last = event;
        }
        listener.progress("events of " + run, last.seq() + 1, total);
      }
    }
    if (last == null) {
      throw new WritException(BundleError.RUN_EMPTY, Layout.journal(journal));
    }
    verified((last.seq() + 1) + " events of " + run + ": canonical, chained without gaps");
    return last;
  }

  private record Line(byte[] bytes, Lines.Place place) {}

  private static Optional<List<Line>> lines(Lines lines) {
    List<Line> piece = new ArrayList<>();
    while (piece.size() < PIECE) {
      byte[] line = lines.next();
      if (line == null) {
        break;
      }
      piece.add(new Line(line, lines.place()));
    }
    return piece.isEmpty() ? Optional.empty() : Optional.of(piece);
  }

  private static List<Read> read(List<Line> lines) {
    return lines.stream().map(BundleVerifier::read).toList();
  }

  private static Read read(Line line) {
    Digest id = Digest.sha256(line.bytes());
    try {
      Event event = Lines.event(line.bytes(), line.place());
      return new Read(Optional.of(event), Optional.empty(), id, line.place());
    } catch (WritException e) {
      return new Read(Optional.empty(), Optional.of(e), id, line.place());
    }
  }

  /**
   * Checks that the run's end fits its state; the content of the closing is checked later with the
   * run.
   */
  private void closing(Event last) {
    boolean closed = last.kind().equals(EventKind.RUN_CLOSED);
    same(
        BundleError.RUN_CUT,
        Layout.MANIFEST + " /state",
        bundle.manifest().closed() ? "closed" : "open",
        closed ? "closed" : "open");
    if (!closed && options.requireClosed()) {
      throw new WritException(BundleError.RUN_OPEN, "its last event is " + References.place(last));
    }
  }

  private void checkpointIsOfThisLog() {
    Checkpoint checkpoint = bundle.checkpoint();
    same(
        BundleError.STATED,
        Layout.MANIFEST + " /origin",
        bundle.manifest().origin(),
        checkpoint.origin());
    same(
        BundleError.STATED,
        Layout.MANIFEST + " /size",
        bundle.manifest().size(),
        checkpoint.size());
    bundle.consistency().ifPresent(this::consistencyForm);
  }

  /** Checks its form, always; its hashes mean something only together with a kept checkpoint. */
  private void consistencyForm(Consistency proof) {
    long size = bundle.checkpoint().size();
    boolean ofThis = proof.size1() == size || proof.size2() == size;
    int hashes = proof.path().hashes().size();
    if (proof.size1() >= proof.size2()
        || !ofThis
        || hashes != Merkle.consistencyHashes(proof.size1(), proof.size2())) {
      throw new WritException(
          BundleError.CONSISTENCY_FORM,
          hashes
              + " hashes between size "
              + proof.size1()
              + " and size "
              + proof.size2()
              + ", the checkpoint has size "
              + size);
    }
  }

  /**
   * Returns the last event in the order of the log: every checkpoint over it is at least as late.
   */
  private Event inclusion() {
    Checkpoint checkpoint = bundle.checkpoint();
    LogOrder order = new LogOrder(bundle);
    Digest root = LogRoot.of(checkpoint.size(), order, bundle.inclusion().hashes());
    same(
        BundleError.EVENT_PROOF,
        "root of the log of size " + checkpoint.size(),
        checkpoint.root(),
        root);
    verified(events() + " events: proven to be in the log of size " + checkpoint.size());
    return order.taken();
  }

  private long events() {
    return Inclusion.JOURNALS.stream().mapToLong(bundle.inclusion()::events).sum();
  }

  /** Trust follows from the system run alone: {@code trust.jwks} is only for people. */
  private Trust systemRun() {
    SystemState state = SystemState.NOTHING;
    Optional<String> first = Optional.empty();
    Lines lines = bundle.lines(Recording.Journal.SYSTEM);
    for (byte[] line = lines.next(); line != null; line = lines.next()) {
      Event event = Lines.event(line, lines.place());
      try {
        state = state.after(event, this::required);
      } catch (WritException e) {
        throw new WritException(e.code(), References.place(event) + ": " + e.found(), e);
      }
      if (first.isEmpty() && !state.trust().keys().isEmpty()) {
        first = Optional.of(state.trust().keys().firstKey());
      }
    }
    founder =
        first.orElseThrow(
            () -> new WritException(BundleError.RUN_EMPTY, Layout.SYSTEM + " enrols no key"));
    pin("the operator's key that founded the installation", founder, KeyRole.OPERATOR);
    verified(
        state.trust().keys().size()
            + " keys: enrolled by signed documents, the first by operator key "
            + founder);
    return state.trust();
  }

  private Optional<Envelope> required(Digest id) {
    Optional<Envelope> document = bundle.document(id);
    if (document.isEmpty()) {
      throw new WritException(BundleError.ENTRY_MISSING, Layout.document(id));
    }
    return document;
  }

  private void pin(String what, String kid, KeyRole role) {
    if (options.pinned().isEmpty()) {
      return;
    }
    Optional<TrustedKey> key = options.pinned().get().key(kid);
    if (key.filter(k -> k.role() == role).isEmpty()) {
      throw new WritException(
          BundleError.NOT_PINNED,
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

  private TrustedKey checkpointSignature(Trust trust, Event covered) {
    Checkpoint checkpoint = bundle.checkpoint();
    TrustedKey signer = logKey(trust, checkpoint, Optional.of(covered), Layout.CHECKPOINT);
    pin("the log's key that signed the checkpoint", signer.kid(), KeyRole.LOG);
    verified(
        "checkpoint of size "
            + checkpoint.size()
            + ": signed by log key "
            + signer.kid()
            + ", root "
            + checkpoint.root());
    Optional<String> uncovered = options.earlier().flatMap(earlier -> earlier(trust, earlier));
    Checkpoint witnessed = options.earlier().orElse(checkpoint);
    witnesses(witnessed, uncovered);
    stamps(witnessed, uncovered);
    options.installation().ifPresent(proof -> installation(trust, proof));
    return signer;
  }

  /** Requires that the installation states this log, or what continues it. */
  private void installation(Trust trust, InstallationProof proof) {
    Checkpoint checkpoint = bundle.checkpoint();
    Checkpoint stated = proof.stated(checkpoint.origin());
    TreeSet<String> kids = new TreeSet<>();
    for (Checkpoint signed : List.of(proof.root(), stated)) {
      TrustedKey signer =
          logKey(trust, signed, Optional.empty(), "the installation's " + signed.origin());
      signers.ifPresent(s -> s.kept(signer));
      kids.add(signer.kid());
    }
    kids.forEach(kid -> pin("the log's key that signed for the installation", kid, KeyRole.LOG));
    proof.requireCovers(stated, checkpoint.size(), checkpoint.root());
    verified(
        "the installation "
            + proof.root().origin()
            + " of size "
            + proof.root().size()
            + ", root "
            + proof.root().root()
            + ": states this log of size "
            + stated.size());
  }

  /**
   * @param covered the last event that it is known to cover, whose time must be in the key's
   *     window; unknown for a kept checkpoint
   */
  private static TrustedKey logKey(
      Trust trust, Checkpoint checkpoint, Optional<Event> covered, String place) {
    String found = "no log key is enrolled";
    for (TrustedKey key : trust.keys().values()) {
      if (key.role() == KeyRole.LOG && key.revokedAt().isEmpty()) {
        try {
          checkpoint.verify(checkpoint.origin(), key.key());
          if (covered.filter(event -> !key.isValidAt(event.at())).isEmpty()) {
            return key;
          }
          found = "key " + key.kid() + " is not in force at " + covered.get().at();
        } catch (WritException e) {
          found = "key " + key.kid() + ": " + e.code().code() + " " + e.found();
        }
      }
    }
    throw new WritException(BundleError.CHECKPOINT_KEY, place + ": " + found);
  }

  /**
   * At the same size roots are compared; otherwise the proof must lead from one to the other.
   *
   * @return why what the kept checkpoint covers is not all that the bundle's does; empty where it
   *     is
   */
  private Optional<String> earlier(Trust trust, Checkpoint kept) {
    Checkpoint checkpoint = bundle.checkpoint();
    if (!kept.origin().equals(checkpoint.origin())) {
      throw new WritException(
          LedgerError.CHECKPOINT_ORIGIN, kept.origin() + " instead of " + checkpoint.origin());
    }
    TrustedKey signer = logKey(trust, kept, Optional.empty(), "the kept checkpoint");
    signers.ifPresent(s -> s.kept(signer));
    if (kept.size() == checkpoint.size()) {
      same(
          BundleError.FORK, "at size " + kept.size() + " the root", checkpoint.root(), kept.root());
      verified("the kept checkpoint: of the same size and root");
      return Optional.empty();
    }
    Checkpoint first = kept.size() < checkpoint.size() ? kept : checkpoint;
    Checkpoint second = kept.size() < checkpoint.size() ? checkpoint : kept;
    Optional<Consistency> proof =
        bundle.consistency().filter(p -> p.size1() == first.size() && p.size2() == second.size());
    if (proof.isEmpty()) {
      notVerified.add(
          "that the log of size "
              + checkpoint.size()
              + " is consistent with the kept checkpoint of size "
              + kept.size()
              + ": the bundle has no proof of that; export it with --checkpoint");
      return Optional.of("the bundle has no proof between it and size " + checkpoint.size());
    }
    consistent(first, second, proof.get());
    verified(
        "the kept checkpoint of size "
            + kept.size()
            + ": of one history with the log of size "
            + checkpoint.size());
    return kept.equals(first)
        ? Optional.of("it is smaller than the log of size " + checkpoint.size())
        : Optional.empty();
  }

  /**
   * Requires the cosignatures that are asked for.
   *
   * @param uncovered why what the witnesses saw is not all that the bundle is about
   */
  private void witnesses(Checkpoint witnessed, Optional<String> uncovered) {
    Witnesses asked = options.witnesses();
    if (asked.keys().isEmpty()) {
      return;
    }
    uncovered.ifPresent(why -> {
      throw new WritException(
          BundleError.WITNESSES_FEW,
          "the checkpoint of size " + witnessed.size() + " that they saw: " + why);
    });
    asked.keys().forEach(key -> Cosignature.of(witnessed, key).ifPresent(seen::add));
    int found = Witnesses.distinct(seen.stream().map(Cosignature::by));
    if (found < asked.quorum()) {
      throw new WritException(
          BundleError.WITNESSES_FEW,
          "the checkpoint of size "
              + witnessed.size()
              + " was cosigned by "
              + found
              + " of "
              + asked.quorum());
    }
  }

  /**
   * Requires that each time stamp that was given is one of the checkpoint.
   *
   * @param uncovered why what was stamped is not all that the bundle is about
   */
  private void stamps(Checkpoint witnessed, Optional<String> uncovered) {
    if (options.stamps().replies().isEmpty()) {
      return;
    }
    uncovered.ifPresent(why -> {
      throw new WritException(
          BundleError.STAMP_OTHER,
          "the checkpoint of size " + witnessed.size() + " that was stamped: " + why);
    });
    stamped.addAll(options.stamps().of(witnessed));
  }

  private void tellStamps() {
    Checkpoint witnessed = options.earlier().orElse(bundle.checkpoint());
    stamped.forEach(stamp -> verified(stamp.says(witnessed)));
  }

  private void tellWitnesses() {
    long size = options.earlier().orElse(bundle.checkpoint()).size();
    seen.forEach(c ->
        verified("witness " + c.by().name() + ": saw the log of size " + size + " at " + c.at()));
    List<WitnessKey> cosigned = seen.stream().map(Cosignature::by).toList();
    options.witnesses().keys().stream()
        .filter(key -> !cosigned.contains(key))
        .forEach(
            key -> notVerified.add("that witness " + key.name() + " saw the log of size " + size));
  }

  private static void consistent(Checkpoint first, Checkpoint second, Consistency proof) {
    try {
      Merkle.verifyConsistency(
          first.size(), first.root(), second.size(), second.root(), proof.path());
    } catch (WritException e) {
      throw new WritException(
          BundleError.FORK,
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
          BundleError.STATED, Layout.TRUST + " is not what the system run adds up to");
    }
  }

  /**
   * Checks every event in the order of the log, under the trust at its position: everything that it
   * refers to must be in the bundle and be valid.
   */
  private void meaning(Trust trust) {
    try (EventsAhead events = new EventsAhead(bundle, trust)) {
      meaning(events);
    }
  }

  private void meaning(EventsAhead events) {
    StatedDeletions deletions = StatedDeletions.of(bundle);
    Presence presence = new Presence(bundle, deletions);
    RunAudit audit =
        new RunAudit(
            events,
            bundle.manifest().origin(),
            new Tools(new Registered(), List.of()),
            deletions,
            () -> new EntryMarks(bundle));
    long total = events();
    long[] done = {0};
    long[] reads = {0};
    events.forEach((journal, index, event, referred) -> {
      if (event.kind().equals(EventKind.CONTENT_DELETED) && journal == Recording.Journal.CONSUMED) {
        presence.document(event.body(), References.place(event));
        audit.deletion(event);
      } else if (event.kind().equals(EventKind.CONTENT_READ)
          && journal == Recording.Journal.CONSUMED) {
        presence.document(event.body(), References.place(event));
        audit.read(event, bundle.manifest().run());
        reads[0]++;
      } else if (journal == Recording.Journal.CONSUMED) {
        presence.received(event.body(), References.place(event));
        audit.consumed(event);
      } else {
        referred.tell(presence);
        audit.event(index, event);
      }
      if (journal == Recording.Journal.RUN) {
        deletions.passed(event);
      }
      signers.ifPresent(s -> s.event(event, events));
      if (++done[0] % PIECE == 0 || done[0] == total) {
        listener.progress("what events mean", done[0], total);
      }
    });
    audit.end(bundle.manifest().incarnation());
    audit.verified().forEach(this::verified);
    if (bundle.manifest().closed()) {
      verified("1 closing: counts every event and receipt of the run, and names its last");
    }
    if (reads[0] > 0) {
      verified(reads[0] + " reads by people: stated, as policy asks, as the executor signed");
      notVerified.add("that these are all reads: only the whole log shows that");
    }
    notVerified.addAll(audit.notVerified());
    presence.requireNothingElse();
    present(presence);
  }

  /**
   * Compares the signers with the pins. All signatures are verified by now, and the log is
   * consistent.
   */
  private void pins(TrustedKey checkpointSigner) {
    if (signers.isEmpty()) {
      return;
    }
    Trust pins = options.pinned().orElseThrow();
    PinnedSigners found = signers.get();
    found.checkpoint(checkpointSigner);
    found.hold(pins);
    long pinned = found.pinned(pins);
    verified(pinned + " pinned keys that signed: holder, window and revocation are as pinned");
    if (pinned < found.size()) {
      notVerified.add(
          (found.size() - pinned)
              + " keys that signed: not pinned; that they are in force says the log alone");
    }
  }

  private void present(Presence presence) {
    verified(presence.documents + " documents: those that the events name, with these digests");
    if (bundle.manifest().blobs()) {
      verified(presence.blobs + " blobs: hashed again, of the size that is signed");
    } else {
      notVerified.add(
          presence.leftOut() + " blobs: left out; their digests are signed, they are not here");
    }
    if (presence.deleted() > 0) {
      verified(
          presence.deleted()
              + " contents: deleted, as the executor signed, by rules of the policies in force;"
              + " only their digests are here");
    }
    presence.erased().forEach(this::verified);
    presence.archived().forEach(this::verified);
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

  /** The tools by their manifests in the bundle, for judging only; nothing here runs a tool. */
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
      throw new WritException(BundleError.TOOL_MISSING, manifest.name() + ": its files");
    }
  }

  /** What no bundle can show. */
  private void limits() {
    if (!bundle.manifest().closed()) {
      notVerified.add("the end of the run: it is open; events can follow, or be left out here");
    }
    notVerified.add(
        "that the system run is whole up to the checkpoint: its last events, such as a revocation,"
            + " can be left out; only the whole log shows that");
    notVerified.add("balances, rates and nonces across runs: that is `writ audit`");
    notVerified.add("outcomes: no tool ran again, and no stage; that is for replay");
    if (options.pinned().isEmpty()) {
      notVerified.add(
          "who signed it: integrity only; signer not pinned: who holds the founding operator's key "
              + founder);
    }
  }

  /** The same for a line's chain, which is nearly always right: the place is not worded before. */
  private static void same(Lines.Place place, String what, Object found, Object wanted) {
    if (!found.equals(wanted)) {
      same(BundleError.EVENT_CHAIN, place + " " + what, found, wanted);
    }
  }

  private static void same(BundleError code, String place, Object found, Object wanted) {
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
