package dev.writ.tools.wasm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.registry.BuiltinTools;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Only modules whose effects have a bound are taken; every other gets its code. */
class ModuleRulesTest {
  private static final String HEADER = "0061736d01000000";

  /** One type () → (), one function, exported as "f"; sections in hex stand between. */
  private static byte[] module(String... sections) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(HexFormat.of().parseHex(HEADER));
    for (String section : sections) {
      out.writeBytes(HexFormat.of().parseHex(section.replace(" ", "")));
    }
    return out.toByteArray();
  }

  private static void refused(byte[] module, ErrorCode code) {
    assertThatThrownBy(() -> TestTools.module("wasm", module, "f"))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code));
  }

  private static final String TYPES = "01 04 01 60 00 00";
  private static final String FUNCTIONS = "03 02 01 00";
  private static final String EXPORT_F = "07 05 01 01 66 00 00";
  private static final String EMPTY_CODE = "0a 04 01 02 00 0b";

  @Test
  void theSmallestModuleRuns() {
    byte[] module = module(TYPES, FUNCTIONS, EXPORT_F, EMPTY_CODE);
    assertThat(Call.show(TestTools.module("wasm", module, "f").run()))
        .isEqualTo("SUCCEEDED ok  application/octet-stream  {}");
  }

  /** A function, table, memory and global that are not there; the parser does not mind. */
  @ParameterizedTest
  @CsvSource({"00 01", "00 6d", "00 ff ff ff ff 0f", "01 00", "02 00", "03 00"})
  void exportsOfWhatIsNotThereAreRefused(String export) {
    String body = "01 01 66" + export.replace(" ", "");
    String section = "07" + String.format("%02x", body.replace(" ", "").length() / 2) + body;
    refused(module(TYPES, FUNCTIONS, section, EMPTY_CODE), ToolsError.MODULE_INVALID);
  }

  @ParameterizedTest
  @CsvSource({
    "'', MODULE_INVALID",
    "00, MODULE_INVALID",
    "0061736d, MODULE_INVALID",
    "0061736d02000000, MODULE_INVALID",
    "0061736d0100000001, MODULE_INVALID",
    "0061736d01000000 01 ff ff ff ff 0f, MODULE_INVALID",
    "0061736d01000000, EXPORT_MISSING",
  })
  void whatIsNoModuleIsRefused(String hex, ToolsError code) {
    refused(HexFormat.of().parseHex(hex.replace(" ", "")), code);
  }

  @Test
  void countsThatNothingBacksAreRefusedWithoutMemory() {
    // 2^32 - 1 locals of one function, then 50001, in a module of some forty bytes
    refused(
        module(TYPES, FUNCTIONS, EXPORT_F, "0a 0b 01 09 01 ff ff ff ff 0f 7f 0b 00"),
        ToolsError.MODULE_INVALID);
    refused(
        module(TYPES, FUNCTIONS, EXPORT_F, "0a 08 01 06 01 a0 9c 01 7f 0b"),
        ToolsError.MODULE_FEATURE);
    // tables of 2^28 and of 200000 entries
    refused(module("04 08 01 70 00 80 80 80 80 01"), ToolsError.MODULE_INVALID);
    refused(module("04 06 01 70 00 c0 9a 0c"), ToolsError.MODULE_FEATURE);
  }

  @Test
  void aModuleLargerThanAllowedIsRefused() {
    refused(new byte[ModuleRules.MODULE_BYTES_MAX + 1], ToolsError.MODULE_INVALID);
  }

  @Test
  void importsOtherThanWasiAreRefused() {
    // env.f of type () → ()
    refused(module(TYPES, "02 09 01 03 65 6e 76 01 66 00 00"), ToolsError.IMPORT_UNKNOWN);
    // wasi_snapshot_preview1.nope, and sched_yield with the wrong type
    refused(module(TYPES, wasiImport("nope")), ToolsError.IMPORT_UNKNOWN);
    refused(module(TYPES, wasiImport("sched_yield")), ToolsError.IMPORT_UNKNOWN);
    // env.memory
    refused(module("02 08 01 03 65 6e 76 01 6d 02 00 01"), ToolsError.MODULE_INVALID);
    refused(module("02 0a 01 03 65 6e 76 01 6d 02 00 01"), ToolsError.IMPORT_UNKNOWN);
  }

  private static String wasiImport(String name) {
    String module = "wasi_snapshot_preview1";
    HexFormat hex = HexFormat.of();
    String body =
        "01"
            + hex.toHexDigits((byte) module.length())
            + hex.formatHex(module.getBytes(StandardCharsets.US_ASCII))
            + hex.toHexDigits((byte) name.length())
            + hex.formatHex(name.getBytes(StandardCharsets.US_ASCII))
            + "0000";
    return "02" + hex.toHexDigits((byte) (body.length() / 2)) + body;
  }

  @Test
  void laterProposalsAreRefused() {
    // shared memory; a start function; v128.const; a struct type
    refused(
        module(TYPES, FUNCTIONS, "05 04 01 03 01 01", EXPORT_F, EMPTY_CODE),
        ToolsError.MODULE_FEATURE);
    refused(module(TYPES, FUNCTIONS, EXPORT_F, "08 01 00", EMPTY_CODE), ToolsError.MODULE_FEATURE);
    refused(
        module(
            TYPES,
            FUNCTIONS,
            EXPORT_F,
            "0a 17 01 15 00 fd 0c 00000000000000000000000000000000 1a 0b"),
        ToolsError.MODULE_FEATURE);
    refused(module("01 03 01 5f 00"), ToolsError.MODULE_FEATURE);
  }

  @Test
  void anOperationNeedsItsEntry() {
    byte[] guest = TestTools.resource("wasm/guest.wasm");
    assertThatThrownBy(() -> TestTools.module("wasm", guest, "absent"))
        .hasMessageContaining("TOL-014");
    assertThatThrownBy(() -> TestTools.module("wasm", guest, "count"))
        .as("a function with a parameter")
        .hasMessageContaining("TOL-014");
    assertThatThrownBy(() -> TestTools.module("wasm", guest, "memory"))
        .as("not a function")
        .hasMessageContaining("TOL-014");
  }

  @Test
  void manifestsForOthersAreRefused() {
    ToolManifest m = BuiltinTools.manifest("word-count", "1.0.0").orElseThrow();
    assertThatThrownBy(() -> TestTools.driver("js").prepare(m, "count", BuiltinTools.content(m)))
        .hasMessageContaining("TOL-001");
    assertThatThrownBy(() -> TestTools.driver("wasm").prepare(m, "none", BuiltinTools.content(m)))
        .hasMessageContaining("TOL-002");
    assertThatThrownBy(() -> TestTools.driver("wasm").sandboxProfile("bubblewrap"))
        .hasMessageContaining("TOL-003");
    ToolManifest.Capabilities net =
        new ToolManifest.Capabilities(List.of(), List.of(), List.of("/url"), false);
    ToolManifest wants =
        new ToolManifest(
            m.name(),
            m.version(),
            m.driver(),
            Determinism.PURE,
            m.operations(),
            net,
            m.resourcesMax(),
            m.sandboxes(),
            m.files());
    assertThatThrownBy(
            () -> TestTools.driver("wasm").prepare(wants, "count", BuiltinTools.content(m)))
        .hasMessageContaining("TOL-004");
  }

  /**
   * Law: bytes that were a module and are damaged are refused with a code, or run to an outcome.
   */
  @Test
  void damagedModulesAreRefusedOrRunToAnOutcome() {
    long seed = Long.getLong("writ.seed", 20261121L);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    byte[] good = TestTools.resource("wasm/guest.wasm");
    int refused = 0;
    for (int i = 0; i < Integer.getInteger("writ.fuzz", 200); i++) {
      byte[] bad = good.clone();
      for (int n = random.nextInt(3); n >= 0; n--) {
        bad[random.nextInt(bad.length)] = (byte) random.nextInt();
      }
      try {
        Call call = TestTools.module("wasm", bad, "nothing");
        assertThat(call.cpuMs(50).memoryBytes(4 << 20).run().reason())
            .isIn("ok", "trap", "exit-code", "stack-overflow", "cpu-time", "out-of-memory");
      } catch (WritException e) {
        assertThat(e.code().code()).startsWith("TOL-01");
        refused++;
      }
    }
    assertThat(refused).isPositive();
  }
}
