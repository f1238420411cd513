package dev.writ.executor.driver;

import dev.writ.canonicalize.Digest;
import java.util.Optional;

/**
 * Whose call an operation is part of.
 *
 * @param observer watches the call's sandbox; not an input of the operation
 * @param trace what the tool is told of the call's trace
 * @param intent the digest of the intent, by which what is made elsewhere for this call is named;
 *     not an input of the operation. Absent for a call that no intent ordered, such as a test's.
 */
public record CallContext(SandboxObserver observer, CallTrace trace, Optional<Digest> intent) {
  /** Nobody's. */
  public static final CallContext NONE =
      new CallContext(SandboxObserver.NONE, CallTrace.NONE, Optional.empty());

  public CallContext observedBy(SandboxObserver watching) {
    return new CallContext(watching, trace, intent);
  }
}
