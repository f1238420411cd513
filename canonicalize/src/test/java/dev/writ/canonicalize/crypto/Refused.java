package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Asserts that something is refused, and with which code; and seeds for random tests. */
public final class Refused {
  private Refused() {}

  public static WritException with(CanonicalizeError code, ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).as("refusal with %s", code.code()).isInstanceOf(WritException.class);
    WritException refusal = (WritException) thrown;
    assertThat(refusal.code()).as(refusal.getMessage()).isEqualTo(code);
    return refusal;
  }

  /** The seed of this run: the system property {@code writ.seed}, or a fixed one; printed. */
  public static long seed(Class<?> test) {
    long seed = Long.getLong("writ.seed", 20261121);
    System.out.println(test.getSimpleName() + " -Dwrit.seed=" + seed);
    return seed;
  }
}
