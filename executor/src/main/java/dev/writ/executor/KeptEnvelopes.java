package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Documents from outside, in the envelopes that the ledger keeps. The ledger keeps only the first
 * envelope of a payload, so a judgement must use that one: another envelope, with other signatures
 * or another type, would be recorded as seen but could not be found later.
 */
final class KeptEnvelopes {
  /** Payload types that the journal's own events bring into the ledger, in the right envelope. */
  private static final TreeSet<String> OF_EVENTS =
      new TreeSet<>(
          List.of(
                  "request",
                  "approval",
                  "decision",
                  "intent",
                  "refusal",
                  "receipt",
                  "resolution",
                  "run-close",
                  "run-closing",
                  "system-change",
                  "policy",
                  "tool-submission",
                  "tool-approval")
              .stream()
              .map(PayloadTypes::of)
              .toList());

  private final LedgerView ledger;
  private final KeyedLocks locks;

  KeptEnvelopes(LedgerView ledger, KeyedLocks locks) {
    this.ledger = ledger;
    this.locks = locks;
  }

  /** Evidence whose envelopes cannot change until this is closed. */
  record Kept(List<Envelope> documents, List<KeyedLocks.Held> locks) implements AutoCloseable {
    @Override
    public void close() {
      locks.reversed().forEach(KeyedLocks.Held::close);
    }
  }

  /**
   * Replaces each document by the envelope that the ledger has, and locks those that it does not
   * have against other threads that bring them.
   *
   * @throws WritException {@code EXE-971} for a request whose payload is kept in another envelope,
   *     and for a document of the journal's own that the ledger does not have
   */
  Kept keep(Admissions.Entry entry, List<Envelope> brought) {
    TreeMap<Digest, Envelope> documents = new TreeMap<>();
    brought.forEach(document -> documents.putIfAbsent(document.id(), document));
    if (entry.receivedAt().isEmpty()) {
      documents.put(entry.id(), entry.envelope());
    }
    List<KeyedLocks.Held> held = new ArrayList<>();
    try {
      documents.replaceAll(
          (id, document) -> id.equals(entry.id()) ? own(document, held) : kept(document, held));
      return new Kept(
          brought.stream().map(document -> documents.get(document.id())).toList(), held);
    } catch (RuntimeException | Error e) {
      new Kept(List.of(), held).close();
      throw e;
    }
  }

  /**
   * Locks a document that will be the body of an event.
   *
   * @throws WritException {@code EXE-971} where its payload is kept in another envelope
   */
  KeyedLocks.Held own(Envelope document) {
    List<KeyedLocks.Held> held = new ArrayList<>();
    try {
      own(document, held);
      return new Kept(List.of(), held)::close;
    } catch (RuntimeException | Error e) {
      new Kept(List.of(), held).close();
      throw e;
    }
  }

  private Envelope own(Envelope document, List<KeyedLocks.Held> held) {
    held.add(lock(document.id()));
    if (ledger.hasDocument(document.id())
        && !Arrays.equals(
            ledger.document(document.id()).orElseThrow().toBytes(), document.toBytes())) {
      throw new WritException(
          ExecutorError.KEPT_OTHERWISE, document.payloadType() + " " + document.id());
    }
    return document;
  }

  private Envelope kept(Envelope document, List<KeyedLocks.Held> held) {
    Optional<Envelope> stored = ledger.document(document.id());
    if (stored.isPresent()) {
      return stored.get();
    }
    if (OF_EVENTS.contains(document.payloadType())) {
      throw new WritException(
          ExecutorError.KEPT_OTHERWISE, document.payloadType() + " " + document.id());
    }
    held.add(lock(document.id()));
    return ledger.document(document.id()).orElse(document);
  }

  private KeyedLocks.Held lock(Digest document) {
    return locks.lock(Tables.key("document", document.hex()));
  }
}
