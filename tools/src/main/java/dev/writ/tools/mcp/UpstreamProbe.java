package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Scope;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.UpstreamSession;
import dev.writ.tools.process.ProcessHost;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Starts a server to see what it lists, and ends it: no call is made. */
public final class UpstreamProbe {
  private static final long MEMORY_BYTES = 1L << 30;

  private UpstreamProbe() {}

  /**
   * What a server said.
   *
   * @param protocol the version that was agreed on
   * @param server its name and version, by its own words
   */
  public record Seen(PinnedTools tools, String protocol, JsonValue.Obj server) {}

  /**
   * Starts one that is not approved yet: what it keeps in a state of its own ends with it.
   *
   * @param own files that the server sees below {@code /tool}
   * @param secrets the values of those that it names
   * @throws WritException {@code TOL-231} to {@code TOL-240}, {@code TOL-244}, {@code TOL-305},
   *     {@code TOL-306}, or why there is no sandbox
   */
  public static Seen look(
      ProcessHost host,
      ServerSpec spec,
      SortedMap<String, byte[]> own,
      Scope scope,
      List<SecretFile> secrets) {
    UpstreamPackage upstream =
        UpstreamPackage.of("probe", "1", spec, PinnedTools.of(List.of()), own);
    return look(host, upstream, scope, secrets, false);
  }

  /**
   * Starts one as it is pinned, with its state.
   *
   * @throws WritException as {@link #look}, {@code TOL-307}, {@code TOL-308}
   */
  public static Seen lookPinned(
      ProcessHost host,
      String name,
      ServerSpec spec,
      SortedMap<String, byte[]> own,
      Scope scope,
      List<SecretFile> secrets) {
    UpstreamPackage upstream = UpstreamPackage.of(name, "1", spec, PinnedTools.of(List.of()), own);
    return look(host, upstream, scope, secrets, true);
  }

  private static Seen look(
      ProcessHost host,
      UpstreamPackage upstream,
      Scope scope,
      List<SecretFile> secrets,
      boolean keeps) {
    ServerSpec spec = upstream.spec();
    spec.local().ifPresent(local -> FolderProbe.requireWritable(host, local.kept()));
    ServerPlace place =
        new ServerPlace(scope, "default", MEMORY_BYTES, false, List.of(), secrets, keeps);
    try (ReadyServer server = ReadyServer.start(host, upstream, place, System::nanoTime)) {
      requireOffered(spec.passes(), server.session());
      return new Seen(server.tools(), server.session().version(), server.session().server());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ToolsError.UPSTREAM_START, "it was interrupted", e);
    }
  }

  /** What is to pass and the server does not have would be pinned as empty. */
  private static void requireOffered(Passes passes, UpstreamSession session) {
    TreeMap<String, String> capabilities = new TreeMap<>();
    capabilities.put(Passes.LOGGING, "logging");
    capabilities.put(Passes.PROMPTS, "prompts");
    capabilities.put(Passes.RESOURCES, "resources");
    if (!session.version().equals("2024-11-05")) { // which announces no completions
      capabilities.put(Passes.COMPLETION, "completions");
    }
    List<String> lacking =
        capabilities.entrySet().stream()
            .filter(entry -> passes.has(entry.getKey()) && !session.offers(entry.getValue()))
            .map(entry -> entry.getKey())
            .toList();
    if (!lacking.isEmpty()) {
      throw new WritException(ToolsError.UPSTREAM_OFFERS, String.join(", ", lacking));
    }
  }
}
