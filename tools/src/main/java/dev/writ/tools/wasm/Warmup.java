package dev.writ.tools.wasm;

import com.dylibso.chicory.wasm.types.MemoryLimits;
import java.time.Instant;
import java.util.List;
import java.util.TreeMap;

/**
 * Runs every host call once on an ordinary stack. A class that is first used when a guest has
 * almost exhausted its stack could fail to initialise, and would then fail for every later guest.
 */
final class Warmup {
  private Warmup() {}

  static void run() {
    FileTree files = new FileTree();
    files.add(List.of("in", "a"), new byte[1]);
    Wasi wasi =
        new Wasi(
            List.of("warm"),
            new TreeMap<>(),
            new byte[0],
            files,
            new GuestClock(Instant.EPOCH, 1),
            new Drbg(new byte[32]),
            Sink.fatal(1),
            Sink.dropping(1));
    GuestMemory memory = new GuestMemory(new MemoryLimits(1, 1));
    WasiCalls.answerAll(wasi, memory);
    Failure.of(new StackOverflowError(), null, false);
    Failure.stopped(Reason.CANCELLED);
  }
}
