package dev.writ.tools.author;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Workload;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.guardian.policy.rule.SecretGrant;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.guardian.yaml.Section;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.HttpApi;
import dev.writ.tools.http.HttpOperation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;

/**
 * The file {@code tool.manifest}, which a tool's author writes (spec/tool-package.md). The kernel's
 * manifest is made from it.
 *
 * @param runtime the versions of its runtime that it is written for, a {@link RuntimeRange}
 * @param entry the file that holds the operations
 * @param operations sorted by name
 * @param workspace whether it works on the files of the run
 * @param network destinations that it may connect to, {@code host:port}, sorted
 * @param artifacts media types of the artifacts that it may produce, sorted
 * @param secrets names of secrets that each call gets, sorted
 * @param spawn whether it may start programs
 * @param compiled jars below {@code vendor/}, which no parser reads, so that approvers approve them
 *     unread; sorted
 * @param category a word by which policies switch tools of a kind on and off
 * @param workload what bounds its speed
 * @param http the requests of its operations; there for the language {@code http} alone, whose
 *     entry, capabilities and determinism follow from it
 */
public record ToolSource(
    String tool,
    String version,
    Language language,
    String runtime,
    String entry,
    List<ToolManifest.Operation> operations,
    boolean workspace,
    List<String> network,
    List<String> artifacts,
    List<String> secrets,
    boolean spawn,
    ResourceClass resourceClass,
    Determinism determinism,
    List<String> compiled,
    Optional<String> category,
    Optional<Workload> workload,
    Optional<HttpApi> http) {
  /** The name of the file. */
  public static final String FILE = "tool.manifest";

  /** The version of the format that this release reads. */
  private static final long FORMAT = 1;

  /** As many as a call may have. */
  private static final int SECRETS_MAX = 16;

  private static final Pattern MEDIA_TYPE =
      Pattern.compile("[a-z0-9][a-z0-9.+-]{0,63}/[a-z0-9][a-z0-9.+-]{0,63}");

  private static final String JSON = "application/json";

  public ToolSource {
    operations = List.copyOf(operations);
    network = List.copyOf(network);
    artifacts = List.copyOf(artifacts);
    secrets = List.copyOf(secrets);
    compiled = List.copyOf(compiled);
  }

  /**
   * @throws WritException {@code TOL-201} with line, column and field for what cannot be used,
   *     {@code TOL-202} for a form of a later release
   */
  public static ToolSource parse(byte[] bytes) {
    try {
      return read(Section.of(FILE, PlainYaml.read(bytes, FILE)));
    } catch (WritException e) {
      if (e.code() instanceof ToolsError) {
        throw e;
      }
      throw new WritException(
          ToolsError.SOURCE_INVALID, e.found() + " (" + e.code().meaning() + ")", e);
    }
  }

  /**
   * The text of a media type without parameters, in lower case.
   *
   * @throws WritException {@code TOL-201} for any other text
   */
  public static String mediaType(String text) {
    if (!MEDIA_TYPE.matcher(text).matches()) {
      throw new WritException(ToolsError.SOURCE_INVALID, "\"" + text + "\" is no media type");
    }
    return text;
  }

  private static ToolSource read(Section file) {
    long format = file.count("format");
    if (format != FORMAT) {
      throw new WritException(
          ToolsError.SOURCE_FORMAT, FILE + " has format " + format + ", this release reads 1");
    }
    Language language = file.oneOf("language", Language.ALL, Language::text);
    ToolSource source =
        language.equals(Language.HTTP) ? described(file, language) : programmed(file, language);
    file.end();
    source.requireSense(file);
    return source;
  }

  /** One whose operations are described requests. */
  private static ToolSource described(Section file, Language language) {
    HttpApi api = HttpApi.read(file.section("http"));
    TreeMap<String, HttpOperation> requests = new TreeMap<>();
    List<ToolManifest.Operation> operations =
        operations(
            file,
            language,
            (name, section) -> requests.put(name, api.operation(name, section.section("http"))));
    HttpApi whole = api.with(requests);
    whole.requireInputs(operations);
    return new ToolSource(
        file.name("tool"),
        file.name("version"),
        language,
        file.name("runtime"),
        FILE,
        operations,
        false,
        whole.places(),
        List.of(),
        List.copyOf(whole.credentials().keySet()),
        false,
        file.oneOf("resource_class", ResourceClass.ALL, ResourceClass::text),
        Determinism.RECORDED,
        List.of(),
        file.optional("category", file::name),
        file.optional("workload", key -> file.oneOf(key, Workload.ALL, Workload::text)),
        Optional.of(whole));
  }

  private static ToolSource programmed(Section file, Language language) {
    Section can = file.section("capabilities");
    String filesystem = can.oneOf("filesystem", List.of("none", "workspace"), word -> word);
    List<String> network = can.names("network", List.of());
    network.forEach(place ->
        can.require(
            "network",
            !place.contains("://") && NetworkPlace.parse(place).isPresent(),
            "\"" + place + "\" is no host:port"));
    List<String> artifacts = can.names("artifacts", List.of());
    artifacts.forEach(type ->
        can.require(
            "artifacts", MEDIA_TYPE.matcher(type).matches(), "\"" + type + "\" is no media type"));
    List<String> secrets = can.names("secrets", List.of());
    secrets.forEach(name ->
        can.require(
            "secrets", SecretGrant.isName(name), "\"" + name + "\" is no name of a secret"));
    can.require("secrets", secrets.size() <= SECRETS_MAX, "more than " + SECRETS_MAX);
    boolean spawn = can.bool("spawn");
    can.end();
    return new ToolSource(
        file.name("tool"),
        file.name("version"),
        language,
        file.name("runtime"),
        file.name("entry"),
        operations(file, language, (name, section) -> {}),
        filesystem.equals("workspace"),
        network,
        artifacts,
        secrets,
        spawn,
        file.oneOf("resource_class", ResourceClass.ALL, ResourceClass::text),
        file.oneOf("determinism", List.of(Determinism.values()), Determinism::text),
        file.names("compiled", List.of()),
        file.optional("category", file::name),
        file.optional("workload", key -> file.oneOf(key, Workload.ALL, Workload::text)),
        Optional.empty());
  }

  /**
   * @param more reads what the language adds to an operation
   */
  private static List<ToolManifest.Operation> operations(
      Section file, Language language, BiConsumer<String, Section> more) {
    String form = language.equals(Language.HTTP) ? "[A-Za-z]" : "[a-z]";
    Pattern names = Pattern.compile(form + form.replace("]", "0-9_-]") + "{0,63}");
    Section section = file.section("operations");
    List<ToolManifest.Operation> operations = new ArrayList<>();
    for (String name : section.keys()) {
      Section operation = section.section(name);
      section.require(
          name, names.matcher(name).matches(), "\"" + name + "\" is no operation's name");
      more.accept(name, operation);
      operations.add(operation(name, operation));
      operation.end();
    }
    section.end();
    file.require("operations", !operations.isEmpty(), "a tool has at least one operation");
    operations.sort(Comparator.comparing(ToolManifest.Operation::name));
    return operations;
  }

  /** Only JSON output has a schema; output of other media types is not examined. */
  private static ToolManifest.Operation operation(String name, Section operation) {
    String mediaType = operation.optional("media_type", operation::text).orElse(JSON);
    operation.require(
        "media_type",
        MEDIA_TYPE.matcher(mediaType).matches(),
        "\"" + mediaType + "\" is no media type");
    return new ToolManifest.Operation(
        name,
        described(operation, operation.object("input")),
        mediaType.equals(JSON) ? Optional.of(operation.object("output")) : Optional.empty(),
        mediaType);
  }

  /** Puts an operation's description into its input schema, where every caller sees it. */
  private static JsonValue.Obj described(Section operation, JsonValue.Obj input) {
    if (operation.optional("description", operation::text).isEmpty()) {
      return input;
    }
    var builder = JsonValue.object();
    input.members().forEach(builder::put);
    builder.put("description", operation.text("description"));
    return builder.build();
  }

  private void requireSense(Section file) {
    boolean wasm = language.equals(Language.WASM);
    file.require(
        "runtime",
        RuntimeRange.of(runtime).isWellFormed(),
        "\"" + runtime + "\" is no version such as 3, 3.13 or 18+");
    category.ifPresent(word ->
        file.require(
            "category", word.matches("[a-z][a-z0-9-]{0,63}"), "\"" + word + "\" is no word"));
    file.require(
        "determinism",
        wasm || determinism != Determinism.PURE,
        "only wasm can be pure; write reproducible or recorded");
    compiled.forEach(path ->
        file.require(
            "compiled",
            language.equals(Language.JAVA)
                && path.startsWith(ToolLock.VENDOR)
                && path.endsWith(".jar"),
            "\"" + path + "\" is no jar below vendor/ of a tool in Java"));
    boolean bare =
        !workspace && network.isEmpty() && artifacts.isEmpty() && secrets.isEmpty() && !spawn;
    file.require("capabilities", !wasm || bare, "a wasm tool has none");
    file.require(
        "determinism",
        determinism != Determinism.REPRODUCIBLE
            || (!workspace && network.isEmpty() && secrets.isEmpty()),
        "a tool with network, workspace or secrets is recorded");
  }
}
