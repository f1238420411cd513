package dev.writ.ledger.fsck;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.Anchor;
import dev.writ.ledger.Format;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.Uploads;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.LogRow;
import dev.writ.ledger.form.LogTime;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.fsck.FsckReport.Problem;
import dev.writ.ledger.merkle.Frontier;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.ledger.storage.Storage;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Rebuilds everything from the raw entries and compares it with what is stored. It may run while a
 * writer works, changes nothing, and holds one row at a time.
 */
public final class Fsck {
  private static final byte[] ALL = {};

  /** How often the check of checksums is repeated because a writer compacted files meanwhile. */
  private static final int COMPACTED_MEANWHILE_MAX = 5;

  /** Documents of ours, whose payload must be canonical JSON. */
  private static final String OURS = "application/vnd.writ.";

  /** Gets the progress of the examination; called for every row, so it must be quick. */
  @FunctionalInterface
  public interface Progress {
    /**
     * @param step what is being examined, in the plural: "events"
     * @param done how many were
     */
    void at(String step, long done);
  }

  /**
   * What to examine, and what to compare it with.
   *
   * @param dir the data directory
   * @param logKeys each checkpoint is signed with one of them; without any, signatures are not
   *     verified
   * @param anchor the file to compare with; without it a restored backup is not detected
   * @param secondOpinion gets the canonical bytes of every event and document, and throws if it
   *     would write them differently
   */
  public record Options(
      Path dir,
      List<VerifyingKey> logKeys,
      Optional<Path> anchor,
      Optional<Consumer<byte[]>> secondOpinion,
      Progress progress) {

    /** The directory alone. */
    public static Options of(Path dir) {
      return new Options(dir, List.of(), Optional.empty(), Optional.empty(), (step, done) -> {});
    }

    public Options withLogKey(VerifyingKey key) {
      return withLogKeys(List.of(key));
    }

    /** For a log whose key was exchanged. */
    public Options withLogKeys(List<VerifyingKey> keys) {
      return new Options(dir, List.copyOf(keys), anchor, secondOpinion, progress);
    }

    public Options withAnchor(Path file) {
      return new Options(dir, logKeys, Optional.of(file), secondOpinion, progress);
    }

    public Options withSecondOpinion(Consumer<byte[]> canonicalizer) {
      return new Options(dir, logKeys, anchor, Optional.of(canonicalizer), progress);
    }

    public Options withProgress(Progress hears) {
      return new Options(dir, logKeys, anchor, secondOpinion, hears);
    }
  }

  private final Options options;
  private final Storage store;
  private final Blobs blobs;
  private final List<String> verified = new ArrayList<>();
  private final List<String> notVerified = new ArrayList<>();
  private final List<Problem> problems = new ArrayList<>();
  private final Frontier frontier = Frontier.empty();
  private long problemsTotal;
  private long logRows;
  private long oneNodeFrom = Long.MAX_VALUE;
  private long deleted;
  private final LogTime time = LogTime.begin();
  private final TreeSet<Long> restarts = new TreeSet<>();

  /** By what they are called: that of the home, and one that gateways share. */
  private final TreeMap<String, Anchor> anchors = new TreeMap<>();

  private Fsck(Options options, Storage store) {
    this.options = options;
    this.store = store;
    this.blobs = Blobs.reading(store, options.dir());
  }

  /**
   * Examines a ledger.
   *
   * @throws WritException {@code LED-002}, {@code LED-004}, {@code LED-007} where there is nothing
   *     to examine, {@code LED-006} where the database does not open at all
   */
  public static FsckReport check(Options options) {
    Path dir = options.dir().toAbsolutePath().normalize();
    return check(options, Databases.of(DurableFiles.REAL, dir));
  }

  /** With a database that the directory need not name. */
  public static FsckReport check(Options options, Database database) {
    Format.require(options.dir());
    try (Storage store = database.openReader()) {
      Fsck fsck = new Fsck(options, store);
      try (fsck.blobs) {
        return fsck.run();
      }
    }
  }

  private FsckReport run() {
    logRows = store.last(Family.LOG).map(row -> Keys.number(row.key()) + 1).orElse(0L);
    step("log", this::form);
    step("database", this::checksums);
    step("anchor", this::readAnchor);
    step("events", this::events);
    step("log", this::log);
    step("checkpoints", this::checkpoints);
    step("documents", this::documents);
    step("blobs", this::smallBlobs);
    step("blob files", this::fileBlobs);
    step("sealed contents", this::sealedCopies);
    step("uploads", this::uploads);
    step("meta", this::meta);
    notVerified.add("index tables: what they hold can be rebuilt only by whoever wrote them");
    notVerified.add("envelope signatures: that is `writ audit`, which knows the keys");
    if (deleted > 0) {
      notVerified.add(
          deleted
              + " observations: deleted, as a document states that is here; whether a rule of"
              + " policy allowed it, is for `writ audit`");
    }
    if (options.secondOpinion().isEmpty()) {
      notVerified.add("canonical form by a second implementation: not asked for");
    }
    return new FsckReport(
        verified,
        notVerified,
        problems,
        problemsTotal,
        frontier.size(),
        frontier.root().toString());
  }

