package dev.writ.tools.process;

import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.SecretFile;
import java.util.List;

/** The secrets of an installation. Whether a call may have them was judged before. */
@FunctionalInterface
public interface SecretStore {

  /** An installation without secrets: no call gets any. */
  SecretStore NONE = (manifest, invocation) -> List.of();

  /**
   * The secrets that a call names in the params that its manifest declares for secrets.
   *
   * @throws dev.writ.canonicalize.WritException with a code of the tools, for one that is not there
   */
  List<SecretFile> granted(ToolManifest manifest, Invocation invocation);
}
