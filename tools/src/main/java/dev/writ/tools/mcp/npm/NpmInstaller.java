package dev.writ.tools.mcp.npm;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.NpmOrigin;
import dev.writ.tools.mcp.PinnedCode;
import dev.writ.tools.mcp.ToolChange;
import dev.writ.tools.process.ProcessHost;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Installs a server from npm once: npm runs in the sandbox, without scripts of packages, and
 * reaches the registries of its configuration alone. What it installed becomes part of the server's
 * package.
 */
public final class NpmInstaller {
  private static final String FOLDER = "app";
  private static final String HOME = "/workspace";
  private static final long BYTES = 1L << 30;
  private static final int SAID_MAX = 300;
  private static final AtomicLong SERIAL = new AtomicLong();

  private static final CgroupLimits LIMITS =
      CgroupLimits.STANDARD
          .withWallMs(300_000)
          .withCpuMs(300_000)
          .withMemoryBytes(3L << 30)
          .withPids(256)
          .withFileBytes(256L << 20)
          .withTmpBytes(64L << 20);

  private static final Set<String> NO_PACKAGE =
      Set.of("E404", "ETARGET", "ENOVERSIONS", "EINVALIDPACKAGENAME", "EINVALIDTAGNAME", "E405");

  private static final Set<String> NO_WAY =
      Set.of(
          "E401",
          "E403",
          "E407",
          "ENEEDAUTH",
          "EAI_AGAIN",
          "ENOTFOUND",
          "ECONNREFUSED",
          "ECONNRESET",
          "ETIMEDOUT",
          "EHOSTUNREACH",
          "ENETUNREACH",
          "ERR_SOCKET_TIMEOUT",
          "ESOCKETTIMEDOUT",
          "E502",
          "E503",
          "E504",
          "EPROTO",
          "ERR_INVALID_URL");

  private final NpmHost npm;
  private final Sandbox sandbox;

  private NpmInstaller(NpmHost npm, Sandbox sandbox) {
    this.npm = npm;
    this.sandbox = sandbox;
  }

  /**
   * What a package of a server gets.
   *
   * @param command that starts it
   * @param reads what of this machine the interpreter needs
   * @param code the archive
   */
  public record Installed(
      NpmOrigin origin, List<String> command, List<String> reads, byte[] code) {}

  /**
   * Installs what a command gets from npm.
   *
   * @param asked the command
   * @param environment as the user's shell has it
   * @throws WritException {@code TOL-290} to {@code TOL-294}, {@code TOL-297}, {@code TOL-298}, or
   *     why there is no sandbox
   */
  public static Installed install(
      ProcessHost host, List<String> asked, NpxWords words, Map<String, String> environment) {
    NpmHost npm = NpmHost.find(environment);
    SandboxSpec spec =
        SandboxSpec.of("npm-" + SERIAL.incrementAndGet(), Profile.named("default"))
            .withFreshBytes(BYTES);
    try (Sandbox sandbox = host.engine().create(spec)) {
      return new NpmInstaller(npm, sandbox).install(asked, words);
    }
  }

  private Installed install(List<String> asked, NpxWords words) {
    sandbox
        .workspace()
        .write(".npmrc", String.join("\n", npm.npmrc()).getBytes(StandardCharsets.UTF_8), false);
    sandbox
        .workspace()
        .write(
            FOLDER + "/package.json", "{\"private\":true}".getBytes(StandardCharsets.UTF_8), false);
    Ended ended =
        sandbox.exec(
            command(
                    "install",
                    "--ignore-scripts",
                    "--omit=dev",
                    "--no-audit",
                    "--no-fund",
                    "--no-progress",
                    "--no-update-notifier",
                    "--omit-lockfile-registry-resolved",
                    "--package-lock=false",
                    "--fetch-retries=1",
                    "--json",
                    "--",
                    words.spec())
                .withEgress(registries(words)));
    if (!ended.succeeded()) {
      throw refused(words, ended);
    }
    InstalledTree tree = InstalledTree.read(sandbox.workspace(), FOLDER, words.name());
    List<String> command = new ArrayList<>(List.of(npm.node().toString()));
    command.addAll(tree.program(words.program()));
    command.addAll(words.arguments());
    return new Installed(
        tree.origin(asked),
        command,
        npm.binds().stream()
            .map(bind -> bind.target())
            .filter(path -> path.equals(npm.node().toString()))
            .toList(),
        PinnedCode.of(sandbox.workspace(), FOLDER));
  }

