package dev.writ.tools.js;

import dev.writ.tools.wasm.Drbg;
import dev.writ.tools.wasm.FileTree;
import dev.writ.tools.wasm.Guest;
import dev.writ.tools.wasm.GuestClock;
import dev.writ.tools.wasm.Wasi;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.Collections;
import java.util.List;

/** The script that runs before each script, as QuickJS bytecode; compiled once in a JVM. */
final class Prelude {
  private static final class Holder {
    static final byte[] BYTECODE = compile();
  }

  private Prelude() {}

  private static byte[] compile() {
    Guest guest = Guest.internal(64 << 20);
    Wasi wasi =
        new Wasi(
            List.of("js"),
            Collections.emptySortedMap(),
            new byte[0],
            new FileTree(),
            new GuestClock(Instant.EPOCH, 0),
            new Drbg(guest.invocation().seed()),
            guest.stdout(),
            guest.stderr());
    return new QuickJs(guest, wasi, question -> "").compile(source());
  }

  static byte[] source() {
    try (InputStream in = Prelude.class.getResourceAsStream("prelude.js")) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The bytecode, which is a function of the source and of QuickJS alone. */
  static byte[] bytecode() {
    return Holder.BYTECODE;
  }
}
