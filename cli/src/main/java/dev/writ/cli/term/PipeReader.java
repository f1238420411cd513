package dev.writ.cli.term;

import dev.writ.canonicalize.disk.CLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Who reads a pipe that this process writes to. A write tells that nobody does, but a command that
 * waits for what is to be written would wait for that as well: poll(2) tells it at once.
 */
final class PipeReader {
  /** Of struct pollfd: the descriptor, what is asked for, and what is so. */
  private static final long BYTES = 8;

  private static final long ANSWER_AT = 6;

  /** POLLERR, POLLHUP and POLLNVAL, which are told without being asked for. */
  private static final int GONE = 0x8 | 0x10 | 0x20;

  private static final MethodHandle POLL =
      CLibrary.function("poll", ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT);

  private PipeReader() {}

  /** Whether nobody will ever read what is written to that descriptor. */
  static boolean isGone(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment asked = arena.allocate(BYTES, Integer.BYTES);
      asked.set(ValueLayout.JAVA_INT, 0, descriptor);
      int answers = (int) POLL.invokeExact(CLibrary.capture(arena), asked, 1L, 0);
      return answers > 0 && (asked.get(ValueLayout.JAVA_SHORT, ANSWER_AT) & GONE) != 0;
    } catch (Throwable e) {
      throw new IllegalStateException("poll(2) cannot be called", e);
    }
  }
}
