package dev.writ.cli.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.mcp.Passes;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.UpstreamPackage;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * What MCP servers list, by the digests of their packages: it is pinned, so it is read once for as
 * long as a process runs. With a list its whole package is read, which has all code of the server,
 * tens of megabytes of some; of that nothing is kept.
 */
final class PinnedLists {
  private final TreeMap<Digest, Pinned> known = new TreeMap<>();

  /** What a package says of its server. */
  record Pinned(PinnedTools tools, Passes passes) {}

  /**
   * One after another: calls that come together read a package once.
   *
   * @param content asked for only where it has to be read: even to find it costs a look at a disk
   * @throws dev.writ.canonicalize.WritException {@code TOL-238}, or what is wrong with a file
   */
  synchronized Pinned of(ToolManifest manifest, Supplier<Driver.PackageContent> content) {
    return known.computeIfAbsent(
        manifest.packageDigest(),
        _ -> {
          UpstreamPackage read = UpstreamPackage.read(manifest, content.get());
          return new Pinned(read.tools(), read.spec().passes());
        });
  }
}
