package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.util.List;

/**
 * Limits the number of workspaces that exist at once, and the storage that is promised to them. A
 * workspace with a size has a mount and, on a disk, a loop device for as long as it exists.
 *
 * @param most of all tenants on this host
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
   * Refuses a further workspace that exceeds the limits.
   *
   * @param there the existing ones
   * @param capacity the capacity of the new one's storage, in bytes
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
    if (wanted.storage() == WorkspaceStorage.DIRECTORY) {
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