  private interface Step {
    void run();
  }

  private void step(String what, Step step) {
    try {
      step.run();
    } catch (WritException e) {
      // Damage below the level of rows ends this step only.
      problem(what, "the examination ended early: " + e.getMessage());
    }
  }

  private void problem(String where, String found) {
    problemsTotal++;
    if (problems.size() < FsckReport.PROBLEMS_MAX) {
      problems.add(new Problem(where, found));
    }
  }

  private void done(String step, long done) {
    options.progress().at(step, done);
  }

  private void checksums() {
    verifyChecksums(COMPACTED_MEANWHILE_MAX);
    verified.add("checksums of all database files");
  }

  /**
   * A writer may compact a file away between our listing and reading it; then the newer list is
   * loaded and the check repeated. A file that is really lost fails every time.
   */
  private void verifyChecksums(int attempts) {
    try {
      store.verifyChecksums();
    } catch (WritException e) {
      if (attempts == 0 || !e.found().contains("No such file")) {
        throw e;
      }
      store.catchUp();
      verifyChecksums(attempts - 1);
    }
  }

  private void readAnchor() {
    if (options.anchor().isEmpty()) {
      notVerified.add("the anchor: none was named, so a restored backup would not be told");
      return;
    }
    Anchor.read(options.anchor().get())
        .ifPresentOrElse(
            anchor -> anchors.put("anchor", anchor),
            () -> problem("anchor", options.anchor().get() + " is missing"));
    LargeContents contents = blobs.contents();
    Optional<SharedAnchor> shared = contents.anchor();
    if (shared.isPresent()) {
      shared
          .get()
          .read()
          .ifPresentOrElse(
              bytes -> anchors.put("shared anchor", Anchor.parse(bytes, "the shared anchor")),
              () -> problem("shared anchor", "it is missing in " + contents.location()));
    }
  }

  private void form() {
    oneNodeFrom = LogRow.oneNodeFrom(store);
    if (oneNodeFrom != Long.MAX_VALUE && (oneNodeFrom < 0 || oneNodeFrom > logRows)) {
      problem(
          "one_node_from",
          "rows of one node begin at " + oneNodeFrom + ", but the log has " + logRows + " rows");
    }
  }

  /** Walks every run in the order of its rows. */
  private void events() {
    RunWalk walk = new RunWalk();
    scan(
        Family.EVENTS,
        (key, row) -> {
          walk.event(key, row);
          done("events", walk.count);
          return true;
        });
    walk.end();
    if (walk.count != logRows) {
      problem("events", walk.count + " events, but the log has " + logRows + " rows");
    }
    long[] runs = {0};
    scan(
        Family.RUNS,
        (key, row) -> {
          runs[0]++;
          if (!store.has(Family.EVENTS, Keys.event(key, Keys.number(row)))) {
            problem("run " + Keys.run(key), "its head, seq " + Keys.number(row) + ", is no event");
          }
          return true;
        });
    if (runs[0] != walk.runs) {
      problem("runs", runs[0] + " heads, but events of " + walk.runs + " runs");
    }
    verified.add(
        walk.count
            + " events of "
            + walk.runs
            + " runs: canonical form, seq, prev, body, position");
  }

  /** The state of walking one run after another. */
  private final class RunWalk {
    private byte[] runKey = ALL;
    private long seq;
    private Optional<Digest> prev = Optional.empty();
    private long count;
    private long runs;

    void event(byte[] key, byte[] row) {
      count++;
      byte[] itsRun = Arrays.copyOf(key, Math.max(0, key.length - 8));
      if (!Arrays.equals(itsRun, runKey)) {
        end();
        runKey = itsRun;
        seq = 0;
        prev = Optional.empty();
        runs++;
      }
      byte[] bytes = StoredForm.eventBytes(key, row);
      String where = "event " + Keys.run(itsRun) + " " + seq;
      try {
        Event event = Event.parse(bytes);
        position(where, event, key, row);
        body(where, event);
      } catch (WritException e) {
        problem(where, e.getMessage());
      }
      secondOpinion(where, bytes);
      prev = Optional.of(Digest.sha256(bytes));
      seq++;
    }

