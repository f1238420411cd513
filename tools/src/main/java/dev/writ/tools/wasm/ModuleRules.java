package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.AnnotatedInstruction;
import com.dylibso.chicory.wasm.types.Export;
import com.dylibso.chicory.wasm.types.ExternalType;
import com.dylibso.chicory.wasm.types.FunctionBody;
import com.dylibso.chicory.wasm.types.FunctionImport;
import com.dylibso.chicory.wasm.types.FunctionType;
import com.dylibso.chicory.wasm.types.Import;
import com.dylibso.chicory.wasm.types.ValType;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import java.util.List;
import java.util.SortedMap;

/**
 * The rules for WebAssembly modules: their results must depend on the invocation alone, and their
 * use of the host must be limited. WebAssembly 2.0 without SIMD is accepted; later proposals are
 * refused, since garbage-collected objects and exceptions would live on our heap, outside the
 * memory limit, and threads would race.
 */
public final class ModuleRules {
  /** The most bytes of a module. */
  public static final int MODULE_BYTES_MAX = 16 << 20;

  private static final int FUNCTIONS_MAX = 50_000;
  private static final int LOCALS_MAX = 10_000;
  private static final int TABLES_MAX = 16;
  private static final String START = "_start";

  private ModuleRules() {}

  /**
   * Parses and checks a module.
   *
   * @throws WritException {@code TOL-011} for what is no valid module or too large, {@code TOL-012}
   *     for a feature that is not offered, {@code TOL-013} for an import that is not
   */
  public static WasmModule parse(byte[] bytes) {
    if (bytes.length > MODULE_BYTES_MAX) {
      throw new WritException(
          ToolsError.MODULE_INVALID, bytes.length + " bytes, at most " + MODULE_BYTES_MAX);
    }
    WasmModule module;
    try {
      module = Parser.parse(bytes);
    } catch (RuntimeException | AssertionError | StackOverflowError | OutOfMemoryError e) {
      // The parser is third-party code: any exception on hostile bytes means an invalid module.
      throw new WritException(
          ToolsError.MODULE_INVALID, Texts.message(String.valueOf(e.getMessage())), e);
    }
    checkTypes(module);
    checkImports(module);
    checkMemories(module);
    checkTables(module);
    checkExports(module);
    checkCode(module);
    return module;
  }

  private static WritException feature(String what) {
    return new WritException(ToolsError.MODULE_FEATURE, what);
  }

  private static void checkTypes(WasmModule module) {
    for (int i = 0; i < module.typeSection().subTypeCount(); i++) {
      if (module.typeSection().getSubType(i).compType().funcType() == null) {
        throw feature("type " + i + " is a struct or array");
      }
    }
    if (module.startSection().isPresent()) {
      throw feature("a start function; an operation or _initialize does what it would");
    }
    if (module.tagSection().isPresent()) {
      throw feature("exception tags");
    }
  }

  private static void checkImports(WasmModule module) {
    SortedMap<String, FunctionType> offered = WasiCalls.types();
    for (int i = 0; i < module.importSection().importCount(); i++) {
      Import wanted = module.importSection().getImport(i);
      String name = wanted.module() + "." + wanted.name();
      if (!(wanted instanceof FunctionImport function)
          || !wanted.module().equals(WasiCalls.MODULE)
          || !offered.containsKey(wanted.name())) {
        throw new WritException(ToolsError.IMPORT_UNKNOWN, Texts.message(name));
      }
      FunctionType type = module.typeSection().getType(function.typeIndex());
      if (!type.equals(offered.get(wanted.name()))) {
        throw new WritException(
            ToolsError.IMPORT_UNKNOWN,
            name + " is " + offered.get(wanted.name()) + ", the module wants " + type);
      }
    }
  }

  private static void checkMemories(WasmModule module) {
    int memories = module.memorySection().map(section -> section.memoryCount()).orElse(0);
    if (memories > 1) {
      throw feature(memories + " memories");
    }
    if (memories == 1) {
      var limits = module.memorySection().orElseThrow().getMemory(0).limits();
      if (limits.shared()) {
        throw feature("shared memory");
      }
      if (limits.initialPages() > Memory.RUNTIME_MAX_PAGES) {
        throw feature(limits.initialPages() + " pages of memory");
      }
    }
  }

  private static void checkTables(WasmModule module) {
    int tables = module.tableSection().tableCount();
    if (tables > TABLES_MAX) {
      throw feature(tables + " tables");
    }
    for (int i = 0; i < tables; i++) {
      long entries = module.tableSection().getTable(i).limits().min();
      if (entries > Guest.TABLE_ENTRIES_MAX) {
        throw feature("a table of " + entries + " entries");
      }
    }
  }

