package dev.writ.tools.process;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.error.ToolsError;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.UnaryOperator;

/** The secrets of an installation. Whether a call may have them was judged before. */
@FunctionalInterface
public interface SecretStore {

  /** An installation without secrets: no call gets any. */
  static SecretStore none() {
    return (manifest, invocation) -> List.of();
  }

  /**
   * For an author's tests, which have no installation: each of the tool's own secrets is the text
   * {@code stand-in for NAME}.
   */
  static SecretStore standIns() {
    return (manifest, invocation) ->
        manifest.capabilities().ownSecrets().stream()
            .map(name ->
                new SecretFile(name, ("stand-in for " + name).getBytes(StandardCharsets.UTF_8)))
            .toList();
  }

  /**
   * The tool's own secrets, and those that a call names in the params that its manifest declares
   * for secrets.
   *
   * @throws WritException with a code of the tools, for one that is not there
   */
  List<SecretFile> granted(ToolManifest manifest, Invocation invocation);

  /**
   * Replaces a secret that changes by itself, such as tokens that were renewed; nobody else changes
   * it meanwhile.
   *
   * @param change gets what is kept, and gives what is to be kept
   * @return what is kept now
   * @throws WritException with a code of the tools, or what the change throws
   */
  default byte[] change(String name, UnaryOperator<byte[]> change) {
    throw new WritException(ToolsError.SECRET_UNKNOWN, name);
  }
}
