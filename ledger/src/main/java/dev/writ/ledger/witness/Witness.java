package dev.writ.ledger.witness;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.SignedNote;
import dev.writ.ledger.note.WitnessKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Cosigns checkpoints of the logs that it knows, each only where it continues the one before
 * (spec/witness.md, "The server"). What it cosigned last is on the disk before it is answered.
 */
public final class Witness implements AutoCloseable {
  private final WitnessStore store;
  private final String name;
  private final SigningKey key;
  private final TreeMap<String, List<NoteKey>> logs = new TreeMap<>();
  private final TreeMap<String, Checkpoint> latest = new TreeMap<>();
  private final ReentrantLock lock = new ReentrantLock();

  private Witness(WitnessStore store, String name, SigningKey key, List<NoteKey> logs) {
    this.store = store;
    this.name = name;
    this.key = key;
    logs.forEach(log -> this.logs.computeIfAbsent(log.name(), _ -> new ArrayList<>()).add(log));
  }

  /**
   * Reads what was cosigned last.
   *
   * @param store is closed with the witness, and where it is refused
   * @param key signs under that name
   * @param logs the keys of logs, whose names are the origins; several of one name may each sign
   * @throws WritException {@code LED-090} where what is stored was not cosigned by this witness
   */
  public static Witness of(WitnessStore store, String name, SigningKey key, List<NoteKey> logs) {
    Witness witness = new Witness(store, name, key, logs);
    try {
      for (String origin : witness.logs.keySet()) {
        store
            .latest(hash(origin))
            .ifPresent(note -> witness.latest.put(origin, witness.own(origin, note)));
      }
      return witness;
    } catch (WritException e) {
      store.close();
      throw e;
    }
  }

  /** The public half of its key. */
  public WitnessKey key() {
    return new WitnessKey(name, key.verifyingKey());
  }

  /** How a log's origin is written in addresses and names of files. */
  public static String hash(String origin) {
    return Digest.sha256(origin.getBytes(StandardCharsets.UTF_8)).hex();
  }

  private Checkpoint own(String origin, byte[] note) {
    try {
      Checkpoint checkpoint = Checkpoint.parse(note);
      if (checkpoint.origin().equals(origin) && Cosignature.of(checkpoint, key()).isPresent()) {
        return checkpoint;
      }
    } catch (WritException e) {
      throw new WritException(LedgerError.WITNESS_STATE, origin + ": " + e.getMessage(), e);
    }
    throw new WritException(LedgerError.WITNESS_STATE, origin + ": it is not cosigned by " + key());
  }

  /**
   * Answers {@code POST /add-checkpoint}.
   *
   * @param now the time of a cosignature, unless the last one has a later
   * @throws java.io.UncheckedIOException where it could not be stored; it cosigns nothing more then
   */
  public WitnessAnswer add(byte[] body, Instant now) {
    return add(body, origin -> logs.getOrDefault(origin, List.of()), now);
  }

  /**
   * The same for a log whose keys others say, since they are exchanged.
   *
   * @param keys those by which it signs now
   */
  public WitnessAnswer add(byte[] body, List<NoteKey> keys, Instant now) {
    return add(
        body, origin -> keys.stream().filter(key -> key.name().equals(origin)).toList(), now);
  }

  private WitnessAnswer add(byte[] body, Function<String, List<NoteKey>> known, Instant now) {
    AddCheckpoint asked;
    try {
      asked = AddCheckpoint.parse(body);
    } catch (WritException e) {
      return WitnessAnswer.refused(400, e);
    }
    List<NoteKey> keys = known.apply(asked.checkpoint().origin());
    if (keys.isEmpty()) {
      return WitnessAnswer.refused(404, "this log is not known here");
    }
    lock.lock();
    try {
      return add(asked, signers(asked.checkpoint(), keys), now);
    } catch (WritException e) {
      return WitnessAnswer.refused(403, e);
    } finally {
      lock.unlock();
    }
  }

  /** Those of a log's keys that signed; a line of one of them that does not verify is refused. */
  private static List<NoteKey> signers(Checkpoint checkpoint, List<NoteKey> keys) {
    List<NoteKey> signers = new ArrayList<>();
    for (NoteKey log : keys) {
      try {
        checkpoint.verify(checkpoint.origin(), log);
        signers.add(log);
      } catch (WritException e) {
        if (e.code() != LedgerError.NOTE_UNSIGNED) {
          throw e;
        }
      }
    }
    if (signers.isEmpty()) {
      throw new WritException(LedgerError.NOTE_UNSIGNED, "none of the keys of this log");
    }
    return signers;
  }

  private WitnessAnswer add(AddCheckpoint asked, List<NoteKey> signers, Instant now) {
    Checkpoint next = asked.checkpoint();
    Optional<Checkpoint> before = Optional.ofNullable(latest.get(next.origin()));
    long size = before.map(Checkpoint::size).orElse(0L);
    if (before.filter(b -> b.size() == next.size() && !b.root().equals(next.root())).isPresent()) {
      store.keepFork(hash(next.origin()), next.toBytes());
    }
    if (asked.oldSize() > next.size()) {
      return WitnessAnswer.refused(400, "the old size is greater than the checkpoint's");
    }
    if (asked.oldSize() != size) {
      return WitnessAnswer.size(size);
    }
    if (next.size() == 0 && !next.root().equals(Merkle.EMPTY_ROOT)) {
      return WitnessAnswer.refused(422, "the root is not that of a log without entries");
    }
    try {
      Digest root = before.map(Checkpoint::root).orElse(Merkle.EMPTY_ROOT);
      Merkle.verifyConsistency(size, root, next.size(), next.root(), asked.proof());
    } catch (WritException e) {
      return WitnessAnswer.refused(422, e);
    }
    return WitnessAnswer.ok(cosigned(next, signers, before, now));
  }

  private String cosigned(
      Checkpoint next, List<NoteKey> signers, Optional<Checkpoint> before, Instant now) {
    Instant last = before.flatMap(b -> Cosignature.of(b, key())).map(Cosignature::at).orElse(now);
    Instant at = now.isBefore(last) ? last : now;
    SignedNote.Signature line = Cosignature.sign(next, name, key, at);
    Checkpoint kept = next.signedBy(signers).with(List.of(line));
    store.keepLatest(hash(next.origin()), kept.toBytes());
    latest.put(next.origin(), kept);
    return SignedNote.lines(List.of(line));
  }

  /**
   * Answers {@code GET /HASH/checkpoint}.
   *
   * @param hash as {@link #hash} writes it
   */
  public WitnessAnswer latest(String hash) {
    lock.lock();
    try {
      return latest.entrySet().stream()
          .filter(entry -> hash(entry.getKey()).equals(hash))
          .findFirst()
          .map(entry ->
              WitnessAnswer.ok(new String(entry.getValue().toBytes(), StandardCharsets.UTF_8)))
          .orElse(WitnessAnswer.refused(404, "no checkpoint of this log was cosigned here"));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
