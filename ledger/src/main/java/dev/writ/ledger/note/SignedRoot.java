package dev.writ.ledger.note;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.cose.Cbor;
import dev.writ.canonicalize.cose.CoseSign1;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.merkle.MerkleProof;
import java.util.Arrays;

/**
 * The root of a checkpoint, which the log's key signed a second time: as COSE receipts need it (RFC
 * 9942, spec/export.md). Header and signature are those of every receipt at this size.
 */
public final class SignedRoot {
  /**
   * The entry that is proven, in the unprotected header of a receipt. A label for private use
   * (below −65536), whose encoding reads {@code :WRIT}.
   */
  private static final int EVENT = -0x57524955;

  // Of RFC 9942.
  private static final int VDS = 395;
  private static final int VDP = 396;
  private static final int RFC9162_SHA256 = 1;
  private static final int INCLUSION = -1;
  private static final int CONSISTENCY = -2;

  private final Checkpoint checkpoint;
  private final String kid;
  private final byte[] header;
  private final byte[] signature;

  private SignedRoot(Checkpoint checkpoint, String kid, byte[] header, byte[] signature) {
    this.checkpoint = checkpoint;
    this.kid = kid;
    this.header = header;
    this.signature = signature;
  }

  /**
   * Signs the root of a checkpoint that this key has signed as a note before.
   *
   * @param origin of the log
   * @throws WritException {@code LED-052} to {@code LED-054} where the note is not this log's, or
   *     is signed by another key: then nothing is signed
   */
  public static SignedRoot sign(Checkpoint checkpoint, String origin, SigningKey logKey) {
    checkpoint.verify(origin, logKey.verifyingKey());
    Cbor header =
        new Cbor()
            .map(4)
            .integer(CoseSign1.ALG)
            .integer(CoseSign1.algorithm(logKey))
            .integer(CoseSign1.KID)
            .bytes(CoseSign1.kid(logKey));
    CoseSign1.claims(header, "urn:writ:log:" + origin, "urn:writ:checkpoint:" + checkpoint.size());
    byte[] bytes = header.integer(VDS).integer(RFC9162_SHA256).toBytes();
    return new SignedRoot(
        checkpoint, logKey.kid(), bytes, CoseSign1.sign(bytes, checkpoint.root().bytes(), logKey));
  }

  /** Whether it is the root of this very note, signed by this key. */
  public boolean isOf(Checkpoint other, SigningKey logKey) {
    return kid.equals(logKey.kid()) && Arrays.equals(checkpoint.toBytes(), other.toBytes());
  }

  /** What was signed before, as a note. */
  public Checkpoint checkpoint() {
    return checkpoint;
  }

  /**
   * A receipt that an event is in the log.
   *
   * @param index the event's place in the log, below the checkpoint's size
   * @param path from the event to the root
   * @param event its canonical bytes, which go along: a leaf is the hash of them
   * @throws WritException {@code LED-041} for an empty path, which no receipt can have
   */
  public byte[] inclusion(long index, MerkleProof path, byte[] event) {
    byte[] proof = proof(checkpoint.size(), index, path);
    return receipt(INCLUSION, proof, 2)
        .integer(EVENT)
        .bytes(event)
        .nothing()
        .bytes(signature)
        .toBytes();
  }

  /**
   * A receipt that the log continues an earlier one.
   *
   * @param size of the earlier one, above 0 and below the checkpoint's
   * @param path from the root at that size to this root
   * @throws WritException {@code LED-041} for an empty path, which no receipt can have
   */
  public byte[] consistency(long size, MerkleProof path) {
    byte[] proof = proof(size, checkpoint.size(), path);
    return receipt(CONSISTENCY, proof, 1).nothing().bytes(signature).toBytes();
  }

  /** The message as far as its map of unprotected parameters, of which the proof is the first. */
  private Cbor receipt(int kind, byte[] proof, int parameters) {
    return CoseSign1.begin(header)
        .map(parameters)
        .integer(VDP)
        .map(1)
        .integer(kind)
        .array(1)
        .bytes(proof);
  }

  private static byte[] proof(long first, long second, MerkleProof path) {
    if (path.hashes().isEmpty()) {
      throw new WritException(
          LedgerError.PROOF_LENGTH, "a receipt needs a path of one hash or more");
    }
    Cbor proof = new Cbor().array(3).integer(first).integer(second).array(path.hashes().size());
    for (Digest hash : path.hashes()) {
      proof.bytes(hash.bytes());
    }
    return proof.toBytes();
  }
}
