package dev.writ.guardian.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import java.util.List;
import java.util.Optional;

/**
 * The manifest of a tool. It names its files by digest, so the digest of the manifest is the digest
 * of the whole package. That digest is used many times for each effect, so it is computed once.
 */
public final class ToolManifest {
  private final String name;
  private final String version;
  private final String driver;
  private final Determinism determinism;
  private final List<Operation> operations;
  private final Capabilities capabilities;
  private final Resources resourcesMax;
  private final List<String> sandboxes;
  private final List<PackageFile> files;
  private final Optional<String> category;
  private final Optional<Workload> workload;
  private final ToolRef ref;

  /**
   * One operation.
   *
   * @param input JSON Schema (2020-12) of an effect's params
   * @param output JSON Schema of the output where its media type is application/json
   * @param mediaType of the output
   */
  public record Operation(
      String name, JsonValue.Obj input, Optional<JsonValue.Obj> output, String mediaType) {
    static Operation read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Operation operation =
          new Operation(
              fields.name("name"),
              fields.obj("input"),
              fields.optional("output", fields::obj),
              fields.name("media_type"));
      fields.end();
      return operation;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("name", name)
          .put("input", input)
          .putIfPresent("output", output, o -> o)
          .put("media_type", mediaType)
          .build();
    }
  }

  /**
   * The meaning of params for the envelope check, as JSON Pointers into them; each list is sorted.
   *
   * @param paths params that are paths under the workspace root
   * @param environment params that are objects of environment variables
   * @param network params that are URLs or {@code host:port}
   * @param commands params that name programs which are to exist in the sandbox
   * @param secrets params that name secrets
   * @param hosts destinations {@code host:port} to which the tool connects whatever its params say
   * @param ownSecrets names of secrets that the tool gets whatever its params say
   * @param workspace whether the tool uses the run's workspace
   */
  public record Capabilities(
      List<String> paths,
      List<String> environment,
      List<String> network,
      List<String> commands,
      List<String> secrets,
      List<String> hosts,
      List<String> ownSecrets,
      boolean workspace) {
    public Capabilities {
      paths = List.copyOf(paths);
      environment = List.copyOf(environment);
      network = List.copyOf(network);
      commands = List.copyOf(commands);
      secrets = List.copyOf(secrets);
      hosts = List.copyOf(hosts);
      ownSecrets = List.copyOf(ownSecrets);
    }

    /** Without commands, secrets, hosts and secrets of its own. */
    public Capabilities(
        List<String> paths, List<String> environment, List<String> network, boolean workspace) {
      this(paths, environment, network, List.of(), List.of(), List.of(), workspace);
    }

    /** Without hosts and secrets of its own. */
    public Capabilities(
        List<String> paths,
        List<String> environment,
        List<String> network,
        List<String> commands,
        List<String> secrets,
        boolean workspace) {
      this(paths, environment, network, commands, secrets, List.of(), workspace);
    }

    /** Without secrets of its own. */
    public Capabilities(
        List<String> paths,
        List<String> environment,
        List<String> network,
        List<String> commands,
        List<String> secrets,
        List<String> hosts,
        boolean workspace) {
      this(paths, environment, network, commands, secrets, hosts, List.of(), workspace);
    }

    static final Capabilities NONE = new Capabilities(List.of(), List.of(), List.of(), false);

    static Capabilities read(Fields fields) {
      Capabilities capabilities =
          new Capabilities(
              fields.list("paths", Fields::stringItem),
              fields.list("environment", Fields::stringItem),
              fields.list("network", Fields::stringItem),
              listIfAny(fields, "commands"),
              listIfAny(fields, "secrets"),
              listIfAny(fields, "hosts"),
              listIfAny(fields, "own_secrets"),
              fields.bool("workspace"));
      fields.end();
      return capabilities;
    }

    /**
     * Reads a list that was added to the format later: it must be left out if it is empty, so that
     * a manifest has only one form.
     */
    private static List<String> listIfAny(Fields fields, String key) {
      List<String> list =
          fields.optional(key, k -> fields.list(k, Fields::stringItem)).orElse(List.of());
      if (list.isEmpty() && fields.has(key)) {
        throw new WritException(
            CanonicalizeError.FIELD_VALUE, fields.path() + "/" + key + " is empty: leave it out");
      }
      return list;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .putList("paths", paths, JsonValue::of)
          .putList("environment", environment, JsonValue::of)
          .putList("network", network, JsonValue::of)
          .putIfPresent("commands", listed(commands), list -> list)
          .putIfPresent("secrets", listed(secrets), list -> list)
          .putIfPresent("hosts", listed(hosts), list -> list)
          .putIfPresent("own_secrets", listed(ownSecrets), list -> list)
          .put("workspace", workspace)
          .build();
    }

    private static Optional<JsonValue> listed(List<String> list) {
      return Optional.of(list)
          .filter(l -> !l.isEmpty())
          .map(l -> JsonValue.of(l.stream().map(JsonValue::of).toList()));
    }

    /** No capabilities beyond params and inputs. */
    public static Capabilities none() {
      return NONE;
    }
  }

  /** A file of the package. */
  public record PackageFile(String path, Digest digest, long size) {
    static PackageFile read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      PackageFile file =
          new PackageFile(fields.name("path"), fields.digest("digest"), fields.count("size"));
      fields.end();
      return file;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("path", path).put("digest", digest).put("size", size).build();
    }
  }

  /** One that is in no category and does not state its workload. */
  public ToolManifest(
      String name,
      String version,
      String driver,
      Determinism determinism,
      List<Operation> operations,
      Capabilities capabilities,
      Resources resourcesMax,
      List<String> sandboxes,
      List<PackageFile> files) {
    this(
        name,
        version,
        driver,
        determinism,
        operations,
        capabilities,
        resourcesMax,
        sandboxes,
        files,
        Optional.empty(),
        Optional.empty());
  }

  /**
   * @param driver the driver that runs it, for example {@code wasm}
   * @param determinism the best that the author promises; the driver may grant less
   * @param operations sorted by name
   * @param capabilities what it may touch beyond its params and inputs
   * @param resourcesMax the most that any effect of it may declare
   * @param sandboxes sandbox profiles it can run under, sorted
   * @param files content of the package, sorted by path
   * @param category a word by which policy can switch tools of a kind on and off (seed 004)
   * @param workload what bounds its speed, for service levels; nothing else depends on it
   */
  public ToolManifest(
      String name,
      String version,
      String driver,
      Determinism determinism,
      List<Operation> operations,
      Capabilities capabilities,
      Resources resourcesMax,
      List<String> sandboxes,
      List<PackageFile> files,
      Optional<String> category,
      Optional<Workload> workload) {
    this.name = name;
    this.version = version;
    this.driver = driver;
    this.determinism = determinism;
    this.operations = List.copyOf(operations);
    this.capabilities = capabilities;
    this.resourcesMax = resourcesMax;
    this.sandboxes = List.copyOf(sandboxes);
    this.files = List.copyOf(files);
    this.category = category;
    this.workload = workload;
    requireSorted("operations", operations.stream().map(Operation::name).toList());
    requireSorted("sandboxes", sandboxes);
    requireSorted("capabilities/paths", capabilities.paths());
    requireSorted("capabilities/environment", capabilities.environment());
    requireSorted("capabilities/network", capabilities.network());
    requireSorted("capabilities/commands", capabilities.commands());
    requireSorted("capabilities/secrets", capabilities.secrets());
    requireSorted("capabilities/hosts", capabilities.hosts());
    requireSorted("capabilities/own_secrets", capabilities.ownSecrets());
    requireSorted("files", files.stream().map(PackageFile::path).toList());
    this.ref = new ToolRef(name, version, Jcs.digest(toJson()));
  }

  public String name() {
    return name;
  }

  public String version() {
    return version;
  }

  public String driver() {
    return driver;
  }

  public Determinism determinism() {
    return determinism;
  }

  public List<Operation> operations() {
    return operations;
  }

  public Capabilities capabilities() {
    return capabilities;
  }

  public Resources resourcesMax() {
    return resourcesMax;
  }

  public List<String> sandboxes() {
    return sandboxes;
  }

  public List<PackageFile> files() {
    return files;
  }

  public Optional<String> category() {
    return category;
  }

  public Optional<Workload> workload() {
    return workload;
  }

  private static void requireSorted(String list, List<String> names) {
    for (int i = 1; i < names.size(); i++) {
      if (names.get(i - 1).compareTo(names.get(i)) >= 0) {
        throw new WritException(GuardianError.LIST_ORDER, "manifest/" + list + "/" + i);
      }
    }
  }

  public static ToolManifest read(JsonValue document) {
    Fields fields = Fields.of("manifest", document);
    ToolManifest manifest =
        new ToolManifest(
            fields.name("name"),
            fields.name("version"),
            fields.name("driver"),
            fields.oneOf("determinism", List.of(Determinism.values()), Determinism::text),
            fields.list("operations", Operation::read),
            Capabilities.read(fields.fields("capabilities")),
            Resources.read(fields.fields("resources_max")),
            fields.list("sandboxes", Fields::stringItem),
            fields.list("files", PackageFile::read),
            fields.optional("category", fields::name),
            fields.optional("workload", key -> fields.oneOf(key, Workload.ALL, Workload::text)));
    fields.end();
    return manifest;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("version", version)
        .put("driver", driver)
        .put("determinism", determinism.text())
        .putList("operations", operations, Operation::toJson)
        .put("capabilities", capabilities.toJson())
        .put("resources_max", resourcesMax.toJson())
        .putList("sandboxes", sandboxes, JsonValue::of)
        .putList("files", files, PackageFile::toJson)
        .putIfPresent("category", category, JsonValue::of)
        .putIfPresent("workload", workload, w -> JsonValue.of(w.text()))
        .build();
  }

  /**
   * Stands in for a tool that is not registered, so that a request for it is judged, and denied,
   * like any other: it has no operation, and policy cannot approve it.
   */
  public static ToolManifest unregistered(String name, String version) {
    return new ToolManifest(
        name,
        version,
        "none",
        Determinism.RECORDED,
        List.of(),
        Capabilities.none(),
        new Resources(0, 0, 0, 0),
        List.of(),
        List.of());
  }

  /** The package digest: the digest of the canonical manifest. */
  public Digest packageDigest() {
    return ref.packageDigest();
  }

  public ToolRef ref() {
    return ref;
  }

  public Optional<Operation> operation(String operationName) {
    for (Operation operation : operations) {
      if (operation.name().equals(operationName)) {
        return Optional.of(operation);
      }
    }
    return Optional.empty();
  }

  /** Manifests are equal if their canonical bytes are, and so their package digests. */
  @Override
  public boolean equals(Object other) {
    return other instanceof ToolManifest that && ref.equals(that.ref);
  }

  @Override
  public int hashCode() {
    return ref.hashCode();
  }

  @Override
  public String toString() {
    return "ToolManifest " + name + " " + version + " " + packageDigest();
  }
}
