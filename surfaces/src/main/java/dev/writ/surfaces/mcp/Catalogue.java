package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.pipeline.ToolUse;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.VersionRule;
import dev.writ.guardian.policy.governance.CanaryDraw;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Every operation of every tool that policy approves and that is registered, under a name that MCP
 * and the model APIs accept: 1 to 64 of {@code A-Z a-z 0-9 _ -}. Of the view of one server only its
 * default version, under its own names.
 */
final class Catalogue {
  private static final int NAME_MAX = 64;
  private static final int SUFFIX_DIGITS = 8;

  /**
   * The driver whose effect is only a permission (spec/hooks.md): an agent gets one by its hook,
   * for what it is about to do, and not by a call.
   */
  private static final String PERMISSIONS = "permit";

  /** The driver of somebody else's MCP servers. */
  static final String OF_A_SERVER = "mcp";

  private final Policy policy;
  private final TreeMap<String, Entry> byName = new TreeMap<>();

  /** In the view of one server its methods beside tools/call, by name. */
  private final TreeMap<String, Entry> methods = new TreeMap<>();

  private Optional<McpTools.Offered> offered = Optional.empty();

  /** One tool of the protocol: one operation of one package. */
  record Entry(String name, ToolManifest manifest, ToolManifest.Operation operation) {}

  /**
   * An entry with the bounds within which one caller may use it.
   *
   * @param sandbox the first profile that both the tool and the role have
   * @param declared the resources that a call declares, by the tool and the role
   */
  record Usable(Entry entry, String sandbox, Resources declared) {}

  /**
   * The default version of a tool has the plain name, so that names stay the same when versions
   * change.
   */
  Catalogue(Policy policy, McpTools tools, McpView view, CanaryDraw draw) {
    this.policy = policy;
    List<ToolManifest> manifests = new ArrayList<>();
    policy.tools().stream()
        .filter(approved ->
            view.server().isEmpty() || approved.ref().name().equals(view.server().get()))
        .filter(approved -> policy.mayRun(approved, draw))
        .flatMap(approved -> tools.manifest(approved.ref()).stream())
        .filter(manifest -> !manifest.driver().equals(PERMISSIONS))
        .filter(manifest ->
            view.server().isEmpty()
                || manifest.driver().equals(OF_A_SERVER) && isDefault(manifest, draw))
        .forEach(manifests::add);
    manifests.sort(
        Comparator.comparing(ToolManifest::name)
            .thenComparing(manifest -> !isDefault(manifest, draw))
            .thenComparing(
                Comparator.comparing(ToolManifest::version, VersionRule.ORDER).reversed()));
    for (ToolManifest manifest : manifests) {
      Optional<McpTools.Offered> offers = tools.offered(manifest);
      offered = view.server().isPresent() ? offers : Optional.empty();
      boolean isAlone = isAlone(manifest, tools, offers.isPresent());
      for (ToolManifest.Operation operation : manifest.operations()) {
        if (offers.isPresent() && tools.listed(manifest, operation).isEmpty()) {
          if (view.server().isPresent()) {
            methods.put(operation.name(), new Entry(operation.name(), manifest, operation));
          }
          continue; // a method of the server, which is no tool
        }
        String name =
            view.server().isPresent() ? operation.name() : free(manifest, operation, isAlone);
        byName.put(name, new Entry(name, manifest, operation));
      }
    }
  }

  private boolean isDefault(ToolManifest manifest, CanaryDraw draw) {
    return policy
        .defaultVersion(manifest.name(), draw)
        .filter(approved -> approved.ref().equals(manifest.ref()))
        .isPresent();
  }

  private static boolean isAlone(ToolManifest manifest, McpTools tools, boolean isOfServer) {
    return manifest.operations().stream()
            .filter(each -> !isOfServer || tools.listed(manifest, each).isPresent())
            .count()
        == 1;
  }

  private String free(ToolManifest manifest, ToolManifest.Operation operation, boolean isAlone) {
    String whole = isAlone ? manifest.name() : manifest.name() + "_" + operation.name();
    String legal = whole.replaceAll("[^A-Za-z0-9_-]", "_");
    if (legal.length() <= NAME_MAX
        && !byName.containsKey(legal)
        && !legal.equals(OutcomeTool.NAME)) {
      return legal;
    }
    String exact = manifest.name() + "\u0000" + manifest.version() + "\u0000" + operation.name();
    String suffix =
        Digest.sha256(exact.getBytes(StandardCharsets.UTF_8)).hex().substring(0, SUFFIX_DIGITS);
    return legal.substring(0, Math.min(legal.length(), NAME_MAX - SUFFIX_DIGITS - 1))
        + "_"
        + suffix;
  }

  /** The tools that a caller may use by its roles, by name. The Guardian decides on each call. */
  List<Usable> usable(Caller caller) {
    return byName.values().stream().flatMap(entry -> usable(caller, entry).stream()).toList();
  }

  /** A method of the server that is viewed, as an operation of its package. */
  Optional<Usable> method(Caller caller, String name) {
    return Optional.ofNullable(methods.get(name)).flatMap(entry -> usable(caller, entry));
  }

  /** What the server that is viewed has beside tools. */
  Optional<McpTools.Offered> offered() {
    return offered;
  }

  /** Whether there is nothing in it that the caller may use. */
  boolean isEmpty(Caller caller) {
    return usable(caller).isEmpty()
        && methods.keySet().stream().allMatch(name -> method(caller, name).isEmpty());
  }

  Optional<Usable> find(Caller caller, String name) {
    return Optional.ofNullable(byName.get(name)).flatMap(entry -> usable(caller, entry));
  }

  private Optional<Usable> usable(Caller caller, Entry entry) {
    return ToolUse.of(policy, caller, entry.manifest(), entry.operation().name())
        .map(use -> new Usable(entry, use.sandbox(), use.declared()));
  }
}
