package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.util.List;

/**
 * How many workspaces may exist at once, and how much may be promised to them. Each of a size has a
 * mount, and on a disk a loop device, for as long as it exists.
 *
 * @param most on this host
 * @param mostOfTenant of one tenant
 */
public record WorkspaceBounds(int most, int mostOfTenant) {
  /** 512, and 128 for one tenant. */
  public static final WorkspaceBounds STANDARD = new WorkspaceBounds(512, 128);

  public WorkspaceBounds {
    if (most < 1 || mostOfTenant < 1) {
      throw new WritException(
          SandboxError.LIMIT, "workspaces: " + most + ", of one tenant " + mostOfTenant);
    }
  }

  /**
   * Refuses one more.
   *
   * @param there those that exist
   * @param capacity what the storage of the new one has, in bytes
   * @throws WritException {@code SBX-048}, {@code SBX-049}
   */
  void requireRoom(WorkspaceSpec wanted, List<WorkspaceSpec> there, long capacity) {
    long ofTenant = there.stream().filter(s -> s.tenant().equals(wanted.tenant())).count();
    if (there.size() >= most || ofTenant >= mostOfTenant) {
      throw new WritException(
          SandboxError.WORKSPACES,
          there.size()
              + " of "
              + most
              + " exist on this host, "
              + ofTenant
              + " of "
              + mostOfTenant
              + " of this tenant");
    }
    if (wanted.storage() == Storage.DIRECTORY) {
      return; // nothing is promised
    }
    long promised =
        there.stream()
            .filter(s -> s.storage() == wanted.storage())
            .mapToLong(WorkspaceSpec::bytes)
            .reduce(0, Math::addExact);
    if (wanted.bytes() > capacity - promised) {
      throw new WritException(
          SandboxError.WORKSPACE_BYTES,
          wanted.bytes() + " wanted, " + promised + " of " + capacity + " are promised to others");
    }
  }
}
