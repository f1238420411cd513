package dev.writ.embed.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.PrivateDirectory;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.CellPlacement;
import dev.writ.sandbox.EngineProvider;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.egress.OriginTls;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.WorkspaceBounds;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.IntStream;

/**
 * The directory of a home's sandboxes. It is outside the home, because the users of sandboxes may
 * not traverse the home and the paths must be short: below {@code /var/lib/writ} for root, below a
 * directory of the user in {@code /var/tmp} otherwise, under a name derived from the home's path.
 * {@code WRIT_SANDBOX_DIR} names another directory, {@code WRIT_SANDBOX_ENGINE} the engine, which
 * may be one that a module offers ({@link EngineProvider}). {@code WRIT_EGRESS_CA} names a file of
 * authorities to trust in place of the JDK's; {@code WRIT_EGRESS_PRIVATE} lists destinations
 * ({@code host:port,host:port}) that may resolve to private addresses; {@code WORKSPACE_ROOT} is
 * the directory under which commands may name their workspace (spec/tool-exec.md); {@code
 * WRIT_WORKSPACES_MAX} and {@code WRIT_WORKSPACES_PER_TENANT_MAX} limit the number of workspaces.
 */
public final class SandboxPlace {
  private static final Path OF_ROOT = Path.of("/var/lib/writ");
  private static final Path OF_USERS = Path.of("/var/tmp");

  /** How many processes may keep servers of one home. */
  private static final int KEPT_MAX = 16;

  private SandboxPlace() {}

  /** The host for the processes of a home; it creates nothing before the first of them. */
  public static ProcessHost host(Home home, Map<String, String> environment) {
    return host(home, ofCell(home), environment);
  }

  private static String ofCell(Home home) {
    return home.cell() == CellPlacement.SYSTEM ? "" : "-c" + home.cell();
  }

  /**
   * The host of a home; while another process uses that, as a server does, one of its own as {@link
   * #hostOfKept}.
   */
  public static ProcessHost hostBeside(Home home, Map<String, String> environment) {
    return firstFree(home, environment, Optional.of(ofCell(home)));
  }

  /**
   * A host of its own for processes that go on while others use that of the home. A directory that
   * a killed process left is taken up, and what was left in it removed. Where none can be had,
   * whatever needs it is told why.
   */
  public static ProcessHost hostOfKept(Home home, Map<String, String> environment) {
    return firstFree(home, environment, Optional.empty());
  }

  /**
   * @param before a suffix to try before those of processes that go on
   */
  private static ProcessHost firstFree(
      Home home, Map<String, String> environment, Optional<String> before) {
    List<String> suffixes = new ArrayList<>(before.stream().toList());
    IntStream.range(0, KEPT_MAX).forEach(number -> suffixes.add("-k" + number));
    for (String suffix : suffixes.subList(0, suffixes.size() - 1)) {
      ProcessHost host = host(home, suffix, environment);
      try {
        host.workspaces(); // opens its directory
        return host;
      } catch (WritException e) {
        if (e.code() != SandboxError.STATE_LOCKED) {
          return host;
        }
        host.close();
      }
    }
    return host(home, suffixes.getLast(), environment);
  }

  /** The host for processes that a replay runs again: one replay at a time. */
  public static ProcessHost hostOfReplays(Map<String, String> environment) {
    return host("replay", "", environment, SecretStore.none(), Optional.empty());
  }

  private static ProcessHost host(Home home, String suffix, Map<String, String> environment) {
    Optional<String> owner = home.exists() ? Optional.of(home.installation()) : Optional.empty();
    return host(home.dir().toString(), suffix, environment, home.secrets(), owner);
  }

  /**
   * @param suffix of the directory's name; empty for that of the home
   * @param owner the installation, where it is one's
   */
  private static ProcessHost host(
      String of,
      String suffix,
      Map<String, String> environment,
      SecretStore secrets,
      Optional<String> owner) {
    String named = environment.getOrDefault("WRIT_SANDBOX_DIR", "");
    String engine = environment.getOrDefault("WRIT_SANDBOX_ENGINE", "");
    Optional<String> engineName = Optional.of(engine).filter(name -> !name.isEmpty());
    if (!named.isEmpty()) {
      return ProcessHost.open(
          owned(settings(Path.of(Path.of(named) + suffix), environment), owner),
          secrets,
          engineName,
          () -> {},
          Path.of(Path.of(named) + ProcessHost.STATES));
    }
    String name = Digest.sha256(of.getBytes(StandardCharsets.UTF_8)).hex().substring(0, 12);
    UserPrincipal self;
    try {
      self = PrivateDirectory.self();
    } catch (IOException e) {
      return ProcessHost.missing(
          new WritException(
              EmbedError.SANDBOX_PLACE, "this host does not tell whose process this is", e));
    }
    Path parent = parent(self);
    return ProcessHost.open(
        owned(settings(parent.resolve(name + suffix), environment), owner),
        secrets,
        engineName,
        () -> require(parent, self, parent.equals(OF_ROOT) ? "rwx--x--x" : "rwx------"),
        parent.resolve(name + ProcessHost.STATES));
  }

