package dev.writ.replay.export;

import dev.writ.ledger.Event;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.InclusionPaths;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.function.BiConsumer;

/** Proofs that an outcome's event is in the log, in the form c2sp.org/tlog-proof@v1. */
final class TlogProofs implements FileFormat {
  private static final String HEAD = "c2sp.org/tlog-proof@v1";

  @Override
  public String suffix() {
    return "tlog-proof";
  }

  @Override
  public void each(Bundle bundle, BiConsumer<Event, byte[]> taker) {
    String checkpoint = new String(bundle.checkpoint().toBytes(), StandardCharsets.UTF_8);
    InclusionPaths.each(
        bundle,
        ExportedOutcome::isOutcome,
        (index, event, path) -> taker.accept(event, proof(index, event, path, checkpoint)));
  }

  private static byte[] proof(long index, Event event, MerkleProof path, String checkpoint) {
    Base64.Encoder base64 = Base64.getEncoder();
    StringBuilder text = new StringBuilder(HEAD).append('\n');
    text.append("extra ").append(base64.encodeToString(event.toBytes())).append('\n');
    text.append("index ").append(index).append('\n');
    path.hashes().forEach(hash -> text.append(base64.encodeToString(hash.bytes())).append('\n'));
    return text.append('\n').append(checkpoint).toString().getBytes(StandardCharsets.UTF_8);
  }
}
