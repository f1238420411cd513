package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.policy.PolicyImages;
import dev.writ.cli.command.policy.PolicyTools;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.KeptPlaces;
import dev.writ.tools.mcp.ListedTool;
import dev.writ.tools.mcp.LocalSpec;
import dev.writ.tools.mcp.NpmOrigin;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.ServerState;
import dev.writ.tools.mcp.ToolChange;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.mcp.UpstreamProbe;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretDirectory;
import dev.writ.tools.registry.BrokenPackage;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.tools.registry.RegisteredTool;
import dev.writ.tools.registry.ToolRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The MCP servers behind a home: their packages, and the policy's file that lets agents use them.
 */
public final class Upstreams {
  private static final String NAME = "[a-z][a-z0-9-]{0,47}";

  private final Session session;
  private final Home home;
  private final ToolRegistry registry;

  /** Of the data directory that the session names. */
  public Upstreams(Session session) {
    this.session = session;
    this.home = Homes.home(session);
    this.registry = ToolRegistry.open(home.tools());
  }

  /**
   * The packages of servers.
   *
   * @param readable the newest version of each first
   * @param broken those that cannot be read, and packages of which nobody can tell what they are
   */
  record Packages(List<UpstreamPackage> readable, List<BrokenPackage> broken) {}

  /** All packages of servers; one that is broken does not take the others with it. */
  Packages packages() {
    List<UpstreamPackage> readable = new ArrayList<>();
    List<BrokenPackage> broken = new ArrayList<>();
    for (RegisteredTool tool : registry.tools(broken::add)) {
      ToolManifest manifest = tool.manifest();
      if (manifest.driver().equals(UpstreamPackage.DRIVER)) {
        try {
          readable.add(UpstreamPackage.read(manifest, tool.content()));
        } catch (WritException e) {
          broken.add(new BrokenPackage(manifest.name(), manifest.version(), e));
        }
      }
    }
    readable.sort(
        Comparator.comparing((UpstreamPackage p) -> p.manifest().name())
            .thenComparing(p -> -number(p.manifest().version())));
    return new Packages(readable, broken);
  }

  /** All packages of servers that can be read, the newest version of each first. */
  public List<UpstreamPackage> all() {
    return packages().readable();
  }

  /**
   * The version that the policy's file lists, or else the newest.
   *
   * @throws WritException what is wrong with its package, where that cannot be read
   */
  UpstreamPackage one(String name) {
    Packages packages = packages();
    List<UpstreamPackage> named =
        packages.readable().stream().filter(p -> p.manifest().name().equals(name)).toList();
    Optional<UpstreamPackage> listed =
        named.stream().filter(p -> isListed(p.manifest())).findFirst();
    Optional<BrokenPackage> broken =
        packages.broken().stream()
            .filter(p -> p.name().equals(name) && (named.isEmpty() || isListed(p)))
            .findFirst();
    if (listed.isEmpty() && broken.isPresent()) {
      throw broken.get().why();
    }
    return listed
        .or(() -> named.stream().findFirst())
        .orElseThrow(() -> new WritException(EmbedError.NOT_FOUND, "an MCP server named " + name));
  }

  /** Whether there is a package of that name that cannot be read. */
  boolean isBroken(String name) {
    return packages().broken().stream().anyMatch(p -> p.name().equals(name));
  }

  /** Whether the policy's file approves a package of its name and version. */
  boolean isListed(BrokenPackage broken) {
    return policy().stream()
        .anyMatch(policy -> policy.tool(broken.name(), broken.version()).isPresent());
  }

  /** Whether the policy's file approves exactly this package. */
  boolean isListed(ToolManifest manifest) {
    return policy().stream()
        .flatMap(policy -> policy.tools().stream())
        .anyMatch(tool -> tool.ref().equals(manifest.ref()));
  }

  private static long number(String version) {
    String first = version.split("\\.", 2)[0];
    return first.matches("[0-9]{1,9}") ? Long.parseLong(first) : 0;
  }

  private Optional<Policy> policy() {
    return Files.exists(home.policyFile())
        ? Optional.of(
            Policy.parse(session.read(home.policyFile().toString()), home.policyFile().toString()))
        : Optional.empty();
  }