  /**
   * Checks the targets of exports, which the parser does not; must run after {@link #checkImports}.
   */
  private static void checkExports(WasmModule module) {
    int imported = module.importSection().count(ExternalType.FUNCTION);
    for (int i = 0; i < module.exportSection().exportCount(); i++) {
      Export export = module.exportSection().getExport(i);
      int count =
          switch (export.exportType()) {
            case FUNCTION -> imported + module.functionSection().functionCount();
            case TABLE -> module.tableSection().tableCount();
            case MEMORY -> module.memorySection().map(section -> section.memoryCount()).orElse(0);
            case GLOBAL -> module.globalSection().globalCount();
            case TAG -> 0;
          };
      if (export.index() < 0 || export.index() >= count) {
        throw new WritException(
            ToolsError.MODULE_INVALID,
            "export "
                + i
                + " is "
                + export.exportType()
                + " "
                + Integer.toUnsignedString(export.index())
                + ", there are "
                + count);
      }
    }
  }

  private static void checkCode(WasmModule module) {
    FunctionBody[] bodies = module.codeSection().functionBodies();
    if (bodies.length > FUNCTIONS_MAX) {
      throw feature(bodies.length + " functions");
    }
    for (FunctionBody body : bodies) {
      if (body.localTypes().size() > LOCALS_MAX) {
        throw feature(body.localTypes().size() + " locals in one function");
      }
      for (ValType local : body.localTypes()) {
        if (!local.isNumeric() && !isPlainReference(local)) {
          throw feature("a local of type " + local);
        }
      }
      for (AnnotatedInstruction instruction : body.instructions()) {
        if (!isOffered(instruction.opcode().opcode())) {
          throw feature("the instruction " + instruction.opcode());
        }
      }
    }
  }

  private static boolean isPlainReference(ValType type) {
    return type.equals(ValType.FuncRef) || type.equals(ValType.ExternRef);
  }

  /** The instructions of WebAssembly 2.0 except vector instructions. */
  private static boolean isOffered(int opcode) {
    if (opcode > 0xff) {
      return opcode >= 0xfc00 && opcode <= 0xfc11;
    }
    return opcode <= 0x05
        || opcode >= 0x0b && opcode <= 0x11
        || opcode >= 0x1a && opcode <= 0x1c
        || opcode >= 0x20 && opcode <= 0xd2;
  }

  /** Whether a module is a command, which is entered through {@code _start}. */
  static boolean isCommand(WasmModule module) {
    return exportType(module, START) != null;
  }

  /**
   * Checks that each operation can be entered.
   *
   * @throws WritException {@code TOL-014} where one cannot
   */
  public static void checkEntries(WasmModule module, List<ToolManifest.Operation> operations) {
    if (isCommand(module)) {
      if (!exportType(module, START).equals(FunctionType.empty())) {
        throw new WritException(ToolsError.EXPORT_MISSING, "_start has parameters or results");
      }
      return;
    }
    for (ToolManifest.Operation operation : operations) {
      FunctionType type = exportType(module, operation.name());
      if (type == null
          || !type.params().isEmpty()
          || !type.returns().isEmpty() && !type.returns().equals(List.of(ValType.I32))) {
        throw new WritException(
            ToolsError.EXPORT_MISSING,
            "there is neither _start nor a function "
                + operation.name()
                + " of type () or () → i32");
      }
    }
    FunctionType initialize = exportType(module, WasmProgram.INITIALIZE);
    if (initialize != null && !initialize.equals(FunctionType.empty())) {
      throw new WritException(ToolsError.EXPORT_MISSING, "_initialize has parameters or results");
    }
  }

  /** The type of an exported function, or null. */
  static FunctionType exportType(WasmModule module, String name) {
    int imported = module.importSection().count(ExternalType.FUNCTION);
    for (int i = 0; i < module.exportSection().exportCount(); i++) {
      Export export = module.exportSection().getExport(i);
      if (export.exportType() == ExternalType.FUNCTION && export.name().equals(name)) {
        int index = export.index();
        int type =
            index < imported
                ? ((FunctionImport) functionImport(module, index)).typeIndex()
                : module.functionSection().getFunctionType(index - imported);
        return module.typeSection().getType(type);
      }
    }
    return null;
  }

  private static Import functionImport(WasmModule module, int index) {
    return module.importSection().stream()
        .filter(i -> i.importType() == ExternalType.FUNCTION)
        .skip(index)
        .findFirst()
        .orElseThrow();
  }
}
