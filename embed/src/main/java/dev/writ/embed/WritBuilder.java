package dev.writ.embed;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.ScratchDirectory;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeMaker;
import dev.writ.embed.home.KeyLookup;
import dev.writ.embed.home.KeySource;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Drivers;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.tools.registry.ToolRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Says how an installation is made and opened. The defaults are those of {@code writ init} and
 * {@code writ run}. Not thread safe; used once.
 */
public final class WritBuilder {
  private final Optional<Path> directory;
  private Home.Names names = new Home.Names("local", "researcher", "approver");
  private Optional<String> policy = Optional.empty();
  private Optional<char[]> passphrase = Optional.empty();
  private Optional<InstantSource> clock = Optional.empty();
  private Optional<LongSupplier> elapsed = Optional.empty();
  private SecureRandom random = new SecureRandom();
  private Map<String, String> environment = System.getenv();
  private boolean processes = true;
  private boolean makes = true;
  private final Map<String, SigningKey> keys = new HashMap<>();
  private final List<JavaTool> javaTools = new ArrayList<>();
  private final List<OwnDriver> drivers = new ArrayList<>();

  private record OwnDriver(Driver driver, List<ToolManifest> tools) {}

  WritBuilder(Optional<Path> directory) {
    this.directory = directory;
  }

  /**
   * Names for a new installation, which the starter policy uses. The defaults are tenant {@code
   * local}, agent {@code researcher}, approver {@code approver}.
   */
  public WritBuilder names(String tenant, String agent, String approver) {
    names =
        new Home.Names(
            Objects.requireNonNull(tenant, "name of a tenant"),
            Objects.requireNonNull(agent, "name of an agent"),
            Objects.requireNonNull(approver, "name of an approver"));
    return this;
  }

  /**
   * The policy of a new installation, as YAML (spec/policy.md), instead of the starter policy. A
   * line <code>{{tools}}</code> becomes the entries of all tools that are there.
   */
  public WritBuilder policy(String yaml) {
    policy = Optional.of(yaml);
    return this;
  }

  /**
   * A private key of the caller's own; it is never written to disk, so it must be given at each
   * opening.
   *
   * @param name {@code guardian}, {@code executor}, {@code log}, {@code operator}, {@code
   *     policy-owner}, or an agent's or approver's; of a new installation it is one of its own
   */
  public WritBuilder key(String name, SigningKey key) {
    keys.put(
        Objects.requireNonNull(name, "name of a key"), Objects.requireNonNull(key, "key " + name));
    return this;
  }

  /** The passphrase of the key files; those of a new installation are encrypted with it. */
  public WritBuilder passphrase(char[] secret) {
    passphrase = Optional.of(secret.clone());
    return this;
  }

  /**
   * The clock, in place of the system's.
   *
   * @param elapsedNanos monotonic time in nanoseconds, which setting the clock does not change: it
   *     tells an idle installation from a clock that leapt
   */
  public WritBuilder clock(InstantSource source, LongSupplier elapsedNanos) {
    clock = Optional.of(source);
    elapsed = Optional.of(elapsedNanos);
    return this;
  }

  /** The source of nonces and run seeds. */
  public WritBuilder random(SecureRandom source) {
    random = Objects.requireNonNull(source, "source of random numbers");
    return this;
  }

  /**
   * Adds a tool written in Java. Policy has to approve it; the starter policy of a new installation
   * does.
   */
  public WritBuilder tool(JavaTool tool) {
    javaTools.add(Objects.requireNonNull(tool, "tool"));
    return this;
  }

  /**
   * Adds a driver of the caller's own, and the tools that it runs. Its name is none of a built-in
   * driver, and not {@code java} beside tools written in Java; each tool's manifest names it.
   */
  public WritBuilder driver(Driver driver, List<ToolManifest> tools) {
    Objects.requireNonNull(driver, "driver");
    drivers.add(new OwnDriver(driver, List.copyOf(tools)));
    return this;
  }

  /**
   * {@code WRIT_SANDBOX_ENGINE}, {@code WRIT_KEYS}, {@code SSH_AUTH_SOCK} and similar variables, in
   * place of this process's environment.
   */
  public WritBuilder environment(Map<String, String> variables) {
    environment = Map.copyOf(variables);
    return this;
  }

  /** Without sandboxes: tools that are processes are refused. */
  public WritBuilder withoutProcesses() {
    processes = false;
    return this;
  }

  /** Requires an existing installation, instead of making one. */
  public WritBuilder mustExist() {
    makes = false;
    return this;
  }

