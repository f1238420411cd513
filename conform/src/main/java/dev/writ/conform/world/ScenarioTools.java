package dev.writ.conform.world;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.ConformError;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.ToolManifest;
import java.util.List;
import java.util.TreeMap;

/** What scenarios say of tools: which there are, and what they do (spec/conformance.md). */
final class ScenarioTools {
  private static final String DRIVER = "scripted";

  private ScenarioTools() {}

  /** Its tools do what the scenario says, and otherwise succeed and show their parameters. */
  static TestDriver driver() {
    return new TestDriver(DRIVER, _ -> Behaviours::params);
  }

  /** Puts a tool there, or in the place of another of its name and version. */
  static void register(TestTools tools, Fields tool) {
    ToolManifest manifest = ToolManifest.read(tool.value("manifest"));
    TreeMap<String, byte[]> files = new TreeMap<>();
    boolean stated = tool.has("files");
    if (stated) {
      Fields content = tool.fields("files");
      for (ToolManifest.PackageFile file : manifest.files()) {
        files.put(file.path(), StrictBase64.decode(file.path(), content.string(file.path())));
      }
      content.end();
    }
    tool.end();
    if (stated) {
      tools.register(manifest, file -> files.get(file.path()).clone());
    } else {
      tools.register(manifest);
    }
  }

  /** The package's files from now on hold something else than the manifest names. */
  static void corrupt(TestTools tools, String name, String version) {
    ToolManifest manifest =
        tools
            .manifest(name, version)
            .orElseThrow(() -> new WritException(ConformError.SCENARIO, "no tool " + name));
    tools.register(manifest, _ -> new byte[] {1});
  }

  /** What a tool does, in the words of a scenario. */
  static TestDriver.Behaviour behaviour(TestHome home, JsonValue.Obj said) {
    return invocation -> run(home, Fields.of("behaviour", said), invocation);
  }

  private static DriverOutcome run(TestHome home, Fields said, Invocation invocation) {
    if (said.has("appends_b64")) {
      home.workspaces.append(
          invocation, StrictBase64.decode("appends_b64", said.string("appends_b64")));
    }
    if (said.has("unmeasured") && said.bool("unmeasured")) {
      home.workspaces.fails(asSaid());
    }
    return switch (said.name("does")) {
      case "crash" -> {
        home.crash();
        yield DriverOutcome.failed(DriverOutcome.End.FAILED, "crashed", "", Behaviours.USED);
      }
      case "throw" -> throw asSaid();
      default ->
          new DriverOutcome(
              said.oneOf("end", List.of(DriverOutcome.End.values()), DriverOutcome.End::text),
              said.string("reason"),
              said.string("message"),
              said.optional(
                  "output_b64",
                  key ->
                      new DriverOutcome.Output(
                          StrictBase64.decode(key, said.string(key)), said.string("media_type"))),
              List.of(),
              Behaviours.USED,
              JsonValue.object().build());
    };
  }

  /** What breaks because the scenario says so. */
  static IllegalStateException asSaid() {
    return new IllegalStateException("the scenario says so");
  }
}
