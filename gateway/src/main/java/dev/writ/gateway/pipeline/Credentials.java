package dev.writ.gateway.pipeline;

import dev.writ.gateway.http.auth.Caller;
import java.util.List;

/** The roles to which the credentials of callers without keys are narrowed. */
@FunctionalInterface
public interface Credentials {
  /** No credential is narrowed. */
  Credentials NOT_NARROWED = (_, _) -> List.of();

  /**
   * @param method how a caller was authenticated, as {@link Caller#method}
   * @param principal the credential's name
   * @return the roles that it is narrowed to; empty for all that policy gives its subject
   */
  List<String> rolesOf(String method, String principal);
}
