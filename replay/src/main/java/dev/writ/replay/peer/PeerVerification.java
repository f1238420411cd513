package dev.writ.replay.peer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.ErrorJson;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Optional;

/**
 * The result of verifying a chain of receipts of another system (spec/peers.md); a failure is a
 * value, too.
 *
 * @param format the name of the format; empty where it was not recognised
 * @param receipts how many receipts the file has
 * @param pinned whether signatures were verified under keys from elsewhere
 * @param whole whether the chain is here from its beginning, and its end was compared with what is
 *     known from elsewhere
 * @param verified what was verified, a line each
 * @param notVerified what was not, a line each
 * @param failure the first failure
 */
public record PeerVerification(
    Optional<String> format,
    int receipts,
    boolean pinned,
    boolean whole,
    List<String> verified,
    List<String> notVerified,
    Optional<WritException> failure) {

  /**
   * What is known from elsewhere.
   *
   * @param keys keys that may have signed; without one, each receipt's own is tried
   * @param last the digest by which a next receipt would name the last one, 64 hexadecimal digits
   * @param count how many receipts there are
   */
  public record Options(List<VerifyingKey> keys, Optional<String> last, Optional<Long> count) {
    public Options {
      keys = List.copyOf(keys);
    }
  }

  public PeerVerification {
    verified = List.copyOf(verified);
    notVerified = List.copyOf(notVerified);
  }

  /** Verifies the bytes of a file. */
  public static PeerVerification of(byte[] file, Options options) {
    PeerChain chain = new PeerChain(options);
    try {
      chain.verify(Jcs.parse(file));
    } catch (WritException e) {
      return chain.failed(e);
    }
    return chain.result();
  }

  public boolean holds() {
    return failure.isEmpty();
  }

  /** The result as JSON, as {@code writ verify-peer --json} prints it. */
  public JsonValue toJson() {
    return JsonValue.object()
        .putIfPresent("format", format, JsonValue::of)
        .put("holds", holds())
        .put("pinned", pinned)
        .put("receipts", receipts)
        .put("whole", whole)
        .putList("verified", verified, JsonValue::of)
        .putList("not_verified", notVerified, JsonValue::of)
        .putIfPresent("failure", failure, ErrorJson::of)
        .build();
  }
}
