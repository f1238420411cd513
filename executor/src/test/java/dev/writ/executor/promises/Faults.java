package dev.writ.executor.promises;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.stage.StoreStage;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.error.LedgerError;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** Executors with one broken part. */
final class Faults {
  private Faults() {}

  /** The executor's key is gone. */
  static SafeExecutor signingFails(SafeExecutor executor) {
    return KernelSeam.with(
        executor,
        executor
            .receipt()
            .withSigner((_, _) -> {
              throw new IllegalStateException("no key");
            }));
  }

  /** What has the executor's key signs from the n-th time on that it is asked. */
  static SafeExecutor signingComesAt(
      SafeExecutor executor, int first, AtomicInteger asked, int attempts) {
    DocumentSigner signer = DocumentSigner.of(TestKeys.key("executor"));
    return KernelSeam.with(
        executor,
        executor
            .receipt()
            .withPatience((failures, _) -> failures < attempts)
            .withSigner((type, document) -> {
              if (asked.incrementAndGet() < first) {
                throw new WritException(CanonicalizeError.SIGNER_WRONG, "not yet");
              }
              return signer.sign(type, document);
            }));
  }

  /** What has the executor's key signs receipts while it is not away. */
  static SafeExecutor signingIsAway(SafeExecutor executor, AtomicBoolean away) {
    DocumentSigner signer = DocumentSigner.of(TestKeys.key("executor"));
    return KernelSeam.with(
        executor,
        executor
            .receipt()
            .withSigner((type, document) -> {
              if (away.get()) {
                throw new WritException(CanonicalizeError.SIGNER_WRONG, "away");
              }
              return signer.sign(type, document);
            }));
  }

  /** What has the executor's key refuses, by a code of its own. */
  static SafeExecutor signingIsRefused(SafeExecutor executor) {
    return KernelSeam.with(
        executor,
        executor
            .receipt()
            .withSigner((_, _) -> {
              throw new WritException(CanonicalizeError.SIGNER_WRONG, "of another key");
            }));
  }

  /** The content store throws. */
  static SafeExecutor storingFails(SafeExecutor executor) {
    return KernelSeam.with(
        executor,
        new StoreStage((_, _, _) -> {
          throw new WritException(LedgerError.DISK_FULL, "blobs");
        }));
  }

  /** The content store throws what nobody foresaw. */
  static SafeExecutor storingBreaks(SafeExecutor executor) {
    return KernelSeam.with(
        executor,
        new StoreStage((_, _, _) -> {
          throw new IllegalStateException("a bug");
        }));
  }

  /** The content store keeps other bytes than it was given. */
  static SafeExecutor storeLies(SafeExecutor executor, Function<byte[], BlobRef> real) {
    return KernelSeam.with(
        executor, new StoreStage((content, _, _) -> real.apply(Digest.sha256(content).bytes())));
  }
}
