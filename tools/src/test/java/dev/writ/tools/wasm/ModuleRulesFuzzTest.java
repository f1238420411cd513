package dev.writ.tools.wasm;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.TestTools;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any bytes whatever: a module that is one still when its NaNs are made canonical, and whose
 * entries are judged; or a refusal.
 */
class ModuleRulesFuzzTest {
  private static final byte[] EMPTY = {0, 'a', 's', 'm', 1, 0, 0, 0};

  /** (module (memory 1) (func (export "run") f32.const 1 f32.const 2 f32.add drop)). */
  private static final String SMALL =
      "0061736d01000000010401600000030201000503010001070701"
          + "0372756e00000a10010e00430000803f4300000040921a0b";

  private static final ToolManifest MANIFEST = TestTools.manifest("wasm", EMPTY, "run");

  static Stream<byte[]> seeds() {
    return Stream.of(EMPTY, HexFormat.of().parseHex(SMALL), TestTools.resource("wasm/guest.wasm"));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsTakenStaysAModule(byte[] bytes) {
    WasmModule module;
    byte[] rewritten;
    try {
      module = ModuleRules.parse(bytes);
      rewritten = NanCanonicalizer.rewrite(bytes, module);
    } catch (WritException refused) {
      return;
    }
    Parser.parse(rewritten);
    try {
      ModuleRules.checkEntries(module, MANIFEST.operations());
    } catch (WritException refused) {
      return;
    }
  }
}
