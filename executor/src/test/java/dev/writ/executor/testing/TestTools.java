package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** A registry in memory; what it holds can be changed while a kernel runs. */
public final class TestTools implements Tools.Registry {
  /** Most that any of the tools may declare. */
  public static final Resources RESOURCES_MAX = new Resources(60_000, 1 << 30, 32 << 20, 60_000);

  private static final byte[] CODE = "the tool's code".getBytes(StandardCharsets.UTF_8);

  private final TreeMap<String, ToolManifest> manifests = new TreeMap<>();
  private final TreeMap<Digest, Driver.PackageContent> contents = new TreeMap<>();
  private byte[] code = CODE;
  private Runnable beforeLookup = () -> {};

  /**
   * The tools of every {@link TestHome}: {@code calc} is pure, {@code sim} reproducible, {@code
   * mail} and {@code pay} are recorded.
   */
  public static TestTools standard() {
    TestTools tools = new TestTools();
    tools.register(manifest("calc", Determinism.PURE));
    tools.register(manifest("sim", Determinism.REPRODUCIBLE));
    tools.register(manifest("mail", Determinism.RECORDED));
    tools.register(manifest("pay", Determinism.RECORDED));
    return tools;
  }

  /**
   * The standard tools and some that use their run's workspace: {@code desk} and {@code vault} are
   * recorded, {@code lathe} is reproducible, {@code slate} says that it is pure.
   */
  public static TestTools withWorkspaces() {
    TestTools tools = standard();
    tools.register(inWorkspace("desk", Determinism.RECORDED));
    tools.register(inWorkspace("vault", Determinism.RECORDED));
    tools.register(inWorkspace("lathe", Determinism.REPRODUCIBLE));
    tools.register(inWorkspace("slate", Determinism.PURE));
    return tools;
  }

  public static ToolManifest inWorkspace(String name, Determinism determinism) {
    String json =
        new String(Jcs.write(manifest(name, determinism).toJson()), StandardCharsets.UTF_8);
    return ToolManifest.read(object(json.replace("\"workspace\":false", "\"workspace\":true")));
  }

  public static ToolManifest manifest(String name, Determinism determinism) {
    return manifest(name, determinism, TestDriver.NAME, TestDriver.SANDBOX);
  }

  public static ToolManifest manifest(
      String name, Determinism determinism, String driver, String sandbox) {
    return new ToolManifest(
        name,
        "1.0.0",
        driver,
        determinism,
        List.of(
            new ToolManifest.Operation(
                "do",
                object("{\"type\":\"object\"}"),
                Optional.of(
                    object(
                        "{\"type\":\"object\",\"properties\":{\"ok\":{\"type\":\"boolean\"}},"
                            + "\"required\":[\"ok\"]}")),
                Behaviours.JSON),
            new ToolManifest.Operation(
                "text", object("{\"type\":\"object\"}"), Optional.empty(), "text/plain"),
            new ToolManifest.Operation(
                "twice",
                object("{\"type\":\"object\"}"),
                Optional.of(object("{\"type\":\"object\"}")),
                Behaviours.JSON)),
        ToolManifest.Capabilities.none(),
        RESOURCES_MAX,
        List.of(sandbox),
        List.of(new ToolManifest.PackageFile("code", Digest.sha256(CODE), CODE.length)));
  }

  public static JsonValue.Obj object(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  public synchronized void register(ToolManifest manifest) {
    manifests.put(manifest.name() + " " + manifest.version(), manifest);
  }

  /** One with files of its own. */
  public synchronized void register(ToolManifest manifest, Driver.PackageContent content) {
    register(manifest);
    contents.put(manifest.packageDigest(), content);
  }

  public synchronized void remove(String name, String version) {
    manifests.remove(name + " " + version);
  }

  /** From now on every package's file holds this instead of what its manifest names. */
  public synchronized void corrupt(byte[] instead) {
    code = instead.clone();
  }

  /** From now on called before each look into the registry. */
  public synchronized void beforeLookup(Runnable action) {
    beforeLookup = action;
  }

  @Override
  public synchronized Optional<ToolManifest> manifest(String name, String version) {
    beforeLookup.run();
    return Optional.ofNullable(manifests.get(name + " " + version));
  }

  @Override
  public synchronized Driver.PackageContent content(ToolManifest manifest) {
    Driver.PackageContent own = contents.get(manifest.packageDigest());
    if (own != null) {
      return own;
    }
    return _ -> {
      synchronized (this) {
        return code.clone();
      }
    };
  }

  /** The entries of a policy that approve what is registered. */
  public synchronized String policyEntries() {
    StringBuilder yaml = new StringBuilder();
    manifests
        .values()
        .forEach(m ->
            yaml.append("  - { name: ")
                .append(m.name())
                .append(", version: ")
                .append(m.version())
                .append(", package: \"")
                .append(m.packageDigest())
                .append("\" }\n"));
    return yaml.toString();
  }
}