  /**
   * Requires that a new server can have a name: no tool has it, and no name of a tool of it is one
   * that another has for clients.
   *
   * @throws WritException {@code TOL-230}
   */
  void requireFree(String name, PinnedTools tools) {
    if (!name.matches(NAME)) {
      throw taken("\"" + ToolChange.visible(name) + "\" cannot be one");
    }
    List<BrokenPackage> broken = new ArrayList<>();
    List<ToolManifest> all =
        registry.tools(broken::add).stream().map(RegisteredTool::manifest).toList();
    boolean ours =
        all.stream()
                .filter(m -> m.name().equals(name))
                .allMatch(m -> m.driver().equals(UpstreamPackage.DRIVER) && !isListed(m))
            && broken.stream().noneMatch(b -> b.name().equals(name) && isListed(b));
    if (!ours || !BuiltinTools.manifests().stream().allMatch(m -> !m.name().equals(name))) {
      throw taken(
          name + " is another tool; writ mcp remove " + name + " frees the name of a server");
    }
    TreeMap<String, String> known = new TreeMap<>();
    all.stream()
        .filter(m -> !m.name().equals(name) && isListed(m))
        .forEach(m -> m.operations().forEach(o -> known.put(shown(m.name(), o.name()), m.name())));
    for (String tool : tools.byName().keySet()) {
      String other = known.get(shown(name, tool));
      if (other != null) {
        throw taken(tool + " of " + name + " would have the name of a tool of " + other);
      }
    }
  }

  /** As the MCP surface names an operation of several. */
  private static String shown(String tool, String operation) {
    return (tool + "_" + operation).replaceAll("[^A-Za-z0-9_-]", "_");
  }

  private static WritException taken(String found) {
    return new WritException(ToolsError.UPSTREAM_NAME, found);
  }

  /** Starts a server and sees what it lists, and which version it speaks now. */
  UpstreamProbe.Seen look(ServerSpec spec, SortedMap<String, byte[]> own) {
    return look(spec, own, UpstreamProbe::look);
  }

  /** The same of one as it is pinned, with its state. */
  UpstreamProbe.Seen lookPinned(UpstreamPackage pinned) {
    String name = pinned.manifest().name();
    return look(
        pinned.spec(),
        pinned.own(),
        (host, spec, own, scope, secrets) ->
            UpstreamProbe.lookPinned(host, name, spec, own, scope, secrets));
  }

  private interface Look {
    UpstreamProbe.Seen at(
        ProcessHost host,
        ServerSpec spec,
        SortedMap<String, byte[]> own,
        Scope scope,
        List<SecretFile> secrets);
  }

  private UpstreamProbe.Seen look(ServerSpec spec, SortedMap<String, byte[]> own, Look look) {
    List<SecretFile> secrets =
        spec.secretNames().stream()
            .map(name -> new SecretFile(name, home.secrets().read(name)))
            .toList();
    Scope scope = new Scope(home.tenant(), "probe", home.agent());
    try (ProcessHost host = host()) {
      return look.at(host, spec.started(l -> l.speaking(Optional.empty())), own, scope, secrets);
    } catch (WritException e) {
      List<String> unrun =
          spec.local().flatMap(LocalSpec::npm).map(NpmOrigin::unrun).orElse(List.of());
      throw e.code() == ToolsError.UPSTREAM_START && !unrun.isEmpty()
          ? new WritException(ToolsError.NPM_SCRIPTS, unrun + "; " + e.found(), e)
          : e;
    }
  }

  /**
   * The same server with what outlasts it.
   *
   * @param writes folders that it may write to
   * @param stateBytes how much a folder of its own may hold
   * @throws WritException {@code TOL-305}
   */
  ServerSpec keeping(ServerSpec spec, List<String> writes, OptionalLong stateBytes) {
    if (spec.local().isEmpty()) {
      return spec;
    }
    KeptPlaces kept = writes.isEmpty() ? KeptPlaces.NONE : folders(writes);
    return spec.started(local ->
        local.keeping(stateBytes.isPresent() ? kept.withState(stateBytes.getAsLong()) : kept));
  }

  /** The same server with folders that it may write to. */
  ServerSpec keeping(ServerSpec spec, List<String> writes) {
    return keeping(spec, writes, OptionalLong.empty());
  }

  private KeptPlaces folders(List<String> writes) {
    List<Path> own = new ArrayList<>(List.of(home.dir(), home.anchor()));
    try (ProcessHost host = place()) {
      own.add(host.requireSettings().stateDirectory());
      own.add(host.states());
    }
    String user = session.environment().getOrDefault("HOME", "");
    List<Path> homes = new ArrayList<>(List.of(Path.of(System.getProperty("user.home"))));
    if (user.startsWith("/")) {
      homes.add(Path.of(user));
    }
    return KeptPlaces.of(writes, own, homes);
  }

  /** Where the state of a server is, if there is one. */
  Optional<Path> stateOf(String name) {
    try (ProcessHost host = place()) {
      return ServerState.existing(host, home.tenant(), name);
    }
  }

  /**
   * Removes the state of a server.
   *
   * @throws WritException {@code TOL-307} where it is in use
   */
  boolean deleteState(String name) {
    try (ProcessHost host = host()) {
      return ServerState.delete(host, home.tenant(), name);
    }
  }

