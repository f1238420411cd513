package dev.writ.gateway.apart;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.executor.error.ExecutorError;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.ledger.witness.AddCheckpoint;
import dev.writ.ledger.witness.Witness;
import dev.writ.ledger.witness.WitnessAnswer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Supplier;

/**
 * Guardian and executor are each a witness of the other's log (spec/witness.md): this side's
 * witness, and its own checkpoints as the other side has cosigned them.
 */
public final class CrossWitness implements AutoCloseable {
  private static final int OK = 200;

  private final Witness witness;
  private final NoteKey otherLog;
  private final Supplier<List<NoteKey>> otherKeys;
  private final WitnessKey other;
  private final LedgerView own;
  private final Supplier<Checkpoint> sign;
  private final Path file;
  private final InstantSource clock;

  /**
   * @param witness knows the other's log alone; closed with this
   * @param otherLog names that log
   * @param otherKeys by which it signs now
   * @param other the witness on the other side
   * @param sign a checkpoint of the own log
   * @param file takes the newest of them that the other side has cosigned
   */
  public CrossWitness(
      Witness witness,
      NoteKey otherLog,
      Supplier<List<NoteKey>> otherKeys,
      WitnessKey other,
      LedgerView own,
      Supplier<Checkpoint> sign,
      Path file,
      InstantSource clock) {
    this.witness = witness;
    this.otherLog = otherLog;
    this.otherKeys = otherKeys;
    this.other = other;
    this.own = own;
    this.sign = sign;
    this.file = file;
    this.clock = clock;
  }

  /** The size of the other's log that was cosigned last; 0 for none. */
  long seen() {
    WitnessAnswer answer = witness.latest(Witness.hash(otherLog.name()));
    return answer.status() == OK
        ? Checkpoint.parse(answer.text().getBytes(StandardCharsets.UTF_8)).size()
        : 0;
  }

  /**
   * A fresh checkpoint of the own log, with the proof that it continues what the other side has
   * seen.
   *
   * @throws WritException {@code EXE-939} where that has seen more than there is
   */
  byte[] next(long from) {
    Checkpoint checkpoint = sign.get();
    if (from > checkpoint.size()) {
      throw forked(from + " entries were seen, this log has " + checkpoint.size());
    }
    MerkleProof proof =
        from == 0 || from == checkpoint.size()
            ? new MerkleProof(List.of())
            : own.consistencyProof(from, checkpoint.size());
    return new AddCheckpoint(from, proof, checkpoint).toBytes();
  }

  /**
   * Cosigns a checkpoint of the other's log.
   *
   * @return the checkpoint with the cosignature
   * @throws WritException {@code EXE-939} where it does not continue what was seen
   */
  byte[] cosign(byte[] asked) {
    WitnessAnswer answer = witness.add(asked, otherKeys.get(), clock.instant());
    if (answer.status() != OK) {
      throw forked(answer.status() + " " + answer.text().strip());
    }
    ByteArrayOutputStream note = new ByteArrayOutputStream();
    note.writeBytes(AddCheckpoint.parse(asked).checkpoint().toBytes());
    note.writeBytes(answer.text().getBytes(StandardCharsets.UTF_8));
    return note.toByteArray();
  }

  /**
   * Keeps a checkpoint of the own log that the other side has cosigned.
   *
   * @throws WritException {@code LED-05x} where it is none of this log, {@code EXE-935} where the
   *     other side's witness did not cosign it
   */
  void keep(byte[] note) {
    Checkpoint cosigned = Checkpoint.parse(note);
    if (!cosigned.origin().equals(own.origin())
        || !own.root(cosigned.size()).equals(cosigned.root())
        || Cosignature.of(cosigned, other).isEmpty()) {
      throw new WritException(
          ExecutorError.ANSWER_WRONG, "a checkpoint of another log, or not cosigned by " + other);
    }
    try {
      DurableFiles.REAL.write(file, note);
    } catch (IOException e) {
      throw new WritException(ExecutorError.STORE_FAILED, file.toString(), e);
    }
  }

  /** Has each side cosign the other's newest checkpoint; called by the guardian. */
  public void exchange(ExecutorClient executor) {
    keep(executor.cosign(next(executor.seen())));
    executor.keep(cosign(executor.next(seen())));
  }

  private WritException forked(String found) {
    return new WritException(ExecutorError.WITNESSED_OTHERWISE, otherLog.name() + ": " + found);
  }

  @Override
  public void close() {
    witness.close();
  }
}
