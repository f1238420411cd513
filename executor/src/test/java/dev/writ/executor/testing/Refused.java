package dev.writ.executor.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.writ.canonicalize.WritException;

/** The code of a refusal. */
public final class Refused {
  private Refused() {}

  /** Something that must be refused. */
  @FunctionalInterface
  public interface Attempt {
    void make();
  }

  /** The stable code with which it is refused; fails where it is not. */
  public static String code(Attempt attempt) {
    Throwable thrown = catchThrowable(attempt::make);
    assertThat(thrown).isInstanceOf(WritException.class);
    return ((WritException) thrown).code().code();
  }
}