  /** Where processes run, also beside a server; who asks closes it. */
  ProcessHost host() {
    return SandboxPlace.hostBeside(home, session.environment());
  }

  /** Where the home's processes would run, to look at its paths. */
  private ProcessHost place() {
    return Homes.processes(session, home);
  }

  /**
   * Requires that all texts can be seen.
   *
   * @throws WritException {@code TOL-239} naming the places
   */
  static void requireVisible(PinnedTools tools) {
    List<String> hidden =
        Stream.concat(
                tools.byName().values().stream()
                    .map(tool -> new ToolChange(tool.name(), Optional.empty(), Optional.of(tool))),
                tools.offers().shown().stream())
            .flatMap(each ->
                each.lines().stream()
                    .filter(line -> line.contains("\\u{"))
                    .map(line -> ToolChange.visible(each.name()) + "/" + line.split(" ", 3)[1]))
            .toList();
    if (!hidden.isEmpty()) {
      throw new WritException(
          ToolsError.UPSTREAM_HIDDEN,
          hidden.size() + " places: " + hidden.stream().limit(5).toList());
    }
  }

  /** What looks as if it spoke to the model rather than of the tool, and what was not run. */
  static List<String> warnings(UpstreamPackage made) {
    List<String> warnings =
        new ArrayList<>(
            made.tools().byName().values().stream().flatMap(Upstreams::warnings).toList());
    made.spec()
        .local()
        .flatMap(LocalSpec::npm)
        .filter(npm -> !npm.unrun().isEmpty())
        .ifPresent(npm -> warnings.add("install scripts were not run: " + npm.unrun()));
    List<String> writes = made.spec().local().map(l -> l.kept().writes()).orElse(List.of());
    if (!writes.isEmpty()) {
      warnings.add("it may change and delete what is in " + String.join(", ", writes));
    }
    return warnings;
  }

  private static Stream<String> warnings(ListedTool tool) {
    String text = tool.description().orElse("").toLowerCase(Locale.ROOT);
    Stream.Builder<String> found = Stream.builder();
    if (text.matches("(?s).*(ignore|disregard|forget) (all |any )?(previous|prior|other|above).*")
        || text.contains("do not tell the user")
        || text.contains("don't tell the user")
        || text.contains("<important>")
        || text.contains("system prompt")) {
      found.add(tool.name() + ": its description speaks to the model, not of the tool");
    }
    if (text.matches("(?s).*<(script|img|iframe|a |important|system)[^>]*>.*")) {
      found.add(tool.name() + ": its description has markup");
    }
    return found.build();
  }

  /** Registers a package under the next version; the same content keeps the version that it has. */
  UpstreamPackage register(
      String name, ServerSpec spec, PinnedTools tools, SortedMap<String, byte[]> own) {
    List<BrokenPackage> broken = new ArrayList<>();
    List<ToolManifest> before =
        registry.tools(broken::add).stream()
            .map(RegisteredTool::manifest)
            .filter(m -> m.name().equals(name))
            .toList();
    for (ToolManifest manifest : before) {
      UpstreamPackage same = UpstreamPackage.of(name, manifest.version(), spec, tools, own);
      if (same.manifest().equals(manifest)) {
        return same;
      }
    }
    Stream<String> taken =
        Stream.concat(
            before.stream().map(ToolManifest::version),
            broken.stream().filter(b -> b.name().equals(name)).map(BrokenPackage::version));
    long next = taken.mapToLong(Upstreams::number).max().orElse(0) + 1;
    UpstreamPackage made = UpstreamPackage.of(name, next + ".0.0", spec, tools, own);
    registry.register(made.manifest(), made.files());
    return made;
  }

  /** Lets a role use all of it, or what that role may use of it already. */
  void allow(ToolManifest tool, Optional<String> role, boolean asks) {
    allow(tool, role, List.of(), asks);
  }

  /** Lets a role use it, in the policy's file; in force when that is activated. */
  void allow(ToolManifest tool, Optional<String> role, List<String> only, boolean asks) {
    change(text ->
        PolicyTools.with(
            text,
            home.policyFile().toString(),
            new PolicyTools.Grant(tool, role, only, home.tenant(), asks)));
  }

  /** Takes it out of the policy's file. */
  void forbid(String name) {
    change(text -> PolicyTools.without(text, home.policyFile().toString(), name));
  }

  private void change(UnaryOperator<String> edit) {
    Path file = home.policyFile();
    try {
      byte[] before = Files.readAllBytes(file);
      String after = edit.apply(new String(before, StandardCharsets.UTF_8));
      PolicyImages.update(file, before, after.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
    }
  }

  SecretDirectory secrets() {
    return home.secrets();
  }

  Path policyFile() {
    return home.policyFile();
  }
}
