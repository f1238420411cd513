package dev.writ.tools.wasm;

import com.dylibso.chicory.wasm.WasmModule;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import java.util.List;
import java.util.Optional;

/**
 * Runs registered WebAssembly modules (spec/tool-wasm.md). There are two of it: {@code wasm}
 * compiles to JVM bytecode, and a clock limits its processor time; {@code wasm-metered} interprets
 * and counts instructions, about fifty times slower, so that its limits are reproducible, too.
 */
public final class WasmDriver implements Driver {
  public static final String NAME = "wasm";
  public static final String METERED_NAME = "wasm-metered";

  /**
   * How many instructions one millisecond of declared processor time allows, if they are counted.
   */
  public static final long INSTRUCTIONS_PER_CPU_MS = 20_000;

  private final GuestPool pool;
  private final ModuleCache cache;
  private final boolean metered;

  private WasmDriver(GuestPool pool, ModuleCache cache, boolean metered) {
    this.pool = pool;
    this.cache = cache;
    this.metered = metered;
  }

  public static WasmDriver compiled(GuestPool pool, ModuleCache cache) {
    return new WasmDriver(pool, cache, false);
  }

  public static WasmDriver metered(GuestPool pool, ModuleCache cache) {
    return new WasmDriver(pool, cache, true);
  }

  @Override
  public String name() {
    return metered ? METERED_NAME : NAME;
  }

  @Override
  public Determinism determinism() {
    return Determinism.PURE;
  }

  @Override
  public Digest sandboxProfile(String profile) {
    return SandboxProfile.digest(profile, name(), "");
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operationName, PackageContent content) {
    ToolManifest.Operation operation = Preparation.check(this, manifest, operationName);
    ToolManifest.PackageFile file = moduleFile(manifest);
    ModuleCache.Compiled compiled = cache.get(file.digest(), () -> content.read(file));
    ModuleRules.checkEntries(compiled.module(), manifest.operations());
    return invocation -> {
      Optional<Long> fuel =
          metered
              ? Optional.of(
                  Math.multiplyExact(invocation.resources().cpuMs(), INSTRUCTIONS_PER_CPU_MS))
              : Optional.empty();
      WasmProgram program =
          new WasmProgram(compiled, manifest.name(), operation.name(), operation.mediaType(), fuel);
      return pool.run(invocation, program::run, !metered);
    };
  }

  /** The one module of a package. */
  public static ToolManifest.PackageFile moduleFile(ToolManifest manifest) {
    List<ToolManifest.PackageFile> modules =
        manifest.files().stream().filter(f -> f.path().endsWith(".wasm")).toList();
    if (modules.size() != 1) {
      throw new WritException(
          ToolsError.MODULE_MISSING, manifest.name() + " has " + modules.size() + " .wasm files");
    }
    return modules.getFirst();
  }

  /**
   * Checks a package's module as {@link #prepare} would, without compiling it: for registration.
   *
   * @throws WritException {@code TOL-010} to {@code TOL-014}
   */
  public static void checkModule(ToolManifest manifest, byte[] module) {
    WasmModule parsed = ModuleRules.parse(module);
    ModuleRules.checkEntries(parsed, manifest.operations());
  }
}
