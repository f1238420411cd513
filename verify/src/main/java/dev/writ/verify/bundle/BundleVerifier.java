package dev.writ.verify.bundle;

import static dev.writ.verify.bundle.Recomputed.same;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.SystemState;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.verify.audit.RunAudit;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.stamp.Stamps;
import dev.writ.verify.stamp.TimeStamp;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
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
      WitnessRequirement witnesses,
      Stamps stamps,
      Optional<InstallationProof> installation) {
    /** Without the proof of an installation. */
    public Options(
        Optional<Trust> pinned,
        Optional<Checkpoint> earlier,
        boolean requireClosed,
        WitnessRequirement witnesses,
        Stamps stamps) {
      this(pinned, earlier, requireClosed, witnesses, stamps, Optional.empty());
    }

    /** Without time stamps. */
    public Options(
        Optional<Trust> pinned,
        Optional<Checkpoint> earlier,
        boolean requireClosed,
        WitnessRequirement witnesses) {
      this(pinned, earlier, requireClosed, witnesses, Stamps.NONE);
    }

    /** Without witnesses. */
    public Options(Optional<Trust> pinned, Optional<Checkpoint> earlier, boolean requireClosed) {
      this(pinned, earlier, requireClosed, WitnessRequirement.NONE);
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
  static final int PIECE = 1024;

  private final Bundle bundle;
  private final Options options;
  private final VerifiedLines told;
  private final Pins pins;
  private String founder = "";
  private Optional<PinnedSigners> signers = Optional.empty();

  private BundleVerifier(Bundle bundle, Options options, Listener listener) {
    this.bundle = bundle;
    this.options = options;
    this.told = new VerifiedLines(listener);
    this.pins = new Pins(options.pinned(), told);
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
    new EntryCheck(bundle, told).verify();
    JournalChain chain = new JournalChain(bundle, told);
    Event last = chain.verify(RecordedRun.Journal.RUN, bundle.manifest().run());
    chain.verify(RecordedRun.Journal.SYSTEM, SystemState.RUN);
    closing(last);
    CheckpointCheck checkpoint = new CheckpointCheck(bundle, options, told, pins);
    checkpoint.isOfThisLog();
    Event covered = inclusion();
    try (EventPrefetch events = new EventPrefetch(bundle)) {
      events.begin();
      Trust trust = systemRun();
      signers = options.pinned().map(_ -> new PinnedSigners(trust));
      TrustedKey checkpointSigner = checkpoint.signature(trust, covered, signers);
      checkpoint.tellWitnesses();
      checkpoint.tellStamps();
      trustFile(trust);
      meaning(events);
      holdPins(checkpointSigner);
    }
    limits();
    return new Verified(
        bundle.manifest(),
        options.pinned().isPresent(),
        told.verified(),
        told.notVerified(),
        checkpoint.seen(),
        checkpoint.stamped());
  }

  /**
   * Checks that the run's end fits its state; the content of the closing is checked later with the
   * run.
   */
  private void closing(Event last) {
    boolean closed = last.kind().equals(EventKind.RUN_CLOSED);
    same(
        BundleError.RUN_CUT,
        BundleEntryNames.MANIFEST + " /state",
        bundle.manifest().closed() ? "closed" : "open",
        closed ? "closed" : "open");
    if (!closed && options.requireClosed()) {
      throw new WritException(BundleError.RUN_OPEN, "its last event is " + References.place(last));
    }
  }

  /**
   * Returns the last event in the order of the log: every checkpoint over it is at least as late.
   */
  private Event inclusion() {
    Checkpoint checkpoint = bundle.checkpoint();
    JournalMerge order = new JournalMerge(bundle);
    Digest root = LogRoot.of(checkpoint.size(), order, bundle.inclusion().hashes());
    same(
        BundleError.EVENT_PROOF,
        "root of the log of size " + checkpoint.size(),
        checkpoint.root(),
        root);
    told.verified(events() + " events: proven to be in the log of size " + checkpoint.size());
    return order.taken();
  }

  private long events() {
    return Inclusion.JOURNALS.stream().mapToLong(bundle.inclusion()::events).sum();
  }

  /** Trust follows from the system run alone; {@code trust.jwks} is held against it later. */
  private Trust systemRun() {
    SystemState state = SystemState.NOTHING;
    Optional<String> first = Optional.empty();
    SystemRunPrefetch run = new SystemRunPrefetch(bundle);
    for (List<Event> part = run.next(); !part.isEmpty(); part = run.next()) {
      for (Event event : part) {
        state = after(state, event, run);
        if (first.isEmpty() && !state.trust().keys().isEmpty()) {
          first = Optional.of(state.trust().keys().firstKey());
        }
      }
    }
    founder =
        first.orElseThrow(() ->
            new WritException(BundleError.RUN_EMPTY, BundleEntryNames.SYSTEM + " enrols no key"));
    pins.require("the operator's key that founded the installation", founder, KeyRole.OPERATOR);
    told.verified(
        state.trust().keys().size()
            + " keys: enrolled by signed documents, the first by operator key "
            + founder);
    return state.trust();
  }

  private static SystemState after(SystemState state, Event event, SystemRunPrefetch documents) {
    try {
      return state.after(event, documents);
    } catch (WritException e) {
      throw new WritException(e.code(), References.place(event) + ": " + e.found(), e);
    }
  }

  private void trustFile(Trust trust) {
    if (!Arrays.equals(Jcs.write(trust.toJson()), bundle.trust())) {
      throw new WritException(
          BundleError.STATED, BundleEntryNames.TRUST + " is not what the system run adds up to");
    }
  }

  /**
   * Checks every event in the order of the log, under the trust at its position: everything that it
   * refers to must be in the bundle and be valid.
   */
  private void meaning(EventPrefetch events) {
    StatedDeletions deletions = StatedDeletions.of(bundle);
    ReferenceCoverage presence = new ReferenceCoverage(bundle, deletions);
    RunAudit audit =
        new RunAudit(
            events,
            bundle.manifest().origin(),
            new Tools(new Registered(), List.of()),
            deletions,
            () -> new EntryMarks(bundle, events));
    long total = events();
    long[] done = {0};
    long[] reads = {0};
    events.forEach((journal, index, event, referred) -> {
      if (event.kind().equals(EventKind.CONTENT_DELETED)
          && journal == RecordedRun.Journal.CONSUMED) {
        presence.document(event.body(), References.place(event));
        audit.deletion(event);
      } else if (event.kind().equals(EventKind.CONTENT_READ)
          && journal == RecordedRun.Journal.CONSUMED) {
        presence.document(event.body(), References.place(event));
        audit.read(event, bundle.manifest().run());
        reads[0]++;
      } else if (journal == RecordedRun.Journal.CONSUMED) {
        presence.received(event.body(), References.place(event));
        audit.consumed(event);
      } else {
        referred.tell(presence);
        audit.event(index, event);
      }
      if (journal == RecordedRun.Journal.RUN) {
        deletions.passed(event);
      }
      signers.ifPresent(s -> s.event(event, events));
      if (++done[0] % PIECE == 0 || done[0] == total) {
        told.progress("what events mean", done[0], total);
      }
    });
    audit.end(bundle.manifest().incarnation());
    audit.verified().forEach(told::verified);
    if (bundle.manifest().closed()) {
      told.verified("1 closing: counts every event and receipt of the run, and names its last");
    }
    if (reads[0] > 0) {
      told.verified(reads[0] + " reads by people: stated, as policy asks, as the executor signed");
      told.notVerified("that these are all reads: only the whole log shows that");
    }
    audit.notVerified().forEach(told::notVerified);
    presence.requireNothingElse();
    present(presence);
  }

  /**
   * Compares the signers with the pins. All signatures are verified by now, and the log is
   * consistent.
   */
  private void holdPins(TrustedKey checkpointSigner) {
    if (signers.isEmpty()) {
      return;
    }
    Trust pins = options.pinned().orElseThrow();
    PinnedSigners found = signers.get();
    found.checkpoint(checkpointSigner);
    found.hold(pins);
    long pinned = found.pinned(pins);
    told.verified(pinned + " pinned keys that signed: holder, window and revocation are as pinned");
    if (pinned < found.size()) {
      told.notVerified(
          (found.size() - pinned)
              + " keys that signed: not pinned; that they are in force says the log alone");
    }
  }

  private void present(ReferenceCoverage presence) {
    told.verified(
        presence.documents + " documents: those that the events name, with these digests");
    if (bundle.manifest().blobs()) {
      told.verified(presence.blobs + " blobs: hashed again, of the size that is signed");
    } else {
      told.notVerified(
          presence.leftOut() + " blobs: left out; their digests are signed, they are not here");
    }
    if (presence.deleted() > 0) {
      told.verified(
          presence.deleted()
              + " contents: deleted, as the executor signed, by rules of the policies in force;"
              + " only their digests are here");
    }
    presence.erased().forEach(told::verified);
    presence.archived().forEach(told::verified);
    long notKept = presence.notKept();
    if (notKept > 0) {
      told.notVerified(notKept + " outputs: not kept, as the request asked; only their digests");
    }
    if (bundle.manifest().tools()) {
      told.verified(presence.tools + " tool manifests: of the packages that the intents name");
      told.verified(presence.files + " files of tools: of the packages that were dispatched");
    } else {
      told.notVerified("tool manifests and packages: left out");
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
      told.notVerified("the end of the run: it is open; events can follow, or be left out here");
    }
    told.notVerified(
        "that the system run is whole up to the checkpoint: its last events, such as a revocation,"
            + " can be left out; only the whole log shows that");
    told.notVerified("balances, rates and nonces across runs: that is `writ audit`");
    told.notVerified("outcomes: no tool ran again, and no stage; that is for replay");
    if (options.pinned().isEmpty()) {
      told.notVerified(
          "who signed it: integrity only; signer not pinned: who holds the founding operator's key "
              + founder);
    }
  }
}
