package dev.writ.guardian.policy.cel;

import java.util.Optional;

/** The variables of the expressions of one judgement. */
@FunctionalInterface
public interface CelVariables {
  Optional<Object> resolve(String name);
}
