package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.Kernel;
import java.util.List;

/** Finds the approver role of a key if the caller names none. */
public final class ApproverRole {
  private ApproverRole() {}

  /**
   * The only approver role that policy gives the key's holder.
   *
   * @throws WritException {@code CLI-020} where there is none, or several
   */
  public static String of(Kernel kernel, SigningKey key) {
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
   * @throws WritException {@code CLI-020} where there is none, or several
   */
  public static String only(List<String> roles) {
    if (roles.size() != 1) {
      throw new WritException(EmbedError.APPROVER_ROLE, "the key has the approver roles " + roles);
    }
    return roles.getFirst();
  }
}
