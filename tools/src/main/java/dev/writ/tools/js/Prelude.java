package dev.writ.tools.js;

import dev.writ.tools.process.Uninterrupted;
import dev.writ.tools.wasm.Drbg;
import dev.writ.tools.wasm.FileTree;
import dev.writ.tools.wasm.Guest;
import dev.writ.tools.wasm.GuestClock;
import dev.writ.tools.wasm.Wasi;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;

/** The script that runs before each script, compiled into a QuickJS; made once in a JVM. */
final class Prelude {
  /** Names the file that keeps it from one JVM to the next; the launcher's build sets it. */
  private static final String PROPERTY = "writ.prelude";

  private static QuickJs.Snapshot made;

  private Prelude() {}

  private static QuickJs.Snapshot stored() {
    String file = System.getProperty(PROPERTY, "");
    return file.isEmpty() ? prepare() : StoredSnapshot.of(Path.of(file), Prelude::prepare);
  }

  private static QuickJs.Snapshot prepare() {
    byte[] bytecode = quickJs().compile(source());
    return quickJs().snapshot(bytecode);
  }

  private static QuickJs quickJs() {
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
    return QuickJs.initialized(guest, wasi, question -> "");
  }

  static byte[] source() {
    try (InputStream in = Prelude.class.getResourceAsStream("prelude.js")) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A QuickJS with the prelude's bytecode; depends only on the prelude's source and QuickJS. It is
   * every call's, so the first one's interrupt does not end its making; nor is it a constant of a
   * class, which would be lost to this JVM for good where its making failed once.
   */
  static synchronized QuickJs.Snapshot snapshot() {
    if (made == null) {
      made = Uninterrupted.get(Prelude::stored);
    }
    return made;
  }
}
