package dev.writ.tools.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A server as a tool package: how it is started, what it listed, and the operations that are
 * judged. One digest binds all of it.
 *
 * @param files all files of the package, by path
 * @param dropped by operation, what its derived schemas do not check
 */
public record UpstreamPackage(
    ToolManifest manifest,
    ServerSpec spec,
    PinnedTools tools,
    SortedMap<String, byte[]> files,
    SortedMap<String, List<String>> dropped) {
  /** The driver, and so the language, of such packages. */
  public static final String DRIVER = "mcp";

  private static final String JSON = "application/json";
  private static final Resources MOST = new Resources(600_000, 4L << 30, 32L << 20, 3_600_000);

  public UpstreamPackage {
    files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
    dropped = Collections.unmodifiableSortedMap(new TreeMap<>(dropped));
  }

  /**
   * Makes the package of a server.
   *
   * @param own files that the server is to see below {@code /tool}, by name
   */
  public static UpstreamPackage of(
      String name,
      String version,
      ServerSpec spec,
      PinnedTools tools,
      SortedMap<String, byte[]> own) {
    TreeMap<String, List<String>> dropped = new TreeMap<>();
    List<ToolManifest.Operation> operations = new ArrayList<>();
    tools.byName().values().forEach(tool -> operations.add(operation(tool, dropped)));
    for (PassedMethod method : PassedMethod.of(spec.passes())) {
      if (tools.tool(method.method()).isPresent()) {
        throw new WritException(
            ToolsError.UPSTREAM_TOOL, "a tool has the name of the method " + method.method());
      }
      operations.add(method.operation(tools.offers()));
    }
    operations.sort(Comparator.comparing(ToolManifest.Operation::name));
    TreeMap<String, byte[]> files = new TreeMap<>();
    own.forEach((path, bytes) -> files.put(ServerSpec.FILES + path, bytes));
    files.put(ServerSpec.FILE, Jcs.write(spec.toJson()));
    files.put(PinnedTools.FILE, tools.toBytes());
    if (spec.passes().has(Passes.PROMPTS) || spec.passes().has(Passes.RESOURCES)) {
      files.put(PinnedOffers.FILE, tools.offers().toBytes());
    }
    List<ToolManifest.PackageFile> listed = new ArrayList<>();
    files.forEach((path, bytes) ->
        listed.add(new ToolManifest.PackageFile(path, Digest.sha256(bytes), bytes.length)));
    ToolManifest manifest =
        new ToolManifest(
            name,
            version,
            DRIVER,
            Determinism.RECORDED,
            operations,
            new ToolManifest.Capabilities(
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                spec.hosts(),
                spec.secretNames(),
                false),
            MOST,
            List.of("default"),
            listed);
    return new UpstreamPackage(manifest, spec, tools, files, dropped);
  }

  private static ToolManifest.Operation operation(
      ListedTool tool, TreeMap<String, List<String>> dropped) {
    DerivedSchema.Result input = acceptable(DerivedSchema.of(tool.inputSchema()));
    Optional<DerivedSchema.Result> output =
        tool.outputSchema().map(DerivedSchema::of).map(UpstreamPackage::acceptable);
    List<String> all = new ArrayList<>();
    input.dropped().forEach(place -> all.add("inputSchema" + place));
    output.ifPresent(o -> o.dropped().forEach(place -> all.add("outputSchema" + place)));
    if (!all.isEmpty()) {
      dropped.put(tool.name(), List.copyOf(all));
    }
    return new ToolManifest.Operation(
        tool.name(),
        input.schema(),
        Optional.of(ToolAnswer.schema(output.map(DerivedSchema.Result::schema))),
        JSON);
  }

  /** The schema, or one that accepts every object where ours is refused as a whole. */
  private static DerivedSchema.Result acceptable(DerivedSchema.Result derived) {
    ToolManifest alone =
        new ToolManifest(
            "schema",
            "1",
            DRIVER,
            Determinism.RECORDED,
            List.of(new ToolManifest.Operation("one", derived.schema(), Optional.empty(), JSON)),
            ToolManifest.Capabilities.none(),
            MOST,
            List.of("default"),
            List.of());
    try {
      ToolSchemas.requireWellFormed(alone);
      return derived;
    } catch (WritException e) {
      return DerivedSchema.any("the whole schema, " + e.code().code());
    }
  }

  /**
   * Reads the package of a manifest.
   *
   * @throws WritException {@code TOL-238} where a file is missing or malformed
   */
  public static UpstreamPackage read(ToolManifest manifest, Driver.PackageContent content) {
    TreeMap<String, byte[]> files = new TreeMap<>();
    manifest.files().forEach(file -> files.put(file.path(), content.read(file)));
    if (!files.containsKey(ServerSpec.FILE) || !files.containsKey(PinnedTools.FILE)) {
      throw new WritException(
          ToolsError.UPSTREAM_PACKAGE,
          manifest.name() + " has no " + ServerSpec.FILE + " and " + PinnedTools.FILE);
    }
    ServerSpec spec = ServerSpec.parse(files.get(ServerSpec.FILE));
    PinnedTools tools = PinnedTools.parse(files.get(PinnedTools.FILE));
    if (files.containsKey(PinnedOffers.FILE)) {
      tools = tools.with(PinnedOffers.parse(files.get(PinnedOffers.FILE)));
    }
    boolean declared =
        manifest.capabilities().hosts().equals(spec.hosts())
            && manifest.capabilities().ownSecrets().equals(spec.secretNames());
    if (!declared) {
      throw new WritException(
          ToolsError.UPSTREAM_PACKAGE,
          manifest.name() + " declares other hosts or secrets than its " + ServerSpec.FILE);
    }
    return new UpstreamPackage(manifest, spec, tools, files, new TreeMap<>());
  }

  /** The server's own files, by name. */
  public SortedMap<String, byte[]> own() {
    TreeMap<String, byte[]> own = new TreeMap<>();
    files.forEach((path, bytes) -> {
      if (path.startsWith(ServerSpec.FILES)) {
        own.put(path.substring(ServerSpec.FILES.length()), bytes);
      }
    });
    return own;
  }
}
