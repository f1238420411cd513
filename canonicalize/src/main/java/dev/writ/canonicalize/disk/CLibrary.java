package dev.writ.canonicalize.disk;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Functions of the C library that the JDK has no call for, with their errno. */
public final class CLibrary {
  private static final StructLayout ERRNO = Linker.Option.captureStateLayout();
  private static final MethodHandle PLAIN = plain();
  private static final Plain CLOSE = plain("close");

  private CLibrary() {}

  /** A function that {@link #plain(String)} found. */
  public static final class Plain {
    private final String name;
    private final MemorySegment address;

    private Plain(String name) {
      this.name = name;
      this.address = Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }

    /**
     * Calls it. An argument that the C function does not have is 0.
     *
     * @param errno of {@link #capture}
     */
    public int call(MemorySegment errno, long first, long second) {
      try {
        return (int) PLAIN.invokeExact(address, errno, first, second);
      } catch (Throwable e) {
        throw new IllegalStateException(name + "(2) cannot be called", e);
      }
    }
  }

  /**
   * A function that takes at most two whole numbers or addresses, and returns an {@code int}. All
   * such functions share one type, and so the code that calls them: to make that for another type
   * takes a short command some six milliseconds. In the ABIs of 64 bits that the JDK links for, an
   * {@code int} is passed as a {@code long} of the same value, and a register beyond the arguments
   * of a function is not looked at.
   */
  public static Plain plain(String name) {
    return new Plain(name);
  }

  @SuppressWarnings("restricted")
  private static MethodHandle plain() {
    return Linker.nativeLinker()
        .downcallHandle(
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
            Linker.Option.captureCallState("errno"));
  }

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

  /** A string of C: {@code allocateFrom(String)} makes code at its first use, which takes time. */
  public static MemorySegment text(Arena arena, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return arena.allocateFrom(ValueLayout.JAVA_BYTE, Arrays.copyOf(bytes, bytes.length + 1));
  }

  /** Where a call leaves its errno. */
  public static MemorySegment capture(Arena arena) {
    return arena.allocate(ERRNO);
  }

  /** What the last call left there; meaningful after one that failed. */
  public static int errno(MemorySegment captured) {
    return captured.get(
        ValueLayout.JAVA_INT, ERRNO.byteOffset(MemoryLayout.PathElement.groupElement("errno")));
  }

  /** Closes a descriptor; whatever becomes of it, it is not used again. */
  public static void close(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      int _ = CLOSE.call(capture(arena), descriptor, 0);
    }
  }
}
