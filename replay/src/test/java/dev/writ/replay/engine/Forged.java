package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.BundleManifest;
import dev.writ.verify.bundle.RecordedRun;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A recording by a forger who holds every key: one document or event is another one, and everything
 * behind it that names it is made to fit and signed again.
 */
final class Forged implements RecordedRun {
  private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

  /** What to do with an event: give it back, or others instead. */
  interface Change {
    List<Event> of(Event event);
  }

  private record Line(Journal journal, long index, Event event) {}

  private final RecordedRun from;
  private final List<Line> lines = new ArrayList<>();
  private final TreeMap<Digest, Envelope> documents = new TreeMap<>();
  private final TreeMap<Digest, byte[]> blobs = new TreeMap<>();
  private final TreeMap<String, String> renamed = new TreeMap<>();
  private Optional<Event> head = Optional.empty();
  private Optional<TestTools> files = Optional.empty();

  private Forged(RecordedRun from) {
    this.from = from;
  }

  /** Changes the document of one event and signs it again. */
  static Forged document(RecordedRun from, long seq, UnaryOperator<JsonValue.Obj> change) {
    return new Forged(from).make(seq, change, event -> List.of(event));
  }

  /** Changes one event, drops it, or puts others behind it. */
  static Forged event(RecordedRun from, long seq, Change change) {
    return new Forged(from)
        .make(
            seq,
            UnaryOperator.identity(),
            event -> event.seq() == seq ? change.of(event) : List.of(event));
  }

  /** Nothing changed, and the packages' files from elsewhere. */
  static Forged withFiles(RecordedRun from, TestTools tools) {
    Forged same = new Forged(from).make(-1, UnaryOperator.identity(), event -> List.of(event));
    same.files = Optional.of(tools);
    return same;
  }

  Forged withBlob(byte[] content) {
    blobs.put(Digest.sha256(content), content);
    return this;
  }

  static JsonValue.Obj with(JsonValue.Obj document, String member, JsonValue value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
    members.put(member, value);
    return new JsonValue.Obj(members);
  }

  private Forged make(long seq, UnaryOperator<JsonValue.Obj> change, Change events) {
    from.events((journal, index, event) -> {
      if (journal != Journal.RUN) {
        lines.add(new Line(journal, index, event));
        return;
      }
      from.document(event.body())
          .ifPresent(d -> {
            // what a closing or a refusal names stands before it, or is a request of its own
            resign(event.body(), d, event.seq() == seq ? change : UnaryOperator.identity());
          });
      for (Event other : events.of(event)) {
        Event next = chained(other);
        renamed.put(event.id().hex(), next.id().hex());
        head = Optional.of(next);
        lines.add(new Line(journal, index, next));
      }
    });
    return this;
  }

  private Event chained(Event e) {
    Digest body = Digest.parse("sha256:" + text(e.body().hex()));
    Optional<String> seed = e.prngSeed().map(this::text);
    return head.isEmpty()
        ? Event.first(e.tenant(), e.run(), e.kind(), body, e.at(), seed)
        : head.get().next(e.kind(), body, e.at(), seed);
  }

  private void resign(Digest id, Envelope envelope, UnaryOperator<JsonValue.Obj> change) {
    String old = new String(envelope.payload(), StandardCharsets.UTF_8);
    JsonValue.Obj document =
        change.apply((JsonValue.Obj) Jcs.parse(text(old).getBytes(StandardCharsets.UTF_8)));
    byte[] payload = Jcs.write(document);
    if (Arrays.equals(payload, envelope.payload())) {
      return;
    }
    String signer =
        TestKeys.PARTIES.stream()
            .filter(p -> p.key().kid().equals(envelope.signatures().getFirst().kid()))
            .findFirst()
            .orElseThrow()
            .name();
    Envelope signed = Envelope.signBytes(envelope.payloadType(), payload, TestKeys.key(signer));
    documents.put(signed.id(), signed);
    renamed.put(id.hex(), signed.id().hex());
  }

  /** Replaces every name that changed. */
  Forged renaming(String one, String other) {
    renamed.put(one, other);
    return this;
  }

  private String text(String text) {
    Matcher matcher = HEX.matcher(text);
    StringBuilder out = new StringBuilder();
    while (matcher.find()) {
      matcher.appendReplacement(out, renamed.getOrDefault(matcher.group(), matcher.group()));
    }
    return matcher.appendTail(out).toString();
  }

  @Override
  public BundleManifest manifest() {
    return from.manifest();
  }

  @Override
  public void events(Visitor visitor) {
    lines.forEach(line -> visitor.event(line.journal(), line.index(), line.event()));
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    return Optional.ofNullable(documents.get(id)).or(() -> from.document(id));
  }

  @Override
  public Optional<byte[]> blob(Digest digest) {
    return Optional.ofNullable(blobs.get(digest)).or(() -> from.blob(digest));
  }

  @Override
  public Optional<ToolManifest> tool(ToolRef tool) {
    return from.tool(tool);
  }

  @Override
  public Driver.PackageContent files(ToolManifest manifest) {
    return files.map(tools -> tools.content(manifest)).orElseGet(() -> from.files(manifest));
  }
}