  private Command command(String... words) {
    List<String> argv = new ArrayList<>(List.of(npm.node().toString(), npm.npm().toString()));
    argv.addAll(List.of(words));
    Command command =
        Command.of(argv)
            .withDirectory(HOME + "/" + FOLDER)
            .withLimits(LIMITS)
            .withBinds(npm.binds())
            .withEnvironment("npm_config_cache", HOME + "/cache")
            .withEnvironment("npm_config_userconfig", HOME + "/.npmrc");
    for (var variable : npm.variables().entrySet()) {
      command = command.withEnvironment(variable.getKey(), variable.getValue());
    }
    return command;
  }

  /** What npm itself says of where it gets packages; it has no network when it is asked. */
  private List<EgressRule> registries(NpxWords words) {
    List<String> urls = new ArrayList<>(npm.scopedRegistries());
    urls.add(setting("registry"));
    words.scope().ifPresent(scope -> urls.add(setting(scope + ":registry")));
    return urls.stream().flatMap(url -> rule(url).stream()).distinct().toList();
  }

  private String setting(String name) {
    Ended ended = sandbox.exec(command("config", "get", name));
    return new String(ended.stdout().bytes(), StandardCharsets.UTF_8).strip();
  }

  /**
   * A registry that the user configured may be in the user's own network.
   *
   * @return nothing for what is no address, such as an unset one
   */
  private static Optional<EgressRule> rule(String url) {
    try {
      URI uri = URI.create(url);
      if (uri.getHost() == null || uri.getScheme() == null) {
        return Optional.empty();
      }
      int port = uri.getPort() > 0 ? uri.getPort() : uri.getScheme().equals("http") ? 80 : 443;
      return Optional.of(new EgressRule(uri.getHost().toLowerCase(Locale.ROOT), port, true));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static WritException refused(NpxWords words, Ended ended) {
    Optional<JsonValue.Obj> error = error(ended.stdout().bytes());
    String code = error.map(e -> text(e, "code")).orElse("");
    String summary =
        error
            .map(e -> text(e, "summary"))
            .filter(text -> !text.isEmpty())
            .orElseGet(() -> new String(ended.stderr().bytes(), StandardCharsets.UTF_8));
    String found =
        words.spec()
            + ": "
            + (code.isEmpty() ? ended.reason().text() : code)
            + " "
            + visible(summary);
    return new WritException(codeOf(code), found.strip());
  }

  private static ToolsError codeOf(String code) {
    if (NO_PACKAGE.contains(code)) {
      return ToolsError.NPM_PACKAGE;
    }
    boolean certificate =
        code.contains("CERT") || code.contains("SELF_SIGNED") || code.startsWith("UNABLE_TO_");
    if (certificate || NO_WAY.contains(code)) {
      return ToolsError.NPM_UNREACHABLE;
    }
    return code.equals("EINTEGRITY") ? ToolsError.NPM_INTEGRITY : ToolsError.NPM_FAILED;
  }

  private static Optional<JsonValue.Obj> error(byte[] stdout) {
    try {
      return Jcs.parse(stdout) instanceof JsonValue.Obj said
              && said.get("error") instanceof JsonValue.Obj error
          ? Optional.of(error)
          : Optional.empty();
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  private static String text(JsonValue.Obj object, String name) {
    return object.get(name) instanceof JsonValue.Str text ? text.value() : "";
  }

  private static String visible(String said) {
    String line = ToolChange.visible(said.strip().replaceAll("\\s+", " "));
    return line.length() <= SAID_MAX ? line : line.substring(0, SAID_MAX) + "…";
  }
}
