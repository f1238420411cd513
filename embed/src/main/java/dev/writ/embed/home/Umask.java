package dev.writ.embed.home;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * umask(2), for the whole process: RocksDB and other libraries choose the modes of their files, and
 * a home must be readable by its owner alone. Sandboxes set their own umask.
 */
final class Umask {
  private static final int OWNERS_ALONE = 077;

  private static final MethodHandle UMASK = umask();

  private Umask() {}

  @SuppressWarnings("restricted")
  private static MethodHandle umask() {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow("umask"),
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  }

  /** From now on nothing that this process makes is readable or writable by anybody else. */
  static void ownersAlone() {
    try {
      int _ = (int) UMASK.invokeExact(OWNERS_ALONE);
    } catch (Throwable e) {
      throw new IllegalStateException("umask(2) cannot be called", e);
    }
  }
}