  /**
   * Opens the installation, and makes it first where there is none.
   *
   * @throws WritException {@code LED-003} where another process has it open, {@code CLI-010} where
   *     it must exist and does not, {@code CLI-013} where a new one has no key of a name that one
   *     is given for, or two of one name, {@code TOL-021}, {@code TOL-028}, {@code GRD-420} or
   *     {@code GRD-422} for a name or schema of the caller's own tools and drivers, and the code of
   *     any other failed check
   */
  public Writ open() {
    if (directory.isPresent()) {
      return open(directory.get(), () -> {});
    }
    Path parent = temporary();
    try {
      return open(parent.resolve("writ-data"), () -> HomeMaker.remove(parent));
    } catch (RuntimeException e) {
      HomeMaker.remove(parent);
      throw e;
    }
  }

  private Writ open(Path at, Runnable afterwards) {
    Home home = new Home(at, _ -> passphrase.orElse(null), keys, KeyLookup.of(environment));
    List<ToolManifest> own =
        Stream.concat(
                javaTools.stream().map(JavaTool::manifest),
                drivers.stream().flatMap(driver -> driver.tools().stream()))
            .toList();
    own.forEach(ToolRegistry::requireWellFormed);
    own.forEach(WritBuilder::requireOwnName);
    requireDistinct(own);
    requireOwnDrivers();
    InstantSource time = clock.orElseGet(InstantSource::system);
    if (makes && !home.exists()) {
      new HomeMaker(home, names, new KeySource(keys, passphrase), time, random).make(text(own));
    }
    home.requireExisting();
    List<Driver> all = new ArrayList<>(drivers.stream().map(OwnDriver::driver).toList());
    if (!javaTools.isEmpty()) {
      all.add(new JavaDriver(javaTools));
    }
    Home ofTenant = home.inCell(OpenHome.cellOf(home, home.tenant()));
    Opening opening = Opening.of(time, host(ofTenant)).withTools(all, own);
    return new Writ(
        OpenHome.open(ofTenant, opening.measuring(elapsed.orElseGet(opening::elapsed), random)),
        random,
        afterwards);
  }

  private static void requireOwnName(ToolManifest manifest) {
    if (BuiltinTools.all().stream().anyMatch(b -> b.name().equals(manifest.name()))) {
      throw new WritException(
          ToolsError.MANIFEST_INVALID,
          "the tool \"" + manifest.name() + "\" has the name of a built-in one; give it another");
    }
  }

  /** Of two, one would be called by the name of either, and which is not to be seen. */
  private static void requireDistinct(List<ToolManifest> own) {
    Set<String> seen = new HashSet<>();
    for (ToolManifest manifest : own) {
      String tool = "\"" + manifest.name() + "\" " + manifest.version();
      if (!seen.add(tool)) {
        throw new WritException(
            ToolsError.MANIFEST_INVALID,
            "two tools are " + tool + "; give one of them another name or version");
      }
    }
  }

  /** Of two of one name, one would run the tools of the other. */
  private void requireOwnDrivers() {
    if (drivers.isEmpty()) {
      return;
    }
    Set<String> taken = builtinDrivers();
    if (!javaTools.isEmpty()) {
      taken.add(JavaDriver.NAME);
    }
    for (OwnDriver own : drivers) {
      String name = Objects.requireNonNull(own.driver().name(), "name of a driver");
      if (!taken.add(name)) {
        throw new WritException(
            ToolsError.MANIFEST_INVALID,
            "there is a driver \"" + name + "\" already; give this one another name");
      }
      for (ToolManifest tool : own.tools()) {
        if (!tool.driver().equals(name)) {
          throw new WritException(
              ToolsError.MANIFEST_INVALID,
              "the tool \""
                  + tool.name()
                  + "\" is given with the driver \""
                  + name
                  + "\" and names \""
                  + tool.driver()
                  + "\"");
        }
      }
    }
  }

  private static Set<String> builtinDrivers() {
    try (Drivers builtin = Drivers.withoutProcesses()) {
      return new HashSet<>(builtin.byName().keySet());
    }
  }

  private ProcessHost host(Home home) {
    return processes
        ? SandboxPlace.host(home, environment)
        : ProcessHost.missing(new WritException(ToolsError.PROCESSES_ABSENT, ""));
  }

  private String text(List<ToolManifest> own) {
    return policy
        .map(yaml -> StarterPolicy.fill(yaml, BuiltinTools.manifests(), own))
        .orElseGet(() -> StarterPolicy.text(names, BuiltinTools.manifests(), own));
  }

  private static Path temporary() {
    try {
      return ScratchDirectory.create("writ-");
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, "a temporary directory", e);
    }
  }
}
