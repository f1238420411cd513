package dev.writ.conform.op;

import static dev.writ.verify.error.AuditError.BINDING;
import static dev.writ.verify.error.AuditError.CHAIN;
import static dev.writ.verify.error.AuditError.DOCUMENT;
import static dev.writ.verify.error.AuditError.SIGNATURE;
import static dev.writ.verify.error.AuditError.TWICE;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.conform.adapter.Operation;
import dev.writ.executor.document.RunClosing;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.verify.error.AuditError;
import java.time.Instant;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The chain of a run's receipts, from the documents alone (spec/receipt.md, protocol rule 16): what
 * an auditor can verify with receipts and requests but without the journal.
 */
final class ReceiptOps {
  private final Trust trust;
  private final String tenant;
  private final String run;
  private final TreeMap<Digest, Receipt> foreign = new TreeMap<>();
  private final TreeSet<Digest> requests = new TreeSet<>();
  private Digest head;
  private long lamport;
  private long count;

  private ReceiptOps(Fields input) {
    this.trust = BasicOps.trust(input);
    this.tenant = input.name("tenant");
    this.run = input.name("run");
    this.head = input.digest("opening");
  }

  static void addTo(SortedMap<String, Operation> operations) {
    operations.put("receipt.chain", input -> new ReceiptOps(input).chain(input));
  }

  private JsonValue.Obj chain(Fields input) {
    for (Envelope envelope : input.list("consumed", (_, v) -> GuardianOps.envelope(v))) {
      Receipt receipt = receipt(envelope);
      same(BINDING, "the tenant of a consumed receipt", receipt.scope().tenant(), tenant);
      foreign.put(envelope.id(), receipt);
    }
    input.list(
        "receipts",
        (path, value) -> {
          Fields pair = Fields.of(path, value);
          Envelope request = GuardianOps.envelope(pair.value("request"));
          Envelope receipt = GuardianOps.envelope(pair.value("receipt"));
          pair.end();
          link(request, receipt);
          return receipt;
        });
    input.optional("closing", input::value).map(GuardianOps::envelope).ifPresent(this::closing);
    return JsonValue.object()
        .put("head", head)
        .put("lamport", lamport)
        .put("receipts", count)
        .build();
  }

  private void link(Envelope requestEnvelope, Envelope envelope) {
    Receipt receipt = receipt(envelope);
    Request request = read(requestEnvelope, Request.TYPE, Request::read);
    verify(requestEnvelope, Request.TYPE, request.requestedAt());
    same(DOCUMENT, "tenant", receipt.scope().tenant(), tenant);
    same(DOCUMENT, "run", receipt.scope().run(), run);
    same(BINDING, "/request", receipt.request(), requestEnvelope.id());
    same(BINDING, "/subject", receipt.scope(), request.scope());
    same(BINDING, "/effect", receipt.effect(), request.effect().digest());
    same(BINDING, "/args_hash", receipt.argsHash(), request.effect().argsHash());
    same(BINDING, "/retained", receipt.retained(), request.retention().equals("keep"));
    if (!requests.add(receipt.request())) {
      throw new WritException(TWICE, "a second receipt of request " + receipt.request());
    }
    long greatest = lamport;
    for (Digest consumed : request.consumes()) {
      Receipt other = foreign.get(consumed);
      if (other == null) {
        throw new WritException(DOCUMENT, "no consumed receipt " + consumed);
      }
      greatest = Math.max(greatest, other.lamport());
    }
    same(CHAIN, "/prev", receipt.prev(), head);
    same(CHAIN, "/lamport", receipt.lamport(), greatest + 1);
    head = envelope.id();
    lamport = receipt.lamport();
    count++;
    foreign.put(head, receipt); // a later effect of the run may consume it
  }

  private void closing(Envelope envelope) {
    RunClosing closing = read(envelope, RunClosing.TYPE, RunClosing::read);
    try {
      trust.verify(envelope, RunClosing.TYPE, trustedTime());
    } catch (WritException e) {
      throw signature(e);
    }
    same(DOCUMENT, "tenant", closing.tenant(), tenant);
    same(DOCUMENT, "run", closing.run(), run);
    same(CHAIN, "/receipts", closing.receipts(), count);
    same(CHAIN, "/last_receipt", closing.lastReceipt(), head);
  }

  /** A closing states no time, so the last receipt's is used. */
  private Instant trustedTime() {
    return foreign.containsKey(head) ? foreign.get(head).finishedAt() : Instant.EPOCH;
  }

  private Receipt receipt(Envelope envelope) {
    Receipt receipt = read(envelope, Receipt.TYPE, Receipt::read);
    verify(envelope, Receipt.TYPE, receipt.finishedAt());
    return receipt;
  }

  private static <T> T read(Envelope envelope, String type, Function<JsonValue, T> reader) {
    same(DOCUMENT, "type", envelope.payloadType(), type);
    return reader.apply(envelope.document());
  }

  private void verify(Envelope envelope, String type, Instant at) {
    try {
      trust.verify(envelope, type, at);
    } catch (WritException e) {
      throw signature(e);
    }
  }

  private static WritException signature(WritException e) {
    return new WritException(SIGNATURE, e.code().code() + " " + e.found(), e);
  }

  private static void same(AuditError code, String what, Object found, Object wanted) {
    if (!found.equals(wanted)) {
      throw new WritException(code, what + " is " + found + ", not " + wanted);
    }
  }
}
