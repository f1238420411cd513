package dev.writ.canonicalize.disk;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** Functions of the C library that the JDK has no call for, with their errno. */
public final class CLibrary {
  private static final StructLayout ERRNO = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO_FIELD =
      ERRNO.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle CLOSE = function("close", ValueLayout.JAVA_INT);

  private CLibrary() {}

  /**
   * A function that returns an {@code int}. Its first argument is a segment of {@link #capture},
   * then come those of C.
   *
   * @param arguments of the C function
   */
  public static MethodHandle function(String name, MemoryLayout... arguments) {
    return linked(
        name,
        FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments),
        Linker.Option.captureCallState("errno"));
  }

  /**
   * The same for a function with a variable number of arguments, such as open(2).
   *
   * @param firstVariadic the position of the first of them
   */
  public static MethodHandle variadic(String name, int firstVariadic, MemoryLayout... arguments) {
    return linked(
        name,
        FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments),
        Linker.Option.captureCallState("errno"),
        Linker.Option.firstVariadicArg(firstVariadic));
  }

  /** Whether this host's C library has that function: some are newer than others. */
  public static boolean has(String name) {
    return Linker.nativeLinker().defaultLookup().find(name).isPresent();
  }

  @SuppressWarnings("restricted")
  private static MethodHandle linked(
      String name, FunctionDescriptor type, Linker.Option... options) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
  }

  /** Where a call leaves its errno. */
  public static MemorySegment capture(Arena arena) {
    return arena.allocate(ERRNO);
  }

  /** What the last call left there; meaningful after one that failed. */
  public static int errno(MemorySegment captured) {
    return (int) ERRNO_FIELD.get(captured, 0L);
  }

  /** Closes a descriptor; whatever becomes of it, it is not used again. */
  public static void close(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      int _ = (int) CLOSE.invokeExact(capture(arena), descriptor);
    } catch (Throwable e) {
      throw new IllegalStateException("close(2) cannot be called", e);
    }
  }
}
