package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Refusal;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * What an executor signs of its guardian's log: statements that have no effect, and that its own
 * log does not contradict. A receipt is never among them: it signs its own alone.
 */
final class SignedStatements {
  private final Ledger ledger;
  private final SigningKey key;

  SignedStatements(Ledger ledger, SigningKey key) {
    this.ledger = ledger;
    this.key = key;
  }

  /**
   * @throws WritException {@code EXE-937}
   */
  byte[] sign(byte[] preAuth) {
    Said said = read(preAuth);
    if (said.type().equals(Refusal.TYPE)) {
      refusal(Refusal.read(said.document()));
    } else if (said.type().equals(RunClosing.TYPE)) {
      closing(RunClosing.read(said.document()));
    } else if (said.type().equals(Deletion.TYPE)) {
      Deletion.read(said.document());
    } else if (said.type().equals(ReadEvent.TYPE)) {
      ReadEvent.read(said.document());
    } else {
      throw refused("it does not sign " + said.type());
    }
    return key.sign(preAuth);
  }

  private record Said(String type, JsonValue document) {}

  /** The pre-authentication encoding of DSSE, read back. */
  private static Said read(byte[] preAuth) {
    String text = new String(preAuth, StandardCharsets.ISO_8859_1);
    String[] parts = text.split(" ", 5);
    if (parts.length < 5 || !parts[0].equals("DSSEv1")) {
      throw refused("it is no document");
    }
    byte[] payload = parts[4].getBytes(StandardCharsets.ISO_8859_1);
    if (!Arrays.equals(Envelope.preAuthEncoding(parts[2], payload), preAuth)) {
      throw refused("it is no document");
    }
    return new Said(parts[2], Jcs.parseCanonical(payload, Limits.DEFAULT));
  }

  /** What is refused there is never begun here, which is durable before the signature is given. */
  private void refusal(Refusal refusal) {
    Digest request = refusal.request();
    boolean begun =
        ledger.get(Tables.DISPATCHED, Tables.key(request)).isPresent()
            || ledger.get(Tables.SERVED, Tables.key(request)).isPresent();
    if (begun) {
      throw refused("the request " + request + " was dispatched here");
    }
    ledger
        .append(new Batch().put(Tables.GIVEN_UP, Tables.key(refusal.intent()), new byte[0]))
        .await();
  }

  private void closing(RunClosing closing) {
    Optional<RunState> state =
        ledger.get(Tables.RUN, Tables.key(closing.tenant(), closing.run())).map(RunState::parse);
    boolean agrees =
        state.isPresent()
            ? state.get().receipts() == closing.receipts()
                && state.get().lastReceipt().equals(closing.lastReceipt())
            : closing.receipts() == 0;
    if (!agrees) {
      throw refused(
          "run "
              + closing.run()
              + " has "
              + state.map(RunState::receipts).orElse(0L)
              + " receipts here, not "
              + closing.receipts());
    }
  }

  private static WritException refused(String found) {
    return new WritException(ExecutorError.STATEMENT_REFUSED, found);
  }
}
