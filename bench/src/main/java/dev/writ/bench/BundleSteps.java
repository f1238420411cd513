package dev.writ.bench;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.EventKind;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.bouncycastle.crypto.params.Ed25519PublicKeyParameters;
import org.bouncycastle.crypto.signers.Ed25519Signer;

/**
 * Verification of a whole bundle, in which each decision is judged again. Its floor is verifying
 * the same signatures and digests one by one, and nothing else.
 */
final class BundleSteps implements AutoCloseable {
  /** A signature and the key that it claims. */
  private record Signed(Ed25519PublicKeyParameters key, byte[] message, byte[] signature) {}

  private final Stopwatch watch;
  private final Bundle bundle;
  private final List<Signed> signatures = new ArrayList<>();
  private final List<byte[]> hashed = new ArrayList<>();
  private long events;

  BundleSteps(Stopwatch watch, Lab lab) {
    this.watch = watch;
    this.bundle = lab.bundle(watch.plan().effectsVerified());
    TreeMap<String, Ed25519PublicKeyParameters> keys = new TreeMap<>();
    for (SigningKey key : lab.signers()) {
      keys.put(key.kid(), new Ed25519PublicKeyParameters(key.verifyingKey().bytes(), 0));
    }
    bundle.events((_, _, event) -> {
      events++;
      hashed.add(event.toBytes());
      if (event.kind().equals(EventKind.EFFECT_FINISHED)) {
        bundle.blob(event.body()).ifPresent(hashed::add);
      } else {
        bundle.document(event.body()).ifPresent(envelope -> add(envelope, keys));
      }
    });
  }

  private void add(Envelope envelope, TreeMap<String, Ed25519PublicKeyParameters> keys) {
    hashed.add(envelope.payload());
    for (Envelope.Signature signature : envelope.signatures()) {
      signatures.add(
          new Signed(keys.get(signature.kid()), envelope.preAuthEncoding(), signature.bytes()));
    }
  }

  List<Step> steps() {
    int cores = Runtime.getRuntime().availableProcessors();
    return List.of(
        new Step(
            "verify a bundle of " + events + " events",
            "its signatures and digests on " + cores + " cores, one by one",
            new BenchTarget.TimeAtMost(0.5),
            this::verify,
            () -> bare(cores)));
  }

  private Cost verify() {
    Cost.Start start = Cost.Start.now();
    BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
    return start.each(events);
  }

  private Cost bare(int cores) {
    Cost.Start start = Cost.Start.now();
    Stopwatch.concurrently(
        cores,
        1,
        n -> {
          for (int i = n; i < signatures.size(); i += cores) {
            verify(signatures.get(i));
          }
          for (int i = n; i < hashed.size(); i += cores) {
            Digest.sha256(hashed.get(i));
          }
        });
    return start.each(events);
  }

  private static void verify(Signed signed) {
    Ed25519Signer verifier = new Ed25519Signer();
    verifier.init(false, signed.key());
    verifier.update(signed.message(), 0, signed.message().length);
    if (!verifier.verifySignature(signed.signature())) {
      throw new IllegalStateException("the library refuses a good signature");
    }
  }

  @Override
  public void close() {
    bundle.close();
  }
}
