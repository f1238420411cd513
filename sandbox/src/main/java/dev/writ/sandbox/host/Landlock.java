package dev.writ.sandbox.host;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;

/**
 * Whether the kernel has Landlock enabled. The kernel is asked directly, since the list of its
 * security modules is not mounted everywhere. Writ itself uses no Landlock rules: a restricted JVM
 * thread passes its restriction on to every thread it starts, and the code that starts sandboxes
 * must mount, which a restricted process cannot.
 */
final class Landlock {
  /** landlock_create_ruleset(2), the same on all architectures. */
  private static final long CREATE_RULESET = 444;

  private static final int VERSION = 1;

  private Landlock() {}

  /** The version of its interface; 0 if it is missing or disabled. */
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
