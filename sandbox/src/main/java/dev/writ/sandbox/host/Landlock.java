package dev.writ.sandbox.host;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;

/**
 * Whether the kernel has Landlock switched on, asked of the kernel itself: the list of its security
 * modules is not mounted everywhere. Nothing of ours applies a rule by it. A thread of the JVM that
 * restricted itself would hand its restriction to every thread that is ever started from it, and
 * what starts sandboxes must mount, which a restricted process cannot.
 */
final class Landlock {
  /** landlock_create_ruleset(2), the same on all architectures. */
  private static final long CREATE_RULESET = 444;

  private static final int VERSION = 1;

  private Landlock() {}

  /** The version of its interface; 0 where it is not there, or switched off. */
  @SuppressWarnings("restricted")
  static int version() {
    Linker linker = Linker.nativeLinker();
    var syscall =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("syscall"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(1));
    try {
      return Math.max(0, (int) (long) syscall.invokeExact(CREATE_RULESET, 0L, 0L, VERSION));
    } catch (Throwable e) {
      throw new IllegalStateException("syscall(2) cannot be called", e);
    }
  }
}