  private static Path parent(UserPrincipal self) {
    return self.getName().equals("root") ? OF_ROOT : OF_USERS.resolve("writ-" + self.getName());
  }

  private static SandboxSettings owned(SandboxSettings settings, Optional<String> owner) {
    return owner.map(settings::owned).orElse(settings);
  }

  /** The network that processes may have, as this host is set up. */
  static SandboxSettings settings(Path directory, Map<String, String> environment) {
    SandboxSettings settings = SandboxSettings.in(directory);
    String authorities = environment.getOrDefault("WRIT_EGRESS_CA", "");
    if (!authorities.isEmpty()) {
      try {
        settings = settings.trusting(OriginTls.trusting(Files.readAllBytes(Path.of(authorities))));
      } catch (IOException e) {
        throw new WritException(EmbedError.FILE_UNREADABLE, authorities, e);
      }
    }
    String places = environment.getOrDefault("WRIT_EGRESS_PRIVATE", "");
    if (!places.isEmpty()) {
      settings = settings.reaching(List.of(places.split(",")));
    }
    String root = environment.getOrDefault("WORKSPACE_ROOT", "");
    if (!root.isEmpty()) {
      settings = settings.rooted(Path.of(root));
    }
    settings = elsewhere(settings, environment);
    WorkspaceBounds standard = WorkspaceBounds.STANDARD;
    return settings.keeping(
        new WorkspaceBounds(
            number(environment, "WRIT_WORKSPACES_MAX", standard.most()),
            number(environment, "WRIT_WORKSPACES_PER_TENANT_MAX", standard.mostOfTenant())));
  }

  /** With the engine of a module that offers the one of this name, such as {@code kubernetes}. */
  private static SandboxSettings elsewhere(
      SandboxSettings settings, Map<String, String> environment) {
    String name = environment.getOrDefault("WRIT_SANDBOX_ENGINE", "");
    return name.isEmpty()
        ? settings
        : ServiceLoader.load(EngineProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(provider -> provider.name().equals(name))
            .findFirst()
            .map(provider -> settings.remotely(provider.configure(environment)))
            .orElse(settings);
  }

  private static int number(Map<String, String> environment, String name, int otherwise) {
    String text = environment.getOrDefault(name, "");
    if (text.isEmpty()) {
      return otherwise;
    }
    if (!text.matches("[1-9][0-9]{0,8}")) {
      throw new WritException(SandboxError.LIMIT, name + " is no number from 1 to 999999999");
    }
    return Integer.parseInt(text);
  }

  /**
   * Makes a directory, or requires that an existing one is this user's: its parent is writable by
   * others.
   */
  static void require(Path directory, UserPrincipal self, String permissions) {
    try {
      Files.createDirectory(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions)));
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(permissions));
    } catch (FileAlreadyExistsException e) {
      requireOurs(directory, self);
    } catch (IOException e) {
      throw cannotBeMade(directory, directory.toAbsolutePath().getParent(), e);
    }
  }

  private static WritException cannotBeMade(Path directory, Path above, Exception cause) {
    String why = Files.exists(above) ? "nothing can be written to " : "there is no ";
    return new WritException(
        EmbedError.SANDBOX_PLACE, directory + " cannot be made: " + why + above, cause);
  }

  /**
   * What keeps the first process from making the directory of sandboxes; empty where nothing does.
   * It makes nothing.
   */
  public static Optional<WritException> hindrance(Map<String, String> environment) {
    String named = environment.getOrDefault("WRIT_SANDBOX_DIR", "");
    try {
      UserPrincipal self = PrivateDirectory.self();
      Path place = named.isEmpty() ? parent(self) : Path.of(named).toAbsolutePath();
      Path above = place;
      if (!Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
        above = place.getParent();
        while (!named.isEmpty() && !Files.exists(above)) { // those between are made, too
          above = above.getParent();
        }
      } else if (named.isEmpty()) {
        requireOurs(place, self);
      }
      return Files.isDirectory(above) && Files.isWritable(above)
          ? Optional.empty()
          : Optional.of(cannotBeMade(place, above, null));
    } catch (WritException e) {
      return Optional.of(e);
    } catch (IOException _) {
      return Optional.empty(); // that nobody can tell whose process this is, a process is told
    }
  }

  private static void requireOurs(Path directory, UserPrincipal self) {
    boolean ours;
    try {
      ours = PrivateDirectory.isOf(self, directory);
    } catch (IOException e) {
      throw new WritException(EmbedError.SANDBOX_PLACE, directory + " cannot be read", e);
    }
    if (!ours) {
      throw new WritException(EmbedError.SANDBOX_PLACE, directory + " is a link, or another's");
    }
  }
}
