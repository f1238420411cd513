package dev.writ.replay.export;

import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.InclusionPaths;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.function.BiConsumer;

/** Proofs that an outcome's event is in the log, in the form c2sp.org/tlog-proof@v1. */
public final class TlogProofs implements FileFormat {
  private static final String HEAD = "c2sp.org/tlog-proof@v1";

  @Override
  public void each(Bundle bundle, BiConsumer<Event, byte[]> taker) {
    Checkpoint checkpoint = bundle.checkpoint();
    InclusionPaths.each(
        bundle,
        ExportedOutcome::isOutcome,
        (index, event, path) ->
            taker.accept(
                event, proof(index, event, path, checkpoint).getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * One proof.
   *
   * @param index the event's place in the log
   * @param path from the event to the root of the checkpoint
   */
  public static String proof(long index, Event event, MerkleProof path, Checkpoint checkpoint) {
    Base64.Encoder base64 = Base64.getEncoder();
    StringBuilder text = new StringBuilder(HEAD).append('\n');
    text.append("extra ").append(base64.encodeToString(event.toBytes())).append('\n');
    text.append("index ").append(index).append('\n');
    path.hashes().forEach(hash -> text.append(base64.encodeToString(hash.bytes())).append('\n'));
    return text.append('\n')
        .append(new String(checkpoint.toBytes(), StandardCharsets.UTF_8))
        .toString();
  }
}
