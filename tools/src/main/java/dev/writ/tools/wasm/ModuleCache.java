package dev.writ.tools.wasm;

import com.dylibso.chicory.compiler.InterpreterFallback;
import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Modules compiled to JVM bytecode, once for each digest, even for concurrent callers; the least
 * recently used are dropped with their classes. A failure is not cached.
 */
public final class ModuleCache {

  /** A checked module and its machine. */
  record Compiled(WasmModule module, Function<Instance, Machine> machine) {}

  private final int max;
  private final LinkedHashMap<Digest, CompletableFuture<Compiled>> modules =
      new LinkedHashMap<>(16, 0.75f, true);

  /**
   * @param modulesMax how many modules are kept
   */
  public ModuleCache(int modulesMax) {
    this.max = modulesMax;
  }

  /** The compiled form of the module with this digest; {@code bytes} is called at most once. */
  Compiled get(Digest digest, Supplier<byte[]> bytes) {
    CompletableFuture<Compiled> mine = new CompletableFuture<>();
    CompletableFuture<Compiled> theirs;
    synchronized (modules) {
      theirs = modules.putIfAbsent(digest, mine);
      while (modules.size() > max) {
        Map.Entry<Digest, CompletableFuture<Compiled>> eldest = modules.firstEntry();
        modules.remove(eldest.getKey());
      }
    }
    if (theirs != null) {
      return join(theirs);
    }
    try {
      mine.complete(compile(bytes.get()));
    } catch (Throwable t) {
      synchronized (modules) {
        modules.remove(digest, mine);
      }
      mine.completeExceptionally(t);
    }
    return join(mine);
  }

  private static Compiled join(CompletableFuture<Compiled> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof WritException refusal) {
        throw new WritException(refusal.code(), refusal.found(), refusal);
      }
      throw e;
    }
  }

  private static Compiled compile(byte[] bytes) {
    WasmModule original = ModuleRules.parse(bytes);
    try {
      WasmModule module = Parser.parse(NanCanonicalizer.rewrite(bytes, original));
      // A function too large for one JVM method runs in the interpreter: slower, with the same
      // results.
      return new Compiled(
          module,
          MachineFactoryCompiler.builder(module)
              .withInterpreterFallback(InterpreterFallback.SILENT)
              .compile());
    } catch (RuntimeException
        | AssertionError
        | StackOverflowError
        | OutOfMemoryError
        | LinkageError e) {
      throw new WritException(
          ToolsError.MODULE_INVALID, Texts.message("it does not compile: " + e.getMessage()), e);
    }
  }
}
