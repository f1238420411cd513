package dev.writ.verify.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Asserts a refusal by its code; anything but a WritException fails. */
public final class Refusal {
  private Refusal() {}

  public static WritException of(ErrorCode code, ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).as("refused with " + code.code()).isInstanceOf(WritException.class);
    WritException refusal = (WritException) thrown;
    assertThat(refusal.code()).as(refusal.getMessage()).isEqualTo(code);
    return refusal;
  }

  /** Code and finding of whatever it is refused with. */
  public static String any(ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).isInstanceOf(WritException.class);
    WritException refusal = (WritException) thrown;
    return refusal.code().code() + " " + refusal.found();
  }
}
