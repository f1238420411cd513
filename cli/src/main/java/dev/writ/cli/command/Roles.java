package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.cli.error.CliError;
import dev.writ.executor.Kernel;
import java.util.List;

/** Which approver role a key speaks in. */
final class Roles {
  private Roles() {}

  /**
   * The only approver role that policy gives the key's holder.
   *
   * @throws WritException {@code CLI-001} where there is none, or several
   */
  static String approver(Kernel kernel, SigningKey key) {
    List<String> roles =
        kernel
            .system()
            .trust()
            .key(key.kid())
            .map(k ->
                kernel.system().policyInForce().approverRoles(k.tenant().orElse(""), k.subject()))
            .orElse(List.of());
    return only(roles);
  }

  /**
   * The only one of these approver roles.
   *
   * @throws WritException {@code CLI-001} where there is none, or several
   */
  static String only(List<String> roles) {
    if (roles.size() != 1) {
      throw new WritException(
          CliError.USAGE, "the key has the approver roles " + roles + "; name one with --role");
    }
    return roles.getFirst();
  }
}
