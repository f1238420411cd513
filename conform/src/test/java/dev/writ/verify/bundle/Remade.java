package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.Guardian;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.RecordedRun.Journal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A bundle as who holds every key can write it: documents changed and signed again, events changed,
 * dropped, brought in and put in another order, and whatever names them by digest made to fit, from
 * the chains of the runs to the log, its checkpoint and the trust file. Its log has the bundle's
 * events, and {@link #others} between them.
 */
public final class Remade {
  private static final int HEX = 2 * Digest.LENGTH;

  /** Envelopes by type, signers and text: most documents of a vector are those of the others. */
  private static final Map<String, Envelope> SIGNED = new ConcurrentHashMap<>();

  /** An event to be written: what its run makes of it follows. */
  public static final class Step {
    public final Event was;
    public Journal journal;
    public String tenant;
    public String run;
    public String kind;
    public Digest body;
    public Instant at;
    public Optional<String> seed;

    Step(Journal journal, Event was) {
      this.journal = journal;
      this.was = was;
      this.tenant = was.tenant();
      this.run = was.run();
      this.kind = was.kind();
      this.body = was.body();
      this.at = was.at();
      this.seed = was.prngSeed();
    }

    public Step copy() {
      Step copy = new Step(journal, was);
      copy.tenant = tenant;
      copy.run = run;
      copy.kind = kind;
      copy.body = body;
      copy.at = at;
      copy.seed = seed;
      return copy;
    }
  }

  /** A document to be signed. */
  private record Draft(String type, JsonValue document, List<String> kids) {}

  private final TreeMap<String, byte[]> entries;
  private final Function<String, SigningKey> keys;
  private final TreeMap<Digest, Draft> drafts = new TreeMap<>();
  private final TreeMap<Digest, Envelope> written = new TreeMap<>();
  private final TreeSet<Digest> begun = new TreeSet<>();
  private final TreeMap<String, String> renamed = new TreeMap<>();
  private final TreeMap<String, String> runSeeds = new TreeMap<>();

  /** In the order of the log. */
  public final List<Step> steps = new ArrayList<>();

  /** Signs the checkpoint. */
  public SigningKey log;

  /** How many leaves of other runs lie in the log before each of these steps. */
  public final TreeMap<Integer, Integer> others = new TreeMap<>();

  /** Changes {@code bundle.json} at the end. */
  public UnaryOperator<JsonValue.Obj> manifest = UnaryOperator.identity();

  private Remade(TreeMap<String, byte[]> entries, Function<String, SigningKey> keys) {
    this.entries = entries;
    this.keys = keys;
  }

  /**
   * @param keys the secret of a key id; of every key that signed something in it
   * @param log signs the checkpoint
   */
  public static Remade of(byte[] bundle, Function<String, SigningKey> keys, SigningKey log) {
    Remade remade = new Remade(Unpacked.entries(bundle), keys);
    remade.log = log;
    remade.entries.forEach((name, bytes) -> {
      if (name.startsWith(BundleEntryNames.DOCUMENTS)) {
        Envelope envelope = Envelope.parse(bytes);
        remade.drafts.put(
            envelope.id(),
            new Draft(
                envelope.payloadType(),
                envelope.document(),
                envelope.signatures().stream().map(Envelope.Signature::kid).toList()));
      }
    });
    try (Bundle open = Bundle.of(bundle)) {
      open.events((journal, _, event) -> remade.steps.add(new Step(journal, event)));
    }
    return remade;
  }

  // ---- what a forger changes

  /** The ids of all documents, as they were. */
  public List<Digest> documents() {
    return List.copyOf(drafts.keySet());
  }

  public JsonValue.Obj document(Digest id) {
    return (JsonValue.Obj) drafts.get(id).document();
  }

  public String type(Digest id) {
    return drafts.get(id).type();
  }

  public List<String> kids(Digest id) {
    return drafts.get(id).kids();
  }

  public Remade change(Digest id, UnaryOperator<JsonValue.Obj> change) {
    drafts.computeIfPresent(
        id,
        (_, old) ->
            new Draft(old.type(), change.apply((JsonValue.Obj) old.document()), old.kids()));
    return this;
  }

  /** Has a document signed by other keys. */
  public Remade signedBy(Digest id, List<String> kids) {
    drafts.computeIfPresent(id, (_, old) -> new Draft(old.type(), old.document(), kids));
    return this;
  }

  /** Brings in a document; the id stands for it in steps and other documents. */
  public Digest bring(String type, JsonValue document, List<String> kids) {
    Digest id = Digest.sha256(Jcs.write(document));
    drafts.put(id, new Draft(type, document, kids));
    return id;
  }

  /** Brings in an event of the system run before the one at a place. */
  public void bringSystemEvent(int at, Instant time, String kind, Digest body) {
    Step step = steps.getFirst().copy();
    step.journal = Journal.SYSTEM;
    step.tenant = "writ";
    step.run = "system";
    step.kind = kind;
    step.seed = Optional.empty();
    step.at = time;
    step.body = body;
    steps.add(at, step);
  }

  /** Puts one text in the place of another one, wherever it stands. */
  public void replace(String from, String to) {
    UnaryOperator<String> other = text -> text.equals(from) ? to : text;
    drafts.replaceAll((_, old) ->
        new Draft(
            old.type(), texts(old.document(), other), old.kids().stream().map(other).toList()));
    for (Step step : steps) {
      step.tenant = other.apply(step.tenant);
      step.run = other.apply(step.run);
      step.at = time(other.apply(Timestamps.format(step.at)), step.at);
    }
    UnaryOperator<JsonValue.Obj> before = manifest;
    manifest = stated -> (JsonValue.Obj) texts(before.apply(stated), other);
  }

  private static Instant time(String text, Instant otherwise) {
    try {
      return Timestamps.parse(text);
    } catch (WritException e) {
      return otherwise;
    }
  }

  /** Moves a step and all behind it in time, with whatever their documents say of times. */
  public void shift(int from, long millis) {
    TreeSet<Digest> before = new TreeSet<>();
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      if (i < from) {
        before.add(step.body);
        continue;
      }
      step.at = step.at.plusMillis(millis);
      if (before.add(step.body)) {
        drafts.computeIfPresent(
            step.body,
            (_, old) ->
                new Draft(
                    old.type(),
                    texts(
                        old.document(),
                        text -> {
                          Instant time = time(text, Instant.MIN);
                          return time == Instant.MIN
                              ? text
                              : Timestamps.format(time.plusMillis(millis));
                        }),
                    old.kids()));
      }
    }
  }

  private static JsonValue texts(JsonValue value, UnaryOperator<String> change) {
    return switch (value) {
      case JsonValue.Str text -> JsonValue.of(change.apply(text.value()));
      case JsonValue.Arr list ->
          JsonValue.of(list.items().stream().map(item -> texts(item, change)).toList());
      case JsonValue.Obj object -> {
        TreeMap<String, JsonValue> members = new TreeMap<>();
        object.members().forEach((name, member) -> members.put(name, texts(member, change)));
        yield new JsonValue.Obj(members);
      }
      default -> value;
    };
  }

  /** The request that a step of the run is about, as far as its document says. */
  public Optional<Digest> requestOf(int at) {
    Step step = steps.get(at);
    if (step.journal != Journal.RUN || step.kind.equals(EventKind.RUN_CLOSED)) {
      return Optional.empty();
    }
    if (step.kind.equals(EventKind.EFFECT_FINISHED)) {
      return at + 1 < steps.size() ? requestOf(at + 1) : Optional.empty();
    }
    if (step.kind.equals(EventKind.REQUEST_RECEIVED)) {
      return Optional.of(step.body);
    }
    return named(step.body, "receipt")
        .flatMap(receipt -> named(receipt, "request"))
        .or(() -> named(step.body, "request"));
  }

  private Optional<Digest> named(Digest document, String member) {
    return Optional.ofNullable(drafts.get(document))
        .map(draft -> ((JsonValue.Obj) draft.document()).get(member))
        .filter(JsonValue.Str.class::isInstance)
        .map(text -> Digest.parse(((JsonValue.Str) text).value()));
  }

  /**
   * Has the run's opening, the chain of its receipts and its closing fit the order of its steps.
   */
  public void chain() {
    Step opened = null;
    Step before = null;
    Digest last = null;
    long lamport = 0;
    long receipts = 0;
    long events = 0;
    for (Step step : steps.stream().filter(s -> s.journal == Journal.RUN).toList()) {
      opened = opened == null ? step : opened;
      Digest previous = last == null ? opened.was.id() : last;
      if (step.kind.equals(EventKind.REQUEST_RECEIVED) && events == 1) {
        opened.body = step.body;
      } else if (step.kind.equals(EventKind.RECEIPT_SIGNED) && drafts.containsKey(step.body)) {
        for (Digest consumed : consumed(step.body)) {
          lamport = Math.max(lamport, lamport(consumed));
        }
        lamport++;
        receipts++;
        set(step.body, "lamport", JsonValue.of(lamport));
        set(step.body, "prev", JsonValue.of(previous.toString()));
        last = step.body;
      } else if (step.kind.equals(EventKind.RUN_CLOSED) && before != null) {
        set(step.body, "events", JsonValue.of(events));
        set(step.body, "receipts", JsonValue.of(receipts));
        set(step.body, "last_receipt", JsonValue.of(previous.toString()));
        set(step.body, "run_hash", JsonValue.of(before.was.id().toString()));
      }
      before = step;
      events++;
    }
  }

  /** Has each correction of the clock say where in the log it lies now. */
  public void place() {
    long index = 0;
    for (int i = 0; i < steps.size(); i++) {
      index += others.getOrDefault(i, 0);
      if (steps.get(i).kind.equals(EventKind.CLOCK_CORRECTED)
          && drafts.containsKey(steps.get(i).body)
          && document(steps.get(i).body).get("detail") instanceof JsonValue.Obj detail) {
        TreeMap<String, JsonValue> members = new TreeMap<>(detail.members());
        members.put("tree_size", JsonValue.of(index));
        set(steps.get(i).body, "detail", new JsonValue.Obj(members));
      }
      index++;
    }
  }

  private List<Digest> consumed(Digest receipt) {
    JsonValue list =
        named(receipt, "request")
            .map(drafts::get)
            .map(request -> ((JsonValue.Obj) request.document()).get("consumes"))
            .orElse(JsonValue.of(List.of()));
    return list instanceof JsonValue.Arr ids
        ? ids.items().stream().map(id -> Digest.parse(((JsonValue.Str) id).value())).toList()
        : List.of();
  }

  private long lamport(Digest receipt) {
    Draft draft = drafts.get(receipt);
    return draft != null
            && ((JsonValue.Obj) draft.document()).get("lamport") instanceof JsonValue.Num number
        ? (long) number.value()
        : 0;
  }

  private void set(Digest document, String member, JsonValue value) {
    change(
        document,
        now -> {
          TreeMap<String, JsonValue> members = new TreeMap<>(now.members());
          members.put(member, value);
          return new JsonValue.Obj(members);
        });
  }

  // ---- what follows

  /** The entries of the bundle that this comes to. */
  public TreeMap<String, byte[]> entries() {
    written.clear();
    begun.clear();
    renamed.clear();
    List<Event> events = new ArrayList<>();
    TreeMap<RunId, Event> heads = new TreeMap<>();
    for (Step step : steps) {
      if (step.kind.equals(EventKind.RUN_OPENED)) {
        step.seed.ifPresent(seed -> runSeeds.put(step.tenant + "/" + step.run, seed));
      }
      write(step.body);
      Digest body = Digest.parse("sha256:" + text(step.body.hex()));
      Optional<String> seed = step.seed.map(this::text);
      RunId run = new RunId(step.tenant, step.run);
      Event head = heads.get(run);
      Event next;
      if (step.journal == Journal.CONSUMED) {
        next =
            new Event(
                step.tenant,
                step.run,
                step.was.seq(),
                step.kind,
                step.was.prev(),
                body,
                step.at,
                seed);
      } else {
        next =
            head == null
                ? Event.first(step.tenant, step.run, step.kind, body, step.at, seed)
                : head.next(step.kind, body, step.at, seed);
        heads.put(run, next);
      }
      rename(step.was.id().hex(), next.id().hex());
      events.add(next);
    }
    return lay(events);
  }

  public byte[] toBytes() {
    return Unpacked.pack(entries());
  }

  private void write(Digest id) {
    Draft draft = drafts.get(id);
    // Two documents that name each other cannot both fit: the first keeps the old name.
    if (draft == null || !begun.add(id)) {
      return;
    }
    String before = new String(Jcs.write(draft.document()), StandardCharsets.UTF_8);
    digests(
        before,
        (_, hex) -> {
          if (!hex.equals(id.hex())) {
            write(Digest.parse("sha256:" + hex));
          }
        });
    String after = text(before);
    Envelope envelope =
        SIGNED.computeIfAbsent(
            String.join("\n", draft.type(), String.join(" ", draft.kids()), after),
            _ -> signed(draft, after));
    written.put(id, envelope);
    rename(id.hex(), envelope.id().hex());
    if (draft.type().equals(Decision.TYPE)) {
      effectSeed(id, envelope);
    }
  }

  private void effectSeed(Digest before, Envelope decision) {
    JsonValue.Obj document = (JsonValue.Obj) decision.document();
    if (document.get("tenant") instanceof JsonValue.Str tenant
        && document.get("run") instanceof JsonValue.Str run) {
      String seed = runSeeds.get(tenant.value() + "/" + run.value());
      if (seed != null) {
        byte[] bytes = HexFormat.of().parseHex(seed);
        rename(Guardian.effectSeed(bytes, before), Guardian.effectSeed(bytes, decision.id()));
      }
    }
  }

  private void rename(String before, String after) {
    if (!before.equals(after)) {
      renamed.put(before, after);
    }
  }

  private String text(String text) {
    StringBuilder other = new StringBuilder(text);
    digests(text, (at, hex) -> other.replace(at, at + HEX, renamed.getOrDefault(hex, hex)));
    return other.toString();
  }

  private Envelope signed(Draft draft, String text) {
    return Envelope.sign(
        draft.type(),
        Jcs.parse(text.getBytes(StandardCharsets.UTF_8)),
        draft.kids().stream().map(keys).toArray(SigningKey[]::new));
  }

  /** Finds what is written as a digest is, from left to right, with its place. */
  private static void digests(String text, BiConsumer<Integer, String> found) {
    int digits = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      digits = c >= '0' && c <= '9' || c >= 'a' && c <= 'f' ? digits + 1 : 0;
      if (digits == HEX) {
        found.accept(i + 1 - HEX, text.substring(i + 1 - HEX, i + 1));
        digits = 0;
      }
    }
  }

  // ---- the entries

  private TreeMap<String, byte[]> lay(List<Event> events) {
    TreeMap<Digest, Envelope> documents = new TreeMap<>();
    written.values().forEach(envelope -> documents.put(envelope.id(), envelope));
    TreeMap<String, byte[]> laid = new TreeMap<>();
    Referred referred = new Referred(laid);
    References references = new References(source(documents), referred);
    try {
      for (int i = 0; i < events.size(); i++) {
        if (steps.get(i).journal == Journal.CONSUMED) {
          referred.document(events.get(i).body(), "");
        } else {
          references.event(events.get(i));
        }
      }
    } catch (WritException | ClassCastException refused) {
      // What it refers to cannot be known; then everything is there.
      documents.forEach(
          (id, envelope) -> laid.put(BundleEntryNames.document(id), envelope.toBytes()));
      entries.forEach((name, bytes) -> {
        if (name.startsWith(BundleEntryNames.BLOBS) || name.startsWith(BundleEntryNames.TOOLS)) {
          laid.put(name, bytes);
        }
      });
    }
    referred.documents.forEach(id ->
        Optional.ofNullable(documents.get(id))
            .ifPresent(envelope -> laid.put(BundleEntryNames.document(id), envelope.toBytes())));
    log(events, documents, laid);
    return laid;
  }

  private static DocumentSource source(TreeMap<Digest, Envelope> documents) {
    return id -> Optional.ofNullable(documents.get(id));
  }

  private void log(
      List<Event> events, TreeMap<Digest, Envelope> documents, TreeMap<String, byte[]> laid) {
    List<Digest> leaves = new ArrayList<>();
    TreeMap<Journal, List<JsonValue>> ranges = new TreeMap<>();
    TreeMap<Journal, StringBuilder> lines = new TreeMap<>();
    TreeSet<Integer> own = new TreeSet<>();
    for (Journal journal : Journal.values()) {
      ranges.put(journal, new ArrayList<>());
      lines.put(journal, new StringBuilder());
    }
    Journal before = null;
    for (int i = 0; i <= events.size(); i++) {
      for (int other = others.getOrDefault(i, 0); other > 0; other--) {
        leaves.add(Merkle.leafHash((i + " " + other).getBytes(StandardCharsets.UTF_8)));
        before = null;
      }
      if (i == events.size()) {
        break;
      }
      Journal journal = steps.get(i).journal;
      long first = leaves.size();
      long count = 1;
      if (journal == before) {
        JsonValue.Arr range = (JsonValue.Arr) ranges.get(journal).removeLast();
        first = (long) ((JsonValue.Num) range.items().get(0)).value();
        count += (long) ((JsonValue.Num) range.items().get(1)).value();
      }
      ranges.get(journal).add(JsonValue.of(List.of(JsonValue.of(first), JsonValue.of(count))));
      byte[] line = events.get(i).toBytes();
      lines.get(journal).append(new String(line, StandardCharsets.UTF_8)).append('\n');
      own.add(leaves.size());
      leaves.add(Merkle.leafHash(line));
      before = journal;
    }
    List<JsonValue> hashes = new ArrayList<>();
    rest(leaves, own, 0, leaves.size(), hashes);
    var proof = JsonValue.object().put("hashes", JsonValue.of(hashes));
    for (Journal journal : Journal.values()) {
      proof.put(journal.name().toLowerCase(Locale.ROOT), JsonValue.of(ranges.get(journal)));
      laid.put(
          BundleEntryNames.journal(journal),
          lines.get(journal).toString().getBytes(StandardCharsets.UTF_8));
    }
    laid.put(BundleEntryNames.INCLUSION, Jcs.write(proof.build()));
    JsonValue.Obj old = (JsonValue.Obj) Jcs.parse(entries.get(BundleEntryNames.MANIFEST));
    String origin = ((JsonValue.Str) old.get("origin")).value();
    laid.put(
        BundleEntryNames.CHECKPOINT,
        Checkpoint.sign(origin, leaves.size(), Merkle.root(leaves), log).toBytes());
    laid.put(
        BundleEntryNames.MANIFEST, Jcs.write(manifest.apply(stated(old, events, leaves.size()))));
    laid.put(BundleEntryNames.TRUST, trust(events, documents));
  }

  /** The hashes of the subtrees without an event of the bundle (bundle.md). */
  private static void rest(
      List<Digest> leaves, TreeSet<Integer> own, int from, int to, List<JsonValue> hashes) {
    Integer next = own.ceiling(from);
    if (next == null || next >= to) {
      hashes.add(JsonValue.of(Merkle.root(leaves.subList(from, to)).toString()));
    } else if (to - from > 1) {
      int middle = from + Integer.highestOneBit(to - from - 1);
      rest(leaves, own, from, middle, hashes);
      rest(leaves, own, middle, to, hashes);
    }
  }

  private JsonValue.Obj stated(JsonValue.Obj old, List<Event> events, int size) {
    TreeMap<String, JsonValue> members = new TreeMap<>(old.members());
    members.put("size", JsonValue.of(size));
    boolean closed = false;
    for (int i = 0; i < events.size(); i++) {
      if (steps.get(i).journal == Journal.RUN) {
        closed = events.get(i).kind().equals(EventKind.RUN_CLOSED);
      }
    }
    members.put("state", JsonValue.of(closed ? "closed" : "open"));
    return new JsonValue.Obj(members);
  }

  /** What the system run adds up to, as far as it does. */
  private byte[] trust(List<Event> events, TreeMap<Digest, Envelope> documents) {
    SystemState state = SystemState.NOTHING;
    for (Event event : events) {
      if (event.runId().equals(SystemState.RUN)) {
        try {
          state = state.after(event, source(documents));
        } catch (WritException refused) {
          continue; // a verifier refuses it before it comes to the trust file
        }
      }
    }
    return Jcs.write(state.trust().toJson());
  }

  /** Takes over what is referred to, as far as the bundle had it. */
  private final class Referred implements References.Sink {
    final TreeSet<Digest> documents = new TreeSet<>();
    private final SortedMap<String, byte[]> laid;

    Referred(SortedMap<String, byte[]> laid) {
      this.laid = laid;
    }

    private void keep(String name) {
      byte[] bytes = entries.get(name);
      if (bytes != null) {
        laid.put(name, bytes);
      }
    }

    @Override
    public void document(Digest id, String place) {
      documents.add(id);
    }

    @Override
    public void blob(Digest digest, OptionalLong size, References.Use use, String place) {
      keep(BundleEntryNames.blob(digest));
    }

    @Override
    public void notKept(Digest digest) {
      // is outside
    }

    @Override
    public void tool(ToolRef tool, String place) {
      keep(BundleEntryNames.tool(tool));
    }

    @Override
    public void files(ToolRef tool, String place) {
      tool(tool, place);
      byte[] bytes = entries.get(BundleEntryNames.tool(tool));
      if (bytes != null) {
        ToolManifest.read(Jcs.parse(bytes))
            .files()
            .forEach(file -> keep(BundleEntryNames.file(tool, file)));
      }
    }

    @Override
    public void foreign(Digest receipt, RunId run, String place) {
      documents.add(receipt);
    }
  }
}
