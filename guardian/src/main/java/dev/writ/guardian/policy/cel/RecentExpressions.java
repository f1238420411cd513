package dev.writ.guardian.policy.cel;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Compiled expressions by their source. Compiling takes about a millisecond and depends on nothing
 * else, and a start reads every policy that was ever in force. Thread safe; refused sources are not
 * kept.
 */
public final class RecentExpressions {
  /** With sources of at most 4,096 characters, a few megabytes. */
  private static final int EXPRESSIONS_MAX = 256;

  private final ReentrantLock lock = new ReentrantLock();
  private final LinkedHashMap<String, CelExpression> recent =
      new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, CelExpression> eldest) {
          return size() > EXPRESSIONS_MAX;
        }
      };

  CelExpression get(String source, Function<String, CelExpression> compile) {
    CelExpression known = locked(() -> recent.get(source));
    if (known != null) {
      return known;
    }
    CelExpression compiled = compile.apply(source); // two threads may both
    locked(() -> recent.put(source, compiled));
    return compiled;
  }

  private CelExpression locked(Supplier<CelExpression> use) {
    lock.lock();
    try {
      return use.get();
    } finally {
      lock.unlock();
    }
  }
}
