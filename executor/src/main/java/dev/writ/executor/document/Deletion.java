package dev.writ.executor.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The executor's statement that contents of a run were deleted, as a rule of policy says or an
 * operator's order, or moved to the archive (spec/retention.md). Their digests stay in the
 * documents that name them.
 *
 * @param of the run whose events name the contents
 * @param contents sorted, none twice
 * @param deletedAt the time of the event, by which their age is computed
 */
public record Deletion(RunId of, Reason reason, List<Item> contents, Instant deletedAt) {

  public static final String TYPE = PayloadTypes.of("deletion");

  /** The run of the installation in which deletions are events. It has no others. */
  public static final RunId RUN = new RunId("writ", "retention");

  /** How many contents one statement names at most. */
  public static final int CONTENTS_MAX = 1024;

  /** Why contents were deleted. */
  public sealed interface Reason permits Rule, Order, Archived {
    /** In one word or two, for people. */
    String name();

    /** The end of a sentence that says that something was deleted. */
    String text();
  }

  /**
   * A rule of policy.
   *
   * @param policy digest of the policy in force
   * @param name of the rule in it
   */
  public record Rule(Digest policy, String name) implements Reason {
    @Override
    public String text() {
      return "by rule " + name + " of policy " + policy;
    }
  }

  /**
   * An operator's {@link ErasureOrder}.
   *
   * @param id of the system-change
   */
  public record Order(Digest id) implements Reason {
    @Override
    public String name() {
      return "order " + id;
    }

    @Override
    public String text() {
      return "by an operator's order " + id;
    }
  }

  /**
   * The archive of closed runs.
   *
   * @param policy digest of the policy in force, which allows it
   * @param bundle digest of the run's bundle, which has the contents
   */
  public record Archived(Digest policy, Digest bundle) implements Reason {
    @Override
    public String name() {
      return "archive of closed runs";
    }

    @Override
    public String text() {
      return "moved to the archive, into the bundle " + bundle;
    }
  }

  /**
   * A deleted content, as an event of the run names it.
   *
   * @param seq of that event
   */
  public record Item(ContentClass content, Digest digest, long seq, long size)
      implements Comparable<Item> {
    private static final Comparator<Item> ORDER =
        Comparator.comparingLong(Item::seq)
            .thenComparing(item -> item.content().text())
            .thenComparing(Item::digest);

    static Item read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Item item =
          new Item(
              fields.oneOf("class", ContentClass.ALL, ContentClass::text),
              fields.digest("digest"),
              fields.count("seq"),
              fields.count("size"));
      fields.end();
      return item;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("class", content.text())
          .put("digest", digest)
          .put("seq", seq)
          .put("size", size)
          .build();
    }

    @Override
    public int compareTo(Item other) {
      return ORDER.compare(this, other);
    }
  }

  public Deletion {
    contents = List.copyOf(contents);
  }

  /**
   * @throws dev.writ.canonicalize.WritException {@code CAN-02x} for another form, also for contents
   *     that are not sorted
   */
  public static Deletion read(JsonValue document) {
    Fields fields = Fields.of("deletion", document);
    Deletion deletion =
        new Deletion(
            new RunId(fields.name("tenant"), fields.name("run")),
            reason(fields),
            fields.list("contents", Item::read),
            fields.time("deleted_at"));
    boolean sorted = !deletion.contents.isEmpty() && deletion.contents.size() <= CONTENTS_MAX;
    for (int i = 1; i < deletion.contents.size(); i++) {
      sorted &= deletion.contents.get(i - 1).compareTo(deletion.contents.get(i)) < 0;
    }
    if (!sorted) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "deletion/contents are not 1 to " + CONTENTS_MAX + ", sorted, none twice");
    }
    fields.end();
    return deletion;
  }

  private static Reason reason(Fields fields) {
    Optional<Digest> order = fields.optional("order", fields::digest);
    if (order.isPresent()) {
      return new Order(order.get());
    }
    Digest policy = fields.digest("policy");
    return fields
        .optional("bundle", fields::digest)
        .<Reason>map(bundle -> new Archived(policy, bundle))
        .orElseGet(() -> new Rule(policy, fields.name("rule")));
  }

  public JsonValue.Obj toJson() {
    ObjectBuilder members =
        JsonValue.object()
            .put("tenant", of.tenant())
            .put("run", of.run())
            .putList("contents", contents, Item::toJson)
            .put("deleted_at", deletedAt);
    return switch (reason) {
      case Rule rule -> members.put("policy", rule.policy()).put("rule", rule.name()).build();
      case Order order -> members.put("order", order.id()).build();
      case Archived archived ->
          members.put("policy", archived.policy()).put("bundle", archived.bundle()).build();
    };
  }
}
