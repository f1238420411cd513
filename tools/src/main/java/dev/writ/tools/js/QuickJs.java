package dev.writ.tools.js;

import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.HostFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.FunctionType;
import com.dylibso.chicory.wasm.types.ValType;
import dev.writ.tools.wasm.Guest;
import dev.writ.tools.wasm.MemoryImage;
import dev.writ.tools.wasm.Texts;
import dev.writ.tools.wasm.Wasi;
import io.roastedroot.quickjs4j.core.JavyPluginModule;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** One QuickJS in its own WebAssembly memory: the module of quickjs4j, with our own imports. */
final class QuickJs {
  /** The module's version, for the sandbox profile. */
  static final String VERSION = "quickjs4j 0.0.17";

  private static final WasmModule MODULE = module();

  private final Instance instance;

  /** Answers the only host function that a script's prelude can call: a text for a text. */
  @FunctionalInterface
  interface Host {
    String answer(String question);
  }

  private QuickJs(Guest guest, Wasi wasi, Host host, Optional<MemoryImage> image) {
    List<HostFunction> imports = new ArrayList<>(wasi.functions());
    imports.add(
        new HostFunction(
            "chicory",
            "invoke",
            FunctionType.of(Collections.nCopies(6, ValType.I32), List.of(ValType.I32)),
            (caller, args) -> {
              byte[] question = caller.memory().readBytes((int) args[2], (int) args[3]);
              return new long[] {string(caller, host.answer(Texts.text(question)))};
            }));
    instance =
        image
            .map(from -> guest.restore("QuickJS", MODULE, JavyPluginModule::create, imports, from))
            .orElseGet(() ->
                guest.instantiate(MODULE, JavyPluginModule::create, imports, Optional.empty()));
  }

  /**
   * As {@code JavyPluginModule.load()} reads it, but without validation, which takes a tenth of the
   * time of a short command: what runs are the classes beside it, to which the module was compiled
   * when it was built.
   */
  private static WasmModule module() {
    return Parser.builder()
        .withValidation(false)
        .build()
        .parse(() -> JavyPluginModule.class.getResourceAsStream("JavyPluginModule.meta"));
  }

  /** Creates a QuickJS, which takes most of the time of a small script. */
  static QuickJs initialized(Guest guest, Wasi wasi, Host host) {
    QuickJs quickJs = new QuickJs(guest, wasi, host, Optional.empty());
    quickJs.export("initialize_runtime").apply();
    return quickJs;
  }

  /**
   * The whole state of a QuickJS between two calls: its memory and its only global variable, with
   * the position of a program in it. Each invocation starts from it, with a copy of what it
   * changes.
   */
  record Snapshot(MemoryImage memory, long stackPointer, int programAt, int programLength) {}

  /** The present state, with a program added. */
  Snapshot snapshot(byte[] bytecode) {
    int at = allocate(instance, bytecode);
    return new Snapshot(
        MemoryImage.of(instance.memory()), instance.global(0).getValue(), at, bytecode.length);
  }

  /** Restores the snapshot, runs its program, and then all jobs that the program leaves. */
  static void run(Snapshot snapshot, Guest guest, Wasi wasi, Host host) {
    QuickJs quickJs = new QuickJs(guest, wasi, host, Optional.of(snapshot.memory()));
    quickJs.instance.global(0).setValue(snapshot.stackPointer());
    quickJs.export("invoke").apply(snapshot.programAt(), snapshot.programLength(), 0, 0);
  }

  private ExportFunction export(String name) {
    return instance.export(name);
  }

  private static int allocate(Instance instance, byte[] bytes) {
    int at = (int) instance.export("canonical_abi_realloc").apply(0, 0, 1, bytes.length)[0];
    instance.memory().write(at, bytes);
    return at;
  }

  /** Places a string in the form that QuickJS's import reads: a pointer to (address, length). */
  private static int string(Instance instance, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int at = allocate(instance, bytes);
    int wide = (int) instance.export("canonical_abi_realloc").apply(0, 0, 4, 8)[0];
    instance.memory().writeI32(wide, at);
    instance.memory().writeI32(wide + 4, bytes.length);
    return wide;
  }

  /** Compiles a module's source to QuickJS bytecode. */
  byte[] compile(byte[] source) {
    int at = allocate(instance, source);
    int wide = (int) export("compileSrc").apply(at, source.length)[0];
    return instance
        .memory()
        .readBytes(instance.memory().readInt(wide), instance.memory().readInt(wide + 4));
  }
}
