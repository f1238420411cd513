package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.ErrorJson;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.note.Cosignature;
import dev.writ.verify.stamp.TimeStamp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The result of verifying a bundle; a failure is a value, too.
 *
 * @param holds whether the verification succeeded
 * @param pinned whether its signers were compared with keys from elsewhere
 * @param state {@code open} or {@code closed}, the state of the run; {@code unknown} after a
 *     failure
 * @param verified what was verified, a line each
 * @param notVerified what was not verified, a line each
 * @param witnesses what witnesses said, of those that were asked for
 * @param stamps what time stamp authorities said
 * @param failure the first failure
 */
public record Verification(
    boolean holds,
    boolean pinned,
    String state,
    List<String> verified,
    List<String> notVerified,
    List<Cosignature> witnesses,
    List<TimeStamp> stamps,
    Optional<WritException> failure) {

  public Verification {
    verified = List.copyOf(verified);
    notVerified = List.copyOf(notVerified);
    witnesses = List.copyOf(witnesses);
    stamps = List.copyOf(stamps);
  }

  /** Verifies a file from its bytes alone; it must not change meanwhile. */
  public static Verification of(
      Path file, BundleVerifier.Options options, BundleVerifier.Listener listener) {
    List<String> lines = new ArrayList<>();
    try (Bundle bundle = Bundle.open(file)) {
      BundleVerifier.Verified verified =
          BundleVerifier.verify(
              bundle,
              options,
              new BundleVerifier.Listener() {
                @Override
                public void accept(String line) {
                  lines.add(line);
                  listener.accept(line);
                }

                @Override
                public void progress(String what, long done, long total) {
                  listener.progress(what, done, total);
                }
              });
      return new Verification(
          true,
          verified.pinned(),
          verified.manifest().closed() ? "closed" : "open",
          verified.verified(),
          verified.notVerified(),
          verified.witnesses(),
          verified.stamps(),
          Optional.empty());
    } catch (WritException e) {
      return new Verification(
          false,
          options.pinned().isPresent(),
          "unknown",
          lines,
          List.of("everything behind the first failure"),
          List.of(),
          List.of(),
          Optional.of(e));
    }
  }

  /** The result as JSON, as {@code writ verify --json} prints it. */
  public JsonValue toJson() {
    return JsonValue.object()
        .put("holds", JsonValue.of(holds))
        .put("pinned", JsonValue.of(pinned))
        .put("state", state)
        .putList("verified", verified, JsonValue::of)
        .putList("not_verified", notVerified, JsonValue::of)
        .putIfPresent(
            "witnesses",
            witnesses.isEmpty() ? Optional.empty() : Optional.of(witnesses),
            Verification::witnesses)
        .putIfPresent(
            "stamps",
            stamps.isEmpty() ? Optional.empty() : Optional.of(stamps),
            all -> JsonValue.of(all.stream().map(TimeStamp::toJson).toList()))
        .putIfPresent("failure", failure, ErrorJson::of)
        .build();
  }

  /** Each with its key and the time in seconds since 1970. */
  public static JsonValue witnesses(List<Cosignature> witnesses) {
    return JsonValue.of(
        witnesses.stream()
            .map(c ->
                JsonValue.object()
                    .put("key", c.by().toString())
                    .put("time", c.at().getEpochSecond())
                    .build())
            .toList());
  }
}
