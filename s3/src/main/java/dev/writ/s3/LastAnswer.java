package dev.writ.s3;

import java.util.OptionalInt;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * What the store answered last to the request of this thread. The client does not tell it once the
 * time for repeating is over.
 */
final class LastAnswer implements ExecutionInterceptor {
  private final ThreadLocal<Integer> status = new ThreadLocal<>();

  @Override
  public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
    status.remove();
  }

  @Override
  public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
    status.set(context.httpResponse().statusCode());
  }

  /** The status; empty where there was no answer. */
  OptionalInt status() {
    Integer last = status.get();
    return last == null ? OptionalInt.empty() : OptionalInt.of(last);
  }
}
