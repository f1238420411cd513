package dev.writ.guardian.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The executor's signed statement of the outcome of one intent. Every dispatched effect gets one.
 *
 * @param lamport one more than the greatest of the previous receipt's and of every receipt that the
 *     effect consumes (protocol rule 16)
 * @param prev id of the previous receipt of the run; of the run's opening event for the first
 * @param argsHash digest of the effect's params
 * @param code stable code of the stage that refused after dispatch; absent if the outcome is the
 *     tool's own
 * @param reason {@code ok}, or the cause in a stable word
 * @param message the cause for people; may be empty
 * @param output the canonical output of a success
 * @param rawOutput the tool's output if the outcome is not a success
 * @param retained false if the request asked to drop the output
 * @param observations digest of the driver's observations (metrics, captured streams, …)
 * @param region where the executor stood, in the words of its configuration; absent where that
 *     names none
 * @param finishedAt for IN_DOUBT, when recovery or the driver found it
 */
public record Receipt(
    Scope scope,
    long lamport,
    Digest prev,
    Digest request,
    Digest decision,
    Digest intent,
    Digest effect,
    Digest argsHash,
    ToolRef tool,
    Status status,
    Optional<String> code,
    String reason,
    String message,
    Optional<Content> output,
    Optional<Content> rawOutput,
    boolean retained,
    List<Artifact> artifacts,
    Optional<Digest> workspaceBefore,
    Optional<Digest> workspaceAfter,
    Optional<Digest> observations,
    Digest snapshot,
    String prngSeed,
    Optional<String> region,
    Instant startedAt,
    Instant finishedAt) {

  public static final String TYPE = PayloadTypes.of("receipt");

  /** The greatest length of a message, with the character that marks a cut. */
  private static final int MESSAGE_MAX = 501;

  private static final Pattern SEED = Pattern.compile("[0-9a-f]{64}");

  private static final Pattern REGION = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

  /** A file that the tool produced as an artifact. */
  public record Artifact(String name, Content content) {
    static Artifact read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Artifact artifact = new Artifact(fields.name("name"), Content.read(fields.fields("content")));
      fields.end();
      return artifact;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("name", name).put("content", content.toJson()).build();
    }
  }

  public Receipt {
    artifacts = List.copyOf(artifacts);
  }

  /** Whether content is its output, its raw output or one of its artifacts. */
  public boolean names(Digest content) {
    return Stream.of(output.stream(), rawOutput.stream(), artifacts.stream().map(Artifact::content))
        .flatMap(all -> all)
        .anyMatch(c -> c.digest().equals(content));
  }

  public static Receipt read(JsonValue document) {
    return Fields.once(document, Receipt.class, Receipt::readNow);
  }

  private static Receipt readNow(JsonValue document) {
    Fields fields = Fields.of("receipt", document);
    Receipt receipt =
        new Receipt(
            Scope.read(fields),
            fields.count("lamport"),
            fields.digest("prev"),
            fields.digest("request"),
            fields.digest("decision"),
            fields.digest("intent"),
            fields.digest("effect"),
            fields.digest("args_hash"),
            ToolRef.read(fields.fields("tool")),
            fields.oneOf("status", List.of(Status.values()), Status::text),
            fields.optional("code", fields::name),
            fields.name("reason"),
            fields.string("message"),
            fields.optional("output", key -> Content.read(fields.fields(key))),
            fields.optional("raw_output", key -> Content.read(fields.fields(key))),
            fields.bool("retained"),
            fields.list("artifacts", Artifact::read),
            fields.optional("workspace_before", fields::digest),
            fields.optional("workspace_after", fields::digest),
            fields.optional("observations", fields::digest),
            fields.digest("snapshot"),
            fields.name("prng_seed"),
            fields.optional("region", fields::name),
            fields.time("started_at"),
            fields.time("finished_at"));
    fields.end();
    require(receipt.message.length() <= MESSAGE_MAX, "receipt/message is too long");
    require(
        SEED.matcher(receipt.prngSeed).matches(),
        "receipt/prng_seed is not 64 lower-case hex digits");
    require(
        receipt.region.stream().allMatch(Receipt::isRegion), "receipt/region is none like eu-1");
    return receipt;
  }

  /**
   * Whether a text can name a region: 1 to 63 of a-z, 0-9 and {@code -}, which is not the first.
   */
  public static boolean isRegion(String text) {
    return REGION.matcher(text).matches();
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, otherwise);
    }
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", scope.tenant())
        .put("run", scope.run())
        .put("subject", scope.subject())
        .put("lamport", lamport)
        .put("prev", prev)
        .put("request", request)
        .put("decision", decision)
        .put("intent", intent)
        .put("effect", effect)
        .put("args_hash", argsHash)
        .put("tool", tool.toJson())
        .put("status", status.text())
        .putIfPresent("code", code, JsonValue::of)
        .put("reason", reason)
        .put("message", message)
        .putIfPresent("output", output, Content::toJson)
        .putIfPresent("raw_output", rawOutput, Content::toJson)
        .put("retained", retained)
        .putList("artifacts", artifacts, Artifact::toJson)
        .putIfPresent("workspace_before", workspaceBefore, d -> JsonValue.of(d.toString()))
        .putIfPresent("workspace_after", workspaceAfter, d -> JsonValue.of(d.toString()))
        .putIfPresent("observations", observations, d -> JsonValue.of(d.toString()))
        .put("snapshot", snapshot)
        .put("prng_seed", prngSeed)
        .putIfPresent("region", region, JsonValue::of)
        .put("started_at", startedAt)
        .put("finished_at", finishedAt)
        .build();
  }
}
