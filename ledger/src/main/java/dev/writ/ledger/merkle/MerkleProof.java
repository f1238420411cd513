package dev.writ.ledger.merkle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.error.LedgerError;
import java.util.List;

/**
 * The path of an inclusion proof or a consistency proof (RFC 9162, 2.1.3 and 2.1.4). Positions and
 * sizes are not part of it: a verifier takes them from what it trusts.
 *
 * @param hashes in the order of the RFC; at most 64, for no tree is deeper
 */
public record MerkleProof(List<Digest> hashes) {
  /** More than any tree of less than 2^63 leaves can need. */
  public static final int HASHES_MAX = 64;

  /**
   * @throws WritException {@code LED-041} for more than {@link #HASHES_MAX} hashes
   */
  public MerkleProof {
    if (hashes.size() > HASHES_MAX) {
      throw new WritException(
          LedgerError.PROOF_LENGTH, hashes.size() + " hashes, at most " + HASHES_MAX);
    }
    hashes = List.copyOf(hashes);
  }

  /** A list of digests. */
  public JsonValue.Arr toJson() {
    return JsonValue.of(hashes.stream().map(hash -> JsonValue.of(hash.toString())).toList());
  }

  /** Reads the list of digests that {@code fields} has under {@code key}. */
  public static MerkleProof read(Fields fields, String key) {
    return new MerkleProof(fields.list(key, Fields::digestItem));
  }
}
