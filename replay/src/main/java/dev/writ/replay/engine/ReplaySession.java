package dev.writ.replay.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.ErrorJson;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Optional;

/**
 * The result for one bundle. A bundle that does not verify is INVALID and is not replayed.
 *
 * @param name of the file
 * @param invalid why it does not verify
 * @param pinned whether the signers are pinned
 * @param result present if it was replayed
 * @param verified what was verified in it before
 */
public record ReplaySession(
    String name,
    Optional<WritException> invalid,
    boolean pinned,
    Optional<ReplayResult> result,
    List<String> verified) {

  public ReplaySession {
    verified = List.copyOf(verified);
  }

  /** INVALID, or the state of the replay. */
  public String state() {
    return result.map(r -> r.state().name()).orElse("INVALID");
  }

  public JsonValue.Obj toJson() {
    var json =
        JsonValue.object()
            .put("file", name)
            .put("state", state())
            .put("pinned", JsonValue.of(pinned))
            .putList("verified", verified, JsonValue::of)
            .putIfPresent("invalid", invalid, ErrorJson::of);
    result.ifPresent(r ->
        r.toJson()
            .members()
            .forEach((key, value) -> {
              if (!key.equals("state")) {
                json.put(key, value);
              }
            }));
    return json.build();
  }
}
