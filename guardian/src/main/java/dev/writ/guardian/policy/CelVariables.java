package dev.writ.guardian.policy;

import java.util.Optional;

/** What the expressions of one judgement see. */
@FunctionalInterface
public interface CelVariables {
  Optional<Object> resolve(String name);
}