    private void position(String where, Event event, byte[] key, byte[] row) {
      if (!Arrays.equals(key, Keys.event(Keys.run(event.runId()), event.seq()))) {
        problem(where, "its row is not that of " + event.runId() + " " + event.seq());
      }
      if (event.seq() != seq) {
        problem(where, "calculated seq " + seq + ", but the event has " + event.seq());
        seq = event.seq();
      }
      if (!event.prev().equals(prev)) {
        problem(
            where, "calculated prev " + text(prev) + ", but the event has " + text(event.prev()));
      }
      long index = Keys.number(row);
      Optional<byte[]> logRow = store.get(Family.LOG, Keys.number(index));
      if (logRow.isEmpty()
          || !Arrays.equals(LogRow.eventKey(index, oneNodeFrom, logRow.get()), key)) {
        problem(where, "it says position " + index + ", where the log has not this event");
      }
    }

    private void body(String where, Event event) {
      byte[] body = event.body().bytes();
      if (store.has(Family.DOCUMENTS, body) || blobs.has(event.body())) {
        return;
      }
      if (isStatedAsDeleted(event.body())) {
        deleted++;
      } else {
        problem(where, "its body " + event.body() + " is neither a document nor a blob");
      }
    }

    void end() {
      if (runKey.length == 0) {
        return;
      }
      Optional<Long> head = store.get(Family.RUNS, runKey).map(Keys::number);
      if (!head.equals(Optional.of(seq - 1))) {
        problem(
            "run " + Keys.run(runKey),
            "calculated head "
                + (seq - 1)
                + ", but "
                + head.map(String::valueOf).orElse("none")
                + " is stored");
      }
    }

    private static String text(Optional<Digest> digest) {
      return digest.map(Digest::toString).orElse("nothing");
    }
  }

  /** Visits all rows of a family; one that cannot be parsed is a problem of its own. */
  private void scan(Family family, Storage.Visitor visitor) {
    store.scan(
        family,
        ALL,
        ALL,
        (key, row) -> {
          try {
            return visitor.row(key, row);
          } catch (WritException e) {
            problem(family + " row " + HexFormat.of().formatHex(key), e.getMessage());
            return true;
          }
        });
  }

  private void secondOpinion(String where, byte[] canonical) {
    options
        .secondOpinion()
        .ifPresent(opinion -> {
          try {
            opinion.accept(canonical);
          } catch (RuntimeException e) {
            problem(where, "the second opinion differs: " + e.getMessage());
          }
        });
  }

  /** Rebuilds the tree from the event bytes, and compares every stored node and root with it. */
  private void log() {
    MetaRow.timeRestarts(store).forEach(restarts::add);
    root(0);
    scan(
        Family.LOG,
        (key, row) -> {
          long index = Keys.number(key);
          if (index != frontier.size()) {
            problem("log row " + index, "row " + frontier.size() + " is missing before it");
            return false;
          }
          logRow(index, row);
          root(frontier.size());
          done("log rows", frontier.size());
          return true;
        });
    verified.add(
        frontier.size() + " log rows: leaf, nodes and the roots of checkpoints, from the entries");
    anchors.forEach(this::anchor);
  }

  private void logRow(long index, byte[] row) {
    String where = "log row " + index;
    int nodesLength = LogRow.nodesLength(index, oneNodeFrom);
    byte[] key = row.length > nodesLength ? LogRow.eventKey(index, oneNodeFrom, row) : ALL;
    Optional<byte[]> event = store.get(Family.EVENTS, key);
    if (event.isEmpty()) {
      problem(where, "it names an event that is not there");
    } else if (Keys.number(event.get()) != index) {
      problem(where, "its event says position " + Keys.number(event.get()));
    }
    if (row.length < nodesLength) {
      problem(where, row.length + " bytes are too few for its nodes");
    }
    event.ifPresent(e -> time(where, index, key, e));
    byte[] padded = Arrays.copyOf(row, Math.max(row.length, nodesLength));
    boolean hasOne = index >= oneNodeFrom;
    Optional<Digest> leaf =
        event
            .map(e -> Merkle.leafHash(StoredForm.eventBytes(key, e)))
            .or(() -> hasOne ? Optional.empty() : Optional.of(LogRow.node(padded, 0)));
    if (leaf.isEmpty()) {
      // The stored node stands for the event, so that its loss is not found again in every root.
      frontier.appendUnknown(LogRow.node(padded, 0));
      return;
    }
    List<Digest> nodes = frontier.append(leaf.get());
    int least = hasOne ? nodes.size() - 1 : 0;
    for (int level = least; level < nodes.size(); level++) {
      Digest stored = LogRow.node(padded, level - least);
      if (!stored.equals(nodes.get(level))) {
        problem(
            where,
            "calculated node "
                + nodes.get(level)
                + " at level "
                + level
                + ", but "
                + stored
                + " is stored");
      }
    }
  }

