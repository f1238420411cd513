package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Asserts a refusal by its code. */
final class Refused {
  private Refused() {}

  static void with(ErrorCode code, ThrowingCallable call) {
    with(code.code(), call);
  }

  static void with(String code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code().code()).as(e.getMessage()).isEqualTo(code));
  }
}
