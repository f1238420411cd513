package dev.writ.executor.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The executor's statement that something was about to be handed out to a person, as policy asks
 * (spec/read-event.md).
 *
 * @param what sorted, none twice
 * @param policy digest of the policy in force, which has this recorded
 * @param readAt the time of the event
 */
public record ReadEvent(
    Person by, Thing thing, List<ReadClass> what, Digest policy, Instant readAt) {

  public static final String TYPE = PayloadTypes.of("read-event");

  /** The run of the installation in which reads are events. It has no others. */
  public static final RunId RUN = new RunId("writ", "reads");

  /**
   * Who reads.
   *
   * @param tenant in which it acts, and in which alone it reads
   * @param method how it showed who it is: {@code session}, {@code mtls}, {@code bearer}, {@code
   *     access}
   */
  public record Person(String tenant, String subject, String method) {}

  /**
   * What is read.
   *
   * @param run of which it is; absent for a policy, and for a content that is named by its digest
   *     alone
   * @param id of the request, document, content or policy; absent for the run as a whole
   */
  public record Thing(Optional<String> run, Optional<Digest> id) {
    public static Thing ofRun(String run) {
      return new Thing(Optional.of(run), Optional.empty());
    }

    public static Thing of(String run, Digest id) {
      return new Thing(Optional.of(run), Optional.of(id));
    }

    /** A content or a policy. */
    public static Thing of(Digest digest) {
      return new Thing(Optional.empty(), Optional.of(digest));
    }
  }

  public ReadEvent {
    what = List.copyOf(what);
  }

  /**
   * @throws WritException {@code CAN-02x} for another form
   */
  public static ReadEvent read(JsonValue document) {
    Fields fields = Fields.of("read-event", document);
    ReadEvent event =
        new ReadEvent(
            new Person(fields.name("tenant"), fields.name("subject"), fields.name("method")),
            new Thing(fields.optional("run", fields::name), fields.optional("id", fields::digest)),
            fields.list("what", ReadEvent::word),
            fields.digest("policy"),
            fields.time("read_at"));
    fields.end();
    boolean sorted = !event.what.isEmpty();
    for (int i = 1; i < event.what.size(); i++) {
      sorted &= event.what.get(i - 1).compareTo(event.what.get(i)) < 0;
    }
    if (!sorted) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, "read-event/what is not at least one, sorted, none twice");
    }
    if (event.thing.run.isEmpty() && event.thing.id.isEmpty()) {
      throw new WritException(CanonicalizeError.FIELD_MISSING, "read-event has neither run nor id");
    }
    if (event.what.contains(ReadClass.POLICY)
        && (event.what.size() > 1 || event.thing.run.isPresent())) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, "read-event/what has policy with another word or a run");
    }
    return event;
  }

  private static ReadClass word(String path, JsonValue value) {
    String text = Fields.stringItem(path, value);
    return ReadClass.ALL.stream()
        .filter(word -> word.text().equals(text))
        .findFirst()
        .orElseThrow(() ->
            new WritException(
                CanonicalizeError.FIELD_VALUE,
                path + " is none of " + ReadClass.ALL.stream().map(ReadClass::text).toList()));
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", by.tenant)
        .put("subject", by.subject)
        .put("method", by.method)
        .putIfPresent("run", thing.run, JsonValue::of)
        .putIfPresent("id", thing.id, id -> JsonValue.of(id.toString()))
        .putList("what", what, word -> JsonValue.of(word.text()))
        .put("policy", policy)
        .put("read_at", readAt)
        .build();
  }
}