  /** A row that is no event is reported by the check of runs. */
  private void time(String where, long index, byte[] key, byte[] row) {
    Optional<Instant> at = at(key, row);
    if (at.isEmpty()) {
      return;
    }
    if (restarts.contains(index)) {
      time.restart(at.get());
    }
    try {
      time.take(at.get());
    } catch (WritException e) {
      problem(where, e.getMessage());
    }
  }

  private static Optional<Instant> at(byte[] key, byte[] row) {
    try {
      return Optional.of(StoredForm.parseEvent(key, row).at());
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  /** Compares everything that states a root at this size with the computed one. */
  private void root(long size) {
    Optional<byte[]> note = store.get(Family.CHECKPOINTS, Keys.number(size));
    if (note.isPresent()) {
      try {
        requireRoot("checkpoint " + size, "checkpoint", Checkpoint.parse(note.get()).root());
      } catch (WritException e) {
        problem("checkpoint " + size, e.getMessage());
      }
    }
    anchors.forEach((name, anchor) -> {
      if (anchor.treeSize() == size) {
        requireRoot(name, name, anchor.root());
      }
    });
  }

  private void requireRoot(String where, String who, Digest claimed) {
    Digest calculated = frontier.root();
    if (!calculated.equals(claimed)) {
      problem(where, "calculated root " + calculated + ", but " + who + " claims " + claimed);
    }
  }

  private void anchor(String name, Anchor anchor) {
    if (anchor.treeSize() > frontier.size()) {
      problem(
          name,
          "the log has " + frontier.size() + " events, but the anchor saw " + anchor.treeSize());
    }
    long incarnation = Keys.number(MetaRow.INCARNATION.read(store));
    if (anchor.incarnation() != incarnation) {
      problem(
          name,
          "the ledger is incarnation " + incarnation + ", the anchor's " + anchor.incarnation());
    }
    if (!anchor.origin().equals(origin())) {
      problem(name, "the ledger is " + origin() + ", the anchor's " + anchor.origin());
    }
    verified.add("the " + name + ": origin, incarnation, size " + anchor.treeSize() + ", root");
  }

  private String origin() {
    return new String(MetaRow.ORIGIN.read(store), StandardCharsets.UTF_8);
  }

  private void checkpoints() {
    long[] count = {0};
    String origin = origin();
    scan(
        Family.CHECKPOINTS,
        (key, note) -> {
          long size = Keys.number(key);
          String where = "checkpoint " + size;
          if (size > frontier.size()) {
            problem(where, "the log has " + frontier.size() + " events");
          }
          try {
            Checkpoint checkpoint = Checkpoint.parse(note);
            if (checkpoint.size() != size) {
              problem(where, "it claims size " + checkpoint.size());
            }
            verify(checkpoint, origin);
          } catch (WritException e) {
            problem(where, e.getMessage());
          }
          done("checkpoints", ++count[0]);
          return true;
        });
    if (!options.logKeys().isEmpty()) {
      verified.add(count[0] + " checkpoints: form, size, signature");
    } else {
      verified.add(count[0] + " checkpoints: form, size");
      notVerified.add("signatures of checkpoints: no log key was named");
    }
  }

  /** By one of the keys; where none of them made the signature, what the last one found. */
  private void verify(Checkpoint checkpoint, String origin) {
    Optional<WritException> refused = Optional.empty();
    for (VerifyingKey key : options.logKeys()) {
      try {
        checkpoint.verify(origin, key);
        return;
      } catch (WritException e) {
        refused = Optional.of(e);
      }
    }
    if (refused.isPresent()) {
      throw refused.get();
    }
  }

  private void documents() {
    long[] count = {0};
    scan(
        Family.DOCUMENTS,
        (key, row) -> {
          Digest id = Digest.ofBytes(key);
          String where = "document " + id;
          try {
            Envelope envelope = StoredForm.document(id, row);
            if (envelope.payloadType().startsWith(OURS)) {
              envelope.document();
              secondOpinion(where, envelope.payload());
            }
            secondOpinion(where, envelope.toBytes());
          } catch (WritException e) {
            problem(where, e.getMessage());
          }
          done("documents", ++count[0]);
          return true;
        });
    verified.add(count[0] + " documents: canonical envelope, canonical payload, id");
  }

  /** Whether a row says that a signed document states the deletion of that content. */
  private boolean isStatedAsDeleted(Digest content) {
    byte[] prefix = Keys.table(Ledger.DELETED, content.hex() + Keys.SEPARATOR);
    return store
        .atLeast(Family.TABLES, prefix)
        .filter(row -> Storage.startsWith(row.key(), prefix))
        .map(Storage.Row::value)
        .filter(document -> store.has(Family.DOCUMENTS, document))
        .isPresent();
  }

  private void smallBlobs() {
    long[] count = {0};
    scan(
        Family.BLOBS,
        (key, content) -> {
          Digest calculated = Digest.sha256(content);
          if (!Arrays.equals(calculated.bytes(), key)) {
            problem("blob " + Digest.ofBytes(key), "calculated digest " + calculated);
          }
          done("blobs", ++count[0]);
          return true;
        });
    verified.add(count[0] + " blobs in the database: digest");
  }

  /**
   * A writer may delete a content meanwhile, and its file with it; then no row names it any more.
   */
  private void fileBlobs() {
    long[] count = {0};
    TreeMap<Digest, String> failed = new TreeMap<>();
    scan(
        Family.FILES,
        (key, row) -> {
          Digest digest = Digest.ofBytes(key);
          try (InputStream in = blobs.openLarge(digest, row)) {
            in.transferTo(OutputStream.nullOutputStream());
          } catch (IOException e) {
            problem("blob " + digest, Failures.of("reading", e).getMessage());
          } catch (WritException e) {
            failed.put(digest, e.getMessage());
          }
          done("blob files", ++count[0]);
          return true;
        });
    if (!failed.isEmpty()) {
      store.catchUp();
    }
    failed.forEach((digest, found) -> {
      if (store.has(Family.FILES, digest.bytes())) {
        problem("blob " + digest, found);
      }
    });
    verified.add(count[0] + " blobs in files: size, digest");
  }

  /** Copies under keys; that they open is not looked at, since fsck needs no keys. */
  private void sealedCopies() {
    byte[] prefix = Keys.table(SealedCopy.TABLE, "");
    long[] count = {0};
    store.scan(
        Family.TABLES,
        prefix,
        prefix,
        (row, value) -> {
          String key =
              new String(row, prefix.length, row.length - prefix.length, StandardCharsets.UTF_8);
          try {
            SealedCopy copy = SealedCopy.parse(key, StoredForm.fromValue(value));
            if (!blobs.hasPlain(copy.stored())) {
              problem(
                  "sealed " + copy.content(), "its sealed form " + copy.stored() + " is missing");
            }
          } catch (WritException e) {
            problem("sealed " + key, e.getMessage());
          }
          done("sealed contents", ++count[0]);
          return true;
        });
    if (count[0] > 0) {
      verified.add(count[0] + " sealed contents: their sealed form is here");
      notVerified.add("that sealed contents open: fsck reads no keys");
    }
  }

  /** The tenants' uploads: each claim is on a blob of the stated size. */
  private void uploads() {
    byte[] prefix = Keys.table(Uploads.TABLE, "");
    long[] count = {0, 0};
    store.scan(
        Family.TABLES,
        prefix,
        prefix,
        (row, value) -> {
          String key =
              new String(row, prefix.length, row.length - prefix.length, StandardCharsets.UTF_8);
          try {
            Uploads.Claim claim = Uploads.Claim.parse(value);
            long size = blobs.size(Uploads.digest(key));
            if (size != claim.size()) {
              problem("upload " + key, "it says " + claim.size() + " bytes, the blob has " + size);
            }
            count[claim.named() ? 1 : 0]++;
          } catch (WritException e) {
            problem("upload " + key, e.getMessage());
          }
          done("uploads", count[0] + count[1]);
          return true;
        });
    verified.add(
        count[0]
            + count[1]
            + " uploads: blob, size; "
            + count[0]
            + " of them no document was found to name so far");
  }

  private void meta() {
    Instant stored = Instant.ofEpochMilli(Keys.number(MetaRow.HIGH_WATER.read(store)));
    if (!stored.equals(time.latest())) {
      problem("high_water", "calculated " + time.latest() + ", but " + stored + " is stored");
    }
    restarts
        .tailSet(frontier.size())
        .forEach(index ->
            problem("time_restarts", "time restarts at event " + index + ", which is not there"));
    verified.add(
        "times of events: none more than a day behind those before it, but where time restarts ("
            + restarts.size()
            + "); the high-water mark");
  }
}
