package dev.writ.executor.apart;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.event.RunId;

/**
 * An executor with a key and a log of its own, as its guardian sees it. Each call may fail with
 * {@code EXE-930} where there is no answer. Thread safe.
 */
public interface RemoteExecutor {

  /**
   * Whether it would serve an order now: stages 0 to 3. It changes nothing.
   *
   * @throws dev.writ.canonicalize.WritException what it refuses with; {@code EXE-934} where its
   *     copy of the system run is behind
   */
  OrderPrepared prepare(ApartOrder order);

  /**
   * Has an order served that is dispatched, or asks for its end, and waits for that.
   *
   * @throws dev.writ.canonicalize.WritException where there is none: nothing is known of it then
   */
  OrderEnded end(ApartOrder order);

  /** What it knows of a run. */
  RunKnown run(RunId run);

  /** Carries over events of a run. */
  void carry(RunId run, CarriedEvents events);

  /** How far its copy of the system run is. */
  SystemHead system();

  /**
   * Carries over events of the system run.
   *
   * @throws dev.writ.canonicalize.WritException {@code EXE-933} where they do not continue its
   *     copy, and the code of a document that is not valid
   */
  void carrySystem(CarriedEvents events);

  /** Gives it content that an effect names as an input. */
  void content(String tenant, Digest digest, byte[] bytes, String mediaType);

  /** The digest of a run's workspace. */
  Digest treeDigest(String tenant, String run);

  /** Closes its own run after the guardian's is closed, and wipes the run's workspace. */
  void close(Envelope runClose);

  /**
   * Signs a statement of the guardian's log with the executor's key: a refusal, the closing of a
   * run, a deletion, a reading.
   *
   * @param preAuth the pre-authentication encoding of the document's envelope
   * @throws dev.writ.canonicalize.WritException {@code EXE-937} for anything else, and for what its
   *     own log contradicts
   */
  byte[] sign(byte[] preAuth);
}
