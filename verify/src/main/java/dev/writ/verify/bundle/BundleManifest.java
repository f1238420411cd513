package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.error.BundleError;
import java.util.List;

/**
 * {@code bundle.json}: what a bundle contains. None of it is trusted: the verifier compares each
 * member with the evidence.
 *
 * @param origin name of the log
 * @param incarnation of the ledger at {@code size}
 * @param size the size of the log to which the proofs lead
 * @param closed whether the run is closed; the bundle of an open run contains its events up to
 *     {@code size}
 * @param blobs whether blobs are included
 * @param tools whether tool manifests and packages are included
 */
public record BundleManifest(
    RunId run,
    String origin,
    long incarnation,
    long size,
    boolean closed,
    boolean blobs,
    boolean tools) {
  /** The one version that this release writes and reads. */
  public static final long FORMAT = 2;

  /**
   * @throws WritException {@code RPL-020} for another format version, {@code CAN-02x} for another
   *     form
   */
  public static BundleManifest read(JsonValue document) {
    Fields fields = Fields.of("bundle", document);
    long format = fields.count("format");
    if (format != FORMAT) {
      throw new WritException(
          BundleError.FORMAT_UNKNOWN, "format " + format + ", this release reads " + FORMAT);
    }
    BundleManifest manifest =
        new BundleManifest(
            new RunId(fields.name("tenant"), fields.name("run")),
            fields.name("origin"),
            fields.count("incarnation"),
            fields.count("size"),
            fields.oneOf("state", List.of(true, false), BundleManifest::state),
            fields.oneOf("blobs", List.of(true, false), BundleManifest::included),
            fields.oneOf("tools", List.of(true, false), BundleManifest::included));
    fields.end();
    return manifest;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("format", FORMAT)
        .put("tenant", run.tenant())
        .put("run", run.run())
        .put("origin", origin)
        .put("incarnation", incarnation)
        .put("size", size)
        .put("state", state(closed))
        .put("blobs", included(blobs))
        .put("tools", included(tools))
        .build();
  }

  private static String state(boolean closed) {
    return closed ? "closed" : "open";
  }

  private static String included(boolean included) {
    return included ? "included" : "left-out";
  }
}
