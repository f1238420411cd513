package dev.writ.tools.process;

import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.SecretFile;
import java.util.List;

/** Where the secrets of an installation are. Who may have which was judged before. */
@FunctionalInterface
public interface SecretStore {

  /** An installation without secrets: no call gets any. */
  SecretStore NONE = (manifest, invocation) -> List.of();

  /**
   * The secrets that a call names where its manifest says that secrets are named.
   *
   * @throws dev.writ.canonicalize.WritException with a code of the tools, for one that is not there
   */
  List<SecretFile> granted(ToolManifest manifest, Invocation invocation);
}
